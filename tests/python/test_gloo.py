"""gloo groups have one worker: with two, torch's own corrupt the heap."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
GROUPS = """
import os
os.environ["GLOO_SOCKET_IFNAME"] = "lo"
import torch
import torch.distributed as dist
from dynatrain import worlds
worlds.install()
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
mesh = dist.device_mesh.init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
groups = [dist.group.WORLD, dist.new_group([0]), mesh.get_group("dp"), mesh.get_group("tp")]
for group in groups:
    options = group._get_backend(torch.device("cpu")).options
    print(options._threads, options.group_name == group.group_name, options.global_ranks_in_group)
"""


def run(*command: str, limit_s: float = 120) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "python")}
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=limit_s,
        env=environment,
    )


def test_every_group_has_one_worker_and_is_else_as_torch_makes_it() -> None:
    ended = run("-c", GROUPS)
    assert ended.returncode == 0, ended.stderr
    world, made, dp, tp = ended.stdout.splitlines()
    assert made == "1 True [0]"
    # A mesh over the whole world takes the default group, which gets no list.
    assert world == dp == tp == "1 True []"


@pytest.mark.long
def test_collectives_with_long_names_do_not_corrupt_the_heap() -> None:
    """As torch makes the group it dies of this within a minute."""
    ended = run(str(HERE / "programs" / "gloo_workers.py"), "dynatrain", "120", limit_s=300)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.endswith("collectives\n")
