"""The main job on a real cluster: applied, scaled, re-laid-out, drained, ended; and never restarted."""

from __future__ import annotations

import re

import pytest
from kube import KubectlError
from training_job import TrainingJob

STATE = re.compile(r"(before|after) (\d+) ([0-9a-f]{16})$")


def world_digests(job: TrainingJob, serials: list[int]) -> dict[tuple[str, int], set[str]]:
    """(before or after, step) → what the members saw as the whole state there."""
    seen: dict[tuple[str, int], set[str]] = {}
    for serial in serials:
        for line in job.log(serial).splitlines():
            if match := STATE.search(line):
                seen.setdefault((match[1], int(match[2])), set()).add(match[3])
    return seen


def assert_bit_equal(digests: dict[tuple[str, int], set[str]]) -> None:
    """All members agree on each state, and a step begins with what the one before it left."""
    assert all(len(values) == 1 for values in digests.values()), {k: v for k, v in digests.items() if len(v) > 1}
    steps = sorted(step for kind, step in digests if kind == "before" and ("after", step - 1) in digests)
    assert len(steps) > 10
    for step in steps:
        assert digests["before", step] == digests["after", step - 1], f"state changed between steps {step - 1} and {step}"


def test_scales_and_relayouts_with_every_bit_and_every_process_alive(job: TrainingJob) -> None:
    job.apply(replicas=2, arguments=["--digest"])
    first = job.settled(2)
    founders = job.processes()
    assert len(founders) == 2

    job.scale(3)
    grown = job.settled(3, first["generation"] + 1)
    assert founders.items() <= job.processes().items()

    job.patch({"parallelism": {"dp": 1, "tp": 3}})
    turned = job.settled(3, grown["generation"] + 1)
    assert turned["layout"]["text"] == "dp1,tp3,pp1"
    three = job.processes()

    job.patch({"parallelism": {"dp": {"min": 1, "max": 8}, "tp": 1}})
    job.scale(2)
    shrunk = job.settled(2, turned["generation"] + 1)
    survivors = job.processes()
    assert survivors.items() <= three.items() and len(survivors) == 2
    assert founders.items() <= survivors.items(), "the newest member leaves first"
    job.log_until(0, lambda line: " loss " in line and "dp2" in line, "a step of the last world")
    assert_bit_equal(world_digests(job, sorted({serial for serial, _ in survivors})))
    for entry in shrunk["history"]:
        if entry["outcome"] == "Released":  # headers, digests and non-tensor state come on top
            assert entry.get("minimalBytes", 0) <= entry.get("movedBytes", 0) <= entry.get("minimalBytes", 0) * 1.01 + 65536, entry


def test_two_ranks_in_a_pod_move_by_shared_memory_and_between_pods_by_tcp(job: TrainingJob) -> None:
    job.apply(replicas=1, ranks=2, arguments=["--digest"], parallelism={"dp": {"min": 1, "max": 8}, "tp": 2})
    first = job.settled(1)
    founders = job.processes()
    assert len(founders) == 2
    job.scale(2)
    grown = job.settled(2, first["generation"] + 1)
    assert grown["layout"]["text"] == "dp2,tp2,pp1"
    assert founders.items() <= job.processes().items()
    job.scale(1)
    job.settled(1, grown["generation"] + 1)
    assert founders.items() <= job.processes().items()
    assert_bit_equal(world_digests(job, [0]))


def test_serial_0_can_leave_by_a_drain_like_any_other(job: TrainingJob) -> None:
    job.apply(replicas=2, arguments=["--digest"])
    first = job.settled(2)
    pod = job.cluster.get("-n", job.namespace, "pod/job-0")
    node, survivor = pod["spec"]["nodeName"], job.processes()[1, 0]
    try:
        job.kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=120s",
                    f"--pod-selector=dynatrain.io/job={job.NAME}", timeout=150)
        # One shrink while the pod leaves, one grow when its replacement is ready.
        status = job.settled(2, first["generation"] + 2)
    finally:
        job.kubectl("uncordon", node)
    assert status["members"] == "1-2"
    assert job.processes()[1, 0] == survivor
    assert [entry["cause"] for entry in status["history"][-2:]] == ["drain", "scale-up"]
    assert_bit_equal(world_digests(job, [1]))


def test_completes_when_the_data_is_exhausted(job: TrainingJob) -> None:
    job.apply(replicas=2, arguments=["--steps", "20"])
    job.condition("Complete", timeout=120)
    assert job.status["phase"] == "Complete"
    assert not job.processes()


@pytest.mark.parametrize("phase", ["Released", "Planned", "Draining"])
def test_delete_ends_everything_at_once_also_during_a_transition(job: TrainingJob, phase: str) -> None:
    job.apply(replicas=1, arguments=["--hold-serial", "0"])
    job.settled(1)
    if phase == "Draining":  # it stays so while the rank waits in its step
        job.kubectl("exec", "job-0", "--", "touch", "/tmp/hold")
        job.log_until(0, lambda line: "held before step" in line, "the rank is held")
    if phase != "Released":
        job.scale(2)
    job.until(lambda j: j["status"].get("transition", {}).get("phase") == phase, f"its transition is {phase}")
    job.kubectl("delete", f"etj/{job.NAME}", "--timeout=60s", timeout=70)
    job.kubectl("wait", "--for=delete", "pod", "-l", f"dynatrain.io/job={job.NAME}", "--timeout=40s")
    assert not job.processes()


def test_scale_outside_the_range_is_refused_at_once_and_nothing_changes(job: TrainingJob) -> None:
    job.apply(replicas=1, maximum=3)
    before = job.settled(1)
    try:
        job.scale(7)
    except KubectlError as error:
        assert "1" in error.stderr and "3" in error.stderr
    else:
        raise AssertionError("7 replicas were accepted with at most 3")
    assert job.get()["spec"]["replicas"] == 1
    assert job.status["generation"] == before["generation"]
