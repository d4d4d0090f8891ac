"""How far a preparation can go: what fits beside the live world."""

from __future__ import annotations

import ctypes
import pathlib
from dataclasses import dataclass

from torch import nn

from dynatrain.errors import Refused
from dynatrain.state import local_of
from dynatrain.transition import Transition

MIB = 1 << 20
WARM, COLD = "warm", "cold"


@dataclass(frozen=True)
class Need:
    """What one rank needs for the next world, beside what it holds."""

    state_bytes: int  # parameters, buffers, optimizer states
    gradient_bytes: int
    transient_bytes: int  # activations and the like of one step
    staging_bytes: int
    held_bytes: int = 0  # the old state, which goes at commit

    @property
    def warm_bytes(self) -> int:
        return self.cold_bytes + self.gradient_bytes + self.transient_bytes

    @property
    def cold_bytes(self) -> int:
        """At the transfer: both states are there until commit."""
        return self.state_bytes + self.staging_bytes

    @property
    def cold_step_bytes(self) -> int:
        """In the first step after a cold switch, when the old state is gone.

        Gradients, and as much again for the optimizer's own temporaries; the
        activations of the live world's step are in what is in use.
        """
        return self.state_bytes + 2 * self.gradient_bytes - self.held_bytes


def gradient_bytes(model: nn.Module) -> int:
    return sum(local_of(p).nbytes for p in model.parameters() if p.requires_grad)


def transient_bytes() -> int:
    """What this process once needed above what it holds now."""
    peak, now = (_status_bytes(field) for field in ("VmHWM", "VmRSS"))
    return max(peak - now, 0)


def decide(transition: Transition, need: Need) -> str:
    """WARM if a whole step fits beside the live world, COLD if the two states
    do, and then a step of the new one alone; else Refused."""
    limit, used = transition.memory_limit_bytes, transition.memory_used_bytes
    if not limit:
        return WARM
    ranks = transition.target.ranks_per_member
    if used + ranks * need.warm_bytes <= limit:
        return WARM
    wanted = used + ranks * max(need.cold_bytes, need.cold_step_bytes)
    if wanted <= limit:
        return COLD
    raise Refused(
        f"needs {_mib(wanted)}, the container has {limit // MIB} MiB: {_mib(used)} are in "
        f"use, and {ranks} rank{'s' * (ranks > 1)} of {transition.target_text} "
        f"need {_mib(need.state_bytes)} for the new state, "
        f"{_mib(need.staging_bytes)} for staging while the old state is kept, and then "
        f"{_mib(2 * need.gradient_bytes)} for a step, each"
    )


def check_late(transition: Transition, need: Need, mode: str, late_bytes: int) -> None:
    """Refuses if what travels by value fits beside the rest no more.

    It is there as bytes and, in the new world, as tensors, while the old state
    is kept; how much it is only the live world knows.
    """
    limit, used = transition.memory_limit_bytes, transition.memory_used_bytes
    ranks = transition.target.ranks_per_member
    rest = max(need.cold_bytes, need.cold_step_bytes)
    if mode == WARM:
        rest = max(rest, need.warm_bytes)
    wanted = used + ranks * (rest + 2 * late_bytes)
    if limit and late_bytes and wanted > limit:
        raise Refused(
            f"needs {_mib(wanted)}, the container has {limit // MIB} MiB: {_mib(used)} are in "
            f"use, and {ranks} rank{'s' * (ranks > 1)} of {transition.target_text} need "
            f"{_mib(rest)} for the new world and twice {_mib(late_bytes)} for optimizer "
            "state that travels by value, each"
        )


def give_back() -> None:
    """Hands freed memory to the system: another thread's arena can't use it."""
    ctypes.CDLL(None).malloc_trim(0)


def _mib(size: int) -> str:
    return f"{-(-size // MIB)} MiB"


def _status_bytes(field: str) -> int:
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0
