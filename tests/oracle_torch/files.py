"""Layout files (docs/design/0002) of the jobs of this folder: what a user would write of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Json = dict[str, Any]
STATES = ["param:float32", "exp_avg:float32", "exp_avg_sq:float32"]


def mesh_text(mesh: Mapping[str, int]) -> str:
    return ",".join(f"{axis}{size}" for axis, size in mesh.items())


def torch_file(mesh: Mapping[str, int], tensors: list[Json], **fields: Any) -> Json:
    return {"framework": "torch", "states": STATES, "torch": {"mesh": mesh_text(mesh), "tensors": tensors, **fields}}


def tensors(shapes: Mapping[str, Any], fields: Callable[[str, list[int]], Json]) -> list[Json]:
    """One entry for each name; `fields` says how it is sharded."""
    return [{"name": name, "shape": list(shape), **fields(name, list(shape))} for name, shape in shapes.items()]


def on_mesh(mesh: Mapping[str, int], axes: list[str], placements: list[str]) -> list[str]:
    """Placements of a DTensor on some axes of a mesh: replicated over the others."""
    by_axis = dict(zip(axes, placements, strict=True))
    return [by_axis.get(axis, "R") for axis in mesh]
