"""One generation from its first step to its last, and the switch after it."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import torch
import torch.distributed as dist

from dynatrain import late, memory, streams
from dynatrain.binding import bind, check_planned
from dynatrain.blobs import Common
from dynatrain.data import Batch, Data, Reader
from dynatrain.errors import Cancelled, DynatrainError, Refused
from dynatrain.metrics import line
from dynatrain.pace import Pace
from dynatrain.preparation import Preparation
from dynatrain.randomness import derived_seed
from dynatrain.runtime import Action, Message, Outcome, Runtime, Side
from dynatrain.state import Tensors, check_told, tensors_of
from dynatrain.timing import Laps
from dynatrain.world import World

LEFT, DISMISSED = 86, 87  # exit codes that the agent knows


@dataclass
class Arrival:
    """What a world needs to know when it becomes the job's."""

    ended: float | None  # perf_counter at the end of the last old step
    times_ms: dict[str, float] = field(default_factory=dict)
    committed: float = field(default_factory=time.perf_counter)


class Coming:
    """A preparation, and the way to wake the thread that waits with it."""

    def __init__(self, preparation: Preparation) -> None:
        self.preparation = preparation
        self.arrivals: queue.SimpleQueue[Arrival | None] = queue.SimpleQueue()
        self.checked = False  # the live world has the state that was planned
        self._lock = threading.Lock()
        self._dropped = False

    def give_up(self) -> None:
        self.preparation.cancel()
        self.arrivals.put(None)

    @contextlib.contextmanager
    def held(self) -> Iterator[bool]:
        """For the live world's thread, from bind to the end of the transfer:
        meanwhile nothing of it is dropped or freed. False: too late, it was."""
        with self._lock:
            yield not self._dropped

    def drop(self, runtime: Runtime) -> None:
        """Has the runtime forget it, once, and only when no transfer uses it: an
        abort ends that soon."""
        with self._lock, contextlib.suppress(Refused):
            if not self._dropped:
                runtime.drop(self.preparation.generation)
                self._dropped = True


class Live:
    """Trains in `world`; to be used by the thread that trains."""

    def __init__(
        self,
        runtime: Runtime,
        data: Data,
        world: World,
        coming: Callable[[], Coming | None],
        pace: Pace,
    ) -> None:
        self._pace = pace
        self._runtime = runtime
        self._data = data
        self.world = self._world = world
        self._coming = coming
        self._arrival = Arrival(ended=None)
        self._first_began: float | None = None
        self.finished = False  # the data is exhausted
        self.successor: World | None = None  # once a switch is committed

    def take_over(self, preparation: Preparation, arrival: Arrival) -> None:
        """Puts the state that is no tensor where it belongs."""
        laps, world = Laps(arrival.committed), self._world
        self._arrival = arrival
        self._pace.new_world()
        if not preparation.transition.is_first_start:
            self._restore(world, preparation.transition.seed)
        laps.lap("restore")
        arrival.times_ms.update(laps.times_ms)

    def _restore(self, world: World, seed: int) -> None:
        generation = world.generation
        common = Common.decode(self._runtime.get_blob(generation, "common"))
        common.restore(world.model, world.optimizers, world.extras)
        world.step, world.samples = common.step, common.samples
        if stream := self._runtime.get_blob(generation, "coordinate"):
            streams.restore(torch.frombuffer(bytearray(stream), dtype=torch.uint8))
        else:
            streams.begin(derived_seed(seed, generation, world.mesh.coordinates))
        if world.mesh.size("tp") > 1:  # peers draw alike, new ones too
            state = streams.save()
            dist.broadcast(state, group=world.mesh.group("tp"), group_src=0)
            streams.restore(state)

    def steps(self) -> Iterator[Any]:
        """Batches, until the data is exhausted or the world is over."""
        world = self._world
        reader = Reader(
            self._data,
            world.samples,
            world.data_parts,
            world.data_part,
            world.purpose,
        )
        batches = reader.batches(world.step + 1)
        try:
            while not reader.at_end(world.samples):
                began = time.perf_counter()
                if self._first_began is None:
                    self._first_began = began
                with self._pace.step():
                    batch = next(batches)
                    world.set_batch(batch)
                    yield batch.content
                ended = time.perf_counter()
                self._complete(batch, (ended - began) * 1e3)
                if not self._boundary(ended):
                    return
            self._finish()
        finally:
            reader.stop()

    def _complete(self, batch: Batch, step_ms: float) -> None:
        world = self._world
        world.step += 1
        world.samples += batch.global_samples
        values = world.reported
        text = line(world.step, world.samples, world.layout, step_ms, values)
        if world.rank == 0:
            print(text, flush=True)
        self._runtime.report(
            {
                "kind": "step",
                "g": world.generation,
                "step": world.step,
                "loss": values.get("loss"),
                "samples": world.samples,
                "step_ms": round(step_ms, 3),
                "text": text,
            }
        )
        if not world.first_step_done.is_set():
            self._report_resumed()

    def _report_resumed(self) -> None:
        world, arrival = self._world, self._arrival
        began = self._first_began or time.perf_counter()
        times, pause = dict(arrival.times_ms), 0.0
        if arrival.ended is not None:
            pause = (began - arrival.ended) * 1e3
            # The rest: waking the thread of the new world, its first batch.
            times["switch"] = round(max(pause - sum(times.values()), 0.0), 3)
        self._runtime.report(
            {
                "kind": "resumed",
                "g": world.generation,
                "step": world.step,
                "pause_ms": round(pause, 3),
                "times_ms": times,
            }
        )
        world.first_step_done.set()

    def _finish(self) -> None:
        if not self._world.first_step_done.is_set():
            self._report_resumed()  # the switch came after the very last step
        self._runtime.report({"kind": "finished", "step": self._world.step})
        self.finished = True

    def _boundary(self, ended: float) -> bool:
        """Between two steps. False: this world is over."""
        world = self._world
        action = self._runtime.boundary(world.generation, world.step)
        if action is Action.DISMISS:
            leave_process(DISMISSED, "dismissed at the step boundary")
        coming = self._coming()
        if action is Action.STOP and coming is not None:
            return not self._switch(coming, ended)
        if coming is not None and not coming.checked and coming.preparation.summary:
            self._check(coming)
        return True

    def _check(self, coming: Coming) -> None:
        """Before anything moves: is all that lives here in the plan?"""
        world = self._world
        coming.checked = True
        try:
            check_told(world.model, world.optimizers, world.extras)
            parts = self._tensors()
            check_planned(coming.preparation.summary, Side.SOURCE, parts.planned)
            self._check_late(coming.preparation, parts.late)
            self._common(parts.late).check_travels()
        except DynatrainError as error:
            self._refuse(coming, "check", error)

    def _check_late(self, preparation: Preparation, tensors: Tensors) -> None:
        size = late.check_size(tensors)
        if (need := preparation.need) is not None:
            mode = memory.COLD if preparation.tight else memory.WARM
            memory.check_late(preparation.transition, need, mode, size)

    def _switch(self, coming: Coming, ended: float) -> bool:
        """The pause. True: committed, and this world is over."""
        laps, preparation = Laps(ended), coming.preparation
        with coming.held() as there:
            report = self._transfer(coming, laps) if there else None
        if report is None:
            return False
        if preparation.world is None:
            self._runtime.report({"kind": "left", "g": preparation.generation})
            leave_process(LEFT, "left the job as told")
        self.successor = preparation.world
        if preparation.tight:
            # Both states and a step don't fit: the old state goes first.
            going = Laps()
            self._world.let_go()
            memory.give_back()
            going.lap("let_go")
            report = {"times_ms": {**report.get("times_ms", {}), **going.times_ms}}
        coming.arrivals.put(
            Arrival(ended, {**laps.times_ms, **report.get("times_ms", {})})
        )
        return True

    def _transfer(self, coming: Coming, laps: Laps) -> Message | None:
        """The runtime's report; None if this world goes on."""
        try:
            self._bind(coming.preparation, laps)
        except Exception as error:
            self._refuse(coming, "bind", error)
            return None
        try:
            outcome, report = self._runtime.transfer(coming.preparation.generation)
        except Cancelled as error:
            leave_process(DISMISSED, str(error))
        if outcome is Outcome.COMMITTED:
            return report
        if failure := report.get("failure"):
            print(f"dynatrain: transfer: {failure}", file=sys.stderr, flush=True)
        return None

    def _bind(self, preparation: Preparation, laps: Laps) -> None:
        generation, parts = preparation.generation, self._tensors()
        summary = preparation.summary
        bind(self._runtime, generation, Side.SOURCE, summary, parts.planned)
        laps.lap("bind")
        if preparation.world is not None and not preparation.bound:
            preparation.materialize()  # cold: its memory comes only now
            preparation.bind_targets()
            laps.lap("allocate")
        self._runtime.put_blob(generation, "common", self._common(parts.late).encode())
        stream = bytes(streams.save().tolist())
        self._runtime.put_blob(generation, "coordinate", stream)
        laps.lap("save")

    def _tensors(self) -> late.Parts:
        world = self._world
        assert world.manifest is not None
        tensors = tensors_of(world.model, world.optimizers)
        return late.split(tensors, world.manifest.by_key())

    def _common(self, by_value: Tensors) -> Common:
        world = self._world
        return Common.of(
            world.step,
            world.samples,
            world.model,
            world.optimizers,
            world.extras,
            by_value,
        )

    def _refuse(self, coming: Coming, stage: str, error: Exception) -> None:
        report_failure(self._runtime, coming.preparation.generation, stage, error)
        coming.give_up()


def report_failure(
    runtime: Runtime, generation: int, stage: str, error: BaseException
) -> None:
    """Tells agent and log that this process can't go on with a transition."""
    expected = isinstance(error, DynatrainError)
    if not expected:
        traceback.print_exception(error)
    reason = str(error) if expected else f"{type(error).__name__}: {error}"
    print(
        f"dynatrain: generation {generation}: {stage}: {reason}",
        file=sys.stderr,
        flush=True,
    )
    frame: Message = {"kind": "failed", "g": generation}
    runtime.report({**frame, "stage": stage, "reason": reason})


def leave_process(code: int, reason: str) -> NoReturn:
    """Ends the process at once: other threads may be inside torch."""
    print(f"dynatrain: {reason}", file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(code)
