"""The example on the real stack: agents, runtime library, rank processes."""

from __future__ import annotations

import os
import pathlib
import signal
import sys
from collections import defaultdict
from statistics import median

import pytest
from driver import Driver, Record, Sampler, TransitionFailed

ROOT = pathlib.Path(__file__).parents[2]
TRAIN = [sys.executable, str(ROOT / "examples" / "gpt" / "train.py")]
SMALL = [sys.executable, str(pathlib.Path(__file__).parent / "programs" / "small.py")]
ODD = [SMALL[0], str(pathlib.Path(__file__).parent / "programs" / "odd_optimizers.py")]
FORGETFUL = str(pathlib.Path(__file__).parent / "programs" / "forgetful.py")
BATCH = 24
SAME = 1e-4  # relative, at each step


def start_time(pid: int) -> str:
    """Tells a process from a later one with the same pid."""
    text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    return text.rsplit(")", 1)[1].split()[19]


def check_samples(folder: pathlib.Path, committed: int) -> None:
    """Each index once among committed steps; tensor-parallel peers read the same."""
    read: dict[int, dict[tuple[int, int], list[int]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for path in folder.glob("samples*"):
        for line in path.read_text().splitlines():
            _, step, dp, tp, index = map(int, line.split())
            read[step][dp, tp].append(index)
    seen: set[int] = set()
    for step in range(1, committed + 1):
        first = {dp: part for (dp, tp), part in read[step].items() if tp == 0}
        for (dp, _), part in read[step].items():
            assert part == first[dp], f"step {step}: peers at dp {dp} differ"
        indices = [index for part in first.values() for index in part]
        assert len(indices) == len(set(indices)) == BATCH, f"step {step}"
        assert not seen & set(indices), f"step {step} reads a sample again"
        seen |= set(indices)


def tell_step_times(job: Driver, begun: int, ended: int) -> None:
    """A measurement, not a claim: how much a preparation slows the live steps."""
    times = job.step_times()
    alone = [times[s] for s in range(max(begun - 3, 1), begun) if s in times]
    beside = [times[s] for s in range(begun + 1, ended) if s in times]
    if alone and beside:
        usual, slowed = median(alone), median(beside)
        print(f"steps of {usual:.0f} ms alone, {slowed:.0f} ms beside a preparation")


def static_losses(folder: pathlib.Path, steps: int) -> dict[int, float]:
    with Driver(folder, [*TRAIN, "--steps", "400"]) as job:
        job.start([0])
        job.transition("dp1,tp1", [0])
        job.wait_step(steps)
        return job.losses()


def worst_difference(
    losses: dict[int, float], static: dict[int, float], last: int
) -> float:
    return max(abs(losses[s] / static[s] - 1) for s in range(1, last + 1))


def test_a_rank_that_dies_of_a_signal_says_where_it_was(tmp_path: pathlib.Path) -> None:
    with Driver(tmp_path, [*SMALL, "--steps", "100000"]) as job:
        job.start([0])
        job.transition("dp1,tp1", [0])
        job.wait_step(2)
        os.kill(job.pids()[0, 0], signal.SIGSEGV)
        assert job.exit_code(0) == 128 + signal.SIGSEGV
        log = job.pods[0].log.read_text()
    assert "Fatal Python error: Segmentation fault" in log
    assert "in _live_through" in log, log[-2000:]  # the thread that trains


def test_sixty_steps_with_four_transitions_follow_the_static_run(
    tmp_path: pathlib.Path,
) -> None:
    """dp2 → dp2,tp2 with joiners → dp3 without serial 0 → dp1,tp2 → dp2."""
    program = ["bash", "-c", f'exec "$@" --log-samples {tmp_path}/samples.$$', "-"]
    records: list[Record] = []
    (tmp_path / "static").mkdir()
    with Driver(tmp_path, [*program, *TRAIN, "--steps", "400"]) as job:
        job.start([0, 1, 2, 3])
        job.transition("dp2,tp1", [0, 1])
        job.wait_step(4)
        started = {r: (p, start_time(p)) for r, p in job.pids().items()}
        for layout, serials in [
            ("dp2,tp2", [0, 1, 2, 3]),
            ("dp3,tp1", [1, 2, 3]),
            ("dp1,tp2", [3, 2]),
            ("dp2,tp1", [2, 3]),
        ]:
            with Sampler(lambda: job.step_of(job.members[0])).running() as sampler:
                records.append(job.transition(layout, serials))
            steps = [step for _, step in sampler.seen]
            assert max(steps) - min(steps) >= 2, "the old world stood still"
            tell_step_times(job, min(steps), max(steps))
            job.wait_steps_more(3)
        last = max(60, job.step_of(job.members[0]))
        job.wait_step(last)
        assert job.exit_code(0) == 86
        now = {r: (p, start_time(p)) for r, p in job.pids().items() if r[0] in (2, 3)}
        assert now == {r: started[r] for r in now} and len(now) == 2
        losses = job.losses()
    assert set(losses) >= set(range(1, last + 1))
    check_samples(tmp_path, last)
    worst = worst_difference(losses, static_losses(tmp_path / "static", last), last)
    print(f"{last} steps, worst relative difference {worst:.1e}")
    assert worst <= SAME
    for record in records:
        modes = {part.mode for part in record.ranks.values()}
        assert modes == {"warm"}
        assert record.moved_bytes >= record.minimal_bytes > 0
        print(f"{record.layout}: pause {record.pause_ms:.0f} ms, {record.wall_ms}")


def test_losses_tell_if_a_moment_is_left_behind(tmp_path: pathlib.Path) -> None:
    """The test above means something: what it would overlook must be less."""
    (tmp_path / "static").mkdir()
    forgetful = [sys.executable, FORGETFUL, *TRAIN[1:], "--steps", "400"]
    with Driver(tmp_path, forgetful) as job:
        job.start([0, 1])
        job.transition("dp2,tp1", [0, 1])
        job.wait_step(4)
        job.transition("dp1,tp2", [0, 1])
        last = job.wait_steps_more(4)
        losses = job.losses()
    worst = worst_difference(losses, static_losses(tmp_path / "static", last), last)
    print(f"{last} steps, worst relative difference {worst:.1e}")
    assert worst > 10 * SAME


def test_a_model_never_seen_keeps_its_state_bit_for_bit(
    tmp_path: pathlib.Path,
) -> None:
    """Odd sizes, tied weights, a frozen parameter, buffers, SGD with momentum."""
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    options = f'{{"dump": "{dumps}"}}'
    with Driver(tmp_path, SMALL, environment={"SMALL": options}) as job:
        job.start([0, 1, 2])
        job.transition("dp2,tp1", [0, 1])
        job.wait_step(2)
        for layout, serials in [
            ("dp3,tp1", [2, 0, 1]),
            ("dp1,tp2", [1, 2]),
            ("dp2,tp1", [2, 1]),
        ]:
            job.transition(layout, serials)
            job.wait_steps_more(2)
        last = job.step_of(1)
    for step in range(1, last):
        ended = (dumps / f"{step:04}.end").read_text()
        assert ended == (dumps / f"{step:04}.begin").read_text(), f"after step {step}"


def test_untold_state_is_refused_by_name_and_training_goes_on(
    tmp_path: pathlib.Path,
) -> None:
    options = '{"grow": 3, "step_s": 0.1}'
    with Driver(tmp_path, SMALL, environment={"SMALL": options}) as job:
        job.start([0, 1])
        job.transition("dp2,tp1", [0, 1])
        job.wait_step(3)
        says = r"attribute up\.history is a tensor that is neither"
        with pytest.raises(TransitionFailed, match=says):
            job.transition("dp1,tp2", [0, 1])
        job.wait_steps_more(3)


def test_a_job_that_is_done_ends_with_0_also_amid_a_preparation(
    tmp_path: pathlib.Path,
) -> None:
    options = '{"steps": 12, "step_s": 0.1}'
    with Driver(tmp_path, SMALL, environment={"SMALL": options}) as job:
        job.start([0, 1])
        job.transition("dp2,tp1", [0, 1])
        job.begin("dp1,tp2", [1, 0])
        assert [job.exit_code(serial) for serial in (0, 1)] == [0, 0]


def test_dropout_goes_on_as_if_nothing_had_happened(tmp_path: pathlib.Path) -> None:
    """Ranks swap places: each coordinate's random stream moves to the other one."""
    runs = []
    for swap in (True, False):
        folder = tmp_path / str(swap)
        folder.mkdir()
        with Driver(folder, SMALL, environment={"SMALL": '{"dropout": 0.3, "noise": true}'}) as job:
            job.start([0, 1])
            job.transition("dp2,tp1", [0, 1])
            job.wait_step(3)
            if swap:
                job.transition("dp2,tp1", [1, 0])
                last = job.wait_steps_more(5)
            job.wait_step(last)
            losses = job.losses()
            runs.append([losses[step] for step in range(1, last + 1)])
    assert runs[0] == runs[1]
    assert len(set(runs[0])) > len(runs[0]) // 2


def test_the_history_of_lbfgs_goes_on_as_if_nothing_had_happened(tmp_path: pathlib.Path) -> None:
    """State that no plan knows reaches a joiner, through the real runtime, in place of rank 0."""
    runs, last = [], 0
    for changes in (True, False):
        folder = tmp_path / str(changes)
        folder.mkdir()
        with Driver(folder, ODD) as job:
            job.start([0, 1, 2])
            job.transition("dp2,tp1", [0, 1])
            if changes:
                job.wait_step(3)
                job.transition("dp2,tp1", [2, 1])
                last = job.wait_steps_more(6)
            job.wait_step(last)
            losses = job.losses()
            runs.append([losses[step] for step in range(1, last + 1)])
    assert runs[0] == runs[1]
    assert len(set(runs[0])) > last // 2, "it learns nothing"


@pytest.mark.long
def test_fifty_transitions_leave_processes_flat(tmp_path: pathlib.Path) -> None:
    cycle = [("dp2,tp1", [0, 1]), ("dp1,tp2", [1, 0])]
    with Driver(tmp_path, SMALL, environment={"SMALL": '{"tp": true}'}) as job:
        job.start([0, 1])
        usage = []
        for count in range(51):
            job.transition(*cycle[count % 2])
            job.wait_steps_more(8)
            usage.append(least_resources(job, steps=12))
    (threads, files, kilobytes), (late_threads, late_files, late_kilobytes) = (
        usage[4],
        usage[50],
    )
    print("threads, files and KiB of both:", usage[4], usage[50])
    assert late_threads <= threads + 4 and late_files <= files + 4
    assert late_kilobytes - kilobytes < 40_000  # 11 MB were seen


def least_resources(job: Driver, steps: int) -> tuple[int, ...]:
    """The least after each of so many steps, as the old world is retired beside the first ones."""
    seen = []
    for _ in range(steps):
        job.wait_steps_more(1)
        seen.append(resources(job.pids().values()))
    return tuple(map(min, zip(*seen, strict=True)))


def resources(pids: object) -> tuple[int, int, int]:
    """Threads, open files and resident kilobytes of all together."""
    totals = [0, 0, 0]
    for pid in list(pids):  # type: ignore[call-overload]
        folder = pathlib.Path(f"/proc/{pid}")
        status = dict(
            line.split(":", 1)
            for line in (folder / "status").read_text().splitlines()
            if ":" in line
        )
        totals[0] += int(status["Threads"])
        totals[1] += len(list((folder / "fd").iterdir()))
        totals[2] += int(status["VmRSS"].split()[0])
    return totals[0], totals[1], totals[2]
