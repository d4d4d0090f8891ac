"""The other side of double_runtime: agents and operator in one hub.

Starts rank processes, answers their calls and drives transitions. Has the
same face as tests/harness/driver.py, which does it with the real agent.
"""

from __future__ import annotations

import functools
import pathlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Listener
from typing import Any

from zygote import Process, Zygote

Rank = tuple[int, int]  # serial, local rank
Message = dict[str, Any]
_DEADLINE_S = 120.0


@functools.cache
def _zygote() -> Zygote:
    return Zygote()


class TransitionFailed(Exception):
    """A rank reported `failed`; its reason."""


@dataclass
class Record:
    """What a finished transition tells."""

    generation: int
    layout: str
    prepared: dict[Rank, Message] = field(default_factory=dict)
    resumed: dict[Rank, Message] = field(default_factory=dict)

    @property
    def pause_ms(self) -> float:
        return max((m["pause_ms"] for m in self.resumed.values()), default=0.0)


@dataclass
class _Current:
    generation: int
    ranks: set[Rank]
    source: set[Rank]
    target: set[Rank]
    record: Record
    reached: dict[str, set[Rank]] = field(default_factory=dict)
    armed: int | None = None
    go: bool = False
    committed: bool = False
    cancelled: bool = False
    aborted: bool = False
    failure: str = ""


class Operator:
    def __init__(
        self,
        folder: pathlib.Path,
        program: Sequence[str],
        ranks_per_replica: int = 1,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.generation = 0
        self.layout = ""
        self.members: list[int] = []
        self.manifest = ""
        self.frames: list[tuple[Rank, Message]] = []
        self.processes: dict[Rank, Process] = {}
        self.memory_limit_bytes = 0
        self.memory_used_bytes = 0
        self._program = list(program)
        self._environment = environment or {}
        self._per_replica = ranks_per_replica
        self._lock = threading.Condition()
        self._said: dict[Rank, queue.SimpleQueue[Message]] = {}
        self._step: dict[Rank, int] = {}
        self._hello: set[Rank] = set()
        self._store: dict[tuple[int, str], bytes] = {}
        self._attempts = 0
        self._now: _Current | None = None
        self._path = str(folder / "hub")
        self._listener = Listener(self._path, "AF_UNIX", backlog=64)
        threading.Thread(target=self._accept, daemon=True).start()

    # ---- what a test does

    def start(self, serials: Sequence[int]) -> None:
        """Starts the pods and waits for their hello."""
        for rank in self._ranks(serials):
            self._said[rank] = queue.SimpleQueue()
            environment = {
                "DYNATRAIN_SERIAL": str(rank[0]),
                "DYNATRAIN_LOCAL_RANK": str(rank[1]),
                "DYNATRAIN_POD_IP": "127.0.0.1",
                "DOUBLE_HUB": self._path,
                "DOUBLE_FOLDER": str(self.folder),
                **self._environment,
            }
            log = self.folder / f"log.{rank[0]}.{rank[1]}"
            self.processes[rank] = _zygote().start(self._program, environment, str(log))
        wanted = set(self._ranks(serials))
        self._wait(lambda: wanted <= self._hello, f"hello of {wanted}")

    def transition(self, layout: str, serials: Sequence[int]) -> Record:
        """Resizes the job; raises TransitionFailed if a rank refuses."""
        now = self.prepare(layout, serials)
        return self.finish(now, layout, serials)

    def prepare(self, layout: str, serials: Sequence[int]) -> _Current:
        """Up to all ranks `prepared`."""
        now = self.begin(layout, serials, sorted({*self.members, *serials}))
        self._reach("prepared", now.ranks)
        return now

    def begin(
        self, layout: str, serials: Sequence[int], reachable: Sequence[int]
    ) -> _Current:
        """Tells the reachable ones to prepare."""
        source, target = self._ranks(self.members), self._ranks(serials)
        generation = self.generation + 1
        now = _Current(
            generation=generation,
            ranks=set(source) | set(target),
            source=set(source),
            target=set(target),
            record=Record(generation, layout),
        )
        self._attempts += 1
        message = {
            "id": f"t{self._attempts}",
            "generation": generation,
            "source": self._world(self.generation, self.layout, self.members),
            "target": self._world(generation, layout, serials),
            "manifest": self.manifest,
            "options": {
                "seed": 1,
                "memory_limit_bytes": self.memory_limit_bytes,
                "memory_used_bytes": self.memory_used_bytes,
            },
        }
        with self._lock:
            self._now = now
        now.ranks &= set(self._ranks(reachable))
        for rank in now.ranks:
            self._said[rank].put({"kind": "prepare", "transition": message})
        return now

    def finish(self, now: _Current, layout: str, serials: Sequence[int]) -> Record:
        """Stops the source world, transfers, commits."""
        self.arm_and_go(now)
        self._reach("verified", now.ranks)
        self.commit(now, layout, serials)
        return now.record

    def arm_and_go(self, now: _Current) -> None:
        with self._lock:
            if now.source:
                now.armed = max(self._step[r] for r in now.source) + 2
            now.go = True
            self._lock.notify_all()

    def commit(self, now: _Current, layout: str, serials: Sequence[int]) -> None:
        with self._lock:
            now.committed = True
            self.generation, self.layout = now.generation, layout
            self.members = list(serials)
            self.manifest = next(
                now.record.prepared[r]["manifest"] for r in sorted(now.target)
            )
            self._lock.notify_all()
        self._reach("resumed", now.target)
        for rank in now.source - now.target:
            self.processes[rank].wait(_DEADLINE_S)
        with self._lock:
            self._now = None

    def abort(self) -> None:
        """Drops the running preparation."""
        with self._lock:
            now, self._now = self._now, None
            assert now is not None
            now.aborted = True
            self._lock.notify_all()
        for rank in now.ranks:
            self._said[rank].put({"kind": "abort", "g": now.generation})

    def __enter__(self) -> Operator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def step_of(self, serial: int) -> int:
        return self._step.get((serial, 0), 0)

    def wait_steps_more(self, steps: int) -> int:
        """Until so many more are complete; returns the last one."""
        step = self.step_of(self.members[0]) + steps
        self.wait_step(step)
        return step

    def wait_step(self, step: int) -> None:
        """Until all ranks of the running world have completed `step`."""

        def there() -> bool:
            ranks = self._ranks(self.members)
            return all(self._step.get(rank, 0) >= step for rank in ranks)

        self._wait(there, f"step {step}")

    def wait_exit(self) -> dict[Rank, int]:
        """Exit codes of all processes that were ever started."""
        return {r: p.wait(_DEADLINE_S) for r, p in self.processes.items()}

    def steps(self) -> list[Message]:
        """The `step` frames of each step's rank 0, or of any rank."""
        return [f for _, f in self.frames if f["kind"] == "step"]

    def losses(self) -> dict[int, float]:
        return {frame["step"]: frame["loss"] for frame in self.steps()}

    def pids(self) -> dict[Rank, int]:
        return {rank: process.pid for rank, process in self.processes.items()}

    def close(self) -> None:
        self._listener.close()
        for process in self.processes.values():
            process.kill()
            process.wait()

    def logs(self) -> str:
        return "\n".join(
            f"--- {path.name}\n{path.read_text()[-4000:]}"
            for path in sorted(self.folder.glob("log.*"))
        )

    # ---- the hub

    def _ranks(self, serials: Sequence[int]) -> list[Rank]:
        return [(s, r) for s in serials for r in range(self._per_replica)]

    def _world(self, generation: int, layout: str, serials: Sequence[int]) -> Message:
        ranks = [{"process_id": 0, "data_address": ""}] * self._per_replica
        members = [{"serial": s, "agent_address": "", "ranks": ranks} for s in serials]
        return {"generation": generation, "layout": layout, "members": members}

    def _reach(self, what: str, ranks: set[Rank]) -> None:
        now = self._now
        assert now is not None
        self._wait(
            lambda: bool(now.failure) or ranks <= now.reached.get(what, set()),
            f"{what} of {ranks}",
        )
        if now.failure:
            raise TransitionFailed(now.failure)

    def _wait(self, holds: Callable[[], bool], what: str) -> None:
        limit = time.monotonic() + _DEADLINE_S
        with self._lock:
            while not holds():
                dead = {
                    r: p.returncode
                    for r, p in self.processes.items()
                    if p.poll() not in (None, 0, 86)
                }
                if dead or time.monotonic() > limit:
                    why = f"exited: {dead}" if dead else "too late"
                    raise AssertionError(f"waiting for {what}: {why}\n{self.logs()}")
                self._lock.wait(0.5)

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except OSError:
                return
            threading.Thread(
                target=self._serve, args=(connection,), daemon=True
            ).start()

    def _serve(self, connection: Connection) -> None:
        try:
            while True:
                rank, what, arguments = connection.recv()
                connection.send(getattr(self, f"_on_{what}")(rank, **arguments))
        except (EOFError, OSError):
            return

    def _on_hello(self, rank: Rank, pid: int) -> tuple[str, Message]:
        with self._lock:
            self._hello.add(rank)
            self._lock.notify_all()
        return "ok", {"serial": rank[0], "local_rank": rank[1]}

    def _on_next(self, rank: Rank) -> tuple[str, Message]:
        return "ok", self._said[rank].get()

    def _on_report(self, rank: Rank, frame: Message) -> tuple[str, None]:
        with self._lock:
            self.frames.append((rank, frame))
            now, kind = self._now, frame["kind"]
            if kind == "step":
                self._step[rank] = frame["step"]
            if now is not None and frame.get("g") == now.generation:
                now.reached.setdefault(kind, set()).add(rank)
                if kind == "prepared":
                    now.record.prepared[rank] = frame
                if kind == "resumed":
                    now.record.resumed[rank] = frame
                if kind == "failed":
                    now.failure = f"{frame['stage']}: {frame['reason']}"
            self._lock.notify_all()
        return "ok", None

    def _on_boundary(self, rank: Rank, g: int, step: int) -> tuple[str, int]:
        with self._lock:
            now = self._now
            armed = now is not None and now.armed == step and rank in now.source
        return "ok", int(armed)

    def _on_stopped(self, rank: Rank, g: int) -> tuple[str, bool]:
        return self._pass(rank, "stopped", lambda now: now.go)

    def _on_written(self, rank: Rank, g: int) -> tuple[str, bool]:
        return self._pass(
            rank, "written", lambda now: now.ranks <= now.reached["written"]
        )

    def _on_verified(self, rank: Rank, g: int) -> tuple[str, bool]:
        return self._pass(rank, "verified", lambda now: now.committed)

    def _pass(
        self, rank: Rank, what: str, holds: Callable[[_Current], bool]
    ) -> tuple[str, bool]:
        with self._lock:
            now = self._now
            if now is None:
                return "ok", False
            now.reached.setdefault(what, set()).add(rank)
            self._lock.notify_all()
            self._lock.wait_for(
                lambda: holds(now) or now.cancelled or now.aborted, _DEADLINE_S
            )
            return "ok", holds(now)

    def _on_store(
        self, rank: Rank, request: Message, value: bytes
    ) -> tuple[str, tuple[Message, bytes]]:
        g, op = request["g"], request["op"]
        keys = [(g, key) for key in request["keys"]]
        number, out = 0, b""
        with self._lock:
            if op in ("get", "wait"):
                now = self._now
                self._lock.wait_for(
                    lambda: (
                        all(k in self._store for k in keys)
                        or (now is not None and now.aborted)
                    ),
                    request["timeout_ms"] / 1000,
                )
                if not all(k in self._store for k in keys):
                    return "ok", ({"ok": False, "error": "timeout"}, b"")
                out = self._store[keys[0]] if op == "get" else b""
            elif op == "set":
                self._store[keys[0]] = value
            elif op == "add":
                number = int(self._store.get(keys[0], b"0")) + request["amount"]
                self._store[keys[0]] = str(number).encode()
            elif op == "check":
                number = int(all(k in self._store for k in keys))
            elif op == "delete":
                number = int(self._store.pop(keys[0], None) is not None)
            else:
                return "ok", ({"ok": False, "error": f"no {op}"}, b"")
            self._lock.notify_all()
        return "ok", ({"ok": True, "number": number}, out)
