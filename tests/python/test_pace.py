"""A preparation gives way to a step that is late, and to no other, and not for ever."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
import torch

from dynatrain import pace as module
from dynatrain import preparation
from dynatrain.pace import Pace
from dynatrain.randomness import Private


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def perf_counter(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


class Waited:
    """Stands for waiting: notes for how long, and does what happens meanwhile."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, pace: Pace, then: Callable[[float], None]
    ) -> None:
        self.seconds: list[float] = []
        self._then = then
        monkeypatch.setattr(pace._changed, "wait", self._wait)

    def _wait(self, seconds: float) -> None:
        self.seconds.append(round(seconds, 6))
        self._then(seconds)


def nothing_happens(_: float) -> None:
    raise AssertionError("it would have waited")


def train(pace: Pace, clock: Clock, *seconds: float) -> None:
    for each in seconds:
        with pace.step():
            clock.now_s += each


def test_it_waits_for_a_late_step_until_that_ends(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    pace, step = Pace(), ExitStack()
    train(pace, clock, 0.2, 0.2, 0.2)
    waited = Waited(monkeypatch, pace, lambda _: step.close())
    step.enter_context(pace.step())
    clock.now_s += 0.25
    pace.give_way()
    assert waited.seconds == [0.15]  # of the 0.2 at most, 0.05 are gone
    pace.give_way()  # no step is under way
    assert len(waited.seconds) == 1


@pytest.mark.parametrize("usual_s, most_s", [(0.2, 0.2), (30.0, 1.0)])
def test_a_step_that_hangs_does_not_hang_it(
    usual_s: float, most_s: float, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pass_time(seconds: float) -> None:
        clock.now_s += seconds

    pace = Pace()
    train(pace, clock, usual_s)
    waited = Waited(monkeypatch, pace, pass_time)
    with pace.step():
        clock.now_s += usual_s
        pace.give_way()
        pace.give_way()
        assert sum(waited.seconds) == pytest.approx(most_s)


def test_a_step_in_time_is_not_waited_for(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    pace = Pace()
    Waited(monkeypatch, pace, nothing_happens)
    with pace.step():  # nobody knows yet how long one takes
        clock.now_s += 9
        pace.give_way()
    with pace.step():
        clock.now_s += 8.9
        pace.give_way()
    pace.give_way()


def test_what_a_step_takes_beside_a_preparation_is_not_usual(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    pace = Pace()
    train(pace, clock, 1.0)
    with pace.step(), pace.beside():  # it begins and ends within the step
        clock.now_s += 50
    with pace.beside():
        train(pace, clock, 50, 50)
        with ExitStack() as step:
            waited = Waited(monkeypatch, pace, lambda _: step.close())
            step.enter_context(pace.step())
            clock.now_s += 1.5
            pace.give_way()
            assert waited.seconds == [0.5]


def test_the_steps_of_another_world_say_nothing(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    pace, step = Pace(), ExitStack()
    waited = Waited(monkeypatch, pace, lambda _: step.close())
    train(pace, clock, 1.0, 1.0)
    pace.new_world()
    with pace.step():
        clock.now_s += 5
        pace.give_way()
    assert waited.seconds == []
    pace.new_world()
    train(pace, clock, 0.2)
    step.enter_context(pace.step())
    clock.now_s += 0.3
    pace.give_way()
    assert waited.seconds == [0.1]


def test_a_step_that_fails_is_over(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    pace = Pace()
    Waited(monkeypatch, pace, nothing_happens)
    with pytest.raises(ValueError), pace.step():
        raise ValueError
    clock.now_s += 5
    pace.give_way()


def test_each_operator_of_a_warm_up_gives_way_those_of_backward_too() -> None:
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1

    weight = torch.ones(3, requires_grad=True)
    with Private(1, count):
        loss = (weight * 2).sum()
        forward = calls
        loss.backward()  # type: ignore[no-untyped-call]
    assert forward == 2
    assert calls > forward


class Stop(Exception):
    """Ends a preparation where the test has seen enough."""


def test_a_preparation_gives_way_at_each_operator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pace = Pace()

    def private(seed: int, before_each: Callable[[], None]) -> None:
        assert before_each == pace.give_way
        assert pace._preparing == 1
        raise Stop

    monkeypatch.setattr(preparation, "Private", private)
    transition = SimpleNamespace(generation=2, tag=7)
    made = preparation.Preparation(None, None, transition, 0, None, pace)  # type: ignore[arg-type]
    with pytest.raises(Stop):
        made.run()
    assert pace._preparing == 0
