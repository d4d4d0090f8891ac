"""The operator's whole loop: what users do, and what happens when it dies at the worst moment."""

from __future__ import annotations

import functools
import pathlib
import signal
import subprocess
import time
from typing import Any

import pytest
from operator_world import World


def writes(*names: str) -> list[str]:
    """The places about these durable writes at which an operator may die."""
    return [f"{when}-write-{name}" for name in names for when in ("before", "after")]


def rounds(*names: str) -> list[str]:
    """Those about these rounds of messages."""
    return [f"{when}-send-{name}" for name in names for when in ("before", "amid", "after")]


PLACES = writes("Term", "Status", "Planned", "Draining", "Committed", "Released") + rounds("Greet", "Prepare", "Arm", "Go", "Commit")
PLACES += [f"{when}-{what}-pod" for what in ("create", "delete") for when in ("before", "after")]


def assert_no_nonsense(world: World) -> None:
    """Whatever died: the agents saw no violation, and terms and commits only grow."""
    commits: dict[int, int] = {}
    for line in world.commands():
        assert "wrong" not in line, line
        if line["command"] == "Commit" and line["outcome"] == "OK":
            assert commits.get(line["serial"], 0) <= line["generation"], line
            commits[line["serial"]] = line["generation"]


def ended(pod: dict[str, Any]) -> bool:
    return bool(pod["status"]["phase"] in ("Succeeded", "Failed"))


def died(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is not None


def doomed(world: World, place: str) -> subprocess.Popen[bytes]:
    """In place of the operator that runs, if one does, another that will be killed at that place."""
    for process in world.processes("operator"):
        process.kill()
        process.wait()
    return world.operator(f"--failpoint={place}=kill@{world.folder / place}", "--allow-failpoints", name="doomed")


def wait_death(world: World, process: subprocess.Popen[bytes], place: str) -> None:
    world.wait(f"death at {place}", lambda: died(process))
    assert process.returncode == -signal.SIGKILL


def test_a_job_is_applied_scaled_drained_shrunk_and_deleted(world: World) -> None:
    world.operator()
    world.apply(2)
    first = world.wait_settled(2, generation=1)
    assert first["layout"]["text"] == "dp2,tp1,pp1"
    assert first["selector"] == "dynatrain.io/job=gpt"
    assert first["members"] == "0-1"

    world.scale(3)
    assert world.wait_settled(3, generation=2)["members"] == "0-2"

    world.evict("gpt-1")  # one shrink within the grace, then one grow onto the replacement
    drained = world.wait_settled(3, generation=4)
    assert drained["members"] == "0,2-3"
    world.wait("the drained pod goes", lambda: "gpt-1" not in world.pods())

    world.scale(1)
    assert world.wait_settled(1, generation=5)["replicas"] == 1
    world.wait("the surplus pods go", lambda: len(world.pods()) == 1)

    world.delete(world.path("gpt"))
    # Removing them is the garbage collector's part, which doesn't run here.
    world.wait("the job's pods end", lambda: all(ended(pod) for pod in world.pods().values()))
    world.delete(f"api/v1/namespaces/{world.namespace}/pods/gpt-0")
    assert_no_nonsense(world)
    assert not [line for line in world.commands() if line["command"] == "Abort"]


def test_finished_data_completes_the_job(world: World) -> None:
    world.operator()
    world.apply(2)
    world.wait_settled(2)
    world.control(finish=True)
    world.wait("Complete", lambda: world.status().get("phase") == "Complete")
    assert world.condition("Complete")["status"] == "True"


def test_a_pod_without_room_does_not_hold_training_up(world: World) -> None:
    world.control(max_pods=2)
    world.operator()
    world.apply(2)
    world.wait_settled(2, generation=1)
    world.scale(3)
    world.wait("the shortage is told", lambda: "no room" in str(world.status()))
    assert world.status()["replicas"] == 2
    world.control(max_pods=3)
    world.wait_settled(3)


def test_a_model_that_is_not_as_told_is_said_and_trains_on(world: World) -> None:
    world.operator()
    world.apply(2, model={"heads": 8, "parameters": 255})
    world.wait_settled(2)
    world.wait("it is said", lambda: "has 256 parameters, spec.model.parameters says 255" in world.status()["reason"])
    world.wait("the event", lambda: "ModelDiffers" in world.events())
    world.edit({"model": {"parameters": 256}})
    world.wait("it is as told", lambda: world.condition("ModelAsTold")["status"] == "True")
    assert not world.status().get("reason")


def test_a_rank_that_never_arrives_is_named_and_training_goes_on(world: World) -> None:
    world.operator()
    world.apply(2, elasticPolicy={"minReplicas": 1, "maxReplicas": 4, "scaleUpDelaySeconds": 3, "stepTimeoutSeconds": 2})
    world.wait_settled(2, generation=1)
    world.control(hang=[1])
    world.scale(3)
    world.wait("Aborted", lambda: world.status().get("transition", {}).get("phase") == "Aborted")
    assert "1" in world.status()["transition"]["message"]
    assert world.status()["generation"] == 1
    world.control(hang=[])
    assert_no_nonsense(world)


def test_a_namespace_that_is_being_deleted_ends_its_jobs_quietly(world: World) -> None:
    world.operator()
    world.apply(2)
    world.wait_settled(2, generation=1)
    world.delete(f"api/v1/namespaces/{world.namespace}")  # Terminating: no controller empties it here
    world.scale(3)
    world.wait("Failed", lambda: world.condition("Failed").get("reason") == "NamespaceTerminating")
    world.wait("the job's pods end", lambda: all(ended(pod) for pod in world.pods().values()))
    assert len(world.pods()) == 2
    assert world.log().count("creating pod") <= 2
    world.processes("operator")[0].kill()
    world.operator("--log-level=debug", name="next")
    # A round that finds nothing to do, not even to come again, is the last one until something changes.
    mark = world.mark()
    world.wait("the next one has seen all of it", lambda: f"version={mark} actions=0" in world.log("next"))
    assert world.version() == mark
    assert "creating pod" not in world.log("next")
    assert_no_nonsense(world)


@pytest.mark.parametrize("place", PLACES)
def test_killed_anywhere_the_next_operator_goes_on(world: World, place: str) -> None:
    world.operator()
    world.apply(2)
    world.wait_settled(2, generation=1)
    keep = {name: pod["metadata"]["uid"] for name, pod in world.pods().items()}
    last = doomed(world, place)
    shrinks = "delete" in place
    world.scale(1 if shrinks else 3)
    wait_death(world, last, place)
    world.operator(name="next")
    settled = world.wait_settled(1 if shrinks else 3)
    # An attempt that was cut may be aborted and made again, but never in place of a commit.
    assert settled["generation"] in (2, 3), settled["generation"]
    if not shrinks:
        now = world.pods()
        assert {name: now[name]["metadata"]["uid"] for name in keep} == keep
    assert_no_nonsense(world)


@pytest.mark.parametrize("place", writes("Aborted") + rounds("Abort"))
def test_killed_while_it_gives_up_the_next_operator_ends_it(world: World, place: str) -> None:
    world.operator()
    world.apply(2, elasticPolicy={"minReplicas": 1, "maxReplicas": 4, "scaleUpDelaySeconds": 3, "stepTimeoutSeconds": 1})
    world.wait_settled(2, generation=1)
    last = doomed(world, place)
    world.control(hang=[1])
    world.scale(3)
    wait_death(world, last, place)
    world.operator(name="next")
    world.wait("Aborted", lambda: any(entry["outcome"] == "Aborted" for entry in world.status().get("history", [])))
    assert world.status()["generation"] == 1
    world.control(hang=[])
    assert world.wait_settled(3)["generation"] > 1
    assert_no_nonsense(world)


@pytest.mark.parametrize("place", rounds("Cancel"))
def test_killed_while_it_takes_a_stop_back_the_next_operator_arms_again(world: World, place: str) -> None:
    world.operator()
    world.apply(2)
    world.wait_settled(2, generation=1)
    last = doomed(world, place)
    world.control(refuse=[1])  # to stop at the step that is asked for
    world.scale(3)
    wait_death(world, last, place)
    world.control(refuse=[])
    world.operator(name="next")
    assert world.wait_settled(3)["generation"] == 2
    assert_no_nonsense(world)


@pytest.mark.parametrize("place", writes("Superseded"))
def test_killed_while_it_drops_what_nobody_wants_any_more_the_next_operator_does(world: World, place: str) -> None:
    world.operator()
    world.apply(2)
    world.wait_settled(2, generation=1)
    first = doomed(world, "after-write-Planned")
    world.scale(3)
    wait_death(world, first, "after-write-Planned")
    world.scale(2)
    last = doomed(world, place)
    wait_death(world, last, place)
    world.operator(name="next")
    settled = world.wait_settled(2, generation=1)
    assert [entry["outcome"] for entry in settled["history"]] == ["Released", "Superseded"]
    world.wait("the pod that was to join goes", lambda: len(world.pods()) == 2)
    assert_no_nonsense(world)


@pytest.mark.parametrize("place", rounds("Dismiss"))
def test_killed_while_it_ends_a_job_s_pods_the_next_operator_does(world: World, place: str) -> None:
    world.operator()
    world.apply(2)
    world.wait_settled(2, generation=1)
    last = doomed(world, place)
    world.wait("it has the job", lambda: "write=Term" in world.log("doomed"))
    world.delete(world.path("gpt"))
    wait_death(world, last, place)
    world.operator(name="next")
    world.wait("the job's pods end", lambda: all(ended(pod) for pod in world.pods().values()))
    assert_no_nonsense(world)


@pytest.mark.parametrize("place", ["before-write-Committed", "amid-send-Commit", "before-send-Go", "before-write-Draining"])
def test_a_stopped_operator_that_comes_back_is_not_obeyed(world: World, place: str) -> None:
    world.apply(2)
    once = world.folder / "once"
    old = world.operator(f"--failpoint={place}=stop@{once}", "--allow-failpoints", name="old")
    world.wait("the old operator stops", lambda: once.exists())
    world.operator(name="new")
    world.wait_settled(2)
    world.scale(3)
    before = world.wait_settled(3)
    old.send_signal(signal.SIGCONT)
    world.wait("it notices", lambda: "deposed" in world.log("old"))
    after = world.status()
    assert after["operatorTerm"] == before["operatorTerm"]
    assert after["generation"] == before["generation"]
    said = [line for line in world.commands() if line["term"] < before["operatorTerm"]]
    last_of_new = max(i for i, line in enumerate(world.commands()) if line["term"] == before["operatorTerm"])
    late = [line for line in world.commands()[last_of_new:] if line in said]
    assert not [line for line in late if line["outcome"] == "OK"], late
    assert_no_nonsense(world)


def test_a_deposed_operator_begins_anew_as_the_other_may_be_gone(world: World) -> None:
    """Scaled to two and back to one: the older process may be the one that stays."""
    old = world.operator("--stand-aside=2s", name="old")
    world.apply(2)
    world.wait_settled(2, generation=1)
    new = world.operator(name="new")
    world.scale(3)
    before = world.wait_settled(3)
    world.wait("the old one is deposed", lambda: "deposed" in world.log("old"))
    new.kill()
    new.wait()
    world.scale(2)
    world.wait("the old one ends", lambda: died(old))
    assert old.returncode == 1 and "start this one again" in world.log("old")
    world.operator("--stand-aside=2s", name="old")  # as the kubelet does
    after = world.wait_settled(2)
    assert after["operatorTerm"] == before["operatorTerm"] + 1
    assert after["generation"] == before["generation"] + 1
    assert_no_nonsense(world)


def test_agents_wait_in_doubt_for_an_operator_that_is_away(world: World) -> None:
    world.operator()
    world.apply(2)
    world.wait_settled(2, generation=1)
    last = doomed(world, "before-write-Committed")
    world.scale(3)
    wait_death(world, last, "before-write-Committed")
    since = time.monotonic()
    assert world.status()["transition"]["phase"] == "Draining"
    alone_ms = (time.monotonic() - since) * 1e3
    world.operator(name="next")
    assert world.wait_settled(3)["generation"] == 2
    # Nobody decided alone: all were told, and had waited since before the next one was there.
    told = [line for line in world.commands() if line["command"] == "Commit" and line["generation"] == 2]
    assert {line["serial"] for line in told} == {0, 1, 2} and all(line["outcome"] == "OK" for line in told)
    waits = [line["in_doubt_ms"] for line in told if "in_doubt_ms" in line]
    assert waits and min(waits) > alone_ms, told
    assert_no_nonsense(world)


def test_an_api_server_that_hangs_costs_time_and_nothing_else(world: World) -> None:
    operator = world.operator("--api-timeout=2s")
    world.apply(2)
    world.wait_settled(2, generation=1)
    world.scale(3)
    world.wait("it has begun", lambda: world.status()["transition"]["generation"] == 2)
    world.api.signal_server(signal.SIGSTOP)
    try:
        world.wait("the operator notices", lambda: "DEADLINE_EXCEEDED" in world.log() or "UNAVAILABLE" in world.log())
    finally:
        world.api.signal_server(signal.SIGCONT)
    assert world.wait_settled(3)["generation"] in (2, 3)
    assert operator.poll() is None
    assert_no_nonsense(world)


def test_agents_that_are_silent_for_a_while_are_waited_for(world: World) -> None:
    world.operator()
    world.apply(2)
    world.wait_settled(2, generation=1)
    node = world.processes("node")[0]
    node.send_signal(signal.SIGSTOP)
    world.wait("the operator notices", lambda: "agent silent" in world.log())
    node.send_signal(signal.SIGCONT)
    world.scale(3)
    world.wait_settled(3)
    assert len(world.pods()) == 3
    assert_no_nonsense(world)


def _trains_on_two(world: World, name: str) -> bool:
    return bool(world.status(name).get("replicas") == 2)


def test_many_jobs_at_once(world: World) -> None:
    world.operator()
    names = [f"job-{i}" for i in range(12)]
    for name in names:
        world.apply(2, name=name)
    for name in names:
        world.wait(f"{name} trains", functools.partial(_trains_on_two, world, name))
    assert len(world.pods()) == 24


def test_the_commit_reaches_the_agents_at_once(world: World) -> None:
    world.operator()
    world.apply(2)
    world.wait_settled(2)
    for replicas in (3, 2, 3, 2, 3):
        world.scale(replicas)
        world.wait_settled(replicas)
    waits = sorted(line["in_doubt_ms"] for line in world.commands() if line["command"] == "Commit" and "in_doubt_ms" in line)
    print("ms from Verified to Commit:", waits)
    # One status write and one round trip; generous, for a machine that does other things too.
    assert waits[len(waits) // 2] < 150, waits


@pytest.mark.long
def test_fifty_resizes_leave_the_operator_as_it_was(world: World) -> None:
    operator = world.operator()
    world.apply(2)
    world.wait_settled(2)

    def footprint() -> tuple[int, int, int]:
        process = pathlib.Path("/proc") / str(operator.pid)
        rss_kib = int((process / "status").read_text().split("VmRSS:")[1].split()[0])
        return len(list((process / "task").iterdir())), len(list((process / "fd").iterdir())), rss_kib

    for round_number in range(50):
        if round_number == 10:
            before = footprint()
        world.scale(3 - round_number % 2)
        world.wait_settled(3 - round_number % 2)
    threads, files, rss_kib = footprint()
    assert threads <= before[0] + 2
    assert files <= before[1] + 4
    assert rss_kib <= before[2] * 1.2


def test_what_happened_is_told_in_events(world: World) -> None:
    world.operator()
    world.apply(1)
    world.wait_settled(1)
    world.scale(2)
    world.wait_settled(2)
    world.wait("events", lambda: len(world.events()) >= 2)
