"""Compare every configuration of matrix.txt and fakes.txt, and every refusal of refused.txt, with real Megatron-Core; write docs/oracle.md.

    tests/oracle/all                      # all, as a table on the terminal
    tests/oracle/all --only 'llama|order' # the cases whose names match
    tests/oracle/all --write docs/oracle.md
    tests/oracle/all --random 100 --seed 7  # as many random ones instead
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import re
import sys
import time
from collections.abc import Iterator

import layouts
import matrix
import verdicts
import worlds
from configuration import Configuration
from verdicts import Verdict
from worlds import Refused, Worlds

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Result:
    case: str
    configuration: Configuration
    verdict: Verdict
    refused: Refused | None
    seconds: float


def judge(running: Worlds, c: Configuration, word: str, binary: pathlib.Path) -> tuple[Verdict, Refused | None]:
    """The verdict; an oracle that fails is a disagreement, since nothing was shown."""
    try:
        real = running.run(c)
        verdict = verdicts.compare(c, real, layouts.listing(layouts.layout_file(c), binary), word)
    except (worlds.OracleError, layouts.LayoutError) as error:
        return Verdict(False, f"not compared: {error}"), None
    return verdict, real if isinstance(real, Refused) else None


def results(cases: dict[str, Configuration], binary: pathlib.Path, kept: pathlib.Path | None) -> Iterator[Result]:
    with worlds.worlds(kept) as running:
        for name, c in cases.items():
            began = time.monotonic()
            verdict, refused = judge(running, c, matrix.expected_word(name), binary)
            yield Result(matrix.plain_name(name), c, verdict, refused, time.monotonic() - began)


def one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def table(found: list[Result]) -> Iterator[str]:
    """docs/oracle.md, but for the head."""
    built, refused = [r for r in found if not r.refused], [r for r in found if r.refused]
    real, stood_in = [r for r in built if not r.configuration.needs_fakes], [r for r in built if r.configuration.needs_fakes]
    yield f"{sum(r.verdict.agrees for r in found)} of {len(found)} agree."
    yield ""
    for title, some in ((f"{len(real)} configurations that it builds", real),
                        (f"{len(stood_in)} that it builds with stand-ins for Transformer Engine and mamba-ssm", stood_in)):
        yield f"## {title}"
        yield ""
        yield "| case | configuration | compared | verdict |"
        yield "|---|---|---|---|"
        for r in some:
            compared = r.verdict.counts.text() if r.verdict.counts else ""
            yield f"| {r.case} | `{one_line(r.configuration.label())}` | {compared} | {one_line(r.verdict.text)} |"
        yield ""
    yield f"## {len(refused)} configurations that it refuses"
    yield ""
    yield "| case | configuration | Megatron's reason | ours | verdict |"
    yield "|---|---|---|---|---|"
    for r in refused:
        assert r.refused is not None
        yield (f"| {r.case} | `{one_line(r.configuration.label())}` | {one_line(r.refused.reason)} | {one_line(r.verdict.our_reason)} "
               f"| {one_line(r.verdict.text)} |")


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/oracle/all", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="REGEX", default="", help="the cases whose names match")
    parser.add_argument("--write", type=pathlib.Path, metavar="FILE", help="write the table of all there, whether they agree or not")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="compare so many random configurations instead")
    parser.add_argument("--seed", type=int, default=matrix.SEED, metavar="N", help="of the random ones; default: %(default)s")
    parser.add_argument("--reuse", type=pathlib.Path, metavar="FOLDER", help="keep the real jobs there, and take those that are "
                        "there: only ours is made anew, in seconds")
    parser.add_argument("--dynatrain", type=pathlib.Path, default=layouts.BINARY, metavar="PATH", help="default: %(default)s")
    arguments = parser.parse_args()
    known = matrix.random_cases(arguments.random, arguments.seed) if arguments.random else matrix.all_cases()
    cases = {name: c for name, c in known.items() if re.search(arguments.only, name)}
    found = []
    binary = arguments.dynatrain.resolve()  # a build of another configuration moves bazel-bin
    for result in results(cases, binary, arguments.reuse):
        found.append(result)
        print(f"{'ok  ' if result.verdict.agrees else 'FAIL'} {result.case:20} {result.seconds:5.1f} s  {result.configuration.label()}\n"
              f"     {result.verdict.text}", flush=True)
        for line in result.verdict.differences[:8]:
            print(f"       {line}", flush=True)
        if not result.verdict.agrees:
            print(f"     tests/oracle/megatron {matrix.words(result.configuration)}", flush=True)
    failed = [r.case for r in found if not r.verdict.agrees]
    print(f"{len(found) - len(failed)} agree, {len(failed)} don't" + (f": {' '.join(failed)}" if failed else ""))
    if arguments.write and not arguments.only and not arguments.random:
        arguments.write.write_text((HERE / "head.md").read_text() + "\n" + "\n".join(table(found)) + "\n")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
