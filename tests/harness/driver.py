"""Plays the operator for real agents and rank processes on this machine.

Starts one dynatrain-agent per pod on 127.0.0.1, drives transitions given as
layout text and serials, and tells what a test wants to know. For example:

    with Driver(folder, ["python", "train.py"]) as job:
        job.start([0, 1])
        job.transition("dp2,tp1", [0, 1])        # the first start
        job.wait_step(10)
        job.start([2, 3])                        # two pods more
        record = job.transition("dp2,tp2", [0, 1, 2, 3])
        print(record.pause_ms, job.losses())

Needs the binaries: DYNATRAIN_AGENT and DYNATRAIN_LIBRARY name them, else Bazel
builds them.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
from rpc import ROOT, Agent, messages

Rank = tuple[int, int]  # serial, local rank
KEY = "0123456789abcdef0123456789abcdef"
DEADLINE_S = float(os.environ.get("DYNATRAIN_TEST_DEADLINE_S", "180"))
_LINE = re.compile(r"step (\d+) loss (\S+) samples (\d+) world (\S+)")

_TIME = re.compile(r"step (\d+) .* ms (\d+)")


class TransitionFailed(Exception):
    """A rank reported `failed`; its reason."""


@dataclass
class Record:
    """What a finished transition tells, by rank."""

    generation: int
    layout: str
    ranks: dict[Rank, Any] = field(default_factory=dict)  # RankTransition
    wall_ms: dict[str, float] = field(default_factory=dict)  # by phase

    @property
    def pause_ms(self) -> float:
        return max((r.pause_ms for r in self.ranks.values()), default=0.0)

    @property
    def moved_bytes(self) -> int:
        return sum(r.bytes_received for r in self.ranks.values())

    @property
    def minimal_bytes(self) -> int:
        return sum(r.minimal_bytes for r in self.ranks.values())


@dataclass
class Pod:
    serial: int
    process: subprocess.Popen[bytes]
    agent: Agent
    log: pathlib.Path


@dataclass
class Running:
    """A transition under way."""

    id: str
    generation: int
    layout: str
    source: list[int]
    target: list[int]
    plan_digest: str = ""

    @property
    def all(self) -> list[int]:
        return sorted({*self.source, *self.target})


@functools.cache
def binaries() -> tuple[pathlib.Path, pathlib.Path]:
    """The agent and the runtime library."""
    agent = os.environ.get("DYNATRAIN_AGENT")
    library = os.environ.get("DYNATRAIN_LIBRARY")
    if not (agent and library):
        targets = ["//agent:dynatrain-agent", "//agent/runtime:libdynatrain.so"]
        subprocess.run(["bazel", "build", *targets], cwd=ROOT, check=True)
        agent = agent or str(ROOT / "bazel-bin/agent/dynatrain-agent")
        library = library or str(ROOT / "bazel-bin/agent/runtime/libdynatrain.so")
    return pathlib.Path(agent), pathlib.Path(library)


class Driver:
    """One job. Not thread-safe."""

    def __init__(
        self,
        folder: pathlib.Path,
        command: Sequence[str],
        ranks_per_replica: int = 1,
        environment: dict[str, str] | None = None,
        seed: int = 1,
        transfer_deadline_ms: int = 60_000,
    ) -> None:
        self.folder = folder
        self.generation = 0
        self.layout = ""
        self.members: list[int] = []
        self.manifest = ""
        self.term = 1
        self.pods: dict[int, Pod] = {}
        self._command = list(command)
        self._ranks_per_replica = ranks_per_replica
        self._environment = environment or {}
        self._seed = seed
        self._transfer_deadline_ms = transfer_deadline_ms
        self._begun = 0  # attempts; each is for a generation of its own
        # Paths of Unix sockets are short.
        self._home = pathlib.Path(tempfile.mkdtemp(prefix="dt."))
        self._install()

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- pods

    def start(self, serials: Sequence[int]) -> None:
        """Starts pods and waits until all their ranks have said hello."""
        for serial in serials:
            self.pods[serial] = self._start_pod(serial)
        for serial in serials:
            self.wait(
                lambda serial=serial: all(  # type: ignore[misc]
                    r.process_id for r in self.observe(serial).ranks
                ),
                f"hello of pod {serial}",
            )

    def observe(self, serial: int) -> Any:
        """The agent's Observation."""
        return self.pods[serial].agent.observe()

    def pids(self) -> dict[Rank, int]:
        """Of the rank processes, as the agents tell; check them in /proc."""
        return {
            (serial, rank.local_rank): rank.os_pid
            for serial, pod in self.pods.items()
            if pod.process.poll() is None
            for rank in self.observe(serial).ranks
        }

    def exit_code(self, serial: int) -> int:
        """Of the agent, once it has ended."""
        self.wait(
            lambda: self.pods[serial].process.poll() is not None,
            f"the end of pod {serial}",
            ended_is_fine=True,
        )
        return int(self.pods[serial].process.returncode)

    # ---- transitions

    def transition(self, layout: str, serials: Sequence[int]) -> Record:
        """Resizes the job. Raises TransitionFailed if a rank can't, having
        aborted it: the old world goes on then."""
        began = time.perf_counter()
        running = self.begin(layout, serials)
        try:
            self.wait_prepared(running)
            prepared = time.perf_counter()
            self.arm(running)
            self.command("Go", running)
            self._wait_phase(running, "VERIFIED")
        except TransitionFailed as error:
            self.abort(running, str(error))
            raise
        verified = time.perf_counter()
        record = self.commit(running)
        record.wall_ms = {
            "prepare": (prepared - began) * 1e3,
            "to_verified": (verified - prepared) * 1e3,
        }
        return record

    def begin(self, layout: str, serials: Sequence[int]) -> Running:
        """Sends Prepare to all that take part."""
        self._begun += 1
        running = Running(
            id=f"test-{self._begun}",
            generation=self._begun,
            layout=layout,
            source=list(self.members),
            target=list(serials),
        )
        transition = messages().Transition(
            id=running.id,
            generation=running.generation,
            source=self._world(self.generation, self.layout, self.members),
            target=self._world(running.generation, layout, serials),
            manifest=self.manifest,
            seed=self._seed,
            transfer_deadline_ms=self._transfer_deadline_ms,
            prepare_deadline_ms=600_000,
        )
        for serial in running.all:
            request = messages().PrepareRequest(
                fence=self._fence(running), transition=transition
            )
            self.pods[serial].agent.call("Prepare", request)
        return running

    def wait_prepared(self, running: Running) -> None:
        """Until all are prepared, and agree."""
        self._wait_phase(running, "PREPARED")
        parts = self._parts(running)
        digests = {part.plan_digest for part in parts.values()}
        sent = sum(part.sent_hash for part in parts.values()) % 2**64
        received = sum(part.received_hash for part in parts.values()) % 2**64
        if len(digests) != 1 or sent != received:
            raise TransitionFailed(
                f"plans differ: {digests}, sent {sent:x}, received {received:x}"
            )
        running.plan_digest = digests.pop()

    def arm(self, running: Running) -> None:
        """Has the source world stop; again with a later step if it is past it."""
        seen = max((self.step_of(serial) for serial in running.source), default=0)
        while running.source:
            step, replies = seen + 2, []
            for serial in running.source:
                request = messages().ArmRequest(fence=self._fence(running), step=step)
                replies.append(self.pods[serial].agent.call("Arm", request))
            if not any(reply.refused for reply in replies):
                return
            for serial, reply in zip(running.source, replies, strict=True):
                if not reply.refused:
                    self._send(serial, "Cancel", running)
            seen = max(reply.seen for reply in replies)

    def commit(self, running: Running) -> Record:
        """Commits and waits until all have resumed or left."""
        self.generation, self.layout = running.generation, running.layout
        self.members = list(running.target)
        record = Record(running.generation, running.layout)
        self.command("Commit", running)
        for serial in running.all:
            self._wait_released(serial, running, record)
        reply = self.pods[running.target[0]].agent.call(
            "GetManifest", messages().GetManifestRequest()
        )
        assert reply.generation == self.generation
        self.manifest = reply.json
        return record

    def abort(self, running: Running, reason: str = "test") -> None:
        """Takes back what hasn't been committed."""
        for serial in running.all:
            request = messages().AbortRequest(fence=self._fence(running), reason=reason)
            self.pods[serial].agent.call("Abort", request)

    def command(self, method: str, running: Running) -> None:
        """Go or Commit, to all that take part."""
        for serial in running.all:
            self._send(serial, method, running)

    # ---- the job

    def step_of(self, serial: int) -> int:
        return max((int(r.step) for r in self.observe(serial).ranks), default=0)

    def wait_step(self, step: int) -> None:
        """Until all members have completed `step` and it is in the log.

        The line takes another way than the frame, and may come later.
        """
        self.wait(
            lambda: all(self.step_of(serial) >= step for serial in self.members)
            and step in self.step_times(),
            f"step {step}",
        )

    def wait_steps_more(self, steps: int) -> int:
        """Until so many more are complete; returns the last one."""
        step = self.step_of(self.members[0]) + steps
        self.wait_step(step)
        return step

    def losses(self) -> dict[int, float]:
        """By step, from the lines of metrics in the pods' logs."""
        found: dict[int, float] = {}
        for pod in self.pods.values():
            for match in _LINE.finditer(pod.log.read_text()):
                step, loss = int(match[1]), float(match[2])
                assert found.setdefault(step, loss) == loss, f"step {step} twice"
        return found

    def step_times(self) -> dict[int, float]:
        """Milliseconds by step, from the same lines."""
        return {
            int(match[1]): float(match[2])
            for pod in self.pods.values()
            for match in _TIME.finditer(pod.log.read_text())
        }

    def logs(self) -> str:
        return "\n".join(
            f"--- pod {pod.serial}\n{pod.log.read_text()[-4000:]}"
            for pod in self.pods.values()
        )

    def wait(
        self, holds: Callable[[], bool], what: str, ended_is_fine: bool = False
    ) -> None:
        limit = time.monotonic() + DEADLINE_S
        while not holds():
            ended = {
                pod.serial: code
                for pod in self.pods.values()
                if (code := pod.process.poll()) not in (None, 0, 86)
            }
            if ended and not ended_is_fine:
                raise AssertionError(f"{what}: pods ended: {ended}\n{self.logs()}")
            if time.monotonic() > limit:
                raise AssertionError(f"{what}: not in {DEADLINE_S} s\n{self.logs()}")
            time.sleep(0.02)

    def close(self) -> None:
        """Ends everything that was started."""
        for pod in self.pods.values():
            with contextlib.suppress(grpc.RpcError, ProcessLookupError):
                ranks = pod.agent.observe().ranks if pod.process.poll() is None else []
                pod.process.kill()
                for rank in ranks:
                    if rank.os_pid > 0 and rank.state != messages().RANK_EXITED:
                        os.kill(rank.os_pid, 9)
            pod.process.kill()
            pod.process.wait()
            pod.agent.close()
        shutil.rmtree(self._home, ignore_errors=True)

    # ---- parts

    def _install(self) -> None:
        agent, library = binaries()
        shutil.copy(agent, self._home / "dynatrain-agent")
        (self._home / "lib").mkdir()
        shutil.copy(library, self._home / "lib" / "libdynatrain.so")
        # The package finds its library by its own place: no symbolic link.
        package = self._home / "python" / "dynatrain"
        package.mkdir(parents=True)
        for source in (ROOT / "python" / "dynatrain").glob("*.py"):
            shutil.copy(source, package)

    def _start_pod(self, serial: int) -> Pod:
        port = _free_port()
        log = self.folder / f"pod-{serial}.log"
        environment = {
            **{k: v for k, v in os.environ.items() if k != "PYTHONPATH"},
            "DYNATRAIN_JOB": "test",
            "DYNATRAIN_NAMESPACE": "test",
            "DYNATRAIN_JOB_UID": "test-uid",
            "DYNATRAIN_SERIAL": str(serial),
            "DYNATRAIN_RANKS_PER_REPLICA": str(self._ranks_per_replica),
            "DYNATRAIN_POD_IP": "127.0.0.1",
            "DYNATRAIN_KEY": KEY,
            "DYNATRAIN_AGENT_PORT": str(port),
            "DYNATRAIN_SOCKET": str(self._home / f"{serial}.sock"),
            "DYNATRAIN_GRACE_SECONDS": "20",
            "PYTHONUNBUFFERED": "1",
            **self._environment,
        }
        environment.pop("DYNATRAIN_LIBRARY", None)
        with log.open("wb") as output:
            process = subprocess.Popen(
                [self._home / "dynatrain-agent", "run", "--", *self._command],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
            )
        return Pod(serial, process, Agent(f"127.0.0.1:{port}", KEY), log)

    def _world(self, generation: int, layout: str, serials: Sequence[int]) -> Any:
        members = [
            messages().Member(
                serial=serial,
                agent_address=self.pods[serial].agent.address,
                ranks=[
                    messages().RankEndpoint(
                        process_id=rank.process_id, data_address=rank.data_address
                    )
                    for rank in self.observe(serial).ranks
                ],
            )
            for serial in serials
        ]
        return messages().World(generation=generation, layout=layout, members=members)

    def _fence(self, running: Running) -> Any:
        return messages().Fence(
            term=self.term,
            generation=running.generation,
            plan_digest=running.plan_digest,
        )

    def _send(self, serial: int, method: str, running: Running) -> None:
        request = messages().CommandRequest(fence=self._fence(running))
        self.pods[serial].agent.call(method, request)

    def _parts(self, running: Running) -> dict[Rank, Any]:
        return {
            (serial, part.local_rank): part
            for serial in running.all
            for part in self.observe(serial).transition.ranks
        }

    def _wait_phase(self, running: Running, name: str) -> None:
        """Until all that take part are in the phase; raises if one fails."""
        wanted = messages().Phase.Value(f"PHASE_{name}")

        def there() -> bool:
            phases = []
            for serial in running.all:
                seen = self.observe(serial).transition
                if seen.phase == messages().PHASE_FAILED:
                    raise TransitionFailed(f"pod {serial}: {seen.failure}")
                phases.append(seen.phase)
            return all(phase == wanted for phase in phases)

        self.wait(there, f"phase {name} of generation {running.generation}")

    def _wait_released(self, serial: int, running: Running, record: Record) -> None:
        """A pod that leaves may be gone before it is asked."""
        pod = self.pods[serial]

        def released() -> bool:
            if pod.process.poll() is not None:
                return True
            try:
                seen = self.observe(serial).transition
            except grpc.RpcError:
                return pod.process.poll() is not None
            for part in seen.ranks:
                record.ranks[serial, part.local_rank] = part
            return bool(seen.phase == messages().PHASE_RELEASED)

        self.wait(released, f"release of pod {serial}")


class Sampler:
    """Asks for something again and again in a thread of its own, while a
    block runs; `seen` has (seconds, value) pairs."""

    def __init__(self, ask: Callable[[], Any], every_s: float = 0.02) -> None:
        self.seen: list[tuple[float, Any]] = []
        self._ask, self._every_s = ask, every_s
        self._stop = threading.Event()

    @contextlib.contextmanager
    def running(self) -> Iterator[Sampler]:
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._every_s):
            with contextlib.suppress(grpc.RpcError):
                self.seen.append((time.monotonic(), self._ask()))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
