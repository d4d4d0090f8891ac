"""One API server with the CRD for all tests of this folder."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from api_server import ApiServer

CRD = pathlib.Path(__file__).resolve().parents[2] / "crds/elastictrainingjobs.yaml"


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with ApiServer(tmp_path_factory.mktemp("apiserver")) as server:
        applied = server.kubectl("apply", "-f", str(CRD))
        assert applied.returncode == 0, applied.stderr
        # Established is not enough: discovery and schemas follow a moment later.
        server.wait_for("schema of etj", "explain", "etj.spec")
        yield server
