"""A user's view of a cluster: kubectl, watches with deadlines, and the host's own view of processes.

Only the standard library, because the demo uses it before anything is
installed. Nothing here talks to our operator or agents: what a test learns, it
learns as a user would, from kubectl, or from the host's /proc.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "tools" / "cluster" / "cluster"
SILENCE_S = 10.0  # of a watch, then it begins anew
Json = dict[str, Any]


class KubectlError(RuntimeError):
    """kubectl ended with an error; `stderr` is what it said."""

    def __init__(self, command: list[str], stderr: str) -> None:
        super().__init__(f"{' '.join(command)}: {stderr.strip()}")
        self.stderr = stderr


class NotSeen(AssertionError):
    """A deadline passed before a condition held; the message has the last state seen."""


@dataclasses.dataclass(frozen=True, order=True)
class Process:
    """A process as the host knows it. `start` (clock ticks since boot) tells a reused pid apart."""

    pid: int
    start: int


@dataclasses.dataclass
class Cluster:
    """A running local cluster, by name."""

    name: str
    environment: dict[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def up(cls, name: str, nodes: int = 3) -> Cluster:
        """Brings the cluster up (nothing to do if it is) and returns it. Progress goes to stderr."""
        environment = os.environ | {"DYNATRAIN_CLUSTER": name}
        subprocess.run([CLUSTER, "up", str(nodes)], env=environment, check=True, stdout=subprocess.DEVNULL)
        return cls.attach(name)

    @classmethod
    def attach(cls, name: str) -> Cluster:
        """The cluster of that name, which must be up."""
        environment = os.environ | {"DYNATRAIN_CLUSTER": name}
        exports = subprocess.run(["bash", "-c", f"eval \"$('{CLUSTER}' env)\" && env -0"], env=environment,
                                 check=True, capture_output=True).stdout
        return cls(name, dict(entry.split("=", 1) for entry in exports.decode().split("\0") if "=" in entry))

    def down(self) -> None:
        subprocess.run([CLUSTER, "down"], env=self.environment, check=True)

    def load(self, image: pathlib.Path) -> None:
        subprocess.run([CLUSTER, "load", str(image)], env=self.environment, check=True)

    def run(self, *command: str, timeout: float = 60, stdin: str | None = None) -> str:
        """Runs a program with this cluster's KUBECONFIG and PATH; returns its output."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=timeout, input=stdin)
        if done.returncode:
            raise KubectlError(list(command), done.stderr or done.stdout)
        return done.stdout

    def kubectl(self, *arguments: str, timeout: float = 60, stdin: str | None = None) -> str:
        return self.run("kubectl", *arguments, timeout=timeout, stdin=stdin)

    def get(self, *arguments: str) -> Json:
        found: Json = json.loads(self.kubectl("get", *arguments, "-o", "json"))
        return found

    @contextlib.contextmanager
    def watch(self, *arguments: str) -> Iterator[Iterator[Json | None]]:
        """`kubectl get -w`: yields objects as they change, None each second without one."""
        command = ["kubectl", "get", *arguments, "-w", "-o", "json"]
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            yield _objects(process, command)
        finally:
            process.kill()
            process.communicate()

    def until(self, holds: Callable[[Json], bool], *arguments: str, timeout: float, what: str) -> Json:
        """The first state of one object (kind/name [-n …]) in which `holds`; NotSeen after `timeout` seconds.

        A watch that is silent for long begins anew, with a list, so that one that was lost holds nobody up.
        """
        deadline, last = time.monotonic() + timeout, None
        while True:
            heard = time.monotonic()
            with contextlib.suppress(StopIteration), self.watch(*arguments) as objects:
                for seen in objects:
                    last, now = seen or last, time.monotonic()
                    if seen is not None and holds(seen):
                        return seen
                    if seen is not None:
                        heard = now
                    elif now > heard + SILENCE_S and now < deadline:
                        break
                    if now > deadline:
                        raise NotSeen(f"{what}: not within {timeout:.0f} s; last status: "
                                      f"{json.dumps((last or {}).get('status'), indent=1)}")


def _objects(process: subprocess.Popen[bytes], command: list[str]) -> Iterator[Json | None]:
    assert process.stdout and process.stderr
    decoder, text = json.JSONDecoder(), ""
    while True:
        if not select.select([process.stdout], [], [], 1.0)[0]:
            yield None
            continue
        chunk = os.read(process.stdout.fileno(), 1 << 16)
        if not chunk:
            stderr = process.stderr.read().decode()
            if stderr:
                raise KubectlError(command, stderr)
            return  # the server ended the watch: the caller begins another
        text += chunk.decode()
        while text.lstrip():
            try:
                value, end = decoder.raw_decode(text.lstrip())
            except json.JSONDecodeError:
                break  # the object goes on in the next chunk
            text = text.lstrip()[end:]
            yield value


def rank_processes(job_uid: str) -> dict[tuple[int, int], Process]:
    """(serial, local rank) → process, for all living rank processes of a job on this machine, from /proc alone."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, KeyError, IndexError):
            environment = dict(pair.split("=", 1) for pair in (entry / "environ").read_text().split("\0") if "=" in pair)
            if environment.get("DYNATRAIN_JOB_UID") != job_uid or "DYNATRAIN_LOCAL_RANK" not in environment:
                continue
            fields = (entry / "stat").read_text().rsplit(") ", 1)[1].split()
            parent = pathlib.Path(f"/proc/{fields[1]}/environ").read_text()
            if "DYNATRAIN_LOCAL_RANK=" in parent or fields[0] == "Z":
                continue  # a child of a rank process, or a dead one
            key = int(environment["DYNATRAIN_SERIAL"]), int(environment["DYNATRAIN_LOCAL_RANK"])
            found[key] = Process(int(entry.name), int(fields[19]))
    return found


def parent(pid: int) -> int:
    """The pid of its parent, as the host numbers it."""
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()[1])


def condition(job: Json, kind: str) -> Json:
    """The condition of that type, or {} if it is not set."""
    return next((c for c in job.get("status", {}).get("conditions", []) if c["type"] == kind), {})
