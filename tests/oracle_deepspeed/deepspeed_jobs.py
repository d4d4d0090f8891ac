"""Jobs of the real DeepSpeed engine on CPUs: what each rank's partitions hold. `dump` runs on every rank.

With `tp`, each rank's model has its pieces of some parameters from the start, by torch's chunk rule, uneven and empty ones too, as a
Megatron-like program does it; DeepSpeed knows of it only through the groups of an `mpu` (`Groups`).

One thing is replaced: its shared-memory all-reduce, which it compiles when it starts and which moves nothing that is dumped here.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import dumps
import torch
import torch.distributed as dist
from codes import Codes
from dtensor_jobs import TP_DIMS
from models import Model
from torch import Tensor, nn

STATES = ("exp_avg", "exp_avg_sq")


class Groups:
    """What DeepSpeed asks an `mpu`: ranks are (dp, tp), tp fastest."""

    def __init__(self, rank: int, world: int, tp: int) -> None:
        self._rank, self._world, self._tp = rank, world, tp
        for first in range(tp):
            group = dist.new_group(list(range(first, world, tp)))
            if rank % tp == first:
                self._data = group
        for first in range(0, world, tp):
            group = dist.new_group(list(range(first, first + tp)))
            if rank // tp * tp == first:
                self._model = group

    def get_data_parallel_group(self) -> Any:
        return self._data

    def get_data_parallel_rank(self) -> int:
        return self._rank // self._tp

    def get_data_parallel_world_size(self) -> int:
        return self._world // self._tp

    def get_model_parallel_group(self) -> Any:
        return self._model

    def get_model_parallel_rank(self) -> int:
        return self._rank % self._tp

    def get_model_parallel_world_size(self) -> int:
        return self._tp


def _keep_pieces(model: Model, pieces: int, number: int) -> None:
    """Of the parameters that tensor parallelism cuts, the pieces of one rank."""
    for layer in model.layers:
        for name, dim in TP_DIMS.items():
            owner, _, field = name.partition(".")
            if not hasattr(layer, owner):
                continue
            parameter = getattr(getattr(layer, owner), field)
            chunks = parameter.data.chunk(pieces, dim)
            parameter.data = (chunks[number] if number < len(chunks) else parameter.data.narrow(dim, 0, 0)).contiguous()


def _initialize(rank: int, world: int, model: nn.Module, groups: list[list[str]], config: dict[str, Any], mpu: Groups | None) -> Any:
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    importlib.import_module("deepspeed.comm.torch").build_shm_op = lambda: None  # type: ignore[attr-defined]
    named = dict(model.named_parameters())
    optimizer = torch.optim.Adam([{"params": [named[name] for name in group]} for group in groups], lr=0.0, betas=(0.0, 0.0), foreach=False)
    whole = {"train_micro_batch_size_per_gpu": 1, "zero_allow_untested_optimizer": True, "zero_force_ds_cpu_optimizer": False, **config}
    engine, *_ = importlib.import_module("deepspeed").initialize(model=model, optimizer=optimizer, config=whole, mpu=mpu)
    return engine


def _within(codes: Codes, names: list[str], values: Tensor, state: str, buffer: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The tensors of a flat tensor: each one's elements, which lie together, and where."""
    entries, places = [], []
    for name in names:
        whole = dumps.entry(codes, name, state, values)
        found = (whole["ids"] >= 0).nonzero()[0]
        begin, end = (int(found[0]), int(found[-1]) + 1) if len(found) else (0, 0)
        entries.append({**whole, "ids": whole["ids"][begin:end], "local_shape": [end - begin]})
        if end > begin:
            places.append({"name": name, "begin": begin, "end": end})
    return entries, {"name": buffer, "elements": values.numel(), "tensors": places}


class Dump:
    """What a rank has said so far."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        self.tensors: list[dict[str, Any]] = []
        self.buffers: list[dict[str, Any]] = []

    def flat(self, names: list[str], values: Tensor, state: str, buffer: str) -> None:
        tensors, place = _within(self.codes, names, values.detach(), state, buffer)
        self.tensors += tensors
        self.buffers.append(place)

    def result(self) -> dict[str, Any]:
        shapes = {name: list(shape) for name, shape in self.codes.shapes.items()}
        return {"shapes": shapes, "tensors": self.tensors, "buffers": self.buffers}


def _partitioned(dump: Dump, model: nn.Module, optimizer: Any, groups: list[list[str]]) -> None:
    """Stages 1 and 2: parameters are whole, in one buffer per group; what the optimizer steps is a part of the group."""
    for name, parameter in model.named_parameters():
        dump.tensors.append(dumps.entry(dump.codes, name, "param", parameter.detach()))
    for index, names in enumerate(groups):
        _, buffer = _within(dump.codes, names, optimizer.bit16_groups_flat[index].detach(), "param", f"{index}/param")
        dump.buffers.append(buffer)
        part = optimizer.single_partition_of_fp32_groups[index]
        dump.flat(names, part, "main", f"{index}/main")
        part.grad = part.detach().clone()
    optimizer.optimizer.step()
    for index, names in enumerate(groups):
        for state in STATES:
            values = optimizer.optimizer.state[optimizer.single_partition_of_fp32_groups[index]][state]
            dump.flat(names, values, state, f"{index}/{state}")


def _sharded(dump: Dump, model: nn.Module, optimizer: Any) -> None:
    """Stage 3: each parameter is cut by itself; what the optimizer steps are the shards of a sub-group, end to end."""
    name_of = {id(parameter): name for name, parameter in model.named_parameters()}
    for name, parameter in model.named_parameters():
        entry = dumps.entry(dump.codes, name, "param", getattr(parameter, "ds_tensor"))  # noqa: B009
        ids = entry["ids"][entry["ids"] >= 0]
        dump.tensors.append({**entry, "ids": ids, "local_shape": [len(ids)]})
    sub_groups = [[name_of[id(parameter)] for parameter in sub_group] for sub_group in optimizer.fp16_groups]
    _, buffer = _within(dump.codes, [name for names in sub_groups for name in names], optimizer.lp_param_buffer, "param", "param")
    dump.buffers.append(buffer)
    for index, names in enumerate(sub_groups):
        part = optimizer.fp32_partitioned_groups_flat[index]
        dump.flat(names, part, "main", f"{index}/main")
        part.grad = torch.nan_to_num(part.detach().clone())
        optimizer._optimizer_step(index)
        for state in STATES:
            dump.flat(names, optimizer.optimizer.state[part][state], state, f"{index}/{state}")


def dump(rank: int, world: int, stage: int, model: dict[str, Any], groups: list[list[str]] | None = None,
         options: dict[str, Any] | None = None, frozen: tuple[str, ...] = (), tp: int = 1) -> dict[str, Any]:
    """`groups`: names of the optimizer's groups; one of all that is trained if there are none. `options`: zero_optimization's.
    `tp`: ranks that share a model."""
    torch.use_deterministic_algorithms(True)  # fills what is allocated with NaN, so that padding never looks like an element
    made = Model(**model)
    codes = Codes.of_model(made)
    codes.fill(made)
    for name, parameter in made.named_parameters():
        parameter.requires_grad = name not in frozen
    if tp > 1:
        _keep_pieces(made, tp, rank % tp)
    mpu = Groups(rank, world, tp) if tp > 1 else None
    groups = groups or [[name for name in codes.shapes if name not in frozen]]
    engine = _initialize(rank, world, made, groups, {"zero_optimization": {"stage": stage, **(options or {})}}, mpu)
    out = Dump(codes)
    if stage == 3:
        _sharded(out, made, engine.optimizer)
    else:
        _partitioned(out, made, engine.optimizer, groups)
    return out.result()


