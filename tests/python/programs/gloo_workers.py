"""Shows the race of torch's gloo workers that dynatrain.gloo keeps off.

gloo_workers.py torch|dynatrain SECONDS: collectives with a long name, two
hundred at a time, over a group as torch makes it or as dynatrain does. With
torch 2.15's two workers the process dies within a minute: "malloc(): unaligned
tcache chunk detected", "double free", or SIGSEGV. Else it says how many it did.
"""

from __future__ import annotations

import os
import sys
import time

import torch
import torch.distributed as dist

from dynatrain import gloo

ELEMENTS = 16384  # a collective takes longer than queueing the next: all work


def main() -> None:
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    if sys.argv[1] == "dynatrain":
        gloo.install()
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    gather = torch.ops._c10d_functional.all_gather_into_tensor
    wait = torch.ops._c10d_functional.wait_tensor
    name, tensor = dist.group.WORLD.group_name, torch.ones(ELEMENTS)
    until, done = time.monotonic() + float(sys.argv[2]), 0
    while time.monotonic() < until:
        for gathered in [gather(tensor, 1, name) for _ in range(200)]:
            wait(gathered)
        done += 200
    print(f"{done} collectives")


if __name__ == "__main__":
    main()
