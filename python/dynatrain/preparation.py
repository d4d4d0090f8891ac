"""Building the next world beside the live one, in a thread of its own.

In this order, each step making the next one cheaper to give up: groups and
mesh; model and optimizer on the meta device; manifest and plan; then, if it
fits (`memory`), real memory and a whole step on a throw-away batch. Nothing
here moves the live world: random numbers come from a private place.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from dynatrain import late, memory, streams, worlds
from dynatrain.binding import bind
from dynatrain.data import Data, warm_up_batch
from dynatrain.errors import Cancelled, Refused
from dynatrain.layout import Layout
from dynatrain.manifest import Manifest, manifest_of
from dynatrain.materialize import (
    allocate,
    check_on_meta,
    fill,
    make_optimizer_state,
    renew_optimizer_state,
    state_at_birth,
)
from dynatrain.mesh import Mesh
from dynatrain.pace import Pace
from dynatrain.randomness import Private, derived_seed
from dynatrain.runtime import Code, Message, Runtime, Side
from dynatrain.state import check_told, each, tensors_of
from dynatrain.store import RendezvousStore
from dynatrain.timing import Laps
from dynatrain.transition import Transition
from dynatrain.world import Build, World

Step = Callable[[World, Any], Any]
Init = Callable[[nn.Module], None]


class Program:
    """What the user gave: how to build, step, read and begin."""

    def __init__(
        self, build: Build, step: Step | None, data: Data, init: Init | None
    ) -> None:
        self.build = build
        self.step = step  # None: the user owns the loop, so there is no warm-up
        self.data = data
        self.init = init


class Preparation:
    """One transition's work in this process, up to `prepared`.

    `world` is None in a process that leaves. Not thread-safe but for
    `cancel`.
    """

    def __init__(
        self,
        runtime: Runtime,
        program: Program,
        transition: Transition,
        rank: int | None,
        source_rank: int | None,
        pace: Pace,
    ) -> None:
        self.transition = transition
        self.generation = transition.generation
        self.rank = rank
        self._source_rank = source_rank
        self.mode = memory.WARM
        self.need: memory.Need | None = None  # once it is known; None if it leaves
        self.tight = False  # memory only at the transfer
        self.summary: Message = {}
        self.world: World | None = None
        self.allocated = False
        self.bound = False
        self.laps = Laps()
        self.groups = worlds.Groups(transition.tag)
        self._runtime = runtime
        self._program = program
        self._pace = pace
        self._cancelled = threading.Event()
        self._born: list[dict[Any, Any]] = []

    def cancel(self) -> None:
        self._cancelled.set()

    def is_cancelled_within(self, seconds: float) -> bool:
        return self._cancelled.wait(seconds)

    def run(self) -> Message:
        """Prepares and returns the frame to report. REQUIRES: own thread, in
        which `groups` is the current world."""
        with self._pace.beside():
            return self._run()

    def _run(self) -> Message:
        if self.rank is None:
            self._plan(self.transition.manifest)
            return self._prepared(state_bytes=0)
        private = Private(self.transition.tag, self._pace.give_way)
        with private:
            self._build(self.rank)
            manifest = self._describe()
        self._plan(manifest.to_json())
        state_bytes = self._choose_mode(manifest)
        if not self.tight and not self.transition.is_first_start:
            self.materialize()
            if self.mode == memory.WARM:
                with private:
                    self._warm_up()
            self.bind_targets()
        if self.transition.is_first_start:
            self._begin()
        return self._prepared(state_bytes)

    def materialize(self) -> None:
        """Memory for the new world, bound to receive. Once."""
        if self.allocated:
            return
        world = self._world
        allocate(world.model, world.optimizers)
        self.allocated = True
        self._lap("allocate")

    def bind_targets(self) -> None:
        """To be called when the tensors are where they will stay."""
        world = self._world
        assert world.manifest is not None
        late.forget(world.model, world.optimizers, world.manifest.by_key())
        tensors = tensors_of(world.model, world.optimizers)
        bind(self._runtime, self.generation, Side.TARGET, self.summary, tensors)
        self.bound = True
        self._lap("bind_target")

    @property
    def _world(self) -> World:
        assert self.world is not None
        return self.world

    @property
    def layout(self) -> Layout:
        assert self.transition.target.layout is not None
        return self.transition.target.layout

    def _build(self, rank: int) -> None:
        generation, tag = self.generation, self.transition.tag
        self.groups.create(
            RendezvousStore(self._runtime, generation),
            f"world{generation}_{tag:08x}",
            rank,
            self.layout.world_size,
        )
        self._lap("groups")
        axes = self.layout.mesh_axes
        torch_mesh = worlds.make_mesh(
            tag, generation, {axis: self.layout.sizes[axis] for axis in axes}
        )
        names = {axis: worlds.torch_name(axis, tag, generation) for axis in axes}
        mesh = Mesh(generation, self.layout, rank, torch_mesh, names)
        self.world = World(mesh, self.groups)
        self._lap("mesh")
        with torch.device("meta"):
            built = self._program.build(mesh)
        _check_built(built)
        self.world.set_built(*built)
        check_on_meta(self.world.model, self.world.optimizers)
        check_told(self.world.model, self.world.optimizers, self.world.extras)
        self._lap("build")

    def _describe(self) -> Manifest:
        world = self._world
        self._born = state_at_birth(world.optimizers)
        make_optimizer_state(world.optimizers)
        world.manifest = manifest_of(
            tensors_of(world.model, world.optimizers),
            world.model,
            self.layout,
            world.mesh.coordinates,
        )
        self._lap("describe")
        return world.manifest

    def _plan(self, manifest: str) -> None:
        self.summary = self._runtime.plan(self.transition.message, manifest)
        self._lap("plan")

    def _choose_mode(self, manifest: Manifest) -> int:
        world = self._world
        state_bytes = manifest.local_bytes(self.layout, world.mesh.coordinates)
        gradients = memory.gradient_bytes(world.model)
        self.need = need = memory.Need(
            state_bytes=state_bytes,
            gradient_bytes=gradients,
            transient_bytes=max(memory.transient_bytes(), gradients),
            staging_bytes=int(self.summary.get("staging_bytes", 0)),
            held_bytes=self._held_bytes(manifest),
        )
        self.mode = memory.decide(self.transition, need)
        self.tight = self.mode == memory.COLD
        if self._program.step is None:
            self.mode = memory.COLD  # nothing can be warmed up
        return state_bytes

    def _held_bytes(self, manifest: Manifest) -> int:
        """What this process holds of the live world; 0 for a joiner."""
        source, rank = self.transition.source, self._source_rank
        if source.layout is None or rank is None:
            return 0
        return manifest.local_bytes(source.layout, source.layout.coordinate(rank))

    def _warm_up(self) -> None:
        """A whole step, so that the first real one finds all caches filled."""
        world, data, step = self._world, self._program.data, self._program.step
        assert step is not None
        fill(world.model)
        batch = warm_up_batch(
            data, world.data_parts, world.data_part, world.purpose(0, warm_up=True)
        )
        world.set_batch(batch)
        world.warming_up = True
        step(world, batch.content)
        world.warming_up = False
        for parameter in world.model.parameters():
            parameter.grad = None
        self._lap("warm_up")

    def _begin(self) -> None:
        """A first start: values from init(), random streams from the seed."""
        world = self._world
        self.materialize()
        with torch.no_grad():
            for buffer in world.model.buffers():
                buffer.zero_()
        if self._program.init is None:
            raise Refused(
                "the job starts and no init was given: run(…, init=init) fills the "
                "parameters and buffers that build() made on the meta device"
            )
        self._program.init(world.model)
        streams.begin(
            derived_seed(self.transition.seed, self.generation, world.mesh.coordinates)
        )
        renew_optimizer_state(world.optimizers, self._born)
        self.bound = True  # there is nothing to receive
        self._lap("init")

    def _prepared(self, state_bytes: int) -> Message:
        copied = (
            "manifest_digest",
            "plan_digest",
            "sent_hash",
            "received_hash",
            "staging_bytes",
            "kept_bytes",
            "moved_bytes",
            "minimal_bytes",
        )
        manifest = self.world.manifest if self.world else None
        frame: Message = {
            "kind": "prepared",
            "g": self.generation,
            "manifest": manifest.to_json() if manifest else self.transition.manifest,
            "mode": self.mode,
            "new_bytes": state_bytes,
            "times_ms": dict(self.laps.times_ms),
        }
        frame.update({k: self.summary[k] for k in copied if k in self.summary})
        return frame

    def _lap(self, name: str) -> None:
        self.laps.lap(name)
        self._pace.give_way()
        if self._cancelled.is_set():
            raise Cancelled(Code.CANCELLED, f"told to give up after {name}")


def _check_built(built: Any) -> None:
    if not (isinstance(built, tuple) and len(built) == 3):
        raise Refused(
            "build() must return (model, optimizer, extras), extras being a "
            'dict like {"scheduler": scheduler} or {}'
        )
    made = built[1]
    several = isinstance(made, list | tuple | dict) and len(made) > 0
    ones = each(made).values() if several else [made]
    if not all(isinstance(one, torch.optim.Optimizer) for one in ones):
        raise Refused(
            f"build() returned a {type(made).__name__} as the optimizer: it must be "
            "a torch.optim.Optimizer, or a list or dict of some"
        )
