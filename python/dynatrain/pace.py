"""What keeps a preparation from slowing the steps that go on beside it.

Both want the same cores, and Python's lock. Once the step that is under way
has taken as long as steps usually do, the preparation stands still until it is
over: so it costs a step at most what it takes of it in that usual time. It is
never kept waiting for longer than `_LONGEST_S` a step, or than a step usually
lasts, so a step that hangs doesn't hang it.

A thread's niceness would not do: it can't be taken back without a privilege,
and the thread that prepares a world trains in it.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Iterator
from statistics import median

_LONGEST_S = 1.0
_REMEMBERED = 9  # steps


class Pace:
    """The steps of the live world, and who gives way to them.

    One thread at a time trains (`step`); any may prepare (`beside`,
    `give_way`).
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._alone: deque[float] = deque(maxlen=_REMEMBERED)  # seconds
        self._usual_s: float | None = None
        self._began: float | None = None  # of the step that is under way
        self._preparing = 0
        self._disturbed = False  # the step that is under way is not alone

    def new_world(self) -> None:
        """Forgets how long the steps of the one before took."""
        with self._changed:
            self._alone.clear()
            self._usual_s = None

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """A step of the live world, in the thread that trains."""
        with self._changed:
            self._began = began = time.perf_counter()
            self._disturbed = self._preparing > 0
        try:
            yield
        finally:
            with self._changed:
                self._note(time.perf_counter() - began)
                self._began = None
                self._changed.notify_all()

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """A preparation: what steps take meanwhile is not what they usually do."""
        with self._changed:
            self._preparing += 1
            self._disturbed = True
        try:
            yield
        finally:
            with self._changed:
                self._preparing -= 1

    def give_way(self) -> None:
        """Waits for the step under way if it is late. Cheap: for every operator."""
        began, usual_s = self._began, self._usual_s
        if began is None or usual_s is None:
            return
        if time.perf_counter() - began < usual_s:
            return
        until = began + usual_s + min(usual_s, _LONGEST_S)
        with self._changed:
            while self._began == began and (left := until - time.perf_counter()) > 0:
                self._changed.wait(left)

    def _note(self, seconds: float) -> None:
        if not self._disturbed:
            self._alone.append(seconds)
            self._usual_s = median(self._alone)
