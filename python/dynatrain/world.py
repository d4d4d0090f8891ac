"""A world, as the user's program gets it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.distributed as dist
from torch import nn
from torch.optim import Optimizer

from dynatrain import worlds
from dynatrain.data import Batch, Reading
from dynatrain.errors import StaleWorld
from dynatrain.mesh import Mesh
from dynatrain.state import Optimizers

if TYPE_CHECKING:
    from dynatrain.manifest import Manifest

Extras = Mapping[str, Any]
Build = Callable[[Mesh], tuple[nn.Module, Optimizers, Extras]]


class _Built(NamedTuple):
    model: nn.Module
    optimizers: Optimizers
    extras: Extras


class World:
    """One generation: model, optimizer, extras and mesh, and its counters.

    ``step`` gets it with each batch. Its objects are of this generation
    only; once that is over they raise StaleWorld.
    """

    def __init__(self, mesh: Mesh, groups: worlds.Groups) -> None:
        self.mesh = mesh
        self.generation = mesh.generation
        self.rank = mesh.rank
        self.step = 0  # completed steps of the job
        self.samples = 0  # committed samples of the job
        self.warming_up = False  # in a step that trains nothing
        self.groups = groups
        self.manifest: Manifest | None = None
        self.first_step_done = threading.Event()
        self.reported: dict[str, float] = {}
        self._built: _Built | None = None
        self._batch = Batch(None, 1, 1)
        self._steps: Callable[[], Iterator[Any]] | None = None

    @property
    def model(self) -> nn.Module:
        return self._parts.model

    @property
    def optimizer(self) -> Optimizer:
        """The optimizer, if build() gave one by itself."""
        made = self._parts.optimizers
        if not isinstance(made, Optimizer):
            raise TypeError("build() gave several optimizers: use world.optimizers")
        return made

    @property
    def optimizers(self) -> Any:
        """What build() gave: an optimizer, or a list or dict of them."""
        return self._parts.optimizers

    @property
    def extras(self) -> Extras:
        return self._parts.extras

    @property
    def layout(self) -> str:
        return self.mesh.layout.text

    @property
    def size(self) -> int:
        return self.mesh.layout.world_size

    @property
    def data_parts(self) -> int:
        """Into how many parts the global batch is cut: rep x dp."""
        return self.mesh.size("rep") * self.mesh.size("dp")

    @property
    def data_part(self) -> int:
        place = self.mesh.coordinates
        return place["rep"] * self.mesh.size("dp") + place["dp"]

    @property
    def local_samples(self) -> int:
        """Samples in this rank's part of the current batch."""
        return self._batch.samples

    @property
    def global_samples(self) -> int:
        """Samples in the whole current batch."""
        return self._batch.global_samples

    @property
    def weight(self) -> float:
        """What a mean over the local part counts in the global mean: 1 if all
        coordinates have equally many samples. ``(loss * world.weight).backward()``
        makes gradients right where they haven't."""
        return self._batch.samples * self.data_parts / self._batch.global_samples

    def mean(self, value: torch.Tensor | float) -> float:
        """The mean over the global batch of a mean over the local part.

        One small all-reduce; every rank must call it.
        """
        if isinstance(value, torch.Tensor):
            value = value.detach().item()
        sums = torch.tensor(
            [value * self._batch.samples, self._batch.samples], dtype=torch.float64
        )
        dist.all_reduce(sums)
        return (sums[0] / sums[1]).item()

    def steps(self) -> Iterator[Any]:
        """The batches of this generation, for who owns the loop.

        REQUIRES: a world from generations().
        """
        if self._steps is None:
            raise StaleWorld("steps() is for worlds from dynatrain.generations()")
        return self._steps()

    def report(self, metrics: Mapping[str, Any] | None) -> None:
        """Metrics of the step that is being done, as step() would return them."""
        self.reported = {k: float(v) for k, v in (metrics or {}).items()}

    def purpose(self, step: int, warm_up: bool = False) -> Reading:
        tp = self.mesh.coordinate("tp")
        return Reading(self.generation, step, self.data_part, tp, warm_up)

    def set_built(
        self, model: nn.Module, optimizers: Optimizers, extras: Extras
    ) -> None:
        self._built = _Built(model, optimizers, extras)

    def set_batch(self, batch: Batch) -> None:
        self._batch = batch

    def set_steps(self, steps: Callable[[], Iterator[Any]]) -> None:
        self._steps = steps

    def retire(self) -> float:
        """Lets go of everything, then ends the groups; returns milliseconds.

        To be called in the thread that trained in this world.
        """
        began = time.perf_counter()
        self._drop()
        self.mesh.retire()
        worlds.forget()
        self.groups.destroy()
        worlds.collect()
        return (time.perf_counter() - began) * 1e3

    def let_go(self) -> None:
        """Frees model and optimizer at once; the rest waits for retire()."""
        self._drop()
        worlds.collect()

    def _drop(self) -> None:
        self._built = None
        self._steps = None
        self._batch = Batch(None, 1, 1)

    @property
    def _parts(self) -> _Built:
        if self._built is None:
            raise StaleWorld(
                f"generation {self.generation} is over; use the world that step() gets"
            )
        return self._built
