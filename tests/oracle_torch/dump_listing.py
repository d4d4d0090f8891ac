"""A real job's dump as a listing: what a job whose layout no file says would write."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

Json = dict[str, Any]


def of_dumps(dumps: list[Json]) -> Json:
    """`dumps` by rank."""
    ranks = [{"rank": rank, "tensors": [_tensor(entry) for entry in dump["tensors"]],
              "buffers": [_buffer(buffer) for buffer in dump["buffers"]]} for rank, dump in enumerate(dumps)]
    return {"version": 1, "framework": "torch", "world_size": len(dumps), "ranks": ranks}


def _tensor(entry: Json) -> Json:
    fields = {key: entry[key] for key in ("name", "state", "dtype", "shape", "local_shape")}
    return {**fields, "live_name": entry["name"], "regions": [_region(entry["shape"], *run) for run in _runs(entry)]}


def _runs(entry: Json) -> list[tuple[int, int, int]]:
    """Elements that follow one another in memory and in one row of the tensor: first element, how many, where in memory."""
    ids = np.asarray(entry["ids"]).reshape(-1)
    row = entry["shape"][-1] if entry["shape"] else 1
    begins = [at for at in range(len(ids)) if at == 0 or ids[at] != ids[at - 1] + 1 or ids[at] % row == 0]
    return [(int(ids[begin]), end - begin, begin) for begin, end in itertools.pairwise([*begins, len(ids)]) if ids[begin] >= 0]


def _region(shape: list[int], first: int, count: int, offset: int) -> Json:
    origin = [int(index) for index in np.unravel_index(first, tuple(shape))] if shape else []
    strides = [math.prod(shape[dim + 1:]) for dim in range(len(shape))]
    return {"origin": origin, "shape": [1] * (len(shape) - 1) + [count] if shape else [], "offset": offset, "strides": strides}


def _buffer(buffer: Json) -> Json:
    places = sorted(buffer["tensors"], key=lambda place: int(place["begin"]))
    tensors = [{"live_name": place["name"], "begin": place["begin"], "end": place["end"]} for place in places]
    return {"name": buffer["name"], "elements": buffer["elements"], "buckets": [], "tensors": tensors}
