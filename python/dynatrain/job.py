"""The life of a rank process: worlds come, train and go.

Threads: one listens to the agent; each world is prepared, and then trains, in
a thread of its own (DTensor's caches are per thread, and warm there); the main
thread waits. With `generations()` the main thread trains instead.
"""

from __future__ import annotations

import atexit
import faulthandler
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator

from dynatrain import worlds
from dynatrain.errors import AgentLost, Cancelled
from dynatrain.live import (
    DISMISSED,
    Arrival,
    Coming,
    Live,
    leave_process,
    report_failure,
)
from dynatrain.network import choose_interface
from dynatrain.pace import Pace
from dynatrain.preparation import Preparation, Program
from dynatrain.runtime import Message, NativeRuntime, Outcome, Runtime
from dynatrain.transition import Transition
from dynatrain.world import World

_FAILED = 1
_ABORT_HEARD_S = 0.5
_WORLDS_END_S = 5.0
_RETIRE_AFTER_S = 60.0  # the next world's first step should be over by then


def connect() -> Runtime:
    """The session with this pod's agent."""
    return NativeRuntime()


def open_job(program: Program) -> Job:
    """Connects to the agent; REQUIRES: no process group exists yet."""
    if not faulthandler.is_enabled():
        faulthandler.enable()  # a rank that dies of a signal says where it was
    choose_interface()
    worlds.install()
    return Job(program, connect())


class Job:
    """One rank process's part in an elastic job."""

    def __init__(self, program: Program, runtime: Runtime) -> None:
        self._program = program
        self._runtime = runtime
        self._serial = int(runtime.welcome["serial"])
        self._local_rank = int(runtime.welcome["local_rank"])
        self._coming: Coming | None = None
        self._pace = Pace()
        self._ending = threading.Lock()  # held to start a world's thread
        self._ended = False
        self._world_threads: list[threading.Thread] = []
        self._over: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._lives: queue.SimpleQueue[Live | None] = queue.SimpleQueue()

    def run(self) -> None:
        """Trains until the data is exhausted."""
        self._start(self._listen, "listener")
        error = self._over.get()
        self._end_worlds()
        if error is not None:
            raise error

    def generations(self) -> Iterator[World]:
        """The worlds, one after the other, for a loop in the caller's thread."""
        self._start(self._listen, "listener")
        before: World | None = None
        while (live := self._lives.get()) is not None:
            with live.world.groups.current():
                if before is not None:
                    self._retire(before)
                live.world.set_steps(live.steps)
                yield live.world
                before = live.world
            if live.finished:
                self._end_worlds()
                return self._retire(before)
        if (error := self._over.get()) is not None:
            raise error

    # Listening to the agent.

    def _listen(self) -> None:
        try:
            while True:
                if (message := self._runtime.next(-1)) is not None:
                    self._obey(message)
        except AgentLost as error:
            leave_process(_FAILED, f"the agent is gone: {error}")

    def _obey(self, message: Message) -> None:
        kind = message["kind"]
        if kind == "prepare":
            self._prepare(Transition.of(message["transition"]))
        elif kind == "abort":
            self._abort(int(message["g"]))
        elif kind == "dismiss":
            leave_process(DISMISSED, f"dismissed: {message.get('reason', '')}")

    def _prepare(self, transition: Transition) -> None:
        rank = transition.target.rank_of(self._serial, self._local_rank)
        if self._coming is not None:
            self._coming.give_up()
        before = transition.source.rank_of(self._serial, self._local_rank)
        coming = Coming(
            Preparation(
                self._runtime, self._program, transition, rank, before, self._pace
            )
        )
        with self._ending:
            if self._ended:
                return  # the job is done; the agent has been told
            self._coming = coming
            thread = self._start(
                lambda: self._live_through(coming), f"world{transition.generation}"
            )
            living = [t for t in self._world_threads if t.is_alive()]
            self._world_threads = [*living, thread]

    def _abort(self, generation: int) -> None:
        coming = self._coming
        if coming is not None and coming.preparation.generation == generation:
            self._coming = None
            coming.give_up()
            # Now, not when its thread is done: by then the same generation may
            # be on its way again.
            coming.drop(self._runtime)

    # The life of a world, in its own thread.

    def _live_through(self, coming: Coming) -> None:
        """Prepares a world, waits until it is the job's, and trains in it."""
        preparation = coming.preparation
        with preparation.groups.current():
            arrival = self._arrive(coming)
            if arrival is None:
                return self._give_up(coming)
            if preparation.world is None:
                return None
            live = Live(
                self._runtime,
                self._program.data,
                preparation.world,
                lambda: self._coming,
                self._pace,
            )
            self._coming = None
            live.take_over(preparation, arrival)
            preparation.groups.set_timeout(worlds.TRAINING_TIMEOUT)
            if self._program.step is None:
                return self._lives.put(live)
            for content in live.steps():
                live.world.report(self._program.step(live.world, content))
            if live.finished:
                self._retire(live.world)
                return self._over.put(None)
            assert live.successor is not None
            live.successor.first_step_done.wait(_RETIRE_AFTER_S)
            return self._retire(live.world)

    def _arrive(self, coming: Coming) -> Arrival | None:
        """Prepares; returns when the world is the job's, or None if it won't be."""
        preparation = coming.preparation
        try:
            self._runtime.report(preparation.run())
            if self._trains_in_source(preparation.transition):
                return coming.arrivals.get()  # the live world does the transfer
            return self._join(preparation)
        except Cancelled:
            return None
        except Exception as error:
            # An abort breaks what waits for peers, and may be heard only after.
            if not preparation.is_cancelled_within(_ABORT_HEARD_S):
                report_failure(self._runtime, preparation.generation, "prepare", error)
            return None

    def _trains_in_source(self, transition: Transition) -> bool:
        return transition.source.rank_of(self._serial, self._local_rank) is not None

    def _join(self, preparation: Preparation) -> Arrival | None:
        if not preparation.bound:
            preparation.materialize()
            preparation.bind_targets()
        outcome, report = self._runtime.transfer(preparation.generation)
        if outcome is not Outcome.COMMITTED:
            return None
        return Arrival(ended=None, times_ms=dict(report.get("times_ms", {})))

    def _give_up(self, coming: Coming) -> None:
        if self._coming is coming:
            self._coming = None
        coming.drop(self._runtime)
        preparation = coming.preparation
        if preparation.world is not None:
            preparation.world.retire()
        preparation.groups.destroy()

    def _retire(self, world: World) -> None:
        world.retire()
        self._runtime.drop(world.generation)

    def _end_worlds(self) -> None:
        """The job is done; a world that is being prepared will never be used.

        A thread that is inside torch when the interpreter ends takes the
        process down with a signal, so wait for those that prepare or retire a
        world, or end without ceremony.
        """
        with self._ending:
            self._ended = True
        if self._coming is not None:
            self._coming.give_up()
        until = time.monotonic() + _WORLDS_END_S
        for thread in self._world_threads:
            thread.join(max(0.0, until - time.monotonic()))
        if any(thread.is_alive() for thread in self._world_threads):
            atexit.register(_exit_at_once)

    def _start(self, work: Callable[[], None], name: str) -> threading.Thread:
        def guarded() -> None:
            try:
                work()
            except BaseException as error:
                self._over.put(error)
                self._lives.put(None)

        # Daemonic: a process that failed must not live on for a builder.
        thread = threading.Thread(
            target=guarded, name=f"dynatrain-{name}", daemon=True
        )
        thread.start()
        return thread


def _exit_at_once() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(_FAILED if hasattr(sys, "last_value") else 0)
