"""Is a layout of ours what a real job holds? Element for element; every difference is one line, the first tensors first.

A layout's listing says for each tensor of a rank which elements of the whole tensor lie where in its storage. The truth has the storage
itself, each element a hash of its name, state and index. So: the same tensors, no more and no fewer; every element of the storage named
exactly once; and at each place the hash of the element that the layout says is there. Flat buffers and their buckets must be equal.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

import hashing
import numpy as np
from boxes import Region
from worlds import Truth

Json = dict[str, Any]


@dataclasses.dataclass
class Counts:
    """How much was compared, so that a comparison of nothing is seen."""

    tensors: int = 0
    regions: int = 0
    elements: int = 0
    buffers: int = 0
    buckets: int = 0

    def text(self) -> str:
        return (f"{self.tensors} local tensors, {self.regions} regions, {self.elements:,} elements, "
                f"{self.buffers} flat buffers, {self.buckets} buckets")


def differences(ours: Json, truth: Truth) -> tuple[list[str], Counts]:
    """All differences between a listing of ours and a real job."""
    counts, found = Counts(), []
    for key in ("framework", "framework_version", "world_size"):
        if ours.get(key) != truth.listing[key]:
            found.append(f"{key}: ours {ours.get(key)!r}, real {truth.listing[key]!r}")
    our_ranks = {rank["rank"]: rank for rank in ours["ranks"]}
    if len(our_ranks) != len(ours["ranks"]):
        found.append("a rank is listed twice")
    for real in truth.listing["ranks"]:
        rank = real["rank"]
        if rank not in our_ranks:
            found.append(f"rank {rank}: ours doesn't list it")
            continue
        lines = [*tensor_differences(our_ranks[rank]["tensors"], real["tensors"], truth.values[rank], counts),
                 *buffer_differences(our_ranks[rank].get("buffers", []), real["buffers"], counts)]
        found += [f"rank {rank}: {line}" for line in lines]
    found += [f"rank {rank}: there is no such rank" for rank in our_ranks.keys() - {rank["rank"] for rank in truth.listing["ranks"]}]
    return found, counts


def summed_apart(truth: Truth) -> str:
    """Whether gradients are summed over ranks that don't hold the same part of a parameter: the first such; "" if there is none.

    Megatron builds such jobs: it asks nobody whether experts that lie in the buffer of dense parameters are cut as these are.
    """
    held = [{entry["live_name"]: (entry["name"], entry["regions"]) for entry in rank["tensors"] if entry["state"] == "param"}
            for rank in truth.listing["ranks"]]
    for rank in truth.listing["ranks"]:
        for buffer in rank["buffers"]:
            group = rank["groups"]["edp" if "/expert/" in buffer["name"] else "dp_cp"]
            for name in (tensor["live_name"] for tensor in buffer["tensors"]):
                other = next((other for other in group if held[other].get(name) != held[rank["rank"]][name]), None)
                if other is not None:
                    return f"sums gradients of different elements: {name} on ranks {rank['rank']} and {other}"
    return ""


def other_layers(truth: Truth, layers: int) -> str:
    """Whether Megatron built another number of layers than it was asked for, as it does if uneven stages don't add up."""
    ranks = truth.listing["ranks"]
    built: list[int] = []
    for stage in ranks[0]["groups"]["pp"]:
        names = [entry["name"] for entry in ranks[stage]["tensors"]]
        built += sorted({int(found[1]) for name in names if (found := re.match(r"decoder\.layers\.(\d+)\.", name))})
    return "" if sorted(built) == list(range(layers)) else f"builds other layers than {layers}: {built}"


def tensor_differences(ours: list[Json], real: list[Json], values: hashing.Values, counts: Counts) -> Iterator[str]:
    our_entries = {(entry["live_name"], entry["state"]): entry for entry in ours}
    if len(our_entries) != len(ours):
        yield "a tensor is listed twice"
    for entry in real:
        mine = our_entries.pop((entry["live_name"], entry["state"]), None)
        if mine is None:
            yield f"{title(entry)}: not in ours"
            continue
        counts.tensors += 1
        begin, end = entry["values"]
        for line in entry_differences(mine, entry, values[begin:end], counts):
            yield f"{title(entry)}: {line}"
    for entry in our_entries.values():
        # A shard that this rank holds nothing of may be listed with no element in it.
        if any(0 not in region["shape"] for region in entry["regions"]):
            yield f"{title(entry)}: only in ours"


def title(entry: Json) -> str:
    return f"{entry['live_name']} ({entry['state']})"


def entry_differences(mine: Json, real: Json, storage: hashing.Values, counts: Counts) -> Iterator[str]:
    """What differs in one local tensor; of its elements, the first one."""
    for key in ("name", "dtype", "shape", "local_shape"):
        if mine[key] != real[key]:
            yield f"{key}: ours {mine[key]}, real {real[key]}"
    if mine["shape"] != real["shape"]:
        return
    shape = tuple(real["shape"])
    regions = [Region.from_json(region) for region in mine["regions"]]
    counts.regions += len(regions)
    counts.elements += len(storage)
    outside = next((region for region in regions if _outside(region, shape)), None)
    if outside is not None:
        yield f"{outside} is not inside the tensor {list(shape)}"
        return
    positions = np.concatenate([region.positions() for region in regions] or [np.zeros(0, np.int64)])
    indices = np.concatenate([region.indices(shape) for region in regions] or [np.zeros(0, np.int64)])
    if len(positions) and (positions.min() < 0 or positions.max() >= len(storage)):
        yield f"ours names elements {positions.min()} to {positions.max()} of a storage of {len(storage)}"
        return
    named = np.bincount(positions, minlength=len(storage))
    if (named != 1).any():
        first = int(np.flatnonzero(named != 1)[0])
        yield f"element {first} of its storage, of {len(storage)}, is named {named[first]} times"
        return
    wrong = storage[positions] != hashing.values(real["name"], salt(real["state"]), indices)
    if wrong.any():
        yield first_wrong(positions[wrong], indices[wrong], real, shape)


def salt(state: str) -> str:
    """Buffers are filled together with the parameters."""
    return "param" if state == "buffer" else state


def _outside(region: Region, shape: tuple[int, ...]) -> bool:
    ranks_differ = len(region.origin) != len(shape) or len(region.shape) != len(shape)
    return ranks_differ or any(o < 0 or o + e > n for o, e, n in zip(region.origin, region.shape, shape, strict=True))


def first_wrong(positions: hashing.Indices, indices: hashing.Indices, real: Json, shape: tuple[int, ...]) -> str:
    """Where our map and the memory differ first, and what is really there, as far as Megatron's own regions say."""
    at = int(np.argmin(positions))
    place, element = int(positions[at]), np.unravel_index(int(indices[at]), shape)
    text = f"element {place} of its storage: ours {_index(element)}"
    for region in (Region.from_json(entry) for entry in real["regions"]):
        here = np.flatnonzero(region.positions() == place)
        if len(here):
            text += f", real {_index(np.unravel_index(int(region.indices(shape)[here[0]]), shape))}"
    return f"{text} of {list(shape)}; {len(positions)} elements differ"


def _index(index: tuple[Any, ...]) -> str:
    return "[" + ",".join(str(int(i)) for i in index) + "]"


def buffer_differences(ours: list[Json], real: list[Json], counts: Counts) -> Iterator[str]:
    our_buffers = {buffer["name"]: buffer for buffer in ours}
    for buffer in real:
        mine = our_buffers.pop(buffer["name"], None)
        if mine is None:
            yield f"buffer {buffer['name']}: not in ours"
            continue
        counts.buffers += 1
        counts.buckets += len(buffer["buckets"])
        if mine["elements"] != buffer["elements"]:
            yield f"buffer {buffer['name']}: elements: ours {mine['elements']}, real {buffer['elements']}"
        if mine["buckets"] != buffer["buckets"]:
            yield f"buffer {buffer['name']}: buckets: ours {_buckets(mine)}, real {_buckets(buffer)}"
        places, real_places = _places(mine), _places(buffer)
        for name in sorted(places.keys() | real_places.keys(), key=lambda name: real_places.get(name, (-1, 0))):
            if places.get(name) != real_places.get(name):
                yield f"buffer {buffer['name']}: {name}: ours at {places.get(name)}, real at {real_places.get(name)}"
    for name in our_buffers:
        yield f"buffer {name}: only in ours"


def _places(buffer: Json) -> dict[str, tuple[int, int]]:
    return {tensor["live_name"]: (tensor["begin"], tensor["end"]) for tensor in buffer["tensors"]}


def _buckets(buffer: Json) -> list[tuple[int, int, int]]:
    return [(bucket["begin"], bucket["end"], bucket["unpadded"]) for bucket in buffer["buckets"]]
