"""From DTensor placements to `splits`: how a tensor is cut, by named axis.

A list of splits is applied left to right, each dividing what is left of its
dimension. DTensor writes placements in the order of the mesh, and says with
``_StridedShard(dim, split_factor)`` that some axes further right were applied
before. Normalising puts each axis where it was applied; for FSDP2 over TP,

    (dp: _StridedShard(0, sf=tp), tp: Shard(0))   →   [tp on 0, dp on 0]

An axis of size 1 leaves no trace in the placements. For parameters that
``fully_shard`` manages the order is known all the same: its axis is last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.placement_types import Placement, _StridedShard

from dynatrain.errors import Refused
from dynatrain.layout import Split
from dynatrain.state import BUFFER, PARAM, Key, Tensors
from dynatrain.worlds import axis_of


class _Cut(NamedTuple):
    axis: str
    size: int


def wrapped_axes(model: nn.Module) -> dict[int, frozenset[str]]:
    """id of each parameter under fully_shard → the axes it is sharded over."""
    found: dict[int, frozenset[str]] = {}
    for module in model.modules():
        if not isinstance(module, FSDPModule):
            continue
        for group in module._get_fsdp_state()._fsdp_param_groups:
            for parameter in group.fsdp_params:
                names = parameter.mesh_info.mesh.mesh_dim_names or ()
                axes = frozenset(axis_of(name) for name in names)
                found[id(parameter.sharded_param)] = axes
    return found


def splits_of(
    name: str, tensor: Tensor, axes_last: frozenset[str] = frozenset()
) -> tuple[Split, ...]:
    """The splits of a tensor. `axes_last`: applied after the others.

    Raises Refused for placements that are no sharding (Partial) or that
    belong to a mesh that is not made of the job's axes.
    """
    if not isinstance(tensor, DTensor):
        return ()
    mesh = tensor.device_mesh
    axes = [axis_of(n) for n in mesh.mesh_dim_names or ()]
    if len(axes) != mesh.ndim:
        raise Refused(
            f"{name} lives on a mesh without names; slice the mesh that build() is given"
        )
    order: dict[int, list[_Cut]] = {}  # by dim, in order of application
    for index in reversed(range(mesh.ndim)):
        placement = tensor.placements[index]
        if isinstance(placement, Replicate):
            continue
        dim, factor = _sharded(name, axes[index], placement)
        cut = _Cut(axes[index], mesh.size(index))
        cuts = order.setdefault(dim, [])
        cuts.insert(_position(name, cuts, factor, cut.axis in axes_last), cut)
    return tuple(
        Split(cut.axis, dim) for dim, cuts in sorted(order.items()) for cut in cuts
    )


def _sharded(name: str, axis: str, placement: Placement) -> tuple[int, int]:
    """Which dim is cut, and the split factor."""
    if isinstance(placement, _StridedShard):
        return placement.dim, int(placement.split_factor)
    if isinstance(placement, Shard):
        return placement.dim, 1
    raise Refused(
        f"{name} is placed {placement} on {axis}: only sharded and replicated "
        "tensors can travel; redistribute it first"
    )


def _position(name: str, cuts: Sequence[_Cut], factor: int, last: bool) -> int:
    """After the cuts whose sizes multiply to `factor`; behind size 1 if `last`."""
    product, fits = 1, [0] if factor == 1 else []
    for count, cut in enumerate(cuts, start=1):
        product *= cut.size
        if product == factor:
            fits.append(count)
    if not fits:
        raise Refused(
            f"{name} has a strided shard of factor {factor}, which no set of the "
            f"axes {', '.join(f'{c.axis}{c.size}' for c in cuts)} amounts to"
        )
    return fits[-1] if last else fits[0]


def by_state(tensors: Tensors, model: nn.Module) -> dict[Key, tuple[Split, ...]]:
    """The splits of all tensors of the state; a moment is cut as its parameter."""
    wrapped = wrapped_axes(model)
    parameters = {name: p for (name, state), p in tensors.items() if state == PARAM}
    found: dict[Key, tuple[Split, ...]] = {}
    for key, tensor in tensors.items():
        name, state = key
        parameter = parameters.get(name)
        label = name if state == PARAM else f"{state} of {name}"
        if state not in (PARAM, BUFFER):
            _check_moment(label, tensor, parameter)
        last = wrapped.get(id(parameter), frozenset())
        found[key] = splits_of(label, tensor, last)
    return found


def _check_moment(label: str, tensor: Tensor, parameter: Tensor | None) -> None:
    plain = not isinstance(tensor, DTensor)
    if plain and isinstance(parameter, DTensor) and tensor.ndim > 0:
        raise Refused(
            f"optimizer state {label} is a plain tensor of shape "
            f"{list(tensor.shape)} while the parameter is sharded, so nothing says "
            "which part it is; make it zeros_like(parameter), or a scalar"
        )
