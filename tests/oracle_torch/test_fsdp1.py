"""FSDP1: what is in each rank's flat parameters, where, and what its optimizer holds."""

from __future__ import annotations

import json
import math
from typing import Any

import compare
import dump_listing
import files
import pytest
from dtensor_jobs import TP_DIMS
from workers import Workers

ODD = {"vocabulary": 11, "width": 6, "hidden": 10}
UNEVEN = {**ODD, "hidden": 5}  # on tp 2, 3 and 4: pieces of different sizes; on tp 4 the last rank has none
EVEN = {"vocabulary": 8, "width": 8, "hidden": 16}

SHORT: list[tuple[dict[str, int], dict[str, Any]]] = [
    ({"dp": 2}, {"model": ODD}),
    ({"dp": 3}, {"model": ODD, "use_orig_params": True}),
    ({"dp": 4}, {"model": {**ODD, "tied": True}, "use_orig_params": True, "compute_dtype": "bfloat16"}),
    ({"dp": 2}, {"model": ODD, "strategy": "NO_SHARD", "use_orig_params": True}),
    ({"rep": 2, "dp": 2}, {"model": ODD, "strategy": "HYBRID_SHARD"}),
    ({"dp": 2, "tp": 2}, {"model": EVEN, "use_orig_params": True}),
    ({"dp": 2, "tp": 2}, {"model": UNEVEN, "use_orig_params": True}),
    ({"dp": 2, "tp": 2}, {"model": UNEVEN}),
]
LONG: list[tuple[dict[str, int], dict[str, Any]]] = [
    *(({"dp": dp}, {"model": {**ODD, "tied": tied}, "strategy": strategy, "use_orig_params": use})
      for dp, tied in ((2, True), (5, False), (7, True), (8, False))
      for strategy in ("FULL_SHARD", "SHARD_GRAD_OP") for use in (False, True)),
    *(({"rep": rep, "dp": dp}, {"model": ODD, "strategy": strategy, "use_orig_params": use})
      for rep, dp in ((2, 3), (2, 4)) for strategy in ("HYBRID_SHARD", "_HYBRID_SHARD_ZERO2") for use in (False, True)),
    *(({"dp": 3}, {"model": ODD, "use_orig_params": True, "compute_dtype": dtype}) for dtype in ("float16", "float64", "float8_e4m3fn")),
    *(({"dp": dp, "tp": tp}, {"model": EVEN, "use_orig_params": use}) for dp, tp in ((4, 2), (2, 4)) for use in (False, True)),
    *(({"dp": dp, "tp": tp}, {"model": UNEVEN, "use_orig_params": use, "compute_dtype": dtype})
      for dp, tp in ((3, 2), (2, 3), (2, 4)) for use, dtype in ((False, ""), (True, ""), (True, "bfloat16"))),
    ({"rep": 2, "dp": 2, "tp": 2}, {"model": UNEVEN, "strategy": "HYBRID_SHARD", "use_orig_params": True}),
    ({"dp": 2, "tp": 2}, {"model": UNEVEN, "strategy": "NO_SHARD"}),
    ({"dp": 2, "tp": 2}, {"model": UNEVEN, "use_orig_params": True, "frozen": ("layers.0.norm.weight", "scale")}),
    ({"dp": 3}, {"model": ODD, "strategy": "NO_SHARD"}),
    ({"dp": 2}, {"model": ODD, "use_orig_params": True, "frozen": ("layers.0.fc1.weight", "scale")}),
]


def layout_file(mesh: dict[str, int], job: dict[str, Any], dump: dict[str, Any]) -> dict[str, Any]:
    def fields(name: str, shape: list[int]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        dim = next((dim for suffix, dim in TP_DIMS.items() if name.startswith("layers.") and name.endswith(suffix)), None)
        if "tp" in mesh and dim is not None:
            found["splits"] = [{"axis": "tp", "dim": dim}]
        if name in job.get("frozen", ()):
            found["states"] = ["param:float32"]
        return found
    axes = [] if job.get("strategy") == "NO_SHARD" else ["dp"]
    units = [{"name": unit, "axes": axes, "use_orig_params": job.get("use_orig_params", False),
              **({"compute_dtype": job["compute_dtype"]} if "compute_dtype" in job else {}), "tensors": names}
             for unit, names in dump["units"].items()]
    return files.torch_file(mesh, files.tensors(dump["shapes"], fields), flat_parameters=units)


def check(workers: Workers, mesh: dict[str, int], job: dict[str, Any]) -> None:
    dumps = workers.run("fsdp1_jobs:dump", math.prod(mesh.values()), {"mesh": mesh, **job})
    assert compare.differences(compare.listing(layout_file(mesh, job, dumps[0])), dumps) == []


@pytest.mark.parametrize(("mesh", "job"), SHORT, ids=lambda value: json.dumps(value))
def test_flat_parameters_hold_what_the_layout_lists(workers: Workers, mesh: dict[str, int], job: dict[str, Any]) -> None:
    check(workers, mesh, job)


def test_a_job_over_uneven_tensor_parallelism_is_a_layout_as_a_listing_too(workers: Workers) -> None:
    """A tensor lies at another place in the flat parameter on each tensor parallel rank."""
    dumps = workers.run("fsdp1_jobs:dump", 4, {"mesh": {"dp": 2, "tp": 2}, "model": UNEVEN, "use_orig_params": True})
    assert compare.differences(compare.listing(dump_listing.of_dumps(dumps)), dumps) == []


@pytest.mark.long
@pytest.mark.parametrize(("mesh", "job"), LONG, ids=lambda value: json.dumps(value))
def test_more_flat_parameters_hold_what_the_layout_lists(workers: Workers, mesh: dict[str, int], job: dict[str, Any]) -> None:
    check(workers, mesh, job)
