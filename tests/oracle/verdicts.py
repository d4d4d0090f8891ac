"""The judgement on one configuration: the real job against our layout."""

from __future__ import annotations

import dataclasses

import comparison
from layouts import RefusedByUs
from worlds import Json, Refused, Truth


@dataclasses.dataclass(frozen=True)
class Verdict:
    agrees: bool
    text: str
    differences: list[str] = dataclasses.field(default_factory=list)


def compare(real: Truth | Refused, ours: Json | RefusedByUs) -> Verdict:
    if isinstance(real, Refused):
        if isinstance(ours, RefusedByUs):
            return Verdict(True, f"both refuse it\n  Megatron: {real.reason}\n  ours:     {ours.reason}")
        return Verdict(False, f"Megatron refuses it, ours doesn't: {real.reason}")
    if isinstance(ours, RefusedByUs):
        return Verdict(False, f"ours refuses what Megatron builds: {ours.reason}")
    found, counts = comparison.differences(ours, real)
    return Verdict(not found, f"{len(found)} differences" if found else f"equal: {counts.text()}", found)
