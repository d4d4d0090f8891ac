"""PyTorch's distributed checkpoint: the boxes that each rank would write, and those of a checkpoint's metadata, are our regions."""

from __future__ import annotations

import json
import math
import pathlib
from typing import Any

import compare
import dtensor_jobs
import files
import pytest
from workers import Workers

Chunk = tuple[tuple[int, ...], tuple[int, ...]]
ODD = {"vocabulary": 11, "width": 6, "hidden": 10}
EVEN = {"vocabulary": 8, "width": 8, "hidden": 16}
SHORT = [({"dp": 3}, ODD), ({"dp": 2, "tp": 2}, EVEN)]
LONG = [({"dp": 7}, ODD), ({"rep": 2, "dp": 2}, ODD), ({"dp": 2, "tp": 4}, EVEN), ({"rep": 2, "dp": 2, "tp": 2}, EVEN)]


def chunks(listed: dict[str, Any], rank: int) -> dict[str, list[Chunk]]:
    """Our regions of a rank by tensor."""
    return {entry["name"]: [(tuple(region["origin"]), tuple(region["shape"])) for region in entry["regions"]]
            for entry in listed["ranks"][rank]["tensors"] if entry["state"] == "param"}


def filled(found: dict[str, list[Chunk]]) -> dict[str, list[Chunk]]:
    """Without the chunks that hold nothing: a rank with an empty shard has one."""
    kept = {name: [chunk for chunk in of if 0 not in chunk[1]] for name, of in found.items()}
    return {name: of for name, of in kept.items() if of}


def check(workers: Workers, folder: pathlib.Path, mesh: dict[str, int], model: dict[str, Any]) -> None:
    arguments = {"mesh": mesh, "model": model, "folder": str(folder / "checkpoint")}
    dumps = workers.run("checkpoint_jobs:dump", math.prod(mesh.values()), arguments)

    def fields(name: str, shape: list[int]) -> dict[str, Any]:
        return {"splits": dtensor_jobs.splits(name, shape, mesh, True, 0)}
    listed = compare.listing(files.torch_file(mesh, files.tensors(dumps[0]["shapes"], fields)))
    ours = [chunks(listed, rank) for rank in range(len(dumps))]
    assert ours == [filled(dump["planned"]) for dump in dumps]
    union = {name: sorted({chunk for of in ours for chunk in of.get(name, [])}) for name in dumps[0]["shapes"]}
    assert union == {name: sorted(set(of)) for name, of in filled(dumps[0]["written"]).items()}


@pytest.mark.parametrize(("mesh", "model"), SHORT, ids=lambda value: json.dumps(value))
def test_chunks_are_our_regions(workers: Workers, tmp_path: pathlib.Path, mesh: dict[str, int], model: dict[str, Any]) -> None:
    check(workers, tmp_path, mesh, model)


@pytest.mark.long
@pytest.mark.parametrize(("mesh", "model"), LONG, ids=lambda value: json.dumps(value))
def test_more_chunks_are_our_regions(workers: Workers, tmp_path: pathlib.Path, mesh: dict[str, int], model: dict[str, Any]) -> None:
    check(workers, tmp_path, mesh, model)
