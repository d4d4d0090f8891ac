"""The judgement on one configuration: the real job against our layout."""

from __future__ import annotations

import dataclasses

import comparison
from comparison import Counts
from configuration import Configuration
from layouts import RefusedByUs
from worlds import Json, Refused, Truth


@dataclasses.dataclass(frozen=True)
class Verdict:
    agrees: bool
    text: str
    differences: list[str] = dataclasses.field(default_factory=list)
    counts: Counts | None = None
    our_reason: str = ""


def compare(c: Configuration, real: Truth | Refused, ours: Json | RefusedByUs, word: str = "") -> Verdict:
    """`word`: what our reason must say, where both refuse. The reasons are for people to compare."""
    if isinstance(real, Refused):
        if not isinstance(ours, RefusedByUs):
            return Verdict(False, f"Megatron refuses it, ours doesn't: {real.reason}")
        if word not in ours.reason:
            return Verdict(False, f"both refuse it, but ours doesn't speak of {word}: {ours.reason}", our_reason=ours.reason)
        return Verdict(True, "both refuse", our_reason=ours.reason)
    unsound = comparison.summed_apart(real) or comparison.other_layers(real, c.model.layers)
    if isinstance(ours, RefusedByUs) and unsound:
        return Verdict(True, f"ours refuses it, Megatron {unsound}", our_reason=ours.reason)
    if isinstance(ours, RefusedByUs):
        return Verdict(False, f"ours refuses what Megatron builds: {ours.reason}", our_reason=ours.reason)
    found, counts = comparison.differences(ours, real)
    if unsound:
        found.append(f"ours should refuse it: Megatron {unsound}")
    return Verdict(not found, f"{len(found)} differences" if found else "equal", found, counts)
