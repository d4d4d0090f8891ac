"""State that is no tensor of the parameter space, as bytes.

``common`` is equal on all ranks: counters, parameter groups (learning rates),
what the optimizer keeps that is no tensor, the state of the extras.
``coordinate`` belongs to a place in the mesh: torch's CPU random stream.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from dynatrain.errors import Refused
from dynatrain.state import plain_state


@dataclass(frozen=True)
class Common:
    step: int  # completed
    samples: int  # committed
    groups: list[dict[str, Any]]  # of the optimizer, without the parameters
    plain: dict[str, dict[str, Any]]  # optimizer state by parameter name
    extras: dict[str, Any]

    @staticmethod
    def of(
        step: int,
        samples: int,
        model: nn.Module,
        optimizer: Optimizer,
        extras: Mapping[str, Any],
    ) -> Common:
        return Common(
            step=step,
            samples=samples,
            groups=[
                {k: v for k, v in group.items() if k != "params"}
                for group in optimizer.param_groups
            ],
            plain=plain_state(model, optimizer),
            extras={name: extra.state_dict() for name, extra in extras.items()},
        )

    def encode(self) -> bytes:
        buffer = io.BytesIO()
        torch.save(vars(self), buffer)
        return buffer.getvalue()

    @staticmethod
    def decode(data: bytes) -> Common:
        """Reads plain values and tensors only, never code."""
        return Common(**torch.load(io.BytesIO(data), weights_only=True))

    def check_travels(self) -> None:
        """Refuses, by name, an extra whose state is more than plain values."""
        for name, value in self.extras.items():
            try:
                one = Common(0, 0, [], {}, {name: value})
                Common.decode(one.encode())
            except Exception as error:
                raise Refused(
                    f"extras[{name!r}].state_dict() holds more than plain values and "
                    f"tensors, so it can't be sent: {str(error).splitlines()[0]}"
                ) from error

    def restore(
        self, model: nn.Module, optimizer: Optimizer, extras: Mapping[str, Any]
    ) -> None:
        """Puts everything but the counters into the objects of a new world."""
        if len(self.groups) != len(optimizer.param_groups):
            raise Refused(
                f"the optimizer had {len(self.groups)} parameter groups, build() now "
                f"made {len(optimizer.param_groups)}"
            )
        for group, values in zip(optimizer.param_groups, self.groups, strict=True):
            group.update(values)
        parameters = dict(model.named_parameters())
        for name, values in self.plain.items():
            optimizer.state[parameters[name]].update(values)
        for name, extra in extras.items():
            extra.load_state_dict(self.extras[name])


def encode_stream(state: torch.Tensor) -> bytes:
    return bytes(state.tolist())


def decode_stream(data: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)
