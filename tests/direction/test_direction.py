"""No arrow between the rooms points the wrong way.

Bazel's visibility refuses a wrong dependency where it is written; this asks
Bazel what is really reached, over any number of steps, so that a visibility
list that was opened too wide shows too. Tests and test-only libraries are left
out: a test may look at what its library must not see.
"""

from __future__ import annotations

import functools
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Room -> what its targets may reach. A room's name is the prefix of its packages, the longest that fits; a name
# here covers the rooms below it, unless they are listed by themselves.
PURE = ["base", "third_party:absl", "third_party:xxhash"]
VALUES = [*PURE, "vps", "transition/plan", "transition/stage"]
PREVIEW = [*VALUES, "transition/program", "transition/schedule", "transition/check", "transition/preview"]
TEXT = ["third_party:json", "third_party:yaml_cpp"]
RPC = ["api/rpc", "third_party:grpcpp", "third_party:protobuf"]
MOVING = [*VALUES, "transition/device", "transition/transport", "transition/comm", "transition/engine", "transition/commit"]
ARROWS: dict[str, list[str]] = {
    "base": PURE,
    "vps": [*PURE],
    "transition/plan": [*PURE, "vps"],
    "transition/stage": [*PURE, "vps", "transition/plan", "transition/program", "transition/schedule"],
    # What ranks do, as values; their proof shares no code with what makes them, not even the layouts.
    "transition/program": [*PURE, "vps/geometry"],
    "transition/check": [*PURE, "vps/geometry", "transition/program"],
    # What two layouts say, as claims: it knows plans' inputs, the checker itself doesn't.
    "transition/check:plan_claims": [*PURE, "vps", "transition/plan", "transition/program", "transition/check"],
    "transition/schedule": [*PURE, "vps", "transition/plan", "transition/program"],
    # A plan as people see it: it may look at all that is made of a plan, and at nothing that moves.
    "transition/preview": PREVIEW,
    "transition/commit": VALUES,
    "transition/device": VALUES,
    "transition/transport": [*VALUES, "transition/device", "third_party:crypto"],
    "transition/comm": [*VALUES, "transition/device", "transition/transport"],
    "transition/engine": [*VALUES, "transition/device", "transition/transport", "transition/comm"],
    "api": [*VALUES, "transition/commit", *TEXT],
    "api/rpc": [*VALUES, *TEXT, "api", *RPC],
    # Figures that costs are computed from; operator and agents don't see them yet.
    "api/cluster_file": [*PREVIEW, *TEXT, "api", "examples"],
    "agent": [*MOVING, "agent/client", "api", *TEXT, *RPC, "third_party:spdlog", "third_party:crypto", "build_defs"],
    # How others speak to an agent, behind a seam: the operator needs the same client.
    "agent/client": [*VALUES, "transition/commit", *RPC],
    # What a rank process loads beside PyTorch, which brings its own protobuf: no gRPC, no logging library, no OpenSSL.
    "agent/runtime": [*MOVING, "api", *TEXT],
    "operator": [*VALUES, "transition/commit", "agent/client", "api", *TEXT, *RPC,
                 "third_party:httplib", "third_party:crypto", "third_party:spdlog", "build_defs"],
    "tools": [*PREVIEW, "transition/commit", "api", "api/cluster_file", "examples", *TEXT, "third_party:cli11", "build_defs"],
    "examples": [],
    "python": ["agent/runtime"],
    "third_party": [],
    "docs": [],
    # Every binary has what tells TSan of Abseil's locks.
    "build_defs": ["third_party:absl"],
    "bench": ["*"],
    "tests": ["*"],
}
# Only these may see a whole tree from above; nobody may depend on them.
TOP = {"bench", "tests"}


def query(expression: str) -> list[str]:
    """The labels of this repository that a Bazel query gives."""
    command = ["bazel", "query", "--noimplicit_deps", "--notool_deps", "--ui_event_filters=-info", "--noshow_progress", expression]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return [label for label in done.stdout.split() if label.startswith("//")]


def covers(room: str, name: str) -> bool:
    return name == room or name.startswith((room + "/", room + ":"))


def room_of(label: str) -> str | None:
    """The room with the longest name that the label lies in."""
    rooms = [room for room in ARROWS if covers(room, label.removeprefix("//"))]
    return max(rooms, key=len, default=None)


def allowed(room: str, label: str) -> bool:
    target = room_of(label)
    if target == room or "*" in ARROWS[room]:
        return True
    name = label.removeprefix("//")
    # A room that is listed by itself has to be allowed by itself: "api" doesn't open "api/rpc".
    return any(covers(arrow, name) and (arrow.count("/") >= (target or "").count("/") or ":" in arrow) for arrow in ARROWS[room])


@functools.cache
def rules() -> frozenset[str]:
    """All rules of this repository but tests and what only tests may use."""
    return frozenset(query("kind(rule, //...) except tests(//...) except attr(testonly, 1, //...)"))


@pytest.mark.parametrize("room", ARROWS)
def test_reaches_only_what_lies_below(room: str) -> None:
    own = sorted(label for label in rules() if room_of(label) == room)
    if not own:
        return  # a room that holds no rules yet, or none of Bazel's
    reached = query(f"kind(rule, deps(set({' '.join(own)})))")
    wrong = sorted(label for label in reached if not allowed(room, label))
    paths = [f"{label}, by " + " -> ".join(query(f"somepath(set({' '.join(own)}), {label})")) for label in wrong[:3]]
    assert not wrong, f"//{room} must not reach " + "; ".join(paths)


def test_every_package_has_its_room() -> None:
    homeless = sorted(label for label in rules() if room_of(label) is None)
    assert not homeless, f"add the room of {homeless} to ARROWS"


def test_a_wrong_arrow_would_be_seen() -> None:
    assert allowed("transition/plan", "//vps/geometry:box")
    assert not allowed("vps", "//transition/plan:plan")
    assert not allowed("operator", "//transition/transport:tcp")
    assert not allowed("operator", "//agent:agent")
    assert not allowed("transition/plan", "//third_party:json")
    assert not allowed("api", "//api/rpc:agent_cc_grpc")
    assert not allowed("agent/runtime", "//api/rpc:agent_cc_grpc")
    assert allowed("agent", "//api/rpc:agent_cc_grpc")
    assert "//base:fingerprint" in query("deps(//base:fingerprint)")


def test_nothing_depends_on_tests_or_benchmarks() -> None:
    below = sorted(label for label in rules() if room_of(label) not in TOP)
    reached = query(f"kind(rule, deps(set({' '.join(below)})))")
    wrong = [label for label in reached if room_of(label) in TOP]
    assert not wrong
