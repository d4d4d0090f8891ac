"""The CRD against a real kube-apiserver: what it teaches, defaults, accepts and refuses."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from api_server import ApiServer

ROOT = Path(__file__).resolve().parents[2]
CRD = ROOT / "crds/elastictrainingjobs.yaml"
EXAMPLE = ROOT / "examples/gpt/job.yaml"


def job(name: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "train", "image": "i", "command": ["python", "train.py"]}
    return {
        "apiVersion": "dynatrain.io/v1alpha1",
        "kind": "ElasticTrainingJob",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"template": {"spec": {"containers": [container]}}, **spec},
    }


def template(**pod: Any) -> dict[str, Any]:
    return {"template": {"spec": pod}}


def test_the_schema_is_structural_and_small_enough_for_apply(api: ApiServer) -> None:
    crd = api.get("crd", "elastictrainingjobs.dynatrain.io")
    conditions = {c["type"]: c for c in crd["status"]["conditions"]}
    assert "NonStructuralSchema" not in conditions
    assert conditions["NamesAccepted"]["status"] == "True"
    assert CRD.stat().st_size < 64_000


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("etj", ["kubectl scale", "not restarted"]),
        ("etj.spec.parallelism", ["product of all sizes", "dp2,tp2,pp1"]),
        ("etj.spec.parallelism.dp", ["{min: 1, max: 4}", "what the other axes leave"]),
        ("etj.spec.model", ["which layouts can't be", "ModelAsTold"]),
        ("etj.spec.replicas", ["status.feasibleReplicas"]),
        ("etj.spec.elasticPolicy.infeasiblePolicy", ["RoundDown", "nearest sizes"]),
        ("etj.spec.template", ["init container"]),
        ("etj.status.transition.phase", ["Draining"]),
    ],
)
def test_explain_teaches(api: ApiServer, field: str, words: list[str]) -> None:
    explained = api.kubectl("explain", field)
    assert explained.returncode == 0, explained.stderr
    text = " ".join(explained.stdout.split())
    for word in words:
        assert word in text


@pytest.mark.parametrize("part", ["spec", "status"])
def test_every_field_is_described(api: ApiServer, part: str) -> None:
    crd = api.get("crd", "elastictrainingjobs.dynatrain.io")
    stack = [(part, crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"][part])]
    while stack:
        path, schema = stack.pop()
        assert schema.get("description") or path.endswith("[]"), path
        # The pod template is Kubernetes' own; its fields are described there.
        if path == "spec.template":
            continue
        if "items" in schema:
            stack.append((f"{path}[]", schema["items"]))
        stack += [(f"{path}.{k}", v) for k, v in schema.get("properties", {}).items()]


def test_defaults(api: ApiServer) -> None:
    assert api.kubectl("apply", "-f", "-", manifest=job("defaults")).returncode == 0
    spec = api.get("etj", "defaults")["spec"]
    del spec["template"]
    assert spec == {
        "replicas": 1,
        "ranksPerReplica": 1,
        "elasticPolicy": {
            "minReplicas": 1,
            "maxReplicas": 4096,
            "infeasiblePolicy": "Reject",
            "scaleUpDelaySeconds": 30,
            "transitionTimeoutSeconds": 300,
            "stepTimeoutSeconds": 120,
        },
        "parallelism": {},
        "onStateLost": "Fail",
        "suspend": False,
    }


def test_numbers_and_ranges_are_kept_as_written(api: ApiServer) -> None:
    parallelism = {"dp": {"min": 1, "max": 4}, "tp": 2, "pp": {"min": 1}}
    model = {"heads": 12, "parameters": 671_000_000_000}
    made = job("ranges", replicas=2, parallelism=parallelism, model=model)
    applied = api.kubectl("apply", "-f", "-", manifest=made)
    assert applied.returncode == 0, applied.stderr
    spec = api.get("etj", "ranges")["spec"]
    assert spec["parallelism"] == parallelism and spec["model"] == model


def test_the_pod_template_is_not_pruned(api: ApiServer) -> None:
    pod = {
        "containers": [
            {"name": "t", "command": ["x"], "resources": {"limits": {"memory": "1Gi"}}},
            {"name": "sidecar", "image": "y"},
        ],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "securityContext": {"runAsUser": 1000},
    }
    assert api.kubectl("apply", "-f", "-", manifest=job("pod", **template(**pod))).returncode == 0
    assert api.get("etj", "pod")["spec"]["template"]["spec"] == pod


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"replicas": 5, "elasticPolicy": {"maxReplicas": 4}},
            "replicas must be from 1 to 4 (elasticPolicy.minReplicas to maxReplicas), not 5",
        ),
        (
            {"replicas": 3, "elasticPolicy": {"minReplicas": 4, "maxReplicas": 2}},
            "minReplicas must not be above maxReplicas: 4 is above 2",
        ),
        ({"replicas": 5000}, "should be less than or equal to 4096"),
        ({"ranksPerReplica": 0}, "should be greater than or equal to 1"),
        ({"elasticPolicy": {"infeasiblePolicy": "Maybe"}}, '"Reject", "RoundDown"'),
        ({"onStateLost": "Cry"}, '"Fail", "Restart"'),
        ({"parallelism": {"tp": 0}}, "spec.parallelism.tp"),
        ({"model": {"heads": 0}}, "spec.model.heads"),
        ({"model": {"parameters": "7B"}}, "spec.model.parameters"),
        ({"parallelism": {"tp": 1.5}}, "spec.parallelism.tp"),
        ({"parallelism": {"tp": "2"}}, "a number like 2 or a range like"),
        ({"parallelism": {"tp": [2]}}, "spec.parallelism.tp"),
        ({"parallelism": {"tp": {"min": 0}}}, "spec.parallelism.tp.min"),
        ({"parallelism": {"tp": {"max": "4"}}}, "spec.parallelism.tp.max"),
        (
            template(containers=[{"name": "t", "image": "i"}]),
            "the first container must have a command, e.g. [python, train.py]",
        ),
        (
            template(containers=[{"name": "t", "command": ["x"]}], restartPolicy="Always"),
            "restartPolicy must be Never or left out, not Always",
        ),
        (template(containers=[]), "spec.template.spec.containers"),
    ],
)
def test_refusals_say_what_would_be_right(api: ApiServer, spec: dict[str, Any], message: str) -> None:
    result = api.kubectl("create", "-f", "-", manifest=job("refused", **spec))
    assert result.returncode != 0
    assert message in result.stderr


def test_a_long_name_is_refused_with_the_limit(api: ApiServer) -> None:
    assert api.kubectl("create", "-f", "-", manifest=job("n" * 52)).returncode == 0
    result = api.kubectl("create", "-f", "-", manifest=job("n" * 53))
    assert "at most 52 characters, so that pods can be named NAME-SERIAL; this one has 53" in (result.stderr)


def test_a_job_without_a_template_is_refused(api: ApiServer) -> None:
    made = job("bare")
    del made["spec"]["template"]
    assert "spec.template" in api.kubectl("create", "-f", "-", manifest=made).stderr


def test_ranks_per_replica_can_not_change(api: ApiServer) -> None:
    made = job("ranks", ranksPerReplica=2)
    assert api.kubectl("create", "-f", "-", manifest=made).returncode == 0
    patch = json.dumps({"spec": {"ranksPerReplica": 4}})
    result = api.kubectl("patch", "etj", "ranks", "--type=merge", f"--patch={patch}")
    assert "ranksPerReplica can not be changed: it was 2" in result.stderr


@pytest.mark.parametrize("replicas", [0, 1, 5, 5000])
def test_scale_out_of_range_changes_nothing(api: ApiServer, replicas: int) -> None:
    name = f"scale-{replicas}"
    policy = {"minReplicas": 2, "maxReplicas": 4}
    made = job(name, replicas=2, elasticPolicy=policy)
    assert api.kubectl("create", "-f", "-", manifest=made).returncode == 0
    before = api.get("etj", name)
    result = api.kubectl("scale", f"etj/{name}", f"--replicas={replicas}")
    assert result.returncode != 0
    if replicas <= 4096:
        assert f"replicas must be from 2 to 4 (elasticPolicy.minReplicas to maxReplicas), not {replicas}" in result.stderr
    assert api.get("etj", name) == before
    assert api.kubectl("scale", f"etj/{name}", "--replicas=4").returncode == 0
    assert api.get("etj", name)["spec"]["replicas"] == 4


def status_example() -> dict[str, Any]:
    time = "2026-01-01T00:00:00.123Z"
    transition = {
        "id": "u-4",
        "generation": 4,
        "cause": "scale-up",
        "from": "dp2,tp1,pp1",
        "to": "dp3,tp1,pp1",
        "reason": "r",
        "fromMembers": "0-1",
        "toMembers": "0-2",
        "phase": "Planned",
        "planDigest": "d",
        "startTime": time,
        "phaseTime": time,
        "message": "m",
    }
    history = {
        "generation": 3,
        "cause": "start",
        "outcome": "Released",
        "from": "a",
        "to": "b",
        "movedBytes": 2**53 + 1,
        "minimalBytes": 1,
        "transferMs": 2,
        "pauseMs": 3,
        "time": time,
        "summary": "s",
    }
    condition = {
        "type": "Running",
        "status": "True",
        "reason": "Training",
        "message": "m",
        "observedGeneration": 1,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    return {
        "observedGeneration": 1,
        "phase": "Running",
        "reason": "why",
        "replicas": 2,
        "targetReplicas": 3,
        "ready": "2/3",
        "selector": "dynatrain.io/job=status",
        "feasibleReplicas": "1, 2",
        "generation": 3,
        "layout": {"text": "dp2,tp1,pp1", "reason": "r", "worldSize": 2},
        "members": "0-1",
        "manifestDigest": "d",
        "step": 7,
        "loss": "2.5",
        "progressTime": time,
        "nextSerial": 3,
        "firstSerial": 1,
        "restarts": 1,
        "operatorTerm": 2,
        "agentImage": "image",
        "transition": transition,
        "history": [history],
        "retry": {"target": "t", "attempts": 1, "after": time, "reason": "r"},
        "podFailures": {"count": 1, "serial": 2, "last": time, "message": "m"},
        "conditions": [condition],
    }


def test_the_status_of_the_operator_is_stored_whole(api: ApiServer) -> None:
    assert api.kubectl("create", "-f", "-", manifest=job("status")).returncode == 0
    status = status_example()
    patch = json.dumps({"status": copy.deepcopy(status)})
    result = api.kubectl("patch", "etj", "status", "--subresource=status", "--type=merge", f"--patch={patch}")
    assert result.returncode == 0, result.stderr
    assert "unknown field" not in result.stderr
    assert api.get("etj", "status")["status"] == status

    columns = api.kubectl("get", "etj", "status").stdout.split("\n")
    assert columns[0].split() == [
        "NAME",
        "PHASE",
        "READY",
        "LAYOUT",
        "GENERATION",
        "STEP",
        "AGE",
    ]
    assert columns[1].split()[:6] == ["status", "Running", "2/3", "dp2,tp1,pp1", "3", "7"]

    scale = json.loads(
        api.kubectl(
            "get",
            "--raw",
            "/apis/dynatrain.io/v1alpha1/namespaces/default/elastictrainingjobs/status/scale",
        ).stdout
    )
    assert scale["status"] == {"replicas": 2, "selector": "dynatrain.io/job=status"}


def test_a_pod_of_the_operator_is_accepted(api: ApiServer) -> None:
    """The golden pod of operator/reconcile/pod_test.cc, word for word."""
    pod = json.loads((ROOT / "operator/reconcile/testdata/pod.json").read_text())
    pod["metadata"]["namespace"] = "default"
    # Its job is in none of the server's books.
    del pod["metadata"]["ownerReferences"]
    # No controller makes the namespace's service account here.
    account = api.kubectl("create", "serviceaccount", "default")
    assert account.returncode == 0 or "already exists" in account.stderr
    made = api.kubectl("create", "--validate=strict", "-f", "-", manifest=pod)
    assert made.returncode == 0, made.stderr


def test_short_name_category_and_field_selector(api: ApiServer) -> None:
    assert api.kubectl("create", "-f", "-", manifest=job("found")).returncode == 0
    for arguments in (["etj"], ["training"], ["elastictrainingjobs"]):
        assert "found" in api.kubectl("get", *arguments).stdout
    chosen = api.kubectl("get", "etj", "--field-selector=status.phase=Dancing")
    assert chosen.returncode == 0
    assert "found" not in chosen.stdout


def test_the_example_is_accepted(api: ApiServer) -> None:
    applied = api.kubectl("apply", "-f", str(EXAMPLE), "--validate=strict")
    assert applied.returncode == 0, applied.stderr
