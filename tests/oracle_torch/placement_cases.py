"""Random DTensor placements, and what torch's distribute_tensor gives each rank of them.

Worlds are torch's `fake` backend: no rank talks, and with src_data_rank=None distribute_tensor only cuts. So one process plays
every rank in turn, and hundreds of cases take seconds.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import Placement, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.placement_types import _StridedShard
from torch.testing._internal.distributed.fake_pg import FakeStore

AXES = ("a", "b", "c")
MESHES = [(2,), (3,), (4,), (7,), (2, 2), (2, 3), (3, 2), (4, 2), (2, 4), (1, 4), (2, 2, 2), (2, 3, 2), (3, 1, 2), (2, 2, 3)]


@dataclasses.dataclass(frozen=True)
class Case:
    """A tensor on a mesh; placements as torch prints them, one per mesh dim."""

    mesh: tuple[int, ...]
    shape: tuple[int, ...]
    placements: tuple[str, ...]

    def layout_file(self) -> dict[str, Any]:
        mesh = ",".join(f"{axis}{size}" for axis, size in zip(AXES, self.mesh, strict=False))
        tensor = {"name": "w", "shape": list(self.shape), "placements": list(self.placements), "states": ["param:int64"]}
        return {"framework": "torch", "torch": {"mesh": mesh, "tensors": [tensor]}}


def _placement(text: str) -> Placement:
    if text == "R":
        return Replicate()
    numbers = [int(n) for n in text[text.index("(") + 1:-1].split(",")]
    return Shard(numbers[0]) if len(numbers) == 1 else _StridedShard(numbers[0], split_factor=numbers[1])


def _draw(rng: random.Random, mesh: tuple[int, ...]) -> Case:
    shape = tuple(rng.choice([1, 2, 3, 4, 5, 7, 8, 11, 12, 16, 23]) for _ in range(rng.choice([1, 2, 2, 3])))
    if rng.random() < 0.05:
        shape = (*shape[:-1], 0)
    texts = []
    for _ in mesh:
        dim = rng.randrange(len(shape))
        kind = rng.random()
        strided = f"_S({dim}, {rng.choice([2, 2, 3, 4, 5, 9])})"
        texts.append("R" if kind < 0.25 else f"S({dim})" if kind < 0.6 else strided)
    return Case(mesh, shape, tuple(texts))


def random_cases(seed: int, per_mesh: int) -> Iterator[Case]:
    rng = random.Random(seed)
    for mesh, _ in itertools.product(MESHES, range(per_mesh)):
        yield _draw(rng, mesh)


def _local(case: Case, mesh: DeviceMesh) -> np.ndarray[Any, np.dtype[np.int64]]:
    whole = torch.arange(math.prod(case.shape), dtype=torch.int64).reshape(case.shape)
    made = distribute_tensor(whole, mesh, [_placement(p) for p in case.placements], src_data_rank=None)
    return made.to_local().contiguous().numpy().copy()


def locals_of(cases: list[Case]) -> dict[Case, list[np.ndarray[Any, np.dtype[np.int64]]]]:
    """Each rank's local tensor, its elements being their row-major index in the whole one."""
    found: dict[Case, list[np.ndarray[Any, np.dtype[np.int64]]]] = {case: [] for case in cases}
    for shape in sorted({case.mesh for case in cases}):
        for rank in range(math.prod(shape)):
            dist.init_process_group("fake", rank=rank, world_size=math.prod(shape), store=FakeStore())
            try:
                mesh = init_device_mesh("cpu", shape, mesh_dim_names=AXES[: len(shape)])
                for case in found:
                    if case.mesh == shape:
                        found[case].append(_local(case, mesh))
            finally:
                dist.destroy_process_group()
    return found
