"""DynaTrain: an elastic PyTorch job that is resized without a restart.

The layout of a live job changes, so a program can't hold one model for ever.
It gives functions, and the package owns the loop::

    import torch, dynatrain
    from torch.distributed.fsdp import fully_shard

    def build(mesh):                  # on the meta device, once per generation
        model = GPT()
        fully_shard(model, mesh=mesh["dp"])
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1000)
        return model, optimizer, {"scheduler": scheduler}

    def step(world, batch):           # one optimizer step
        loss = world.model(batch).mean()
        loss.backward()
        world.optimizer.step()
        world.optimizer.zero_grad()
        world.extras["scheduler"].step()
        return {"loss": world.mean(loss)}

    def init(model):                  # in the first generation only
        torch.manual_seed(0)
        dynatrain.load_full(model, GPT().state_dict())

    data = dynatrain.Data(TextDataset(), global_batch=24, steps=1000)
    dynatrain.run(build, step, data, init)

Parameters, buffers, optimizer states, learning rates, extras, the random streams
of torch, Python and numpy and the data cursor travel; what would be lost is
refused by name. Don't keep model, mesh or groups in globals.
"""

from __future__ import annotations

from collections.abc import Iterator

from dynatrain.data import Data, Reading, reading
from dynatrain.errors import DynatrainError, EngineError, Refused, StaleWorld
from dynatrain.job import open_job
from dynatrain.loading import load_full
from dynatrain.mesh import Mesh
from dynatrain.preparation import Init, Program, Step
from dynatrain.world import Build, World

__version__ = "0.1.0"
__all__ = [
    "Build",
    "Data",
    "DynatrainError",
    "EngineError",
    "Init",
    "Mesh",
    "Reading",
    "Refused",
    "StaleWorld",
    "Step",
    "World",
    "generations",
    "load_full",
    "reading",
    "run",
]


def run(build: Build, step: Step, data: Data, init: Init | None = None) -> None:
    """Trains until `data` is exhausted, in whatever worlds the job is given.

    build(mesh) → (model, optimizer, extras): called on the meta device for each
    generation, while the one before it trains. For several optimizers, a list or
    dict of them, which is then ``world.optimizers``. Each of `extras` has
    state_dict() and load_state_dict(). step(world, batch) → metrics: one
    optimizer step; also run once on a throw-away batch to warm a new world up
    (``world.warming_up``). init(model): fills parameters and buffers in the
    first generation; `load_full` helps.

    A process that leaves the job exits here with code 86. Raises what `build`,
    `step` or `init` raise in the live world, and Refused for what can't be.
    """
    open_job(Program(build, step, data, init)).run()


def generations(build: Build, data: Data, init: Init | None = None) -> Iterator[World]:
    """The worlds one after the other, for a program that must own the loop.

    >>> for world in dynatrain.generations(build, data, init):  # doctest: +SKIP
    ...     for batch in world.steps():
    ...         world.report(train_step(world, batch))

    As `run`, but the first step after a switch is cold: nothing can be warmed
    up in the caller's thread.
    """
    return open_job(Program(build, None, data, init)).generations()
