"""gRPC to an agent, from stubs made of api/rpc/agent.proto at run time."""

from __future__ import annotations

import functools
import importlib
import pathlib
import sys
import tempfile
from typing import Any

import grpc

ROOT = pathlib.Path(__file__).parents[2]
DEADLINE_S = 30.0


@functools.cache
def messages() -> Any:
    """The module of api/rpc/agent.proto's messages."""
    return _stubs()[0]


@functools.cache
def _stubs() -> tuple[Any, Any]:
    from grpc_tools import protoc

    folder = tempfile.mkdtemp(prefix="dynatrain-stubs.")
    source = ROOT / "api" / "rpc"
    code = protoc.main(
        [
            "protoc",
            f"-I{source}",
            f"--python_out={folder}",
            f"--grpc_python_out={folder}",
            str(source / "agent.proto"),
        ]
    )
    if code:
        raise RuntimeError(f"protoc ended with {code}")
    sys.path.insert(0, folder)
    return (
        importlib.import_module("agent_pb2"),
        importlib.import_module("agent_pb2_grpc"),
    )


class Agent:
    """An agent as the operator sees it. Thread-safe."""

    def __init__(self, address: str, key: str) -> None:
        self.address = address
        self._metadata = [("dynatrain-key", key)]
        self._channel = grpc.insecure_channel(address)
        self._stub = _stubs()[1].AgentStub(self._channel)

    def call(self, method: str, request: Any, deadline_s: float = DEADLINE_S) -> Any:
        """Raises grpc.RpcError."""
        return getattr(self._stub, method)(
            request, timeout=deadline_s, metadata=self._metadata, wait_for_ready=True
        )

    def observe(self, known_version: int = 0, wait_ms: int = 0) -> Any:
        request = messages().ObserveRequest(
            known_version=known_version, wait_ms=wait_ms
        )
        return self.call("Observe", request, DEADLINE_S + wait_ms / 1000)

    def close(self) -> None:
        self._channel.close()
