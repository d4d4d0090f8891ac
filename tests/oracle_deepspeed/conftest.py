"""Where the jobs and DeepSpeed's packages are."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PATHS = [str(HERE), str(HERE.parent / "oracle_torch"), str(HERE.parent / "oracle")]
sys.path[:0] = PATHS

import layouts  # noqa: E402
from workers import Workers  # noqa: E402


def real_workers() -> Workers:
    """Processes that can import DeepSpeed, which is installed if it isn't there."""
    subprocess.run([ROOT / "tools" / "setup" / "deepspeed"], check=True)
    show = 'cd "$1" && . ./common.sh && printf %s "$DEEPSPEED_PACKAGES"'
    packages = subprocess.run(["bash", "-c", show, "bash", ROOT / "tools" / "setup"], check=True, capture_output=True, text=True).stdout
    os.environ["PYTHONPATH"] = os.pathsep.join([*PATHS, packages, os.environ.get("PYTHONPATH", "")])
    return Workers(preload=("warm_deepspeed", "deepspeed_jobs"), paths=(*PATHS, packages))


@pytest.fixture(scope="session")
def deepspeed() -> Workers:
    return real_workers()


@pytest.fixture(scope="session", autouse=True)
def _dynatrain() -> None:
    layouts.build()
