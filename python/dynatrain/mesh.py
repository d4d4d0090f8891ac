"""The mesh as the user's program sees it."""

from __future__ import annotations

from collections.abc import Mapping

from torch.distributed import ProcessGroup
from torch.distributed.device_mesh import DeviceMesh

from dynatrain.errors import StaleWorld
from dynatrain.layout import Layout


class Mesh:
    """Ranks on named axes; slices are torch's own DeviceMesh.

    >>> fully_shard(model, mesh=mesh["dp"])            # doctest: +SKIP
    >>> parallelize_module(model, mesh["tp"], plan)    # doctest: +SKIP
    >>> mesh["rep", "dp"]                              # for HSDP, if rep > 1

    ``dp`` and ``tp`` are always there, at size 1 too; ``pp``, ``rep`` and
    ``ep`` only if their size is above 1. Always apply what an axis is for, at
    size 1 as well: the package predicts from it how the job is sharded at
    other sizes. Inside torch the dimensions have names of their generation;
    here they are called by the axis.
    """

    def __init__(
        self,
        generation: int,
        layout: Layout,
        rank: int,
        torch_mesh: DeviceMesh,
        names: Mapping[str, str],
    ) -> None:
        self.generation = generation
        self.layout = layout
        self.rank = rank
        self._coordinate = layout.coordinate(rank)
        self._mesh: DeviceMesh | None = torch_mesh
        self._names = dict(names)  # axis → torch's name of it

    def __getitem__(self, axes: str | tuple[str, ...]) -> DeviceMesh:
        wanted = (axes,) if isinstance(axes, str) else axes
        for axis in wanted:
            if axis not in self._names:
                raise KeyError(
                    f"mesh has no axis {axis!r}: layout {self.layout.text} has "
                    f"{', '.join(self._names)}"
                )
        names = tuple(self._names[axis] for axis in wanted)
        return self.torch_mesh[names[0] if len(names) == 1 else names]

    def __contains__(self, axis: str) -> bool:
        return axis in self._names

    @property
    def torch_mesh(self) -> DeviceMesh:
        """All axes together."""
        if self._mesh is None:
            raise StaleWorld(f"the mesh of generation {self.generation} is gone")
        return self._mesh

    def size(self, axis: str | None = None) -> int:
        """Parts along an axis (1 if it is not used), or of the whole world."""
        return self.layout.sizes[axis] if axis else self.layout.world_size

    def coordinate(self, axis: str) -> int:
        return self._coordinate[axis]

    def group(self, axis: str) -> ProcessGroup:
        return self[axis].get_group()

    @property
    def coordinates(self) -> Mapping[str, int]:
        return self._coordinate

    def retire(self) -> None:
        self._mesh = None

    def __repr__(self) -> str:
        place = ", ".join(f"{a}={self._coordinate[a]}" for a in self._names)
        return f"Mesh(generation {self.generation}, {self.layout.text}, at {place})"
