"""A job's dump as the listing that a live job gives to `dynatrain layout --diff`: a region for each run of neighbouring elements."""

from __future__ import annotations

import math
from typing import Any

Json = dict[str, Any]


def _regions(ids: Any, shape: list[int]) -> list[Json]:
    """Runs along the last dim: what a program knows that has no idea of boxes."""
    width = shape[-1] if shape else 1
    strides = [math.prod(shape[dim + 1:]) for dim in range(len(shape))]
    regions: list[Json] = []
    last = -2
    for offset, index in enumerate(map(int, ids)):
        if index < 0:
            last = -2
        elif index == last + 1 and index % width:
            regions[-1]["shape"][-1] += 1
            last = index
        else:
            origin = [index // stride % extent for stride, extent in zip(strides, shape, strict=True)]
            regions.append({"origin": origin, "shape": [1] * len(shape), "offset": offset, "strides": [1] * len(shape)})
            last = index
    return regions


def listing(dumps: list[Json], framework: str = "torch") -> Json:
    def tensor(entry: Json) -> Json:
        kept = {key: entry[key] for key in ("name", "state", "dtype", "shape", "local_shape")}
        return {**kept, "live_name": entry["name"], "regions": _regions(entry["ids"], list(entry["shape"]))}
    ranks = [{"rank": rank, "tensors": [tensor(entry) for entry in dump["tensors"] if len(entry["ids"])]}
             for rank, dump in enumerate(dumps)]
    return {"version": 1, "framework": framework, "framework_version": "", "world_size": len(dumps), "ranks": ranks}
