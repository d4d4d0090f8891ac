"""Is what our layout lists what the tensors of a real job hold? Element for element.

A job's dump says for each tensor of a rank which element lies where in its memory (`ids`: row-major indices in the whole tensor, -1 for
padding). Our listing says it with boxes. A tensor that a rank holds no element of may be left out of a listing.
"""

from __future__ import annotations

import json
import math
from typing import Any

import layouts
import numpy as np
from boxes import Region

Json = dict[str, Any]
Ids = np.ndarray[Any, np.dtype[np.int64]]


def listing(file: Json) -> Json:
    """What `dynatrain layout` says of a layout file."""
    answer = layouts.listing(json.dumps(file))
    assert not isinstance(answer, layouts.RefusedByUs), f"{answer.reason}\nof {json.dumps(file)}"
    return answer


def refusal(file: Json) -> str:
    """Why `dynatrain layout` refuses a file; "" if it doesn't."""
    answer = layouts.listing(json.dumps(file))
    return answer.reason if isinstance(answer, layouts.RefusedByUs) else ""


def ids_of(entry: Json) -> Ids:
    """A listed tensor as the ids of its memory."""
    ids = np.full(math.prod(entry["local_shape"]), -1, dtype=np.int64)
    for region in (Region.from_json(region) for region in entry["regions"]):
        positions = region.positions()
        assert (ids[positions] == -1).all(), f"two regions of {entry['name']} lie at the same place"
        ids[positions] = region.indices(tuple(entry["shape"]))
    return ids


def differences(ours: Json, dumps: list[Json]) -> list[str]:
    """All differences, a line each; `dumps` by rank."""
    lines = [] if ours["world_size"] == len(dumps) else [f"ours has {ours['world_size']} ranks, the job {len(dumps)}"]
    for rank, (mine, real) in enumerate(zip(ours["ranks"], dumps, strict=False)):
        lines += [f"rank {rank}: {line}" for line in _tensors(mine, real) + _buffers(mine.get("buffers", []), real.get("buffers", []))]
    return lines


def _tensors(mine: Json, real: Json) -> list[str]:
    listed = {(entry["name"], entry["state"]): entry for entry in mine["tensors"]}
    lines = []
    for entry in real["tensors"]:
        title = f"{entry['name']}/{entry['state']}"
        found = listed.pop((entry["name"], entry["state"]), None)
        if found is None:
            if len(entry["ids"]):
                lines.append(f"{title}: not in ours, the job has {len(entry['ids'])} elements")
            continue
        lines += [f"{title}: {line}" for line in _tensor(found, entry)]
    return lines + [f"{name}/{state}: only in ours" for (name, state), entry in listed.items() if math.prod(entry["local_shape"])]


def _tensor(mine: Json, real: Json) -> list[str]:
    lines = [f"{key}: ours {mine[key]}, real {real[key]}" for key in ("shape", "dtype") if mine[key] != real[key]]
    if mine["local_shape"] != real["local_shape"]:
        lines.append(f"local shape: ours {mine['local_shape']}, real {real['local_shape']}")
    ids, truth = ids_of(mine), real["ids"]
    if len(ids) != len(truth):
        return [*lines, f"ours has {len(ids)} elements, the job {len(truth)}"]
    wrong = np.flatnonzero(ids != truth)
    if len(wrong):
        first = int(wrong[0])
        lines.append(f"{len(wrong)} of {len(ids)} elements differ; at {first} ours has element {ids[first]}, the job {truth[first]}")
    return lines


def _buffers(mine: list[Json], real: list[Json]) -> list[str]:
    lines = []
    listed = {buffer["name"]: buffer for buffer in mine}
    for buffer in real:
        found = listed.pop(buffer["name"], None)
        if found is None:
            if buffer["tensors"]:
                lines.append(f"buffer {buffer['name']}: not in ours")
            continue
        places = [{"name": tensor["live_name"], "begin": tensor["begin"], "end": tensor["end"]} for tensor in found["tensors"]]
        if found["elements"] != buffer["elements"]:
            lines.append(f"buffer {buffer['name']}: ours has {found['elements']} elements, real {buffer['elements']}")
        if places != sorted(buffer["tensors"], key=lambda tensor: tensor["begin"]):
            lines.append(f"buffer {buffer['name']}: ours {places}, real {buffer['tensors']}")
    return lines + [f"buffer {name}: only in ours" for name in listed]
