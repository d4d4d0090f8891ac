"""The operator's Deployment as a fault test handles it."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import time
from collections.abc import Iterator

import install
from kube import ROOT, Cluster, NotSeen

DEPLOYMENT = "deployment/dynatrain-operator"
CLUSTERS = pathlib.Path("/var/lib/dynatrain/clusters")  # where a cluster keeps what its pods mount
RESTART_S = 60.0


@contextlib.contextmanager
def fail_points(cluster: Cluster, *points: str) -> Iterator[None]:
    """The operator runs with these fail points; afterwards the chart's own Deployment is back.

    A process can't kill itself where it is pid 1, so the pod's containers share a process namespace; `@/points/x`
    survives a restart of the container.
    """
    arguments = ["--allow-failpoints", *(f"--failpoint={point}" for point in points)]
    current = cluster.get("-n", install.NAMESPACE, DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]["args"]
    patch = {"spec": {"template": {"spec": {
        "shareProcessNamespace": True,
        "containers": [{"name": "operator", "args": [*current, *arguments],
                        "volumeMounts": [{"name": "points", "mountPath": "/points"}]}],
        "volumes": [{"name": "points", "emptyDir": {}}]}}}}
    cluster.kubectl("-n", install.NAMESPACE, "patch", DEPLOYMENT, "-p", json.dumps(patch))
    _rolled_out(cluster)
    try:
        yield
    finally:
        install.chart(cluster, ROOT / "build" / "images")
        _rolled_out(cluster)


def _rolled_out(cluster: Cluster) -> None:
    cluster.kubectl("-n", install.NAMESPACE, "rollout", "status", DEPLOYMENT, "--timeout=90s", timeout=100)


def until_restarted(cluster: Cluster) -> None:
    """Until an operator lives that began after a fail point `@/points/once` was hit; NotSeen if none does.

    As the machine sees it: a kubelet's report of a restart has been seen to come more than half a minute later.
    """
    deadline = time.monotonic() + RESTART_S
    while time.monotonic() < deadline:
        hit = [file.stat().st_mtime for file in (CLUSTERS / cluster.name).glob("node-*/kubelet/pods/*/volumes/*/points/once")]
        if hit and any(_began(pid) > max(hit) for pid in pids(cluster)):
            return
        time.sleep(0.1)
    raise NotSeen(f"no operator has begun after its fail point within {RESTART_S:.0f} s")


def _began(pid: int) -> float:
    """When a process was started, in seconds of the epoch; 0 if it is gone."""
    with contextlib.suppress(OSError):
        ticks = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()[19])
        return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK")
    return 0.0


def scale(cluster: Cluster, replicas: int) -> None:
    cluster.kubectl("-n", install.NAMESPACE, "scale", DEPLOYMENT, f"--replicas={replicas}")


def begin_anew(cluster: Cluster) -> None:
    """One new operator instead of all that there are.

    From two, a scale to one leaves the older process; if it was deposed nobody would end its jobs for a minute.
    """
    scale(cluster, 0)
    _rolled_out(cluster)
    cluster.kubectl("-n", install.NAMESPACE, "wait", "--for=delete", "pods", "--all", "--timeout=60s", timeout=70)
    scale(cluster, 1)
    _rolled_out(cluster)


def pids(cluster: Cluster) -> set[int]:
    """Of the operator's processes in this cluster's pods, as the host numbers them."""
    folder = f"/clusters/{cluster.name}/"
    found = set()
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                command = (entry / "cmdline").read_bytes().split(b"\0")
                if command[0] == b"/dynatrain-operator" and folder in (entry / "mountinfo").read_text():
                    found.add(int(entry.name))
    return found


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[None]:
    """SIGSTOP, and SIGCONT at the end if it is still there."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
