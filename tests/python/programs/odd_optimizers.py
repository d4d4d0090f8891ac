"""A regression on every rank, with an optimizer that is out of the ordinary.

Options come from ODD, a JSON object: `optimizer` is LBFGS (whose step needs a
closure, and whose history grows) or SparseAdam (which wants sparse gradients);
`shard`: by fully_shard, else each rank holds the whole model and the program
averages the gradients itself.
"""

from __future__ import annotations

import json
import os
import time

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard

import dynatrain

OPTIONS = {"optimizer": "LBFGS", "shard": False, "step_s": 0.0, **json.loads(os.environ.get("ODD", "{}"))}
SPARSE = OPTIONS["optimizer"] == "SparseAdam"


class Curve(torch.utils.data.Dataset[Tensor]):
    """Rows of four numbers and what is to be made of them, or of one word."""

    def __len__(self) -> int:
        return 1200

    def __getitem__(self, index: int) -> Tensor:
        x = torch.arange(4) * (index % 11 + 1) / 20 - 1 + 0.03 * (index % 7)
        return torch.tensor([index % 9.0, index % 5.0]) if SPARSE else torch.cat([x, x.sin().sum()[None]])


def model() -> nn.Module:
    if SPARSE:
        return nn.Sequential(nn.Embedding(9, 1, sparse=True))
    return nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2, bias=False))


def build(mesh: dynatrain.Mesh) -> tuple[nn.Module, torch.optim.Optimizer, dict[str, object]]:
    net = model()
    if OPTIONS["shard"]:
        fully_shard(net, mesh=mesh["dp"])
    if SPARSE:
        return net, torch.optim.SparseAdam(net.parameters(), lr=0.05), {}
    search = "strong_wolfe" if OPTIONS["optimizer"] == "LBFGS" else None
    return net, torch.optim.LBFGS(net.parameters(), lr=0.3, max_iter=2, history_size=5, line_search_fn=search), {}


def step(world: dynatrain.World, batch: Tensor) -> dict[str, float]:
    def closure() -> float:
        world.optimizer.zero_grad()
        told, wanted = batch[:, :-1], batch[:, -1]
        output = world.model(told[:, 0].long() if SPARSE else told)
        loss = (output.sum(-1) - wanted).square().mean()
        (loss * world.weight).backward()
        if not OPTIONS["shard"]:
            average_gradients(world)
        return world.mean(loss)

    time.sleep(OPTIONS["step_s"])
    if SPARSE:
        loss = closure()
        world.optimizer.step()
        return {"loss": loss}
    return {"loss": world.optimizer.step(closure)}


def average_gradients(world: dynatrain.World) -> None:
    for parameter in world.model.parameters():
        assert parameter.grad is not None
        dist.all_reduce(parameter.grad)
        parameter.grad /= world.size


def init(net: nn.Module) -> None:
    torch.manual_seed(3)
    dynatrain.load_full(net, model().state_dict())


def main() -> None:
    torch.set_num_threads(1)
    dynatrain.run(build, step, dynatrain.Data(Curve(), global_batch=12, steps=1_000_000), init)


if __name__ == "__main__":
    main()
