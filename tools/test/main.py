"""Run the test stages, all of them whatever fails, and end with the line `N passed, N failed`."""

from __future__ import annotations

import argparse
import sys
import time

import results
from results import Check
from stages import STAGES, Stage


def run_stage(stage: Stage) -> list[Check]:
    """The stage's checks; an exception in it is a failed one, so that the stages after it still run."""
    try:
        return stage.work()
    except Exception as error:  # whatever kept it from starting, the run goes on and names it
        return [results.failed(f"stage {stage.name}", f"{type(error).__name__}: {error}")]


def chosen(arguments: argparse.Namespace) -> list[Stage]:
    if arguments.only:
        names = arguments.only.split(",")
        unknown = set(names) - {stage.name for stage in STAGES}
        if unknown:
            sys.exit(f"no such stage: {', '.join(sorted(unknown))}; there are: {', '.join(s.name for s in STAGES)}")
        return [stage for stage in STAGES if stage.name in names]
    return [stage for stage in STAGES if (stage.long if arguments.long else stage.short)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/test/run", description=__doc__)
    parser.add_argument("--long", action="store_true", help="sanitizers, clang, long property and fault runs (make test-long)")
    parser.add_argument("--only", metavar="STAGES", help=f"comma-separated, of: {', '.join(s.name for s in STAGES)}")
    arguments = parser.parse_args()
    checks: list[Check] = []
    times: list[tuple[str, float, int]] = []
    for stage in chosen(arguments):
        began = time.monotonic()
        print(f"\n==> {stage.name}", flush=True)
        found = run_stage(stage)
        times.append((stage.name, time.monotonic() - began, len(found)))
        checks += found
    print("\n==> summary")
    for name, seconds, count in times:
        print(f"    {name:<16} {seconds:6.0f} s  {count:4} checks")
    print(f"    {'all':<16} {sum(seconds for _, seconds, _ in times):6.0f} s  {len(checks):4} checks")
    if not checks:
        checks = [results.failed("tests", "none ran")]
    print(results.summary(checks), flush=True)
    return any(check.outcome is results.Outcome.FAILED for check in checks)


if __name__ == "__main__":
    sys.exit(main())
