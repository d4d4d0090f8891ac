"""Resizes a program on this machine, before your eyes, without a cluster:

    python tests/harness/play.py examples/gpt/train.py --steps 400

Two agents, then four as dp2,tp2, then three without the first one, then two.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile

from driver import Driver, Record

TRANSITIONS = [
    ("dp2,tp2", [0, 1, 2, 3]),
    ("dp3,tp1", [1, 2, 3]),
    ("dp2,tp1", [2, 3]),
]


def tell(record: Record, job: Driver) -> None:
    modes = ", ".join(sorted({part.mode for part in record.ranks.values()}))
    slowest = max(record.ranks.values(), key=lambda part: part.pause_ms)
    parts = ", ".join(
        f"{name} {ms:.0f}" for name, ms in sorted(slowest.pause_parts_ms.items())
    )
    print(
        f"generation {record.generation}: {record.layout}, {modes}, pause "
        f"{record.pause_ms:.0f} ms ({parts}), moved {record.moved_bytes} bytes, "
        f"at least {record.minimal_bytes}, prepared in "
        f"{record.wall_ms['prepare']:.0f} ms",
        flush=True,
    )
    step = job.wait_steps_more(5)
    print(f"  step {step}: loss {job.losses()[step]:.4f}", flush=True)


def main() -> None:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="dynatrain-play."))
    print(f"logs in {folder}", flush=True)
    program = [sys.executable, *sys.argv[1:]]
    with Driver(folder, program) as job:
        job.start([0, 1, 2, 3])
        tell(job.transition("dp2,tp1", [0, 1]), job)
        for layout, serials in TRANSITIONS:
            tell(job.transition(layout, serials), job)


if __name__ == "__main__":
    main()
