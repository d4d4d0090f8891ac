"""Axis sizes, coordinates and the chunk rule: which box a rank owns.

The text form is the one of specs and status: ``dp2,tp2,pp1[,ep2][,rep2]``.
Ranks are counted with ``tp`` fastest, in the order ``pp, rep, dp, ep, tp``.

>>> layout = Layout.parse("dp2,tp3")
>>> layout.world_size, layout.coordinate(4)["dp"], layout.coordinate(4)["tp"]
(6, 1, 1)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

AXES = ("pp", "rep", "dp", "ep", "tp")  # slowest first
_ALWAYS = ("dp", "tp")  # dimensions that torch's mesh always has


class Split(NamedTuple):
    """One cut of a tensor: ``dim`` is divided over mesh axis ``axis``."""

    axis: str
    dim: int


class Extent(NamedTuple):
    """Part of a dimension: ``size`` elements from ``origin``."""

    origin: int
    size: int


@dataclass(frozen=True)
class Layout:
    """How many parts each axis has."""

    sizes: Mapping[str, int]

    @staticmethod
    def parse(text: str) -> Layout:
        sizes = dict.fromkeys(AXES, 1)
        seen: set[str] = set()
        for part in text.split(","):
            axis = part.strip().rstrip("0123456789")
            digits = part.strip()[len(axis) :]
            if axis not in AXES or not digits or int(digits) < 1:
                raise ValueError(
                    f"layout {text!r}: {part!r} is not an axis of {'/'.join(AXES)} "
                    "followed by a size of at least 1, like dp2"
                )
            if axis in seen:
                raise ValueError(f"layout {text!r} names {axis} twice")
            seen.add(axis)
            sizes[axis] = int(digits)
        return Layout(sizes)

    @property
    def text(self) -> str:
        shown = [a for a in ("ep", "rep") if self.sizes[a] > 1]
        return ",".join(f"{a}{self.sizes[a]}" for a in ("dp", "tp", "pp", *shown))

    @property
    def world_size(self) -> int:
        return math.prod(self.sizes.values())

    @property
    def mesh_axes(self) -> tuple[str, ...]:
        """The axes that torch's mesh has: dp and tp, others if they are used."""
        return tuple(a for a in AXES if a in _ALWAYS or self.sizes[a] > 1)

    def coordinate(self, rank: int) -> dict[str, int]:
        place: dict[str, int] = {}
        for axis in reversed(AXES):
            rank, place[axis] = divmod(rank, self.sizes[axis])
        return place


def chunk(extent: Extent, parts: int, index: int) -> Extent:
    """Piece ``index`` of ``parts``: torch's rule, later ones shorter or empty."""
    step = -(-extent.size // parts)
    begin = min(index * step, extent.size)
    end = min(begin + step, extent.size)
    return Extent(extent.origin + begin, end - begin)


def local_box(
    shape: Sequence[int],
    splits: Sequence[Split],
    layout: Layout,
    coordinate: Mapping[str, int],
) -> list[Extent]:
    """The box of a tensor that the rank at ``coordinate`` owns."""
    box = [Extent(0, size) for size in shape]
    for axis, dim in splits:
        box[dim] = chunk(box[dim], layout.sizes[axis], coordinate[axis])
    return box


def share(total: int, parts: int, index: int) -> Extent:
    """Piece ``index`` of a batch: as even as can be, the first ones larger."""
    size, rest = divmod(total, parts)
    return Extent(index * size + min(index, rest), size + (index < rest))
