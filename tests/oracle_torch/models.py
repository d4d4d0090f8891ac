"""Models with the shapes that matter: odd sizes, fewer rows than ranks, one dim and none."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Block(nn.Module):
    """`fc1` has a bias, `fc2` has none."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = x + self.fc2(torch.relu(self.fc1(self.norm(x))))
        return y


class Model(nn.Module):
    """Tokens in, logits out; `tied` shares the embedding with the output."""

    def __init__(self, vocabulary: int = 11, width: int = 6, hidden: int = 10, layers: int = 2, tied: bool = False) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.scale = nn.Parameter(torch.ones(3))
        self.layers = nn.ModuleList(Block(width, hidden) for _ in range(layers))
        self.output = nn.Linear(width, vocabulary, bias=False)
        self.register_buffer("seen", torch.zeros(width, dtype=torch.int64))
        if tied:
            self.output.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) * self.scale.sum()
        for layer in self.layers:
            x = layer(x)
        logits: Tensor = self.output(x)
        return logits
