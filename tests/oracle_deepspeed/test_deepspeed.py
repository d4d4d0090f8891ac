"""ZeRO 1, 2 and 3: what DeepSpeed's own engine holds on each rank, and where in its flat tensors, is what the layout lists.

The short run compares with dumps of the engine that are kept (golden.py); the long run starts it again.
"""

from __future__ import annotations

import json

import compare
import golden
import pytest
from cases import CASES, layout_file
from workers import Workers


@pytest.mark.parametrize("name", CASES)
def test_partitions_hold_what_the_layout_lists(name: str) -> None:
    ranks, arguments = CASES[name]
    dumps = golden.unpacked(golden.read()[name])
    assert len(dumps) == ranks
    assert compare.differences(compare.listing(layout_file(ranks, arguments, dumps[0]["shapes"])), dumps) == []


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_the_engine_still_does_what_was_kept(deepspeed: Workers, name: str) -> None:
    ranks, arguments = CASES[name]
    dumps = golden.packed(deepspeed.run("deepspeed_jobs:dump", ranks, arguments))
    assert json.loads(json.dumps(dumps)) == golden.read()[name]


def test_stages_that_deepspeed_cannot_run_in_a_pipeline_are_refused() -> None:
    tensors = [{"name": "w", "shape": [4], "stage": 0}]
    section = {"stage": 2, "mesh": "pp2,dp2", "pipeline": {"stages": 2}, "tensors": tensors}
    reason = compare.refusal({"framework": "deepspeed", "deepspeed": section})
    assert "ZeRO-2 and ZeRO-3 incompatible with pipeline parallelism" in reason
