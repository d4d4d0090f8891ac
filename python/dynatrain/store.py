"""torch's rendezvous store over the agents: no trainer hosts one."""

from __future__ import annotations

import base64
from datetime import timedelta

from torch._C._distributed_c10d import Store
from torch.distributed import DistStoreError

from dynatrain.runtime import Message, Runtime

_TIMEOUT = timedelta(seconds=300)


class RendezvousStore(Store):
    """The key-value store of one generation.

    Needed while groups are made, and by nothing later. torch calls it from
    C++ (hence the second spelling of some names). Thread-safe: a ``wait`` in
    one thread blocks no other, as each call is a message of its own.
    """

    def __init__(self, runtime: Runtime, generation: int) -> None:
        super().__init__()
        self._runtime = runtime
        self._generation = generation
        self._patience = _TIMEOUT

    def set(self, key: str, value: str | bytes) -> None:
        self._call("set", [key], _bytes(value))

    def get(self, key: str) -> bytes:
        return self._call("get", [key])[1]

    def add(self, key: str, value: int) -> int:
        return int(self._call("add", [key], amount=value)[0].get("number", 0))

    def check(self, keys: list[str]) -> bool:
        return bool(self._call("check", keys)[0].get("number", 0))

    def compare_set(
        self, key: str, expected_value: str | bytes, desired_value: str | bytes
    ) -> bytes:
        return self._call(
            "compare_set", [key], _bytes(desired_value), _bytes(expected_value)
        )[1]

    def delete_key(self, key: str) -> bool:
        return bool(self._call("delete", [key])[0].get("number", 0))

    def num_keys(self) -> int:
        return int(self._call("num_keys", [])[0].get("number", 0))

    def multi_get(self, keys: list[str]) -> list[bytes]:
        return [self.get(key) for key in keys]

    def set_timeout(self, timeout: timedelta) -> None:
        self._patience = timeout

    def clone(self) -> RendezvousStore:
        return self  # already safe to share

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        self._call("wait", keys, patience=timeout)

    def has_extended_api(self) -> bool:
        return False

    @property
    def timeout(self) -> timedelta:
        return self._patience

    deleteKey = delete_key
    getNumKeys = num_keys

    def _call(
        self,
        op: str,
        keys: list[str],
        value: bytes = b"",
        expected: bytes = b"",
        amount: int = 0,
        patience: timedelta | None = None,
    ) -> tuple[Message, bytes]:
        patience = patience or self._patience
        request: Message = {
            "op": op,
            "g": self._generation,
            "keys": keys,
            "amount": amount,
            "timeout_ms": int(patience.total_seconds() * 1000),
        }
        if op == "compare_set":
            request["expected_b64"] = base64.b64encode(expected).decode()
        reply, out = self._runtime.store(request, value)
        if not reply.get("ok"):
            raise DistStoreError(
                f"{op} of {', '.join(keys)} in the store of generation "
                f"{self._generation}: {reply.get('error') or 'failed'}"
            )
        return reply, out


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)
