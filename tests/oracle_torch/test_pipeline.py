"""torch.distributed.pipelining: which rank has which stage's parameters, alone and with FSDP2 inside."""

from __future__ import annotations

import json
import math
from typing import Any

import compare
import files
import pytest
from pipeline_jobs import STYLES
from workers import Workers

SHORT: list[tuple[dict[str, int], dict[str, Any]]] = [
    ({"pp": 2}, {"stages": 2, "schedule": "gpipe"}),
    ({"pp": 2}, {"stages": 4, "schedule": "interleaved"}),
    ({"pp": 2}, {"stages": 4, "schedule": "zbv"}),
]
LONG: list[tuple[dict[str, int], dict[str, Any]]] = [
    ({"pp": 3}, {"stages": 3, "schedule": "gpipe"}),
    ({"pp": 3}, {"stages": 6, "schedule": "interleaved"}),
    ({"pp": 3}, {"stages": 6, "schedule": "zbv"}),
    ({"pp": 2, "dp": 2}, {"stages": 4, "schedule": "zbv", "fsdp": True}),
    ({"pp": 2, "dp": 3}, {"stages": 4, "schedule": "interleaved", "fsdp": True}),
]


def layout_file(mesh: dict[str, int], job: dict[str, Any], dump: dict[str, Any]) -> dict[str, Any]:
    stage_of = {name: stage for stage, names in enumerate(dump["stages"]) for name in names}

    def fields(name: str, shape: list[int]) -> dict[str, Any]:
        splits = {"splits": [{"axis": "dp", "dim": 0}]} if job.get("fsdp") else {}
        return {"stage": stage_of[name], **splits}
    pipeline = {"axis": "pp", "stages": job["stages"], "style": STYLES[job["schedule"]]}
    return files.torch_file(mesh, files.tensors(dump["shapes"], fields), pipeline=pipeline)


def check(workers: Workers, mesh: dict[str, int], job: dict[str, Any]) -> None:
    dumps = workers.run("pipeline_jobs:dump", math.prod(mesh.values()), {"mesh": mesh, **job})
    assert compare.differences(compare.listing(layout_file(mesh, job, dumps[0])), dumps) == []


@pytest.mark.parametrize(("mesh", "job"), SHORT, ids=lambda value: json.dumps(value))
def test_stages_are_where_the_layout_says(workers: Workers, mesh: dict[str, int], job: dict[str, Any]) -> None:
    check(workers, mesh, job)


@pytest.mark.long
@pytest.mark.parametrize(("mesh", "job"), LONG, ids=lambda value: json.dumps(value))
def test_more_stages_are_where_the_layout_says(workers: Workers, mesh: dict[str, int], job: dict[str, Any]) -> None:
    check(workers, mesh, job)
