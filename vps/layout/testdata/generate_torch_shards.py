"""Writes torch_shards.json: what torch's DTensor holds on each rank, for named_layout_golden_test.

    python vps/layout/testdata/generate_torch_shards.py > vps/layout/testdata/torch_shards.json

A sharding is given in DynaTrain's words (splits in order) and in torch's (placements, one per mesh axis). Local shape
and offset are those of torch's own `compute_local_shape_and_global_offset`. For a `_StridedShard` over uneven pieces that
rule gathers rows which no rank holds: FSDP2 cuts what tensor parallelism left by torch.chunk. There the vectors hold what
nested calls of torch.chunk give, and say so ("by": "chunk"); everywhere else the generator insists that both agree.
"""

from __future__ import annotations

import itertools
import json
import random
import sys

import torch
from torch.distributed.tensor import Placement, Replicate, Shard
from torch.distributed.tensor._utils import _compute_local_shape_and_global_offset
from torch.distributed.tensor.placement_types import _StridedShard

AXES = ["pp", "rep", "dp", "ep", "tp"]  # slowest first
SEED = 20261130
CASES = 240

Splits = list[tuple[str, int]]


def placements_of(splits: Splits, sizes: dict[str, int]) -> list[Placement]:
    """An axis whose dim a later (faster) axis has already split is strided by that axis's size."""
    placements: list[Placement] = [Replicate() for _ in AXES]
    for i, (axis, dim) in enumerate(splits):
        factor = 1
        for earlier, earlier_dim in splits[:i]:
            if earlier_dim == dim and AXES.index(earlier) > AXES.index(axis):
                factor *= sizes[earlier]
        placements[AXES.index(axis)] = Shard(dim) if factor == 1 else _StridedShard(dim, split_factor=factor)
    return placements


def by_chunks(shape: list[int], splits: Splits, sizes: dict[str, int], at: dict[str, int]) -> tuple[list[int], list[int]]:
    rows = [torch.arange(n) for n in shape]
    for axis, dim in splits:
        pieces = list(torch.chunk(rows[dim], sizes[axis]))
        # torch.chunk leaves trailing empty pieces out.
        rows[dim] = pieces[at[axis]] if at[axis] < len(pieces) else rows[dim][:0]
    return [len(r) for r in rows], [int(r[0]) if len(r) else 0 for r in rows]


def expressible(splits: Splits) -> bool:
    """Of three axes on one dim some orders have no placement form; two always have."""
    per_dim: dict[int, list[int]] = {}
    for axis, dim in splits:
        per_dim.setdefault(dim, []).append(AXES.index(axis))
    return all(len(order) <= 2 for order in per_dim.values())


def case(rng: random.Random) -> dict[str, object] | None:
    sizes = dict.fromkeys(AXES, 1)
    for axis in rng.sample(AXES, 3):
        sizes[axis] = rng.choice([1, 2, 2, 3, 4])
    dims = rng.choice([1, 1, 2, 3])
    shape = [rng.choice([1, 2, 3, 5, 7, 11, 13, 24, 48]) for _ in range(dims)]
    splits = [(axis, rng.randrange(dims)) for axis in rng.sample(AXES, rng.randint(0, 4)) if sizes[axis] > 1]
    if rng.random() < 0.4:  # FSDP2 over TP
        sizes["tp"], sizes["dp"] = rng.choice([2, 3, 4]), rng.choice([2, 3])
        splits = [("tp", 0), ("dp", 0)]
    if not expressible(splits):
        return None
    placements = placements_of(splits, sizes)
    ranks = []
    by = "placements"
    for coordinate in itertools.product(*(range(sizes[axis]) for axis in AXES)):
        chunk = by_chunks(shape, splits, sizes, dict(zip(AXES, coordinate, strict=True)))
        mesh = [sizes[axis] for axis in AXES]
        local_shape, offset = _compute_local_shape_and_global_offset(shape, mesh, list(coordinate), placements)
        torch_says = (list(local_shape), list(offset))
        if 0 in torch_says[0]:
            torch_says = (torch_says[0], chunk[1])  # the offset of nothing means nothing
        if torch_says != chunk:
            if not any(isinstance(placement, _StridedShard) for placement in placements):
                sys.exit(f"{shape} {splits} {sizes} {coordinate}: torch {torch_says}, chunks {chunk}")
            by = "chunk"
        ranks.append(chunk)
    text = ",".join(f"{axis}{sizes[axis]}" for axis in AXES if sizes[axis] > 1) or "dp1"
    return {
        "sizes": text,
        "shape": shape,
        "splits": [{"axis": axis, "dim": dim} for axis, dim in splits],
        "placements": [str(p) for p in placements],
        "by": by,
        "ranks": ranks,
    }


def main() -> None:
    rng = random.Random(SEED)
    cases: list[dict[str, object]] = []
    while len(cases) < CASES:
        made = case(rng)
        if made is not None:
            cases.append(made)
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    print(f'{{"torch":"{torch.__version__}","axes":{json.dumps(AXES)},"cases":[\n{lines}\n]}}')


if __name__ == "__main__":
    main()
