"""Jobs of torch.distributed.pipelining: which parameters live on which rank. Each function runs on every rank.

The stages of a rank are those that torch's schedule gives it, and one real step through the pipeline proves them before anything is
dumped: a schedule whose stages lie elsewhere would hang or refuse.
"""

from __future__ import annotations

from typing import Any

import dumps
import torch
from codes import Codes
from models import Model
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining._utils import generate_rank_to_stage_mapping
from torch.distributed.pipelining.schedules import ScheduleGPipe, ScheduleInterleaved1F1B, ScheduleZBVZeroBubble

SCHEDULES: dict[str, Any] = {"gpipe": ScheduleGPipe, "interleaved": ScheduleInterleaved1F1B, "zbv": ScheduleZBVZeroBubble}
STYLES = {"gpipe": "loop", "interleaved": "loop", "zbv": "v"}


class Stage(nn.Module):
    """A part of the model, its parameters under the whole model's names. One layer each; the ends have the embedding, the output."""

    def __init__(self, model: Model, index: int, count: int) -> None:
        super().__init__()
        self.layers = nn.ModuleDict({str(index): model.layers[index]})
        self.embedding = model.embedding if index == 0 else None
        self.output = model.output if index == count - 1 else None

    def forward(self, x: Tensor) -> Tensor:
        if self.embedding is not None:
            x = self.embedding(x)
        for layer in self.layers.values():
            x = layer(x)
        return self.output(x) if self.output is not None else x


def stage_names(model: Model, index: int, count: int) -> list[str]:
    return [name for name, _ in Stage(model, index, count).named_parameters()]


def _step(schedule: Any, indices: list[int], count: int, microbatches: int) -> None:
    tokens = torch.arange(microbatches * 4).remainder(11).reshape(microbatches, 4)
    arguments = (tokens,) if 0 in indices else ()
    if count - 1 in indices:
        schedule.step(*arguments, target=tokens, losses=[])
    else:
        schedule.step(*arguments)


def _loss(logits: Tensor, target: Tensor) -> Tensor:
    return nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())


def dump(rank: int, world: int, mesh: dict[str, int], stages: int, schedule: str, fsdp: bool = False) -> dict[str, Any]:
    model = Model(layers=stages)
    model.scale = None  # type: ignore[assignment]
    codes = Codes.of_model(model)
    names = [stage_names(model, index, stages) for index in range(stages)]
    devices = init_device_mesh("cpu", tuple(mesh.values()), mesh_dim_names=tuple(mesh))
    pipe = devices["pp"]
    indices = generate_rank_to_stage_mapping(mesh["pp"], stages, STYLES[schedule])[pipe.get_local_rank()]
    parts = [Stage(model, index, stages) for index in indices]
    made = [PipelineStage(part, index, stages, torch.device("cpu"), group=pipe.get_group())
            for part, index in zip(parts, indices, strict=True)]
    microbatches = 2 * mesh["pp"]
    plan = SCHEDULES[schedule](made[0] if schedule == "gpipe" else made, n_microbatches=microbatches, loss_fn=_loss)
    _step(plan, indices, stages, microbatches)
    tensors: list[dict[str, Any]] = []
    shown: dict[str, Any] = {}
    for part in parts:
        part.zero_grad()
        for name, parameter in part.named_parameters():
            parameter.data.copy_(codes.whole(name))
        if fsdp:
            fully_shard(part, mesh=devices["dp"])
        tensors += dumps.of_model(codes, part)
        shown |= dumps.placements(part)
    return {"shapes": codes.shapes, "stages": names, "indices": indices, "placements": shown, "tensors": tensors}
