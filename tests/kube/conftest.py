"""The operator's binary against a real API server, with pods that are fake agents (fake_node.h)."""

from __future__ import annotations

import itertools
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "crd"))

from api_server import ApiServer
from operator_world import World

ROOT = pathlib.Path(__file__).resolve().parents[2]
CRD = ROOT / "crds" / "elastictrainingjobs.yaml"
NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    build = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", "//operator:dynatrain-operator", "//tests/kube:fake_node"]
    subprocess.run(build, cwd=ROOT, check=True, timeout=1800)
    with ApiServer(tmp_path_factory.mktemp("apiserver")) as server:
        applied = server.kubectl("apply", "-f", str(CRD))
        assert applied.returncode == 0, applied.stderr
        server.wait_for("schema of etj", "explain", "etj.spec")
        yield server


@pytest.fixture
def world(api: ApiServer, tmp_path: pathlib.Path) -> Iterator[World]:
    """A namespace of its own with a fake node; no operator runs yet."""
    with World(api, tmp_path, next(NUMBERS)) as made:
        yield made
