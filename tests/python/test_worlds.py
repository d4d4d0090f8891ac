"""Real rank processes change worlds, driven by a double of agent and operator."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
from double_operator import Operator, TransitionFailed

HERE = pathlib.Path(__file__).parent
RUN = str(HERE / "programs" / "with_double.py")
SMALL = str(HERE / "programs" / "small.py")


@contextlib.contextmanager
def job(folder: pathlib.Path, **options: Any) -> Iterator[Operator]:
    """An operator for the small program; its ranks are ended at the end."""
    operator = Operator(
        folder, [RUN, SMALL], environment={"SMALL": json.dumps(options)}
    )
    try:
        yield operator
    finally:
        operator.close()


def start_time(pid: int) -> str:
    """Tells a process from a later one with the same pid."""
    text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    return text.rsplit(")", 1)[1].split()[19]


@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
@pytest.mark.parametrize("tp", [False, True])
def test_state_is_bit_equal_before_and_after_each_transition(
    tmp_path: pathlib.Path, optimizer: str, tp: bool
) -> None:
    """dp2 of a,b → dp3 (or dp2,tp2) with joiners → dp2 of b,c: serial 0 leaves."""
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    options = {"optimizer": optimizer, "tp": tp, "dump": str(dumps), "steps": 30}
    with job(tmp_path, **options) as operator:
        operator.start([0, 1, 2, 3] if tp else [0, 1, 2])
        operator.transition("dp2,tp1", [0, 1])
        operator.wait_step(3)
        survivors = {r: start_time(p) for r, p in operator.pids().items() if r[0]}
        if tp:
            operator.transition("dp2,tp2", [0, 1, 2, 3])
        else:
            operator.transition("dp3,tp1", [2, 0, 1])
        operator.wait_step(operator.step_of() + 2)
        record = operator.transition("dp2,tp1", [1, 2])
        operator.wait_step(operator.step_of((1, 0)) + 2)
        for rank in [(1, 0), (2, 0)]:
            assert start_time(operator.pids()[rank]) == survivors[rank]
        codes = operator.wait_exit()
    assert codes.pop((0, 0)) == 86
    if tp:
        assert codes.pop((3, 0)) == 86
    assert set(codes.values()) == {0}
    assert record.pause_ms > 0
    assert set(operator.losses()) == set(range(1, 31))
    for step in range(1, 30):
        ended = (dumps / f"{step:04}.end").read_text()
        begun = (dumps / f"{step:04}.begin").read_text()
        assert ended == begun, f"the state changed after step {step}"
    assert (dumps / "0001.end").read_text() != (dumps / "0002.end").read_text()


def test_losses_are_bit_equal_with_and_without_a_preparation(
    tmp_path: pathlib.Path,
) -> None:
    """With dropout: the warm-up step beside it must not draw from its stream."""
    runs = {}
    for name in ("alone", "disturbed"):
        folder = tmp_path / name
        folder.mkdir()
        with job(folder, dropout=0.3, steps=25, step_s=0.15) as operator:
            operator.start([0, 1])
            operator.transition("dp2,tp1", [0, 1])
            operator.wait_step(2)
            if name == "disturbed":
                before = operator.step_of()
                operator.prepare("dp1,tp2", [0, 1])
                assert operator.step_of() > before, "it did not go on meanwhile"
                operator.abort()
            assert set(operator.wait_exit().values()) == {0}
        runs[name] = [operator.losses()[step] for step in range(1, 26)]
    assert runs["alone"] == runs["disturbed"]
    assert len(set(runs["alone"])) == 25


def test_dropout_goes_on_as_if_nothing_had_happened(tmp_path: pathlib.Path) -> None:
    """Ranks that swap places: each coordinate's stream moves to the other one."""
    runs = []
    for swap in (False, True):
        folder = tmp_path / str(swap)
        folder.mkdir()
        with job(folder, dropout=0.3, steps=16) as operator:
            operator.start([0, 1])
            operator.transition("dp2,tp1", [0, 1])
            operator.wait_step(3)
            if swap:
                operator.transition("dp2,tp1", [1, 0])
            assert set(operator.wait_exit().values()) == {0}
        runs.append([operator.losses()[step] for step in range(1, 17)])
    assert runs[0] == runs[1]


def test_state_that_appears_later_is_refused_and_training_goes_on(
    tmp_path: pathlib.Path,
) -> None:
    with job(tmp_path, grow=3, steps=60, step_s=0.1) as operator:
        operator.start([0, 1])
        operator.transition("dp2,tp1", [0, 1])
        operator.wait_step(3)
        with pytest.raises(TransitionFailed, match="attribute up.history is a tensor"):
            operator.transition("dp1,tp2", [0, 1])
        operator.abort()
        operator.wait_step(14)  # by then the program has dropped it again
        assert operator.transition("dp1,tp2", [0, 1]).generation == 2
        assert set(operator.wait_exit().values()) == {0}
    assert set(operator.losses()) == set(range(1, 61))


def test_a_joiner_that_never_comes_costs_nothing(tmp_path: pathlib.Path) -> None:
    with job(tmp_path, steps=40, step_s=0.1) as operator:
        operator.start([0, 1])
        operator.transition("dp2,tp1", [0, 1])
        operator.wait_step(2)
        operator.begin("dp3,tp1", [0, 1, 7], reachable=[0, 1])
        operator.wait_step(operator.step_of() + 3)
        operator.abort()
        assert operator.transition("dp1,tp2", [1, 0]).generation == 2
        assert set(operator.wait_exit().values()) == {0}
    assert set(operator.losses()) == set(range(1, 41))


def test_memory_decides_how_far_a_preparation_goes(tmp_path: pathlib.Path) -> None:
    with job(tmp_path, steps=200, step_s=0.05) as operator:
        operator.start([0, 1])
        operator.transition("dp2,tp1", [0, 1])
        operator.wait_step(2)
        operator.memory_used_bytes = 100 << 20
        operator.memory_limit_bytes = (100 << 20) + 50_000
        record = operator.transition("dp1,tp2", [0, 1])
        assert {m["mode"] for m in record.prepared.values()} == {"cold"}
        operator.memory_limit_bytes = 2 << 30
        record = operator.transition("dp2,tp1", [0, 1])
        assert {m["mode"] for m in record.prepared.values()} == {"warm"}
        operator.memory_limit_bytes = 100 << 20
        refused = "needs 101 MiB, the container has 100 MiB: 100 MiB are in use"
        with pytest.raises(TransitionFailed, match=refused):
            operator.transition("dp1,tp2", [0, 1])
        operator.abort()
        operator.wait_step(operator.step_of() + 3)


def test_who_owns_the_loop_gets_the_same_losses(tmp_path: pathlib.Path) -> None:
    runs = []
    for loop in (False, True):
        folder = tmp_path / str(loop)
        folder.mkdir()
        with job(folder, steps=24, loop=loop, dump=str(folder)) as operator:
            operator.start([0, 1])
            operator.transition("dp2,tp1", [0, 1])
            operator.wait_step(3)
            operator.transition("dp2,tp1", [1, 0])
            operator.wait_step(operator.step_of() + 3)
            assert set(operator.wait_exit().values()) == {0}
        runs.append(operator.losses())
    assert runs[0] == runs[1] and set(runs[0]) == set(range(1, 25))


CYCLE = [("dp3,tp1", [0, 1, 2]), ("dp1,tp3", [2, 0, 1]), ("dp3,tp1", [1, 2, 0])]


@pytest.mark.parametrize("transitions", [9, pytest.param(50, marks=pytest.mark.long)])
def test_threads_files_and_memory_stay_flat(
    tmp_path: pathlib.Path, transitions: int
) -> None:
    with job(tmp_path, tp=True, steps=100_000, usage=str(tmp_path)) as operator:
        operator.start([0, 1, 2])
        for count in range(transitions + 1):
            operator.transition(*CYCLE[count % 3])
            operator.wait_step(operator.step_of() + 12)
        pids = operator.pids().values()
    for pid in pids:
        lines = (tmp_path / f"usage.{pid}").read_text().splitlines()
        last = {n["generation"]: n for n in map(json.loads, lines)}
        # Compare generations of the same layout, past the first ones' warming.
        early, late = last[4], last[transitions // 3 * 3 + 1]
        assert late["groups"] == early["groups"]
        assert late["threads"] <= early["threads"] + 2
        assert late["fds"] <= early["fds"] + 2
        grown_kb = late["rss_kb"] - early["rss_kb"]
        assert grown_kb / (late["generation"] - early["generation"]) < 4_000
        print(os.path.basename(str(pid)), early, late)
