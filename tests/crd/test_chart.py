"""The Helm chart, installed on a real API server by real helm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_server import ApiServer

CHART = str(Path(__file__).resolve().parents[2] / "helm/dynatrain")
NAMESPACE = "chart-test"
OPERATOR = "release-operator"
VALUES = "operator.image=localhost/operator:1,agent.image=localhost/agent:1"


@pytest.fixture(scope="module")
def installed(api: ApiServer) -> Iterator[ApiServer]:
    """The chart as release "release" in a namespace that enforces the restricted standard."""
    assert api.kubectl("create", "namespace", NAMESPACE).returncode == 0
    label = "pod-security.kubernetes.io/enforce=restricted"
    assert api.kubectl("label", "namespace", NAMESPACE, label).returncode == 0
    # The fixture `api` has applied the CRD by hand; the chart takes it over.
    run(api, "install", "--take-ownership")
    yield api


def run(api: ApiServer, verb: str, *more: str) -> None:
    done = api.helm(verb, "release", CHART, "--namespace", NAMESPACE, "--set", VALUES, *more)
    assert done.returncode == 0, done.stderr


def as_operator(api: ApiServer, verb: str, resource: str) -> bool:
    account = f"system:serviceaccount:{NAMESPACE}:{OPERATOR}"
    kind, _, subresource = resource.partition("/")
    asked = ["auth", "can-i", verb, kind, f"--subresource={subresource}", f"--as={account}", "-A"]
    return api.kubectl(*asked).returncode == 0


def test_lint(api: ApiServer) -> None:
    linted = api.helm("lint", CHART, "--strict", "--set", VALUES)
    assert linted.returncode == 0, linted.stdout


@pytest.mark.parametrize("missing", ["operator.image", "agent.image"])
def test_a_missing_image_is_named(api: ApiServer, missing: str) -> None:
    values = ",".join(v for v in VALUES.split(",") if not v.startswith(missing))
    rendered = api.helm("template", "release", CHART, "--set", values)
    assert rendered.returncode != 0
    assert f"{missing} is required" in rendered.stderr


def test_the_crd_is_the_one_of_the_repository(installed: ApiServer) -> None:
    source = json.loads(
        installed.kubectl(
            "create",
            "--dry-run=client",
            "-o",
            "json",
            "-f",
            f"{CHART}/../../crds/elastictrainingjobs.yaml",
        ).stdout
    )
    served = installed.get("crd", "elastictrainingjobs.dynatrain.io")
    assert served["spec"]["versions"] == source["spec"]["versions"]
    assert served["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"


def operator_pod(api: ApiServer) -> dict[str, Any]:
    template = api.get("deployment", OPERATOR, "-n", NAMESPACE)["spec"]["template"]
    metadata = {"name": "as-deployed", "namespace": NAMESPACE, **template["metadata"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def test_the_operator_passes_the_restricted_standard(installed: ApiServer) -> None:
    pod = operator_pod(installed)
    made = installed.kubectl("create", "--dry-run=server", "-f", "-", manifest=pod)
    assert made.returncode == 0, made.stderr
    pod["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
    made = installed.kubectl("create", "--dry-run=server", "-f", "-", manifest=pod)
    assert "restricted" in made.stderr


# What the operator asks the API server for, and where. A verb that is not here has to be given a reason first.
NEEDED = {
    "dynatrain.io/elastictrainingjobs": {"list", "watch", "get"},  # informer.cc; get: actor.cc after a write that failed
    "dynatrain.io/elastictrainingjobs/status": {"patch"},  # http_client.cc PatchStatus
    "dynatrain.io/elastictrainingjobs/finalizers": {"update"},  # pod.cc: blockOwnerDeletion, which admission asks for
    "/pods": {"list", "watch", "create", "delete", "get"},  # get: actor.cc, to adopt one whose creation was not answered
    "events.k8s.io/events": {"create", "patch"},  # event_recorder.cc; patch: a series
}


def test_the_operator_may_do_what_it_needs_and_nothing_else(installed: ApiServer) -> None:
    rules = installed.get("clusterrole", OPERATOR)["rules"]
    granted = {f"{group}/{resource}": set(rule["verbs"]) for rule in rules for group in rule["apiGroups"] for resource in rule["resources"]}
    assert granted == NEEDED
    assert not any("resourceNames" in rule or "nonResourceURLs" in rule for rule in rules)


@pytest.mark.parametrize(
    ("verb", "resource"),
    [
        ("watch", "elastictrainingjobs.dynatrain.io"),
        ("patch", "elastictrainingjobs.dynatrain.io/status"),
        ("update", "elastictrainingjobs.dynatrain.io/finalizers"),
        ("create", "pods"),
        ("delete", "pods"),
        ("watch", "pods"),
        ("create", "events.events.k8s.io"),
        ("patch", "events.events.k8s.io"),
    ],
)
def test_the_operator_may(installed: ApiServer, verb: str, resource: str) -> None:
    assert as_operator(installed, verb, resource)


@pytest.mark.parametrize(
    ("verb", "resource"),
    [
        ("get", "secrets"),
        ("list", "configmaps"),
        ("create", "pods/exec"),
        ("patch", "pods"),
        ("update", "elastictrainingjobs.dynatrain.io"),
        ("patch", "elastictrainingjobs.dynatrain.io"),
        ("delete", "elastictrainingjobs.dynatrain.io"),
        ("get", "nodes"),
        ("create", "deployments.apps"),
        ("deletecollection", "pods"),
    ],
)
def test_the_operator_may_not(installed: ApiServer, verb: str, resource: str) -> None:
    assert not as_operator(installed, verb, resource)


def test_an_upgrade_keeps_the_root_secret(installed: ApiServer) -> None:
    secret = ("secret", f"{OPERATOR}-root", "-n", NAMESPACE)
    before = installed.get(*secret)["data"]
    run(installed, "upgrade", "--set", "operator.workers=7")
    assert installed.get(*secret)["data"] == before
    assert "--workers=7" in operator_pod(installed)["spec"]["containers"][0]["args"]


def test_in_one_namespace_there_is_no_cluster_role(api: ApiServer) -> None:
    rendered = api.helm("template", "r", CHART, "--set", f"{VALUES},watchOwnNamespaceOnly=true")
    assert "kind: ClusterRole" not in rendered.stdout
    assert "--namespace=default" in rendered.stdout


def test_uninstalling_keeps_the_jobs(installed: ApiServer) -> None:
    assert installed.helm("uninstall", "release", "--namespace", NAMESPACE).returncode == 0
    assert installed.kubectl("get", "etj", "-A").returncode == 0
