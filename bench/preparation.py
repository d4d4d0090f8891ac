"""How much the preparation of a transition slows the steps that go on beside it.

Trains examples/gpt on real agents on this machine (tests/harness), and again
and again has the job prepare another layout, which it then takes back, so that
the same world is measured alone and beside a preparation, in turns. A step
counts as beside it if it began after Prepare was sent and ended before the
last rank was prepared. Prints a line per round, and the medians:

    PYTHON bench/preparation.py [--rounds N]

PYTHON: of tools/setup/python. Both figures of a round are of the same minute;
the load is printed because it changes them.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
import time
from dataclasses import dataclass
from statistics import median

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "harness"))

from driver import Driver, Running  # noqa: E402

TRAIN = [sys.executable, str(ROOT / "examples" / "gpt" / "train.py"), "--steps", "1000000"]
SETTLE, ALONE = 3, 8  # steps after which a figure is taken, and that it is taken of


@dataclass(frozen=True)
class Case:
    name: str
    members: list[int]
    layout: str
    target: list[int]


CASES = [
    Case("dp2 -> dp1,tp2, the same processes", [0, 1], "dp1,tp2", [0, 1]),
    Case("dp2 -> dp3, with a joiner", [0, 1], "dp3,tp1", [0, 1, 2]),
]


@dataclass(frozen=True)
class Round:
    """Step times in milliseconds, alone and beside a preparation that took `prepared_s`."""

    alone: list[float]
    beside: list[float]
    prepared_s: float

    @property
    def ratio(self) -> float:
        return median(self.beside) / median(self.alone)


def last_step(job: Driver) -> int:
    return min(job.step_of(serial) for serial in job.members)


def step_times(job: Driver, first: int, last: int) -> list[float]:
    """Of the steps first … last; waits for their lines."""
    job.wait_step(last)
    times = job.step_times()
    return [times[step] for step in range(first, last + 1)]


def measure(job: Driver, case: Case) -> Round:
    begin = job.wait_steps_more(SETTLE)
    alone = step_times(job, begin + 1, begin + ALONE)
    # The step that is under way began before Prepare: it counts as neither.
    before, since = last_step(job), time.perf_counter()
    running: Running = job.begin(case.layout, case.target)
    job.wait_prepared(running)
    prepared_s, after = time.perf_counter() - since, last_step(job)
    job.abort(running)
    if after < before + 2:
        raise SystemExit(f"{case.name}: no whole step beside a preparation of {prepared_s:.1f} s")
    return Round(alone, step_times(job, before + 2, after), prepared_s)


def run(case: Case, rounds: int) -> None:
    print(f"{case.name}, load {os.getloadavg()[0]:.1f}")
    done = []
    with tempfile.TemporaryDirectory() as folder, Driver(pathlib.Path(folder), TRAIN) as job:
        job.start(sorted({*case.members, *case.target}))
        job.transition("dp2,tp1", case.members)
        for _ in range(rounds):
            done.append(one := measure(job, case))
            print(
                f"  alone {median(one.alone):4.0f} ms, beside {median(one.beside):4.0f} ms (longest {max(one.beside):4.0f}), "
                f"ratio {one.ratio:.2f}, {len(one.beside)} whole steps in {one.prepared_s:.1f} s",
                flush=True,
            )
    ratios = sorted(one.ratio for one in done)
    print(f"  ratio: median {median(ratios):.2f}, {ratios[0]:.2f} … {ratios[-1]:.2f}; load {os.getloadavg()[0]:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    for case in CASES:
        run(case, arguments.rounds)


if __name__ == "__main__":
    main()
