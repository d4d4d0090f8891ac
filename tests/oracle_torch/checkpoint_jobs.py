"""What torch.distributed.checkpoint says of a job: the chunks that each rank would write, and a written checkpoint's metadata."""

from __future__ import annotations

from typing import Any

from codes import Codes
from dtensor_jobs import parallelize
from models import Model
from torch.distributed.checkpoint.default_planner import create_default_local_save_plan
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.state_dict_saver import save
from torch.distributed.device_mesh import init_device_mesh

Chunk = tuple[tuple[int, ...], tuple[int, ...]]  # offset, shape


def dump(rank: int, world: int, mesh: dict[str, int], model: dict[str, Any], folder: str) -> dict[str, Any]:
    """FSDP2, with tensor parallelism if the mesh has tp."""
    made = Model(**model)
    codes = Codes.of_model(made)
    codes.fill(made)
    parallelize(made, mesh, init_device_mesh("cpu", tuple(mesh.values()), mesh_dim_names=tuple(mesh)))
    state = dict(made.named_parameters())
    planned: dict[str, list[Chunk]] = {}
    for item in create_default_local_save_plan(state, is_coordinator=rank == 0).items:
        assert item.tensor_data is not None
        chunk = item.tensor_data.chunk
        planned.setdefault(item.index.fqn, []).append((tuple(chunk.offsets), tuple(chunk.sizes)))
    save(state, storage_writer=FileSystemWriter(folder))
    metadata = FileSystemReader(folder).read_metadata().state_dict_metadata
    written = {name: [(tuple(chunk.offsets), tuple(chunk.sizes)) for chunk in getattr(found, "chunks")]  # noqa: B009
               for name, found in metadata.items()}
    return {"shapes": codes.shapes, "planned": planned, "written": written}
