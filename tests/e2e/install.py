"""Brings a cluster to where a user begins: images loaded, chart installed, operator available."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from kube import ROOT, Cluster

T = TypeVar("T")
SETUP = ROOT / "tools" / "setup"
IMAGES = ROOT / "build" / "images"
NAMESPACE = "dynatrain-system"


def everything(name: str, nodes: int = 3) -> Cluster:
    """Installs what the machine lacks, builds, brings the cluster up and installs the chart. Tells how far it is."""
    for script in ("debian", "kubernetes", "python", "abseil"):
        subprocess.run([SETUP / script], check=True)
    images = _step("Building the images", build_images)
    cluster = _step(f"Bringing up the cluster {name} ({nodes} nodes)", lambda: Cluster.up(name, nodes))
    _step("Loading the images into the nodes", lambda: load(cluster, images))
    _step("Installing the Helm chart", lambda: chart(cluster, images))
    return cluster


def build_images() -> pathlib.Path:
    """Builds operator, agent and python-base; returns the folder with the .tar files and values.yaml."""
    subprocess.run([ROOT / "tools" / "images" / "build", str(IMAGES)], check=True)
    return IMAGES


def load(cluster: Cluster, images: pathlib.Path) -> None:
    """Imports every image of the folder into every node."""
    for tar in sorted(images.glob("*.tar")):
        cluster.load(tar)


def chart(cluster: Cluster, images: pathlib.Path) -> None:
    """Installs or upgrades the release and waits until the operator is available."""
    cluster.run("helm", "upgrade", "--install", "dynatrain", str(ROOT / "helm" / "dynatrain"), "--namespace", NAMESPACE,
                "--create-namespace", "--values", str(images / "values.yaml"), "--wait", "--timeout", "120s", timeout=150)
    cluster.kubectl("wait", "--for=condition=Established", "crd/elastictrainingjobs.dynatrain.io", "--timeout=30s")


def program(cluster: Cluster, folder: pathlib.Path, name: str = "gpt-program", namespace: str = "default") -> None:
    """Puts a folder's Python files into a ConfigMap, which the job's pods mount."""
    made = cluster.kubectl("create", "configmap", name, "-n", namespace, f"--from-file={folder}", "--dry-run=client", "-o", "yaml")
    cluster.kubectl("apply", "-f", "-", stdin=made)


def _step(title: str, work: Callable[[], T]) -> T:
    began = time.monotonic()
    print(f"==> {title}", file=sys.stderr, flush=True)
    result = work()
    print(f"    {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return result
