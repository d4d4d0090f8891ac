"""gloo groups that have one worker thread each.

torch gives a gloo group two workers (per interface), and after each collective
`ProcessGroupGloo::runLoop` assigns ``pgStatus_->lastCompletedWorkName``, a
std::string that they share, without a lock (2.15: between AsyncWork::execute
and lock.lock()). Names of more than 15 characters are on the heap, and
"ALLGATHER_COALESCED", what DTensor's full_tensor() runs as, is one: two
workers that end at about the same time free one buffer twice, and some time
later the process dies in malloc or free, of SIGABRT or SIGSEGV, anywhere.
`tests/python/programs/gloo_workers.py` shows it within a minute. With one worker
there is nobody to race with. Collectives of a group run in the order in which
they are called, as they must on all ranks, so one worker can't block itself.
"""

from __future__ import annotations

import os
from typing import Any

import torch.distributed as dist
import torch.distributed.distributed_c10d as c10d
from torch._C._distributed_c10d import ProcessGroupGloo


def install() -> None:
    """Once per process: gloo groups made from now on have one worker."""
    backend = dist.Backend
    backend.register_backend(
        backend.GLOO,
        _create,
        extended_api=True,
        devices=list(backend.backend_capability[backend.GLOO]),
        _backend_type=dist.ProcessGroup.BackendType.GLOO,
    )


def _create(asked: Any, backend_options: object | None) -> Any:
    """As torch's own creator, which takes no number of threads."""
    if asked.enable_reconfigure:  # groups that change their members; not ours
        return c10d._create_gloo_process_group(asked, backend_options)
    options = ProcessGroupGloo._Options()  # type: ignore[attr-defined]
    options._threads = 1
    options._timeout = asked.timeout
    options._devices = _devices()
    group = ProcessGroupGloo(
        asked.store, asked.group_rank, asked.group_size, options
    )
    group.options.global_ranks_in_group = asked.global_ranks_in_group
    group.options.group_name = asked.group_id
    return group


def _devices() -> list[Any]:
    """One per interface that GLOO_SOCKET_IFNAME names, or torch's choice."""
    named = [n for n in os.environ.get("GLOO_SOCKET_IFNAME", "").split(",") if n]
    if not named:
        return [ProcessGroupGloo.create_default_device()]
    return [ProcessGroupGloo.create_device(interface=n) for n in named]
