"""Jobs of DTensors, as a program makes them: FSDP2, HSDP, tensor parallelism, both, DDP. Each runs on every rank."""

from __future__ import annotations

from typing import Any

import dumps
from codes import Codes
from models import Model
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, SequenceParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

# Which dim tensor parallelism shards.
TP_DIMS = {"fc1.weight": 0, "fc1.bias": 0, "fc2.weight": 1, "embedding.weight": 0, "output.weight": 0}


def _tensor_parallel(model: Model, mesh: DeviceMesh) -> None:
    plan = {"norm": SequenceParallel(), "fc1": ColwiseParallel(), "fc2": RowwiseParallel()}
    for layer in model.layers:
        parallelize_module(layer, mesh, plan)
    parallelize_module(model, mesh, {"embedding": RowwiseParallel(), "output": ColwiseParallel()})


def _fully_shard(model: Model, mesh: DeviceMesh, dim: int) -> None:
    options: dict[str, Any] = {"mesh": mesh}
    if dim:
        options["shard_placement_fn"] = lambda parameter: Shard(dim) if parameter.ndim > dim else None
    for layer in model.layers:
        fully_shard(layer, **options)
    fully_shard(model, **options)


def parallelize(model: Model, mesh: dict[str, int], devices: DeviceMesh, fsdp: bool = True, shard_dim: int = 0) -> None:
    """Of the axes, rep and dp are FSDP's (if `fsdp`), tp is tensor parallelism's."""
    if "tp" in mesh:
        _tensor_parallel(model, devices["tp"])
    if fsdp:
        data = tuple(axis for axis in ("rep", "dp") if axis in mesh)
        _fully_shard(model, devices[data if len(data) > 1 else data[0]], shard_dim)


def dump(rank: int, world: int, mesh: dict[str, int], model: dict[str, Any], fsdp: bool = True, shard_dim: int = 0,
         ddp: bool = False) -> dict[str, Any]:
    """`mesh`: axes slowest first."""
    made = Model(**model)
    codes = Codes.of_model(made)
    codes.fill(made)
    devices = init_device_mesh("cpu", tuple(mesh.values()), mesh_dim_names=tuple(mesh))
    parallelize(made, mesh, devices, fsdp, shard_dim)
    whole: nn.Module = made
    if ddp:
        whole = DistributedDataParallel(made).module
    return {"placements": dumps.placements(whole), "shapes": codes.shapes, "tensors": dumps.of_model(codes, whole),
            "wrong_full_tensors": dumps.full_tensors(codes, whole), "misreported": dumps.misreported(whole)}


def tp_dim(name: str) -> int | None:
    """The dim that tensor parallelism shards of a parameter of the model."""
    return next((dim for suffix, dim in TP_DIMS.items() if name.endswith(suffix)), None)


def splits(name: str, shape: list[int], mesh: dict[str, int], fsdp: bool, shard_dim: int) -> list[dict[str, Any]]:
    """The sharding in the order in which it was done: tensor parallelism first, then FSDP."""
    found = []
    if "tp" in mesh and (dim := tp_dim(name)) is not None:
        found.append({"axis": "tp", "dim": dim})
    if fsdp and "dp" in mesh:
        found.append({"axis": "dp", "dim": shard_dim if len(shape) > shard_dim else 0})
    return found
