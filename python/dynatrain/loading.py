"""Filling a sharded model from full tensors, for init()."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from dynatrain.layout import AXES, Layout, local_box
from dynatrain.sharding import splits_of, wrapped_axes
from dynatrain.state import local_of
from dynatrain.worlds import axis_of


@torch.no_grad()
def load_full(model: nn.Module, full: Mapping[str, Tensor]) -> None:
    """Copies this rank's part of each full tensor into the model.

    full: fully qualified name → whole tensor, for all parameters and all
    buffers (tied ones once). No communication; every rank needs the same
    values, for example from a file or from a seed.

    >>> def init(model):                        # doctest: +SKIP
    ...     torch.manual_seed(0)
    ...     dynatrain.load_full(model, GPT().state_dict())
    """
    wrapped = wrapped_axes(model)
    own = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    if missing := [name for name in own if name not in full]:
        raise KeyError(f"no values for {', '.join(missing)}")
    for name, tensor in own.items():
        if tuple(full[name].shape) != tuple(tensor.shape):
            raise ValueError(
                f"{name} has shape {list(tensor.shape)}, the values have "
                f"{list(full[name].shape)}"
            )
        local = local_of(tensor)
        last = wrapped.get(id(tensor), frozenset())
        part = _part(name, tensor, full[name], last)
        if local.numel():
            local.copy_(part)


def _part(name: str, tensor: Tensor, full: Tensor, axes_last: frozenset[str]) -> Tensor:
    if not isinstance(tensor, DTensor):
        return full
    mesh = tensor.device_mesh
    place = mesh.get_coordinate()
    assert place is not None and mesh.mesh_dim_names is not None
    axes = [axis_of(n) for n in mesh.mesh_dim_names]
    sizes = dict.fromkeys(AXES, 1) | dict(zip(axes, mesh.shape, strict=True))
    splits = splits_of(name, tensor, axes_last)
    coordinate = dict.fromkeys(AXES, 0) | dict(zip(axes, place, strict=True))
    for dim, (origin, size) in enumerate(
        local_box(full.shape, splits, Layout(sizes), coordinate)
    ):
        full = full.narrow(dim, origin, size)
    return full
