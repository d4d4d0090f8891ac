"""Build a real Megatron-Core job on CPUs, each rank a process, and compare what it holds with our layout, element for element.

    tests/oracle/megatron --world 12 --tp 2 --pp 3 --ep 2 --experts 4 --layers 6 --bf16
    tests/oracle/megatron --world 8 --tp 2 --pp 2 --pipeline-layout 'Et*2|tt|t|tL' --layers 6 --show
    tests/oracle/megatron --world 4 --tp 4 --keep /tmp/live     # then: dynatrain layout --diff /tmp/live/listing.json FILE

Exit code: 0 equal (or both refuse it), 1 they differ, 2 the oracle itself failed.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time

import configuration
import layouts
import verdicts
import worlds
from configuration import Configuration
from worlds import Truth

SHOWN = 20


def show(truth: Truth) -> None:
    """A line for each rank, and the tensors of rank 0."""
    for rank in truth.listing["ranks"]:
        names = {entry["live_name"] for entry in rank["tensors"] if entry["state"] in ("param", "buffer")}
        print(f"rank {rank['rank']:3}: {len(names):3} tensors, {len(rank['tensors']):4} with states, buffers "
              + ", ".join(f"{b['name']} {b['elements']} in {len(b['buckets'])}" for b in rank["buffers"]))
    for entry in truth.listing["ranks"][0]["tensors"]:
        print(f"  {entry['live_name']} ({entry['state']}): {entry['local_shape']} of {entry['shape']}: "
              + " ".join(f"{region['origin']}+{region['shape']}" for region in entry["regions"]))


def run(c: Configuration, arguments: argparse.Namespace) -> int:
    ours = arguments.layout.read_text() if arguments.layout else layouts.layout_file(c)
    if arguments.print_layout:
        print(ours, end="")
        return 0
    with worlds.worlds() as running:
        began = time.monotonic()
        real = running.run(c)
        seconds = time.monotonic() - began
    print(f"{c.label()}: Megatron-Core {running.versions['megatron']}, {seconds:.1f} s")
    if isinstance(real, Truth):
        if arguments.keep:
            real.save(arguments.keep)
        if arguments.show:
            show(real)
    if arguments.no_compare:
        return 0
    verdict = verdicts.compare(c, real, layouts.listing(ours, arguments.dynatrain))
    print(verdict.text + (f": {verdict.counts.text()}" if verdict.counts else ""))
    if isinstance(real, worlds.Refused):
        print(f"  Megatron: {real.reason}\n  ours:     {verdict.our_reason}")
    for line in verdict.differences[:SHOWN]:
        print(f"  {line}")
    if len(verdict.differences) > SHOWN:
        print(f"  and {len(verdict.differences) - SHOWN} more")
    return 0 if verdict.agrees else 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/oracle/megatron", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    configuration.add_arguments(parser)
    group = parser.add_argument_group("what to do with it")
    group.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="write listing.json and values.npy of the real job there")
    group.add_argument("--show", action="store_true", help="print what the ranks hold")
    group.add_argument("--no-compare", action="store_true", help="only build the real job")
    group.add_argument("--layout", type=pathlib.Path, metavar="FILE", help="compare with this layout file, not with the one that follows "
                       "from the options")
    group.add_argument("--print-layout", action="store_true", help="print the layout file that follows from the options, and stop")
    group.add_argument("--dynatrain", type=pathlib.Path, default=layouts.BINARY, metavar="PATH", help="default: %(default)s")
    arguments = parser.parse_args()
    try:
        return run(configuration.from_arguments(arguments), arguments)
    except (worlds.OracleError, layouts.LayoutError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
