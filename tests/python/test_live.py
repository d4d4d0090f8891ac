"""The live world: its steps, and an abort while its thread is in the pause."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from dynatrain.data import Data, Reading
from dynatrain.live import Arrival, Coming, Live
from dynatrain.pace import Pace
from dynatrain.runtime import Action, Outcome

SOON_S = 0.2  # time enough for a drop that doesn't wait


class AbortedRuntime:
    """Its transfer is aborted: another thread drops the transition meanwhile."""

    def __init__(self) -> None:
        self.happened: list[str] = []
        self.dropped = threading.Event()
        self.drops: threading.Thread | None = None

    def drop(self, generation: int) -> None:
        self.happened.append(f"dropped {generation}")
        self.dropped.set()

    def transfer(self, generation: int) -> tuple[Outcome, dict[str, Any]]:
        assert self.drops is not None
        self.drops.start()
        assert not self.dropped.wait(SOON_S), "dropped beside the transfer"
        self.happened.append(f"transferred {generation}")
        return Outcome.KEPT, {"kept_by": "abort"}


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> tuple[AbortedRuntime, Coming, Live]:
    runtime = AbortedRuntime()
    monkeypatch.setattr(
        Live, "_bind", lambda *_: runtime.happened.append("bound"), raising=True
    )
    coming = Coming(SimpleNamespace(generation=5, cancel=lambda: None))  # type: ignore[arg-type]
    live = Live(runtime, None, None, lambda: coming, Pace())  # type: ignore[arg-type]
    runtime.drops = threading.Thread(target=lambda: coming.drop(runtime))  # type: ignore[arg-type]
    return runtime, coming, live


def test_nothing_is_dropped_before_the_transfer_is_over(
    paused: tuple[AbortedRuntime, Coming, Live],
) -> None:
    """The transfer writes into the new world's memory, which goes with a drop."""
    runtime, coming, live = paused
    assert not live._switch(coming, time.perf_counter()), "this world goes on"
    assert runtime.drops is not None
    runtime.drops.join()
    assert runtime.happened == ["bound", "transferred 5", "dropped 5"]


def test_what_was_dropped_is_not_begun(
    paused: tuple[AbortedRuntime, Coming, Live],
) -> None:
    """The abort came between the boundary and the pause."""
    runtime, coming, live = paused
    coming.drop(runtime)  # type: ignore[arg-type]
    assert not live._switch(coming, time.perf_counter())
    assert runtime.happened == ["dropped 5"]


class Steps(Pace):
    """Tells whether a step is under way."""

    @property
    def under_way(self) -> bool:
        return self._began is not None


def test_a_new_world_s_steps_are_not_measured_by_the_old_one_s() -> None:
    pace = Steps()
    with pace.step():
        pass
    assert pace._usual_s is not None
    live = Live(None, None, None, lambda: None, pace)  # type: ignore[arg-type]
    first = SimpleNamespace(transition=SimpleNamespace(is_first_start=True))
    live.take_over(first, Arrival(ended=None))  # type: ignore[arg-type]
    assert pace._usual_s is None


def test_what_gives_way_knows_when_a_step_is_under_way() -> None:
    pace, between = Steps(), []

    def boundary(generation: int, step: int) -> Action:
        between.append(pace.under_way)
        return Action.CONTINUE

    runtime = SimpleNamespace(report=lambda frame: None, boundary=boundary)
    world = SimpleNamespace(
        generation=1,
        step=0,
        samples=0,
        rank=1,
        layout="dp1",
        data_parts=1,
        data_part=0,
        purpose=lambda step, warm_up=False: Reading(1, step, 0, 0, warm_up),
        set_batch=lambda batch: None,
        reported={},
        first_step_done=threading.Event(),
    )
    data = Data(list(range(6)), global_batch=2, steps=3)
    live = Live(runtime, data, world, lambda: None, pace)  # type: ignore[arg-type]
    within = [pace.under_way for _ in live.steps()]
    assert within == [True] * 3
    assert between == [False] * 3
    assert live.finished
