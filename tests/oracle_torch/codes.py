"""Values that say which element they are: an oracle that needs no mapping of its own.

Each parameter of a model is filled with `base + flat index`, bases apart, so that a local tensor, however torch made it,
tells for each of its elements the tensor and the row-major index in the whole tensor. Small values are no codes: FSDP1
fills its padding with 42. float32 holds integers up to 2^24 exactly, which bounds the models.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

LIMIT = 1 << 24


@dataclass
class Codes:
    """Which tensor has which range of values."""

    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    bases: dict[str, int] = field(default_factory=dict)
    end: int = 1000

    @staticmethod
    def of(shapes: Mapping[str, Iterable[int]]) -> Codes:
        codes = Codes()
        for name, shape in shapes.items():
            codes.add(name, tuple(shape))
        return codes

    @staticmethod
    def of_model(model: nn.Module) -> Codes:
        """A shared parameter counts once, under its first name."""
        return Codes.of({name: parameter.shape for name, parameter in model.named_parameters()})

    def add(self, name: str, shape: tuple[int, ...]) -> None:
        self.shapes[name] = shape
        self.bases[name] = self.end
        self.end += math.prod(shape)
        assert self.end <= LIMIT, "the model is too large for exact float32 codes"

    def whole(self, name: str) -> Tensor:
        shape = self.shapes[name]
        values = torch.arange(math.prod(shape), dtype=torch.float64) + self.bases[name]
        return values.to(torch.float32).reshape(shape)

    @torch.no_grad()
    def fill(self, model: nn.Module) -> None:
        for name, parameter in model.named_parameters():
            parameter.copy_(self.whole(name))

    def decode(self, name: str, values: Tensor) -> list[int]:
        """Per element of `values`, in storage order: its index in the whole tensor `name`; -1 if it is none of it."""
        codes = np.rint(values.detach().to(torch.float64).contiguous().flatten().numpy()).astype(np.int64)
        index = codes - self.bases[name]
        index[(index < 0) | (index >= math.prod(self.shapes[name]))] = -1
        return [int(i) for i in index]


def squared(values: Tensor) -> Tensor:
    """What exp_avg_sq holds, undone: Adam with betas (0, 0) keeps the gradient's square."""
    return values.detach().to(torch.float64).sqrt()
