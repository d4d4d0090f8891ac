"""Imported by the server of processes: does once, in a world of one that talks to nobody, what each rank would spend seconds on.

Most of what torch needs for a first `fully_shard` it imports then.
"""

from __future__ import annotations

import dtensor_jobs
import fsdp1_jobs
import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

torch.set_num_threads(1)  # a thread pool would be lost in the forks
dist.init_process_group("fake", rank=0, world_size=1, store=FakeStore())
try:
    dtensor_jobs.dump(0, 1, {"dp": 1, "tp": 1}, {})
    fsdp1_jobs.dump(0, 1, {"dp": 1}, {})
finally:
    dist.destroy_process_group()
