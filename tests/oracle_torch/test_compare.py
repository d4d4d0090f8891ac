"""The comparison itself finds nothing in what agrees, and whatever is changed in that, it finds."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import compare
import numpy as np
import pytest

Json = dict[str, Any]
DUMPS = [{"tensors": [{"name": "w", "state": "param", "dtype": "float32", "shape": [4, 2], "local_shape": [2, 2],
                       "ids": np.arange(4 * rank, 4 * rank + 4)}],
          "buffers": [{"name": "b", "elements": 4, "tensors": [{"name": "w", "begin": 0, "end": 4}]}]} for rank in range(2)]
OURS: Json = {"world_size": 2, "ranks": [
    {"tensors": [{"name": "w", "state": "param", "dtype": "float32", "shape": [4, 2], "local_shape": [2, 2],
                  "regions": [{"origin": [2 * rank, 0], "shape": [2, 2], "offset": 0, "strides": [2, 1]}]}],
     "buffers": [{"name": "b", "elements": 4, "tensors": [{"live_name": "w", "begin": 0, "end": 4}]}]} for rank in range(2)]}

CHANGES: dict[str, Callable[[Json, Json, Json], object]] = {
    "element": lambda tensor, _, __: tensor["regions"][0].update(strides=[1, 2]),
    "box": lambda tensor, _, __: tensor["regions"][0].update(origin=[1, 0]),
    "state": lambda tensor, _, __: tensor.update(state="main"), "dtype": lambda tensor, _, __: tensor.update(dtype="bfloat16"),
    "shape": lambda tensor, _, __: tensor.update(shape=[5, 2]), "local shape": lambda tensor, _, __: tensor.update(local_shape=[4]),
    "length": lambda _, buffer, __: buffer.update(elements=5), "place": lambda _, buffer, __: buffer["tensors"][0].update(end=3),
    "buffer": lambda _, buffer, __: buffer.update(name="c"), "world": lambda _, __, ours: ours.update(world_size=3)}


def test_what_agrees_has_no_differences() -> None:
    assert compare.differences(OURS, DUMPS) == []


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_found(change: str) -> None:
    ours = copy.deepcopy(OURS)
    rank = ours["ranks"][1]
    CHANGES[change](rank["tensors"][0], rank["buffers"][0], ours)
    assert compare.differences(ours, DUMPS)
