"""Plans the same weights by Megatron-Core's own resharding planner and by ours, in one run, and prints the ratio.

    bazel build -c opt //bench:plan_bench
    ~/.cache/dynatrain/megatron-0.16.1-torch2.15.0-r2/bin/python bench/plan_against_megatron.py

The weights: 480 bfloat16 tensors of 80 layers of a 70B model, 128 ranks, tp8 pp2 dp8 -> tp4 pp4 dp8. Megatron-Core 0.16.1 plans on rank 0
for all ranks (build_centralized_reshard_plan); that function runs as it is, with its collectives answered from here: gathering what all
ranks hold and sending plans out cost nothing. Ours is what one rank does by itself, input and plan, and, beside it, all 128 ranks one
after the other, which no rank has to do.
"""

import argparse
import json
import logging
import subprocess
import time
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from megatron.core.resharding import planner
from megatron.core.resharding.utils import ParameterMetadata

WORLD = 128
LAYERS = 80
# Name, whole shape, the dim that tensor parallelism cuts. As in plan_bench.cc (Weights).
TENSORS: list[tuple[str, tuple[int, ...], int | None]] = [
    ("qkv", (10240, 8192), 0),
    ("proj", (8192, 8192), 1),
    ("fc1", (57344, 8192), 0),
    ("fc2", (8192, 28672), 1),
    ("norm1", (8192,), None),
    ("norm2", (8192,), None),
]


def roster(rank: int, tp: int, pp: int) -> list[ParameterMetadata]:
    """What a rank holds; ranks run through tp, then dp, then pp."""
    dp = WORLD // (tp * pp)
    stage = rank // (tp * dp)
    first = stage * tp * dp
    tp_group = [rank // tp * tp + i for i in range(tp)]
    dp_group = [first + rank % tp + i * tp for i in range(dp)]
    held = []
    for layer in range(LAYERS // pp * stage, LAYERS // pp * (stage + 1)):
        for name, shape, dim in TENSORS:
            full_name = f"layers.{layer}.{name}"
            held.append(
                ParameterMetadata(
                    name=full_name,
                    shape=tuple(extent // tp if d == dim else extent for d, extent in enumerate(shape)),
                    dtype=torch.bfloat16,
                    element_size=2,
                    is_tp=dim is not None,
                    partition_dim=dim or 0,
                    owner_rank=rank,
                    tensor_parallel_group_ranks=tp_group,
                    data_parallel_group_ranks=dp_group,
                    resolved_name=full_name,
                )
            )
    return held


class Rosters:
    """Stands in for torch.distributed: one rank of many, whose collectives answer at once."""

    def __init__(self) -> None:
        self._answers = [[roster(rank, tp, pp) for rank in range(WORLD)] for tp, pp in ((8, 2), (4, 4))]

    def get_rank(self) -> int:
        return 0

    def get_world_size(self) -> int:
        return WORLD

    def all_gather_object(self, gathered: list[Any], _: Any) -> None:
        gathered[:] = self._answers.pop(0)


def megatron_seconds() -> tuple[float, int]:
    """Seconds of one plan for all ranks by Megatron-Core, and how many transfers rank 0 receives."""
    module = torch.nn.Module()
    vars(module)["pg_collection"] = object()  # asked for, but not about
    with mock.patch.object(planner, "dist", Rosters()), mock.patch.object(torch.distributed, "broadcast_object_list"):
        begin = time.process_time()
        plan = planner.build_centralized_reshard_plan(module, module)
        return time.process_time() - begin, len(plan.recv_ops)


def our_seconds(binary: Path) -> dict[str, float]:
    """Processor seconds by row of plan_bench: Input, Rank, World."""
    output = subprocess.run(
        [binary, "--benchmark_filter=^Weights/", "--benchmark_format=json", "--benchmark_min_time=0.2"],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ).stdout
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
    return {row["name"].split("/")[1]: row["cpu_time"] * unit[row["time_unit"]] for row in json.loads(output)["benchmarks"]}


def main() -> None:
    """Prints both times and their ratio, the median of three rounds, taken in turn."""
    logging.disable(logging.INFO)
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--binary", type=Path, default=Path("bazel-bin/bench/plan_bench"), help="built with -c opt")
    binary = parser.parse_args().binary
    ratios = []
    ratios_of_all = []
    for _ in range(3):
        theirs, receives = megatron_seconds()
        ours = our_seconds(binary)
        rank = ours["Input"] + ours["Rank"]
        ratios.append(theirs / rank)
        ratios_of_all.append(theirs / ours["World"])
        print(f"Megatron-Core, all ranks on rank 0: {theirs * 1e3:.0f} ms ({receives} transfers to rank 0); ours, one rank: ", end="")
        print(f"{rank * 1e3:.2f} ms (input {ours['Input'] * 1e3:.2f}, plan {ours['Rank'] * 1e3:.3f}), ", end="")
        print(f"all ranks {ours['World'] * 1e3:.1f} ms: {theirs / rank:.0f} x, by all ranks {theirs / ours['World']:.0f} x")
    print(f"median {sorted(ratios)[1]:.0f} x, by all ranks {sorted(ratios_of_all)[1]:.0f} x")


if __name__ == "__main__":
    main()
