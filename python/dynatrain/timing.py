"""Milliseconds of the parts of something."""

from __future__ import annotations

import time


class Laps:
    """Each `lap` names the time since the last one.

    >>> laps = Laps()
    >>> laps.lap("connect")     # laps.times_ms == {"connect": …}
    """

    def __init__(self, began: float | None = None) -> None:
        self._last = time.perf_counter() if began is None else began
        self.times_ms: dict[str, float] = {}

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        spent = (now - self._last) * 1e3
        self.times_ms[name] = round(self.times_ms.get(name, 0.0) + spent, 3)
        self._last = now
