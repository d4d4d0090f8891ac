"""Optimizer state that comes after a world was built, or grows with its steps.

The plan of a transition is made from the state that a first step makes. What
an optimizer adds later (the history of LBFGS, averages that begin at step
1,000) is not in it, and travels by value instead, with the state that is no
tensor (`blobs`): each rank keeps its own, a joiner gets a survivor's. That is
right for what every rank holds whole and equal, and only for that: plain
tensors of plain parameters, scalars, and DTensors that are replicated over the
mesh of their parameter. Anything else is left for the plan to refuse by name.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.distributed.tensor import DTensor, Replicate

from dynatrain import nested
from dynatrain.errors import Refused
from dynatrain.state import (
    BUFFER,
    PARAM,
    Key,
    Optimizers,
    Tensors,
    each,
    local_of,
    tensors_of,
)

# What a stream of the runtime library takes (transition/engine/stream_format.h),
# less what is left for the state that is no tensor.
MOST_BYTES = 240 << 20


class Parts(NamedTuple):
    """All tensors of a state: those for the plan, those that go by value."""

    planned: Tensors
    late: Tensors


def split(tensors: Tensors, known: Container[Key]) -> Parts:
    """`known`: what was there when the world was built, the manifest's keys."""
    late = {
        key: tensor
        for key, tensor in tensors.items()
        if key not in known
        and key.state not in (PARAM, BUFFER)
        and _is_whole(tensor, tensors[Key(key.name, PARAM)])
    }
    return Parts({k: t for k, t in tensors.items() if k not in late}, late)


def _is_whole(tensor: Tensor, parameter: Tensor) -> bool:
    if not isinstance(tensor, DTensor):
        return tensor.ndim == 0 or not isinstance(parameter, DTensor)
    return (
        isinstance(parameter, DTensor)
        and tensor.device_mesh == parameter.device_mesh
        and all(isinstance(p, Replicate) for p in tensor.placements)
    )


def check_size(late: Tensors) -> int:
    """Their bytes. Refuses, with the number, what no joiner could receive."""
    sizes = {key: local_of(tensor).nbytes for key, tensor in late.items()}
    if sum(sizes.values()) > MOST_BYTES:
        first = min(sizes)
        raise Refused(
            f"{first.state} of {first.name} and {len(sizes) - 1} more tensors came "
            f"after the world was built, {sum(sizes.values())} bytes; at most "
            f"{MOST_BYTES} can travel by value. Keep less (LBFGS: history_size), or "
            "make the state in the optimizer's first step, so that it can be planned"
        )
    return sum(sizes.values())


def forget(model: nn.Module, optimizers: Optimizers, known: Container[Key]) -> None:
    """Leaves only the tensors of `known` in the optimizers' state.

    For a new world, whose warm-up step may have made more; what the live world
    keeps comes by value.
    """
    kept = {id(t) for k, t in tensors_of(model, optimizers).items() if k in known}
    for optimizer in each(optimizers).values():
        for state in optimizer.state.values():
            for key, value in list(state.items()):
                if any(id(t) in kept for _, t in nested.tensors(value, "")):
                    state[key] = nested.change(lambda t: t if id(t) in kept else None, value)
                else:
                    del state[key]


def replicated(tensors: Tensors) -> list[Key]:
    """Which of them are DTensors: by value they are plain."""
    return [key for key, tensor in tensors.items() if isinstance(tensor, DTensor)]


def put_back(value: Any, path: str, spread: Collection[str], owner: Tensor) -> Any:
    """A state that came by value, for the parameter `owner` of a new world.

    `spread`: the paths of the tensors that were replicated DTensors.
    """
    if not isinstance(owner, DTensor):
        return value
    chosen = {id(t) for where, t in nested.tensors(value, path) if where in spread}
    return nested.change(lambda t: _over(t, owner) if id(t) in chosen else t, value)


def _over(tensor: Tensor, owner: DTensor) -> Tensor:
    mesh = owner.device_mesh
    return DTensor.from_local(tensor, mesh, [Replicate()] * mesh.ndim, run_check=False)
