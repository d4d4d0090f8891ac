"""One real cluster for all end-to-end tests, a namespace for each test."""

from __future__ import annotations

import itertools
import os
import pathlib
import re
import sys
from collections.abc import Generator, Iterator

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import install
import kube
from kube import Cluster
from training_job import TrainingJob

_number = itertools.count(1)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A cluster of three nodes with the chart installed. DYNATRAIN_E2E_CLUSTER names one to keep and use again."""
    kept = os.environ.get("DYNATRAIN_E2E_CLUSTER")
    up = install.everything(kept or "dtest")
    yield up
    if not kept:
        up.down()


@pytest.fixture
def job(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[TrainingJob]:
    """A job named after the test, in its own namespace, not yet applied; what it leaves is shown if the test fails."""
    namespace = re.sub("[^a-z0-9]+", "-", request.node.name.lower())[:40].strip("-") + f"-{next(_number)}"
    cluster.kubectl("create", "namespace", namespace)
    install.program(cluster, kube.ROOT / "tests" / "e2e" / "programs", "program", namespace)
    made = TrainingJob(cluster, namespace)
    yield made
    report = request.node.stash.get(_FAILED, False)
    if report:
        made.tell()
    # The job first: with the namespace its pods would get their whole grace before the job is gone.
    cluster.kubectl("delete", "-n", namespace, "etj", "--all", "--timeout=60s", timeout=70)
    cluster.kubectl("delete", "namespace", namespace, "--timeout=90s", timeout=100)


_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and report.failed:
        item.stash[_FAILED] = True
    return report
