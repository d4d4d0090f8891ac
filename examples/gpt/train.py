"""A byte-level GPT on the sources of Python's standard library.

Ordinary PyTorch: FSDP2 x tensor parallel over gloo on CPUs, AdamW with warm-up
and cosine decay, a global batch that stays the same whatever the world. What
makes it elastic are the functions build(), step() and init(), and the last
line of main().
"""

from __future__ import annotations

import argparse
import math
import pathlib
import sysconfig
from collections.abc import Callable
from typing import Any, TextIO

import torch
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.nn import functional as F

import dynatrain

VOCABULARY = 256  # bytes
WIDTH, HEADS, LAYERS, CONTEXT = 192, 12, 5, 32  # tp 1, 2, 3, 4, 6
BATCH = 24  # sequences per step; even for dp 1, 2, 3, 4, 6, 8
PEAK_RATE, WARM_UP_STEPS = 1e-3, 20


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query = nn.Linear(WIDTH, WIDTH, bias=False)
        self.key = nn.Linear(WIDTH, WIDTH, bias=False)
        self.value = nn.Linear(WIDTH, WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attend(self.norm1(x))
        added: Tensor = self.down(F.gelu(self.up(self.norm2(x))))
        return x + added

    def attend(self, x: Tensor) -> Tensor:
        def heads(linear: nn.Module) -> Tensor:  # this rank's: HEADS / tp of them
            wide: Tensor = linear(x)
            return wide.view(*x.shape[:2], -1, WIDTH // HEADS).transpose(1, 2)

        mixed = F.scaled_dot_product_attention(
            heads(self.query), heads(self.key), heads(self.value), is_causal=True
        )
        out: Tensor = self.out(mixed.transpose(1, 2).flatten(-2))
        return out


class GPT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1])
        x = self.token(tokens) + self.position(places)
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.head(self.norm(x))
        return logits


class Text(torch.utils.data.Dataset[tuple[Tensor, Tensor]]):
    """Pieces of CONTEXT bytes, each with the bytes that follow."""

    def __init__(self, log: TextIO | None) -> None:
        folder = pathlib.Path(sysconfig.get_path("stdlib"))
        # Debian links sitecustomize.py to /etc, which a container may lack.
        sources = sorted(path for path in folder.glob("*.py") if path.is_file())
        text = b"".join(path.read_bytes() for path in sources)
        self.bytes = torch.frombuffer(bytearray(text), dtype=torch.uint8)
        self.log = log

    def __len__(self) -> int:
        return (len(self.bytes) - 1) // CONTEXT

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        if self.log is not None:
            self.write_log(self.log, index)
        piece = self.bytes[index * CONTEXT :][: CONTEXT + 1].long()
        return piece[:-1], piece[1:]

    def write_log(self, log: TextIO, index: int) -> None:
        """Which sample was read, by whom and for which step."""
        now = dynatrain.reading()
        if now is not None and not now.warm_up:
            print(now.generation, now.step, now.dp, now.tp, index, file=log, flush=True)


def rate(steps: int) -> Callable[[int], float]:
    """Linear warm-up, then a cosine down to a tenth."""

    def factor(step: int) -> float:
        if step < WARM_UP_STEPS:
            return (step + 1) / WARM_UP_STEPS
        done = min((step - WARM_UP_STEPS) / max(steps - WARM_UP_STEPS, 1), 1.0)
        return 0.55 + 0.45 * math.cos(math.pi * done)

    return factor


def builder(steps: int) -> dynatrain.Build:
    def build(
        mesh: dynatrain.Mesh,
    ) -> tuple[nn.Module, torch.optim.Optimizer, dict[str, Any]]:
        model = GPT()
        plan = {
            **dict.fromkeys(("query", "key", "value", "up"), ColwiseParallel()),
            **dict.fromkeys(("out", "down"), RowwiseParallel()),
        }
        for block in model.blocks:
            parallelize_module(block, mesh["tp"], plan, src_data_rank=None)
            fully_shard(block, mesh=mesh["dp"])
        fully_shard(model, mesh=mesh["dp"])
        # foreach can't mix parameters of one and of two mesh dimensions
        optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_RATE, foreach=False)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate(steps))
        return model, optimizer, {"scheduler": scheduler}

    return build


def step(world: dynatrain.World, batch: tuple[Tensor, Tensor]) -> dict[str, float]:
    tokens, following = batch
    logits = world.model(tokens)
    loss = F.cross_entropy(logits.flatten(0, 1), following.flatten())
    (loss * world.weight).backward()  # type: ignore[no-untyped-call]
    world.optimizer.step()
    world.optimizer.zero_grad()
    world.extras["scheduler"].step()
    return {"loss": world.mean(loss)}


def initializer(seed: int) -> dynatrain.Init:
    def init(model: nn.Module) -> None:
        torch.manual_seed(seed)
        dynatrain.load_full(model, GPT().state_dict())

    return init


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--steps", type=int, default=100_000, help="default %(default)s"
    )
    parser.add_argument("--seed", type=int, default=0, help="of values and data order")
    parser.add_argument(
        "--log-samples",
        type=pathlib.Path,
        metavar="PATH",
        help="append a line 'generation step dp tp index' for each sample read",
    )
    arguments = parser.parse_args()
    log = arguments.log_samples.open("a") if arguments.log_samples else None
    data = dynatrain.Data(
        Text(log), global_batch=BATCH, seed=arguments.seed, steps=arguments.steps
    )
    dynatrain.run(
        builder(arguments.steps), step, data, init=initializer(arguments.seed)
    )


if __name__ == "__main__":
    main()
