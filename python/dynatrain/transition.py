"""The instruction to prepare a world, as the agent hands it over."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dynatrain.layout import Layout


@dataclass(frozen=True)
class Membership:
    """A world: its generation, layout and members in rank order."""

    generation: int
    layout: Layout | None  # None: generation 0, no world
    serials: tuple[int, ...]
    ranks_per_member: int

    @staticmethod
    def of(message: Mapping[str, Any]) -> Membership:
        members = message.get("members", [])
        text = message.get("layout", "")
        return Membership(
            generation=int(message.get("generation", 0)),
            layout=Layout.parse(text) if text else None,
            serials=tuple(int(m["serial"]) for m in members),
            ranks_per_member=len(members[0]["ranks"]) if members else 0,
        )

    def rank_of(self, serial: int, local_rank: int) -> int | None:
        if serial not in self.serials:
            return None
        return self.serials.index(serial) * self.ranks_per_member + local_rank


@dataclass(frozen=True)
class Transition:
    """From one world to the next."""

    id: str
    generation: int
    source: Membership
    target: Membership
    manifest: str  # JSON text of the source world; empty in the first start
    seed: int
    memory_limit_bytes: int  # of the container; 0: none known
    memory_used_bytes: int
    message: Mapping[str, Any]  # as it came, for the runtime

    @staticmethod
    def of(message: Mapping[str, Any]) -> Transition:
        options = message.get("options", {})
        return Transition(
            id=str(message["id"]),
            generation=int(message["generation"]),
            source=Membership.of(message.get("source", {})),
            target=Membership.of(message["target"]),
            manifest=str(message.get("manifest", "")),
            seed=int(options.get("seed", 0)),
            memory_limit_bytes=int(options.get("memory_limit_bytes", 0)),
            memory_used_bytes=int(options.get("memory_used_bytes", 0)),
            message=message,
        )

    @property
    def is_first_start(self) -> bool:
        return self.source.layout is None

    @property
    def target_text(self) -> str:
        return self.target.layout.text if self.target.layout else "no world"

    @property
    def tag(self) -> int:
        """Equal on all members, never used twice: names groups and store keys.

        The generation alone would not do: an aborted one is tried again.
        """
        text = f"{self.generation}/{self.id}".encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:4], "big")
