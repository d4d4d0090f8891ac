"""What a rank holds, read out of the tensors themselves."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

import codes as coding
import numpy as np
import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
from torch.optim import Adam

Entry = dict[str, Any]


def local_of(tensor: Tensor) -> Tensor:
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor.detach()


def entry(codes: coding.Codes, name: str, state: str, values: Tensor) -> Entry:
    """`values`: the local elements as they lie in memory, codes or, for exp_avg_sq, squares of codes."""
    plain = coding.squared(values) if state == "exp_avg_sq" else values
    return {
        "name": name, "state": state, "dtype": str(values.dtype).removeprefix("torch."), "shape": list(codes.shapes[name]),
        "local_shape": list(values.shape), "ids": np.asarray(codes.decode(name, plain), dtype=np.int64)}


def stepped(parameters: Iterable[nn.Parameter]) -> Adam:
    """An optimizer after one step whose moments hold codes: the gradient is the parameter, nothing is forgotten, nothing learned."""
    parameters = list(parameters)
    for parameter in parameters:
        parameter.grad = parameter.detach().clone()
    optimizer = Adam(parameters, lr=0.0, betas=(0.0, 0.0), foreach=False)
    with contextlib.suppress(StopIteration):
        optimizer.step()
    return optimizer


def of_model(codes: coding.Codes, model: nn.Module) -> list[Entry]:
    """Parameters and Adam's moments of a model whose parameters are tensors or DTensors of their own."""
    named = dict(model.named_parameters())
    optimizer = stepped(named.values())
    entries = []
    for name, parameter in named.items():
        entries.append(entry(codes, name, "param", local_of(parameter)))
        for state in ("exp_avg", "exp_avg_sq"):
            moment = optimizer.state[parameter][state]
            assert isinstance(moment, DTensor) == isinstance(parameter, DTensor)
            entries.append(entry(codes, name, state, local_of(moment)))
    return entries


def placements(model: nn.Module) -> dict[str, dict[str, list[str]]]:
    """What torch reports, as it prints it, and the mesh axes that it reports it of."""
    return {name: {"axes": list(parameter.device_mesh.mesh_dim_names or ()), "placements": [str(p) for p in parameter.placements]}
            for name, parameter in model.named_parameters() if isinstance(parameter, DTensor)}


def full_tensors(codes: coding.Codes, model: nn.Module) -> list[str]:
    """The DTensors of which torch's own full_tensor() isn't what was put in."""
    return [name for name, parameter in model.named_parameters()
            if isinstance(parameter, DTensor) and not torch.equal(parameter.full_tensor().detach(), codes.whole(name))]


def misreported(model: nn.Module) -> list[str]:
    """The DTensors whose local shape isn't the one that torch computes from their placements."""
    def computed(parameter: DTensor) -> tuple[int, ...]:
        return compute_local_shape_and_global_offset(parameter.shape, parameter.device_mesh, parameter.placements)[0]
    return [name for name, parameter in model.named_parameters()
            if isinstance(parameter, DTensor) and tuple(parameter.to_local().shape) != computed(parameter)]
