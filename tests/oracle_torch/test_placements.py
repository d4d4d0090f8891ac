"""Random DTensor placements, uneven, strided and empty ones too, against torch's distribute_tensor."""

from __future__ import annotations

import os
import random

import compare
import placement_cases
import pytest

SEED = int(os.environ.get("DYNATRAIN_TEST_SEED", random.SystemRandom().randrange(1 << 32)))


def check(per_mesh: int) -> None:
    print(f"DYNATRAIN_TEST_SEED={SEED}")
    strided = 0
    for case, locals_ in placement_cases.locals_of(list(placement_cases.random_cases(SEED, per_mesh))).items():
        dumps = [{"tensors": [{"name": "w", "state": "param", "dtype": "int64", "shape": list(case.shape),
                               "local_shape": list(local.shape), "ids": local.ravel()}]} for local in locals_]
        assert compare.differences(compare.listing(case.layout_file()), dumps) == [], case
        strided += any(placement.startswith("_S") for placement in case.placements)
    assert strided > per_mesh, "the cases hold too few _StridedShard"


def test_ranks_hold_what_the_layout_lists() -> None:
    check(per_mesh=12)


@pytest.mark.long
def test_ranks_hold_what_the_layout_lists_many_times() -> None:
    check(per_mesh=150)
