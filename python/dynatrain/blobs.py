"""State that is no tensor of the parameter space, as bytes.

``common`` is equal on all ranks: counters, parameter groups (learning rates),
what the optimizers keep that is no tensor, or one that no plan knows (`late`),
the state of the extras.
``coordinate`` belongs to a place in the mesh: the random streams (`streams`).
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from dynatrain import late, nested
from dynatrain.errors import Refused
from dynatrain.state import Optimizers, Tensors, each, plain_state


@dataclass(frozen=True)
class Common:
    step: int  # completed
    samples: int  # committed
    # Of each optimizer: its groups without the parameters, its state by name.
    groups: list[list[dict[str, Any]]]
    plain: list[dict[str, dict[str, Any]]]
    extras: dict[str, Any]
    # Where in `plain` tensors were replicated DTensors: name and path.
    spread: list[tuple[str, str]] = field(default_factory=list)

    @staticmethod
    def of(
        step: int,
        samples: int,
        model: nn.Module,
        optimizers: Optimizers,
        extras: Mapping[str, Any],
        by_value: Tensors | None = None,
    ) -> Common:
        """`by_value`: tensors of the optimizers that no plan moves."""
        all_of_them, whole = each(optimizers).values(), by_value or {}
        ids = {id(tensor) for tensor in whole.values()}
        return Common(
            step=step,
            samples=samples,
            groups=[
                [
                    {k: v for k, v in group.items() if k != "params"}
                    for group in optimizer.param_groups
                ]
                for optimizer in all_of_them
            ],
            plain=[plain_state(model, optimizer, ids) for optimizer in all_of_them],
            extras={name: extra.state_dict() for name, extra in extras.items()},
            spread=[(key.name, key.state) for key in late.replicated(whole)],
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
        """Refuses, by name, what is more than plain values and tensors."""
        for name, value in self.extras.items():
            _check_travels(f"extras[{name!r}].state_dict()", value)
        for optimizer in self.groups:
            for index, group in enumerate(optimizer):
                for key, value in group.items():
                    _check_travels(f"param_groups[{index}][{key!r}]", value)
        for plain in self.plain:
            for name, values in plain.items():
                for key, value in values.items():
                    _check_travels(f"optimizer state {key!r} of {name}", value)

    def restore(
        self, model: nn.Module, optimizers: Optimizers, extras: Mapping[str, Any]
    ) -> None:
        """Puts everything but the counters into the objects of a new world."""
        labelled = each(optimizers)
        if len(self.groups) != len(labelled):
            raise Refused(
                f"the job had {len(self.groups)} optimizers, build() now made "
                f"{len(labelled)}"
            )
        parameters = dict(model.named_parameters())
        for (label, optimizer), groups, plain in zip(
            labelled.items(), self.groups, self.plain, strict=True
        ):
            if len(groups) != len(optimizer.param_groups):
                raise Refused(
                    f"{label} had {len(groups)} parameter groups, build() now "
                    f"made {len(optimizer.param_groups)}"
                )
            for group, values in zip(optimizer.param_groups, groups, strict=True):
                group.update(values)
            for name, values in plain.items():
                owner = parameters[name]
                state = optimizer.state[owner]
                spread = {path for whose, path in self.spread if whose == name}
                for key, value in values.items():
                    value = late.put_back(value, key, spread, owner)
                    state[key] = nested.merge(value, state.get(key))
        for name, extra in extras.items():
            extra.load_state_dict(self.extras[name])


def _check_travels(what: str, value: Any) -> None:
    if value is None or isinstance(value, bool | int | float | str):
        return
    try:
        Common.decode(Common(0, 0, [], [], {"": value}).encode())
    except Exception as error:
        raise Refused(
            f"{what} holds more than plain values and tensors, so it can't be sent: "
            f"{str(error).splitlines()[0]}"
        ) from error
