"""A small job for end-to-end tests: FSDP2 x TP on CPUs, and a say in how it behaves.

It prints, from the ranks that hold them whole, digests of all parameters and
moments before and after each step, so that a test can see that nothing changes
between the end of one world and the start of the next.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import pathlib
import time

import torch
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

import dynatrain

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=1_000_000)
parser.add_argument("--width", type=int, default=48)
parser.add_argument("--layers", type=int, default=2)
parser.add_argument("--digest", action="store_true", help="print digests of the state around each step")
parser.add_argument("--hold-serial", type=int, default=-1, help="the member that waits in its step while /tmp/hold exists there")
parser.add_argument("--state-nobody-knows", action="store_true", help="keep a tensor where the package can't see it travel")
ARGUMENTS = parser.parse_args()
SERIAL = int(os.environ["DYNATRAIN_SERIAL"])


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        width = ARGUMENTS.width
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(ARGUMENTS.layers))
        self.head = nn.Linear(ARGUMENTS.width, 1)
        if ARGUMENTS.state_nobody_knows:
            self.average = torch.zeros(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Vectors(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return 2400

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.randn(ARGUMENTS.width, generator=torch.Generator().manual_seed(index))
        return x, torch.sin(x).sum(-1, keepdim=True)


def build(mesh: dynatrain.Mesh):
    model = Net()
    for block in model.blocks:
        parallelize_module(block, mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()}, src_data_rank=None)
        fully_shard(block, mesh=mesh["dp"])
    fully_shard(model, mesh=mesh["dp"])
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False), {}


def init(model: nn.Module) -> None:
    torch.manual_seed(0)
    dynatrain.load_full(model, Net().state_dict())


def digest(world: dynatrain.World) -> str:
    """Of every parameter and optimizer state, whole. A collective: all ranks call it."""
    total = hashlib.sha256()
    with torch.no_grad():
        for name, parameter in world.model.named_parameters():
            states = world.optimizer.state.get(parameter, {})
            for key, tensor in [("param", parameter), *sorted(states.items())]:
                whole = tensor.full_tensor() if isinstance(tensor, DTensor) else torch.as_tensor(tensor)
                total.update(f"{name}/{key}".encode() + whole.detach().contiguous().numpy().tobytes())
    return total.hexdigest()[:16]


def step(world: dynatrain.World, batch) -> dict[str, float]:
    real = not world.warming_up
    if real and ARGUMENTS.hold_serial == SERIAL:
        if pathlib.Path("/tmp/hold").exists():
            print(f"held before step {world.step + 1}", flush=True)
        while pathlib.Path("/tmp/hold").exists():
            time.sleep(0.05)  # a step that takes as long as the test wants
    if real and ARGUMENTS.digest:
        print(f"before {world.step + 1} {digest(world)}", flush=True)
    x, y = batch
    loss = nn.functional.mse_loss(world.model(x), y)
    (loss * world.weight).backward()
    world.optimizer.step()
    world.optimizer.zero_grad()
    if real and ARGUMENTS.digest:
        print(f"after {world.step + 1} {digest(world)}", flush=True)
    return {"loss": world.mean(loss)}


if __name__ == "__main__":
    dynatrain.run(build, step, dynatrain.Data(Vectors(), global_batch=24, seed=7, steps=ARGUMENTS.steps), init)
