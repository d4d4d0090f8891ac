"""libdynatrain.so through ctypes, one method per function of its C ABI.

ctypes releases the GIL around each call, so a wait in one thread (the next
instruction, a rendezvous, the transfer) never stops training in another.
"""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, Protocol

from dynatrain.errors import AgentLost, Cancelled, EngineError, Refused

ABI_VERSION = 1

Message = dict[str, Any]


class Code(IntEnum):
    INVALID = -1
    TIMEOUT = -2
    LOST = -3
    REFUSED = -4
    CORRUPT = -5
    CANCELLED = -6


class Action(IntEnum):
    CONTINUE = 0
    STOP = 1
    DISMISS = 2


class Outcome(IntEnum):
    COMMITTED = 1
    KEPT = 2


class Side(IntEnum):
    SOURCE = 0
    TARGET = 1


class Runtime(Protocol):
    """What the package needs of the runtime; tests bring their own."""

    welcome: Message

    def next(self, timeout_ms: int) -> Message | None:
        """The next instruction, or None if none came in time."""

    def report(self, frame: Message) -> None: ...
    def plan(self, transition: Mapping[str, Any], manifest: str) -> Message: ...
    def bind(
        self,
        generation: int,
        side: Side,
        index: int,
        address: int,
        shape: Sequence[int],
        strides_bytes: Sequence[int],
    ) -> None: ...
    def put_blob(self, generation: int, key: str, data: bytes) -> None: ...
    def get_blob(self, generation: int, key: str) -> bytes: ...
    def boundary(self, generation: int, step: int) -> Action: ...
    def transfer(self, generation: int) -> tuple[Outcome, Message]: ...
    def drop(self, generation: int) -> None: ...
    def store(self, request: Message, value: bytes) -> tuple[Message, bytes]: ...
    def close(self) -> None: ...


def library_path() -> pathlib.Path:
    """DYNATRAIN_LIBRARY, or lib/ beside the folder that holds the package."""
    if path := os.environ.get("DYNATRAIN_LIBRARY"):
        return pathlib.Path(path)
    return pathlib.Path(__file__).parents[2] / "lib" / "libdynatrain.so"


def load_library(path: pathlib.Path | None = None) -> ctypes.CDLL:
    """Loads the library and checks that it speaks this package's ABI."""
    path = path or library_path()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise Refused(
            f"can't load the DynaTrain runtime {path}: {error}. It comes with the "
            "agent (dynatrain-agent install); DYNATRAIN_LIBRARY names another one"
        ) from error
    version = library.dt_abi_version()
    if version != ABI_VERSION:
        raise Refused(
            f"{path} has ABI version {version}, this package needs {ABI_VERSION}: "
            "library and package must come from one agent image"
        )
    _declare(library)
    return library


def _declare(library: ctypes.CDLL) -> None:
    text, address = ctypes.c_char_p, ctypes.c_void_p
    out = ctypes.POINTER(ctypes.c_void_p)
    int64s = ctypes.POINTER(ctypes.c_int64)
    size, u64, i64, i32 = (
        ctypes.c_size_t,
        ctypes.c_uint64,
        ctypes.c_int64,
        ctypes.c_int,
    )
    size_out, int_out = ctypes.POINTER(size), ctypes.POINTER(i32)
    arguments: dict[str, list[Any]] = {
        "dt_open": [text, out, out],
        "dt_next": [address, i32, out],
        "dt_report": [address, text],
        "dt_plan": [address, text, text, out],
        "dt_bind": [address, u64, i32, i64, address, i32, int64s, int64s],
        "dt_put_blob": [address, u64, text, text, size],
        "dt_get_blob": [address, u64, text, out, size_out],
        "dt_boundary": [address, u64, u64, int_out],
        "dt_transfer": [address, u64, int_out, out],
        "dt_drop": [address, u64],
        "dt_store": [address, text, text, size, out, out, size_out],
    }
    for name, types in arguments.items():
        function = getattr(library, name)
        function.argtypes, function.restype = types, i32
    library.dt_error.restype = text
    library.dt_free.argtypes, library.dt_free.restype = [address], None
    library.dt_close.argtypes, library.dt_close.restype = [address], None


class NativeRuntime:
    """A session with the agent, held by libdynatrain.so."""

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        self._library = load_library()
        session, welcome = ctypes.c_void_p(), ctypes.c_void_p()
        self._check(
            self._library.dt_open(
                json.dumps(dict(config or {})).encode(),
                ctypes.byref(session),
                ctypes.byref(welcome),
            )
        )
        self._session = session
        self.welcome: Message = self._take_json(welcome)

    def next(self, timeout_ms: int) -> Message | None:
        text = ctypes.c_void_p()
        code = self._library.dt_next(self._session, timeout_ms, ctypes.byref(text))
        if code == Code.TIMEOUT:
            return None
        self._check(code)
        return self._take_json(text)

    def report(self, frame: Message) -> None:
        self._check(self._library.dt_report(self._session, _json(frame)))

    def plan(self, transition: Mapping[str, Any], manifest: str) -> Message:
        summary = ctypes.c_void_p()
        self._check(
            self._library.dt_plan(
                self._session,
                _json(transition),
                manifest.encode(),
                ctypes.byref(summary),
            )
        )
        return self._take_json(summary)

    def bind(
        self,
        generation: int,
        side: Side,
        index: int,
        address: int,
        shape: Sequence[int],
        strides_bytes: Sequence[int],
    ) -> None:
        dims = len(shape)
        int64s = ctypes.c_int64 * dims
        self._check(
            self._library.dt_bind(
                self._session,
                generation,
                side,
                index,
                address,
                dims,
                int64s(*shape),
                int64s(*strides_bytes),
            )
        )

    def put_blob(self, generation: int, key: str, data: bytes) -> None:
        self._check(
            self._library.dt_put_blob(
                self._session, generation, key.encode(), data, len(data)
            )
        )

    def get_blob(self, generation: int, key: str) -> bytes:
        data, length = ctypes.c_void_p(), ctypes.c_size_t()
        self._check(
            self._library.dt_get_blob(
                self._session,
                generation,
                key.encode(),
                ctypes.byref(data),
                ctypes.byref(length),
            )
        )
        return self._take(data, length.value)

    def boundary(self, generation: int, step: int) -> Action:
        action = ctypes.c_int()
        self._check(
            self._library.dt_boundary(
                self._session, generation, step, ctypes.byref(action)
            )
        )
        return Action(action.value)

    def transfer(self, generation: int) -> tuple[Outcome, Message]:
        outcome, report = ctypes.c_int(), ctypes.c_void_p()
        self._check(
            self._library.dt_transfer(
                self._session, generation, ctypes.byref(outcome), ctypes.byref(report)
            )
        )
        return Outcome(outcome.value), self._take_json(report)

    def drop(self, generation: int) -> None:
        self._check(self._library.dt_drop(self._session, generation))

    def store(self, request: Message, value: bytes) -> tuple[Message, bytes]:
        reply, out, length = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
        self._check(
            self._library.dt_store(
                self._session,
                _json(request),
                value,
                len(value),
                ctypes.byref(reply),
                ctypes.byref(out),
                ctypes.byref(length),
            )
        )
        return self._take_json(reply), self._take(out, length.value)

    def close(self) -> None:
        if self._session:
            self._library.dt_close(self._session)
            self._session = ctypes.c_void_p()

    def _check(self, code: int) -> None:
        if code == 0:
            return
        message = (self._library.dt_error() or b"unknown error").decode()
        if code == Code.REFUSED:
            raise Refused(message)
        kind = {Code.LOST: AgentLost, Code.CANCELLED: Cancelled}.get(
            Code(code), EngineError
        )
        raise kind(code, message)

    def _take(self, data: ctypes.c_void_p, length: int) -> bytes:
        if not data:
            return b""
        try:
            return ctypes.string_at(data, length)
        finally:
            self._library.dt_free(data)

    def _take_json(self, text: ctypes.c_void_p) -> Message:
        if not text:
            return {}
        try:
            message: Message = json.loads(ctypes.string_at(text))
            return message
        finally:
            self._library.dt_free(text)


def _json(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message).encode()
