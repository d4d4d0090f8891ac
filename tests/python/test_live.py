"""An abort while the live world's thread is in the pause."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from dynatrain.live import Coming, Live
from dynatrain.runtime import Outcome

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
    live = Live(runtime, None, None, lambda: coming)  # type: ignore[arg-type]
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
