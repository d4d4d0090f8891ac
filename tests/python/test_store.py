"""The rendezvous store: what torch asks, as messages to the agents."""

from __future__ import annotations

import base64
import threading
from datetime import timedelta
from typing import Any

import pytest
import torch.distributed as dist

from dynatrain import worlds
from dynatrain.runtime import Message
from dynatrain.store import RendezvousStore


class Agents:
    """The agents' side: one table for all ranks; notes what was asked."""

    def __init__(self) -> None:
        self.requests: list[Message] = []
        self._changed = threading.Condition()
        self._values: dict[str, bytes] = {}

    def store(self, request: Message, value: bytes) -> tuple[Message, bytes]:
        self.requests.append(request)
        keys = request["keys"]
        with self._changed:
            if request["op"] == "set":
                self._values[keys[0]] = value
                self._changed.notify_all()
                return {"ok": True}, b""
            if request["op"] == "compare_set":
                expected = base64.b64decode(request["expected_b64"])
                if self._values.get(keys[0], b"") == expected:
                    self._values[keys[0]] = value
                return {"ok": True}, self._values.get(keys[0], b"")
            if request["op"] == "add":
                number = int(self._values.get(keys[0], b"0")) + request["amount"]
                self._values[keys[0]] = str(number).encode()
                self._changed.notify_all()
                return {"ok": True, "number": number}, b""
            if request["op"] == "num_keys":
                return {"ok": True, "number": len(self._values)}, b""
            there = self._changed.wait_for(
                lambda: all(key in self._values for key in keys),
                0 if request["op"] == "check" else request["timeout_ms"] / 1000,
            )
        if request["op"] == "check":
            return {"ok": True, "number": int(there)}, b""
        if not there:
            return {"ok": False, "error": "it was not set in time"}, b""
        return {"ok": True}, self._values[keys[0]]


def store(agents: Agents) -> Any:
    return RendezvousStore(agents, 7)  # type: ignore[arg-type]


def test_values_are_bytes_and_messages_name_the_generation() -> None:
    agents = Agents()
    one = store(agents)
    one.set("a", b"\x00\xff")
    assert one.get("a") == b"\x00\xff"
    assert one.add("n", 3) == 3 and one.add("n", -1) == 2
    assert one.check(["a", "n"]) and not one.check(["a", "b"])
    assert one.num_keys() == 2
    assert one.compare_set("c", b"", b"x") == b"x"
    assert one.compare_set("c", b"y", b"z") == b"x"
    assert {request["g"] for request in agents.requests} == {7}


def test_what_is_not_there_in_time_is_an_error_that_names_it() -> None:
    one = store(Agents())
    with pytest.raises(dist.DistStoreError, match="wait of nokey in the store of gen"):
        one.wait(["nokey"], timedelta(milliseconds=10))


def test_gloo_meets_through_it_with_names_that_all_count_alike() -> None:
    worlds.install()
    agents, seen = Agents(), []

    def join(rank: int) -> None:
        groups = worlds.Groups(5)
        with groups.current():
            groups.create(store(agents), "world", rank, 2)
            seen.append((dist.get_rank(), dist.distributed_c10d._world.group_count))
            groups.destroy()

    ranks = [threading.Thread(target=join, args=(rank,)) for rank in range(2)]
    for thread in ranks:
        thread.start()
    for thread in ranks:
        thread.join(60)
    assert sorted(rank for rank, _ in seen) == [0, 1]
    assert len({count for _, count in seen}) == 1
    assert not dist.is_initialized()
