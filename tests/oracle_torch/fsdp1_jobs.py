"""FSDP1 jobs: what each rank's flat parameters hold. Each function runs on every rank."""

from __future__ import annotations

from typing import Any

import dumps
import torch
from codes import Codes
from models import Block, Model
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision, ShardingStrategy
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

PREFIX = "_fsdp_wrapped_module."


def _wrap(model: Model, mesh: dict[str, int], strategy: str, use_orig_params: bool, compute_dtype: str) -> FSDP:
    devices = init_device_mesh("cpu", tuple(mesh.values()), mesh_dim_names=tuple(mesh))
    if "tp" in mesh:
        for layer in model.layers:
            parallelize_module(layer, devices["tp"], {"fc1": ColwiseParallel(), "fc2": RowwiseParallel()})
    data = tuple(axis for axis in ("rep", "dp") if axis in mesh)
    precision = MixedPrecision(param_dtype=getattr(torch, compute_dtype)) if compute_dtype else None
    return FSDP(model, device_mesh=devices[data if len(data) > 1 else data[0]], sharding_strategy=ShardingStrategy[strategy],
                auto_wrap_policy=ModuleWrapPolicy({Block}), use_orig_params=use_orig_params, mixed_precision=precision,
                device_id=torch.device("cpu"))


def _units(model: FSDP) -> dict[str, Any]:
    """The flat parameters by the name of their module, root first."""
    return {name.replace(PREFIX, "").replace("_fsdp_wrapped_module", "").strip("."): module._handle
            for name, module in model.named_modules() if isinstance(module, FSDP) and module._handle is not None}


def _names(handle: Any, unit: str) -> list[str]:
    return [f"{unit}.{name}" if unit else name for name in (fqn.replace(PREFIX, "") for fqn in handle.flat_param._fqns)]


def _of_unit(codes: Codes, unit: str, handle: Any, values: Tensor, state: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The tensors of a rank's shard of a flat parameter, and where in it they lie. FSDP1's own bookkeeping isn't asked."""
    entries, places = [], []
    for name, shape in zip(_names(handle, unit), handle.flat_param._shapes, strict=True):
        whole = dumps.entry(codes, name, state, values)
        found = (whole["ids"] >= 0).nonzero()[0]
        begin, end = (int(found[0]), int(found[-1]) + 1) if len(found) else (0, 0)
        local = [end - begin] if handle.uses_sharded_strategy else list(shape)
        entries.append({**whole, "ids": whole["ids"][begin:end], "local_shape": local})
        if end > begin:
            places.append({"name": name, "begin": begin, "end": end})
    return entries, {"name": f"{unit}/{state}", "elements": values.numel(), "tensors": places}


def dump(rank: int, world: int, mesh: dict[str, int], model: dict[str, Any], strategy: str = "FULL_SHARD", use_orig_params: bool = False,
         compute_dtype: str = "", frozen: tuple[str, ...] = ()) -> dict[str, Any]:
    """`mesh`: axes slowest first, rep and dp for FSDP, tp for tensor parallelism inside."""
    made = Model(**model)
    codes = Codes.of_model(made)
    codes.fill(made)
    for name, parameter in made.named_parameters():
        parameter.requires_grad = name not in frozen
    wrapped = _wrap(made, mesh, strategy, use_orig_params, compute_dtype)
    units = _units(wrapped)
    tensors, buffers = [], []
    for unit, handle in units.items():
        found, buffer = _of_unit(codes, unit, handle, handle.flat_param.detach(), "param")
        tensors += found
        buffers.append(buffer)
    if use_orig_params:
        tensors += _moments_of_parameters(codes, wrapped)
    else:
        found, more = _moments_of_units(codes, units)
        tensors, buffers = tensors + found, buffers + more
    return {"shapes": codes.shapes, "units": {unit: _names(handle, unit) for unit, handle in units.items()},
            "tensors": tensors, "buffers": buffers}


def _moments_of_parameters(codes: Codes, wrapped: nn.Module) -> list[dict[str, Any]]:
    """use_orig_params: the optimizer knows each parameter's part of the shard."""
    named = {name.replace(PREFIX, ""): parameter for name, parameter in wrapped.named_parameters()}
    optimizer = dumps.stepped(parameter for parameter in named.values() if parameter.numel() and parameter.requires_grad)
    entries = []
    for name, parameter in named.items():
        for state in ("exp_avg", "exp_avg_sq"):
            if parameter.requires_grad:
                values = optimizer.state[parameter][state] if parameter.numel() else torch.zeros(0)
                entries.append(dumps.entry(codes, name, state, values))
    return entries


def _moments_of_units(codes: Codes, units: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Without: the optimizer knows flat parameters only."""
    optimizer = dumps.stepped(handle.flat_param for handle in units.values())
    entries, buffers = [], []
    for unit, handle in units.items():
        for state in ("exp_avg", "exp_avg_sq"):
            found, buffer = _of_unit(codes, unit, handle, optimizer.state[handle.flat_param][state], state)
            entries += found
            buffers.append(buffer)
    return entries, buffers


