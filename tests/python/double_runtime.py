"""A double of libdynatrain.so for rank processes, in Python.

Talks to the hub of double_operator.py and moves state through files: slow and
simple, and written without the package's engine, so that tests of worlds,
state and hand-over need no agent.
"""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import pickle
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Client
from typing import Any

import numpy as np
import torch

import dynatrain.job
from dynatrain.errors import AgentLost, Cancelled, Refused
from dynatrain.layout import Layout, Split, local_box
from dynatrain.runtime import Action, Code, Message, Outcome, Side


def install() -> None:
    """Has dynatrain.run() connect to the hub instead of an agent."""
    dynatrain.job.connect = DoubleRuntime


@dataclass
class _Plan:
    source_rank: int | None
    target_rank: int | None
    tensors: list[Message]
    source: Layout | None
    target: Layout
    bound: dict[tuple[int, int], tuple[int, list[int], list[int]]] = field(
        default_factory=dict
    )
    blobs: dict[str, bytes] = field(default_factory=dict)
    received: dict[str, bytes] = field(default_factory=dict)


class DoubleRuntime:
    def __init__(self) -> None:
        self._address = os.environ["DOUBLE_HUB"]
        self._folder = pathlib.Path(os.environ["DOUBLE_FOLDER"])
        self._me = (
            int(os.environ["DYNATRAIN_SERIAL"]),
            int(os.environ["DYNATRAIN_LOCAL_RANK"]),
        )
        self._local = threading.local()
        self._plans: dict[int, _Plan] = {}
        self.welcome: Message = self._call("hello", pid=os.getpid())

    def next(self, timeout_ms: int) -> Message | None:
        message: Message = self._call("next")
        return message

    def report(self, frame: Message) -> None:
        self._call("report", frame=frame)

    def plan(self, transition: Mapping[str, Any], manifest: str) -> Message:
        theirs = transition["manifest"]
        if theirs and json.loads(theirs) != json.loads(manifest):
            raise Refused(_difference(json.loads(theirs), json.loads(manifest)))
        plan = _Plan(
            source_rank=_rank_of(self._me, transition["source"]),
            target_rank=_rank_of(self._me, transition["target"]),
            tensors=json.loads(manifest)["tensors"],
            source=_layout(transition["source"]),
            target=Layout.parse(transition["target"]["layout"]),
        )
        self._plans[transition["generation"]] = plan
        return {
            "plan_digest": "d",
            "manifest_digest": "m",
            "sent_hash": "0",
            "received_hash": "0",
            "staging_bytes": int(os.environ.get("DOUBLE_STAGING_BYTES", "0")),
            "sources": _entries(plan, Side.SOURCE),
            "targets": _entries(plan, Side.TARGET),
        }

    def bind(
        self,
        generation: int,
        side: Side,
        index: int,
        address: int,
        shape: Sequence[int],
        strides_bytes: Sequence[int],
    ) -> None:
        self._plans[generation].bound[side, index] = (
            address,
            list(shape),
            list(strides_bytes),
        )

    def put_blob(self, generation: int, key: str, data: bytes) -> None:
        self._plans[generation].blobs[key] = data

    def get_blob(self, generation: int, key: str) -> bytes:
        return self._plans[generation].received.get(key, b"")

    def boundary(self, generation: int, step: int) -> Action:
        return Action(self._call("boundary", g=generation, step=step))

    def transfer(self, generation: int) -> tuple[Outcome, Message]:
        plan = self._plans[generation]
        if not self._call("stopped", g=generation):
            return Outcome.KEPT, {}
        self._write(generation, plan)
        if not self._call("written", g=generation):
            return Outcome.KEPT, {}
        self._read(generation, plan)
        if not self._call("verified", g=generation):
            return Outcome.KEPT, {}
        return Outcome.COMMITTED, {"times_ms": {}}

    def drop(self, generation: int) -> None:
        self._plans.pop(generation, None)

    def store(self, request: Message, value: bytes) -> tuple[Message, bytes]:
        reply: tuple[Message, bytes] = self._call("store", request=request, value=value)
        return reply

    def close(self) -> None: ...

    def _call(self, what: str, **arguments: Any) -> Any:
        if not hasattr(self._local, "connection"):
            self._local.connection = Client(self._address, "AF_UNIX")
        connection = self._local.connection
        try:
            connection.send((self._me, what, arguments))
            kind, answer = connection.recv()
        except (EOFError, OSError) as error:
            raise AgentLost(Code.LOST, "the hub is gone") from error
        if kind == "cancelled":
            raise Cancelled(Code.CANCELLED, answer)
        return answer

    def _write(self, generation: int, plan: _Plan) -> None:
        if plan.source_rank is None:
            return
        parts = {
            index: _array(plan, Side.SOURCE, index).tobytes()
            for side, index in plan.bound
            if side == Side.SOURCE
        }
        path = self._folder / f"{generation}.{plan.source_rank}"
        path.write_bytes(pickle.dumps((parts, plan.blobs)))

    def _read(self, generation: int, plan: _Plan) -> None:
        if plan.target_rank is None or plan.source is None:
            return
        sources = [
            pickle.loads((self._folder / f"{generation}.{rank}").read_bytes())
            for rank in range(plan.source.world_size)
        ]
        for index, tensor in enumerate(plan.tensors):
            whole = _assemble(plan, index, tensor, [parts for parts, _ in sources])
            target = _array(plan, Side.TARGET, index)
            if target.size:
                box = _box(tensor, plan.target, plan.target_rank)
                target[...] = whole[box]
        mine = plan.source_rank
        common = plan.target_rank % len(sources) if mine is None else mine
        plan.received["common"] = sources[common][1]["common"]
        place = plan.target.coordinate(plan.target_rank)
        for rank, (_, blobs) in enumerate(sources):
            if plan.source.coordinate(rank) == place:
                plan.received["coordinate"] = blobs["coordinate"]


def _entries(plan: _Plan, side: Side) -> list[Message]:
    rank = plan.source_rank if side == Side.SOURCE else plan.target_rank
    layout = plan.source if side == Side.SOURCE else plan.target
    if rank is None or layout is None:
        return []
    return [
        {
            "index": index,
            "name": tensor["name"],
            "state": tensor["state"],
            "dtype": tensor["dtype"],
            "local_shape": [s.stop - s.start for s in _box(tensor, layout, rank)],
        }
        for index, tensor in enumerate(plan.tensors)
    ]


def _assemble(
    plan: _Plan, index: int, tensor: Message, parts: list[dict[int, bytes]]
) -> Any:
    whole = np.zeros(tensor["shape"], _void(tensor))
    assert plan.source is not None
    for rank, part in enumerate(parts):
        box = _box(tensor, plan.source, rank)
        shape = [s.stop - s.start for s in box]
        whole[box] = np.frombuffer(part[index], _void(tensor)).reshape(shape)
    return whole


def _array(plan: _Plan, side: Side, index: int) -> Any:
    address, shape, strides = plan.bound[side, index]
    dtype = _void(plan.tensors[index])
    if 0 in shape:
        return np.zeros(shape, dtype)
    span = dtype.itemsize + sum(
        (n - 1) * s for n, s in zip(shape, strides, strict=True)
    )
    memory = (ctypes.c_char * span).from_address(address)
    return np.ndarray(shape, dtype, memory, 0, strides)


def _void(tensor: Message) -> Any:
    return np.dtype(f"V{getattr(torch, tensor['dtype']).itemsize}")


def _box(tensor: Message, layout: Layout, rank: int) -> tuple[slice, ...]:
    splits = [Split(s["axis"], s["dim"]) for s in tensor["splits"]]
    box = local_box(tensor["shape"], splits, layout, layout.coordinate(rank))
    return tuple(slice(e.origin, e.origin + e.size) for e in box)


def _layout(world: Message) -> Layout | None:
    return Layout.parse(world["layout"]) if world["layout"] else None


def _rank_of(me: tuple[int, int], world: Message) -> int | None:
    serials = [member["serial"] for member in world["members"]]
    if me[0] not in serials:
        return None
    return serials.index(me[0]) * len(world["members"][0]["ranks"]) + me[1]


def _difference(theirs: Message, mine: Message) -> str:
    def table(manifest: Message) -> dict[tuple[str, str], Message]:
        return {(t["name"], t["state"]): t for t in manifest["tensors"]}

    ours, others = table(mine), table(theirs)
    for key in sorted(ours.keys() | others.keys()):
        if ours.get(key) != others.get(key):
            return (
                f"{key}: {others.get(key)} was announced, build() made {ours.get(key)}"
            )
    return "no difference"
