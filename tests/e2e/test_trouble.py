"""What goes wrong on a real cluster: wishes that can't be met, ranks that don't come, processes that die."""

from __future__ import annotations

import json
import os
import signal

import kube
import operator_faults
import pytest
from test_life import assert_bit_equal, world_digests
from training_job import TrainingJob


def test_an_impossible_layout_is_named_with_the_nearest_size_that_can(job: TrainingJob) -> None:
    job.apply(replicas=2, parallelism={"dp": 1, "tp": 3})
    told = job.condition("LayoutFeasible", "False")
    assert "2" in told["message"] and "3" in told["message"]
    job.scale(3)
    assert job.settled(3)["layout"]["text"] == "dp1,tp3,pp1"


def test_a_pod_that_is_never_scheduled_does_not_hold_up_training_and_joins_once_it_can(job: TrainingJob) -> None:
    job.apply(replicas=1, policy={"scaleUpDelaySeconds": 5})
    before = job.settled(1)
    nodes = [node["metadata"]["name"] for node in job.cluster.get("nodes")["items"]]
    try:
        job.cluster.kubectl("cordon", *nodes)
        job.scale(2)
        told = job.until(lambda j: "nodes are available" in json_text(j["status"]), "the status says why")
        assert told["status"]["generation"] == before["generation"]
        step = int(job.log(0, "--tail=1").split("step ")[1].split()[0])
        job.log_until(0, lambda line: f"step {step + 3} " in line, "it trains on")
    finally:
        job.cluster.kubectl("uncordon", *nodes)
    job.settled(2, before["generation"] + 1)


def test_a_rank_that_never_reaches_the_boundary_is_named_and_training_goes_on(job: TrainingJob) -> None:
    job.apply(replicas=2, arguments=["--hold-serial", "1", "--digest"], policy={"stepTimeoutSeconds": 5})
    before = job.settled(2)
    survivors = job.processes()
    job.kubectl("exec", "job-1", "--", "touch", "/tmp/hold")
    job.log_until(1, lambda line: "held before step" in line, "the rank is held: steps that began before may still end")
    job.scale(1)
    told = job.until(lambda j: any(e["outcome"] == "Aborted" for e in j["status"].get("history", [])), "it is aborted")
    aborted = next(e for e in told["status"]["history"] if e["outcome"] == "Aborted")
    assert "job-1" in aborted["summary"], aborted
    assert told["status"]["generation"] == before["generation"]
    job.kubectl("exec", "job-1", "--", "rm", "/tmp/hold")
    job.settled(1, before["generation"] + 1)
    assert job.processes().items() <= survivors.items()
    job.log_until(0, lambda line: " loss " in line and "dp1" in line, "it trains alone")
    assert_bit_equal(world_digests(job, [0]))


def test_state_that_the_package_was_not_told_of_is_refused_by_name(job: TrainingJob) -> None:
    job.apply(replicas=1, arguments=["--state-nobody-knows"])
    told = job.until(lambda j: "average" in json_text(j["status"]), "the status names the tensor")
    assert told["status"]["phase"] != "Running"


# 4 layers of width 1536: 75 M parameters, 865 MiB of state, half of it on each of two pods.
LARGE = ["--width", "1536", "--layers", "4"]


def test_where_only_the_states_fit_the_switch_is_cold_and_nobody_runs_out_of_memory(job: TrainingJob) -> None:
    job.apply(replicas=2, arguments=LARGE, memory="2200Mi", parallelism={"dp": {"min": 1, "max": 8}, "tp": 1})
    before = job.settled(2, timeout=240)
    survivor = job.processes()[0, 0]
    job.scale(1)
    after = job.settled(1, before["generation"] + 1, timeout=240)
    assert after["history"][-1]["summary"].endswith(", cold"), after["history"]
    job.log_until(0, lambda line: " loss " in line and "dp1" in line, "it trains alone")
    assert job.processes() == {(0, 0): survivor}


def test_a_memory_limit_too_small_for_the_transition_is_refused_in_time_with_the_number(job: TrainingJob) -> None:
    job.apply(replicas=2, minimum=1, arguments=LARGE, memory="1500Mi", parallelism={"dp": {"min": 1, "max": 8}, "tp": 1})
    before = job.settled(2, timeout=240)
    survivors = job.processes()
    job.scale(1)
    told = job.until(lambda j: any(e["outcome"] == "Aborted" and "MiB" in e["summary"] for e in j["status"].get("history", [])),
                     "it is refused with the number", timeout=180)
    assert told["status"]["generation"] == before["generation"]
    assert survivors == job.processes(), "nobody was killed for memory"


@pytest.mark.parametrize("policy,phase", [("Fail", "Failed"), ("Restart", "Running")])
def test_a_killed_agent_is_state_lost_by_name_and_then_what_the_job_says(job: TrainingJob, policy: str, phase: str) -> None:
    job.apply(replicas=2, spec={"onStateLost": policy}, parallelism={"dp": {"min": 1, "max": 8}, "tp": 1})
    job.settled(2)
    rank = job.processes()[1, 0]
    agent = kube.parent(rank.pid)
    os.kill(agent, signal.SIGKILL)
    told = job.condition("StateLost", timeout=60)
    assert "job-1" in told["message"] and "exp_avg" in told["message"], told
    job.until(lambda j: j["status"]["phase"] == phase and (phase == "Failed" or j["status"]["restarts"] == 1),
              f"phase {phase}", timeout=180)


PLACES = ["before-write-Term", "after-write-Term", "amid-send-Greet", "before-write-Planned", "after-write-Planned", "amid-send-Prepare",
          "before-write-Draining", "after-write-Draining", "amid-send-Arm", "amid-send-Go",
          "before-write-Committed", "after-write-Committed", "amid-send-Commit", "before-write-Released", "after-write-Released"]
FEW = {"amid-send-Prepare", "after-write-Draining", "before-write-Committed", "amid-send-Commit"}


@pytest.mark.parametrize("place", [p if p in FEW else pytest.param(p, marks=pytest.mark.long) for p in PLACES])
def test_an_operator_killed_anywhere_goes_on_from_status(job: TrainingJob, place: str) -> None:
    job.apply(replicas=1, arguments=["--digest"])
    before = job.settled(1)
    survivor = job.processes()
    with operator_faults.fail_points(job.cluster, f"{place}=kill@/points/once"):
        job.scale(2)
        job.settled(2, before["generation"] + 1, timeout=150)
        operator_faults.until_restarted(job.cluster)  # else the fail point was not hit
    assert survivor.items() <= job.processes().items()
    job.log_until(0, lambda line: (" loss " in line and "dp2" in line) or "tp2" in line, "it trains in the new world")
    assert_bit_equal(world_digests(job, [0]))


@pytest.mark.long
@pytest.mark.parametrize("place", ["before-write-Aborted", "after-write-Aborted", "amid-send-Abort"])
def test_an_operator_killed_while_it_gives_up_ends_that_too(job: TrainingJob, place: str) -> None:
    job.apply(replicas=2, arguments=["--hold-serial", "1", "--digest"], policy={"stepTimeoutSeconds": 5})
    before = job.settled(2)
    survivors = job.processes()
    with operator_faults.fail_points(job.cluster, f"{place}=kill@/points/once"):
        job.kubectl("exec", "job-1", "--", "touch", "/tmp/hold")
        job.log_until(1, lambda line: "held before step" in line, "the rank is held")
        job.scale(1)
        operator_faults.until_restarted(job.cluster)
        told = job.until(lambda j: any(e["outcome"] == "Aborted" for e in j["status"].get("history", [])), "it is aborted")
        assert told["status"]["generation"] == before["generation"]
        job.kubectl("exec", "job-1", "--", "rm", "/tmp/hold")
        job.settled(1, before["generation"] + 1)
    assert job.processes().items() <= survivors.items()
    job.log_until(0, lambda line: " loss " in line and "dp1" in line, "it trains alone")
    assert_bit_equal(world_digests(job, [0]))


def test_in_doubt_for_a_minute_without_an_operator_then_committed(job: TrainingJob) -> None:
    job.apply(replicas=1, arguments=["--digest"])
    before = job.settled(1)
    with operator_faults.fail_points(job.cluster, "before-write-Committed=kill"):
        job.scale(2)
        job.until(lambda j: j["status"].get("transition", {}).get("phase") == "Draining", "draining")
        lines = len(job.log(0).splitlines())
        try:  # whatever it says in this minute, it is no step: it waits to be told
            job.log_until(0, lambda line: " world dp2" in line or " world dp1,tp2" in line, "a step of the new world", timeout=60)
        except kube.NotSeen:
            pass
        else:
            raise AssertionError("it went on without having been told")
        assert len(job.log(0).splitlines()) - lines < 12
        assert job.status["generation"] == before["generation"]
    job.settled(2, before["generation"] + 1, timeout=120)
    job.log_until(0, lambda line: " loss " in line and (" dp2" in line or "tp2" in line), "it trains in the new world")
    assert_bit_equal(world_digests(job, [0]))


def test_a_stopped_operator_that_comes_back_is_not_obeyed(job: TrainingJob) -> None:
    job.apply(replicas=1)
    before = job.settled(1)
    (old,) = operator_faults.pids(job.cluster)
    with operator_faults.stopped(old):
        operator_faults.scale(job.cluster, 2)
        job.scale(2)
        after = job.settled(2, before["generation"] + 1)
    assert after["operatorTerm"] > before["operatorTerm"]
    try:
        job.scale(1)  # both are awake now; one of them may act
        last = job.settled(1, after["generation"] + 1)
        assert last["operatorTerm"] >= after["operatorTerm"]
        assert [e["outcome"] for e in last["history"]].count("Aborted") == 0
    finally:
        operator_faults.begin_anew(job.cluster)


def json_text(value: object) -> str:
    return json.dumps(value)
