"""What is bound is what was planned."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from dynatrain.binding import bind
from dynatrain.errors import Refused
from dynatrain.runtime import Side
from dynatrain.state import Key

KEY = Key("head.weight", "param")


class Bound:
    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def bind(self, *arguments: Any) -> None:
        self.calls.append(arguments)


def planned(dtype: str, shape: list[int]) -> dict[str, Any]:
    entry = {"index": 3, "name": KEY.name, "state": KEY.state, "dtype": dtype, "local_shape": shape}
    return {"targets": [entry]}


def test_a_tensor_is_bound_with_its_place_and_strides_in_bytes() -> None:
    runtime, tensor = Bound(), torch.zeros(4, 2, dtype=torch.bfloat16).t()
    bind(runtime, 7, Side.TARGET, planned("bfloat16", [2, 4]), {KEY: tensor})  # type: ignore[arg-type]
    assert runtime.calls == [(7, Side.TARGET, 3, tensor.data_ptr(), (2, 4), [2, 4])]


@pytest.mark.parametrize(
    ("tensor", "said"),
    [
        (torch.zeros(1, dtype=torch.bfloat16), "holds bfloat16, the plan expects float32"),
        (torch.zeros(2), r"holds \[2\], the plan expects \[1\]"),
    ],
)
def test_another_dtype_or_shape_than_planned_is_refused_by_name(tensor: torch.Tensor, said: str) -> None:
    """The runtime counts bytes as planned: it would write past the tensor's end."""
    runtime = Bound()
    with pytest.raises(Refused, match=f"param of head.weight: this rank {said}"):
        bind(runtime, 7, Side.TARGET, planned("float32", [1]), {KEY: tensor})  # type: ignore[arg-type]
    assert not runtime.calls
