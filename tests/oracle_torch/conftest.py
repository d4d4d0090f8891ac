"""One server of processes for all tests of this folder: importing torch costs more than most cases."""

from __future__ import annotations

import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PATHS = [str(HERE), str(HERE.parent / "oracle")]
sys.path[:0] = PATHS
# Workers import the jobs by name.
os.environ["PYTHONPATH"] = os.pathsep.join([*PATHS, os.environ.get("PYTHONPATH", "")])

import layouts  # noqa: E402
from workers import Workers  # noqa: E402


@pytest.fixture(scope="session")
def workers() -> Workers:
    return Workers(preload=("warm", "pipeline_jobs", "checkpoint_jobs"), paths=tuple(PATHS))


@pytest.fixture(scope="session", autouse=True)
def _dynatrain() -> None:
    layouts.build()
