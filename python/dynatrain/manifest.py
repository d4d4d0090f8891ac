"""The manifest: every tensor of the job and how each axis cuts it.

Valid for any axis sizes, so that operator and ranks can predict layouts that
nobody runs yet. JSON form as in docs/design/0001.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from dynatrain.errors import Refused
from dynatrain.layout import Layout, Split, local_box
from dynatrain.sharding import by_state
from dynatrain.state import Key, Tensors, dtype_of, local_of

VERSION = 1


@dataclass(frozen=True)
class TensorSpec:
    """One tensor of the parameter space."""

    key: Key
    dtype: str  # as `dtype_of` names it
    shape: tuple[int, ...]  # global
    splits: tuple[Split, ...]


@dataclass(frozen=True)
class Manifest:
    """All tensors, sorted by (name, state)."""

    tensors: tuple[TensorSpec, ...]

    def to_json(self) -> str:
        return json.dumps(
            {
                "version": VERSION,
                "tensors": [
                    {
                        "name": spec.key.name,
                        "state": spec.key.state,
                        "dtype": spec.dtype,
                        "shape": list(spec.shape),
                        "splits": [{"axis": s.axis, "dim": s.dim} for s in spec.splits],
                    }
                    for spec in self.tensors
                ],
            },
            separators=(",", ":"),
        )

    def by_key(self) -> dict[Key, TensorSpec]:
        return {spec.key: spec for spec in self.tensors}

    def local_shape(
        self, spec: TensorSpec, layout: Layout, place: Mapping[str, int]
    ) -> tuple[int, ...]:
        return tuple(e.size for e in local_box(spec.shape, spec.splits, layout, place))

    def local_bytes(self, layout: Layout, place: Mapping[str, int]) -> int:
        """What one rank holds, all states together."""
        total = 0
        for spec in self.tensors:
            elements = 1
            for size in self.local_shape(spec, layout, place):
                elements *= size
            total += elements * _item_bytes(spec.dtype)
        return total


def manifest_of(
    tensors: Tensors, model: nn.Module, layout: Layout, place: Mapping[str, int]
) -> Manifest:
    """Describes the tensors of a world, real or on the meta device.

    Raises Refused, naming the tensor, if one's local part is not what its
    splits say: then the rule would be wrong at other sizes too.
    """
    splits = by_state(tensors, model)
    specs = tuple(
        TensorSpec(
            key=key,
            dtype=dtype_of(tensor),
            shape=tuple(tensor.shape),
            splits=splits[key],
        )
        for key, tensor in sorted(tensors.items())
    )
    manifest = Manifest(specs)
    for spec in specs:
        _check_local(
            spec,
            tuple(local_of(tensors[spec.key]).shape),
            manifest.local_shape(spec, layout, place),
        )
    return manifest


def _check_local(spec: TensorSpec, real: Sequence[int], ruled: Sequence[int]) -> None:
    if 0 in real and 0 in ruled:
        return  # nothing here, whatever the other sizes say
    if tuple(real) != tuple(ruled):
        raise Refused(
            f"{spec.key.state} of {spec.key.name}: this rank holds {list(real)}, but "
            f"splitting {list(spec.shape)} by {_text(spec.splits)} gives "
            f"{list(ruled)}; this way of sharding is not supported"
        )


def _text(splits: Sequence[Split]) -> str:
    return ", ".join(f"{axis} on dim {dim}" for axis, dim in splits) or "nothing"


def _item_bytes(dtype: str) -> int:
    return int(getattr(torch, dtype).itemsize)
