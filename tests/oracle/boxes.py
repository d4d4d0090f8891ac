"""Boxes of a whole tensor and where their elements lie in a rank's storage, as docs/design/0002 writes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from math import prod
from typing import Any

import hashing
import numpy as np


@dataclasses.dataclass(frozen=True)
class Region:
    """The box at `origin` of the whole tensor: its first element lies at `offset` of the storage, its dims `strides` apart."""

    origin: tuple[int, ...]
    shape: tuple[int, ...]
    offset: int
    strides: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        return {"origin": list(self.origin), "shape": list(self.shape), "offset": self.offset, "strides": list(self.strides)}

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> Region:
        return cls(tuple(entry["origin"]), tuple(entry["shape"]), entry["offset"], tuple(entry["strides"]))

    def positions(self) -> hashing.Indices:
        """Where each element lies in the storage, in row-major order of the box."""
        positions = np.full((), self.offset, np.int64)
        for extent, stride in zip(self.shape, self.strides, strict=True):
            positions = positions[..., None] + stride * np.arange(extent, dtype=np.int64)
        return positions.reshape(-1)

    def indices(self, whole: tuple[int, ...]) -> hashing.Indices:
        """Which element of the whole tensor each one is (row-major), in the same order."""
        return hashing.global_indices(whole, self.origin, self.shape).reshape(-1)


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[d + 1:]) for d in range(len(shape)))


def regions_of_interval(region: Region, begin: int, end: int) -> Iterator[Region]:
    """What a flat shard, elements [begin, end) of the local tensor, holds of `region`: boxes, at their places in the shard.

    REQUIRES: the region's elements lie together in the local tensor, in row-major order (all cuts along dim 0, and a cut along
    another dim that is the only one, are like this).
    """
    if region.strides != row_major(region.shape):
        raise ValueError(f"not contiguous: {region}")
    first, last = max(begin, region.offset), min(end, region.offset + prod(region.shape))
    for origin, shape in boxes_of_interval(region.shape, first - region.offset, last - region.offset):
        flat = sum(o * s for o, s in zip(origin, region.strides, strict=True))
        yield Region(tuple(a + b for a, b in zip(region.origin, origin, strict=True)), shape, region.offset + flat - begin, region.strides)


def boxes_of_interval(shape: tuple[int, ...], begin: int, end: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(origin, shape) of the at most 2N-1 boxes that the flat interval [begin, end) of a row-major tensor consists of, in order."""
    if begin >= end:
        return
    if not shape:
        yield (), ()
        return
    row = prod(shape[1:])
    head, tail = divmod(begin, row), divmod(end, row)

    def of_row(index: int, a: int, b: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        for origin, extent in boxes_of_interval(shape[1:], a, b):
            yield (index, *origin), (1, *extent)
    if head[0] == tail[0]:
        yield from of_row(head[0], head[1], tail[1])
        return
    whole = head[0]
    if head[1]:
        yield from of_row(head[0], head[1], row)
        whole += 1
    if whole < tail[0]:
        yield (whole, *(0,) * (len(shape) - 1)), (tail[0] - whole, *shape[1:])
    if tail[1]:
        yield from of_row(tail[0], 0, tail[1])
