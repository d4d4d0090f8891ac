"""One rank of a world of any size, in this process and without communication.

torch's fake process group lets DTensor and FSDP2 shard as they would at that
rank; only collectives do nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

from dynatrain import worlds
from dynatrain.layout import Layout
from dynatrain.mesh import Mesh


@contextlib.contextmanager
def fake_world(text: str, rank: int, generation: int = 1) -> Iterator[Mesh]:
    layout = Layout.parse(text)
    dist.init_process_group(
        "fake", store=FakeStore(), rank=rank, world_size=layout.world_size
    )
    try:
        sizes = {axis: layout.sizes[axis] for axis in layout.mesh_axes}
        torch_mesh = worlds.make_mesh(rank, generation, sizes)
        names = {a: worlds.torch_name(a, rank, generation) for a in sizes}
        yield Mesh(generation, layout, rank, torch_mesh, names)
    finally:
        worlds.forget()
        dist.destroy_process_group()
