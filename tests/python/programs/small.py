"""A small model of everything awkward, with what a test wants to see of it.

Odd sizes, tied weights, a frozen parameter, buffers (one of integers, one not
persistent), dropout, noise from Python and numpy, SGD with momentum or AdamW. Options come from SMALL, a JSON
object, so that all ranks of a job get the same ones.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import random
import sys
import time
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.nn import functional as F

import dynatrain

OPTIONS: dict[str, Any] = {
    "steps": 1_000_000,
    "optimizer": "SGD",
    "dropout": 0.0,
    "noise": False,  # draw from random and numpy in each step
    "tp": False,  # use the tp axis (even sizes)
    "step_s": 0.0,  # make steps at least so long
    "dump": "",  # folder for hashes of the whole state
    "usage": "",  # folder for threads, fds and memory
    "grow": 0,  # at this step, keep state that nobody was told of
    "loop": False,  # own the loop: generations()
    **json.loads(os.environ.get("SMALL", "{}")),
}
WORDS, WIDTH = (12, 12) if OPTIONS["tp"] else (13, 7)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.up = nn.Linear(WIDTH, 2 * WIDTH)
        self.down = nn.Linear(2 * WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.embed.weight
        self.frozen = nn.Parameter(torch.empty(WIDTH), requires_grad=False)
        self.register_buffer("mask", torch.empty(WORDS), persistent=False)
        self.register_buffer("batches", torch.empty((), dtype=torch.int64))

    def forward(self, words: Tensor) -> Tensor:
        x = self.embed(words) * self.frozen
        x = x + self.down(torch.relu(self.up(x)))
        x = F.dropout(x, OPTIONS["dropout"], self.training)
        assert isinstance(self.mask, Tensor)
        logits: Tensor = self.head(x) + self.mask
        return logits


class Words(torch.utils.data.Dataset[Tensor]):
    def __len__(self) -> int:
        return 240

    def __getitem__(self, index: int) -> Tensor:
        return (torch.arange(6) * (index % 5 + 1) + index) % WORDS


def build(
    mesh: dynatrain.Mesh,
) -> tuple[nn.Module, torch.optim.Optimizer, dict[str, Any]]:
    model = Net()
    if OPTIONS["tp"]:
        plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
        parallelize_module(model, mesh["tp"], plan, src_data_rank=None)
    fully_shard(model, mesh=mesh["rep", "dp"] if "rep" in mesh else mesh["dp"])
    trained = [p for p in model.parameters() if p.requires_grad]
    if OPTIONS["optimizer"] == "SGD":
        optimizer: torch.optim.Optimizer = torch.optim.SGD(
            trained, lr=0.1, momentum=0.9, foreach=False
        )
    else:
        optimizer = torch.optim.AdamW(trained, lr=0.01, foreach=False)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
    return model, optimizer, {"scheduler": scheduler}


def step(world: dynatrain.World, batch: Tensor) -> dict[str, float]:
    began = time.perf_counter()
    trains = not world.warming_up
    if trains and OPTIONS["dump"]:
        dump(world, "begin")
    model = world.model
    assert isinstance(model, Net)
    if trains and OPTIONS["grow"] == world.step + 1:
        model.up.history = torch.ones(2)  # type: ignore[assignment]
    model.batches.add_(1)  # type: ignore[operator]
    logits = model(batch[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    if OPTIONS["noise"]:
        loss = loss * (1 + 0.1 * random.random() + 0.1 * float(np.random.rand()))
    (loss * world.weight).backward()  # type: ignore[no-untyped-call]
    world.optimizer.step()
    world.optimizer.zero_grad()
    world.extras["scheduler"].step()
    mean = world.mean(loss)
    time.sleep(max(0.0, OPTIONS["step_s"] - (time.perf_counter() - began)))
    if trains and OPTIONS["dump"]:
        dump(world, "end")
    if trains and OPTIONS["usage"]:
        note_usage(world)
    return {"loss": mean, "rate": world.optimizer.param_groups[0]["lr"]}


def init(model: nn.Module) -> None:
    torch.manual_seed(0)
    values = Net().state_dict()
    values["frozen"] = torch.linspace(0.5, 1.5, WIDTH)
    values["mask"] = torch.linspace(0, 1, WORDS)
    values["batches"] = torch.tensor(0)
    dynatrain.load_full(model, values)


def dump(world: dynatrain.World, when: str) -> None:
    """The whole state, gathered by torch alone: a line per tensor with its hash."""
    lines = []
    with torch.no_grad():
        for name, tensor in sorted(whole_state(world).items()):
            digest = hashlib.sha256(bytes(tensor.flatten().view(torch.uint8).tolist()))
            lines.append(f"{name} {list(tensor.shape)} {digest.hexdigest()}")
    if world.rank == 0:
        done = world.step + (when == "end")
        path = pathlib.Path(OPTIONS["dump"]) / f"{done:04}.{when}"
        path.write_text("\n".join(lines))


def whole_state(world: dynatrain.World) -> dict[str, Tensor]:
    named = {
        **dict(world.model.named_parameters()),
        **dict(world.model.named_buffers()),
    }
    for name, parameter in world.model.named_parameters():
        for key, value in world.optimizer.state.get(parameter, {}).items():
            named[f"{name}/{key}"] = value
    return {
        name: (t.full_tensor() if isinstance(t, DTensor) else t.detach()).reshape(-1)
        for name, t in named.items()
    }


def note_usage(world: dynatrain.World) -> None:
    status = dict(
        line.split(":", 1)
        for line in pathlib.Path("/proc/self/status").read_text().splitlines()
    )
    numbers = {
        "generation": world.generation,
        "threads": int(status["Threads"]),
        "fds": len(os.listdir("/proc/self/fd")),
        "rss_kb": int(status["VmRSS"].split()[0]),
        "groups": len(dist.distributed_c10d._pg_names),
    }
    with (pathlib.Path(OPTIONS["usage"]) / f"usage.{os.getpid()}").open("a") as log:
        print(json.dumps(numbers), file=log)


def main() -> None:
    torch.set_num_threads(1)
    data = dynatrain.Data(Words(), global_batch=12, steps=OPTIONS["steps"])
    if not OPTIONS["loop"]:
        return dynatrain.run(build, step, data, init)
    for world in dynatrain.generations(build, data, init):
        for batch in world.steps():
            world.report(step(world, batch))
    return None


if __name__ == "__main__":
    sys.exit(main())
