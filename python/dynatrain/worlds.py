"""Several torch worlds in one process: the one file that knows c10d's inside.

torch keeps the default process group in ``distributed_c10d._world``, "an
experimental extension point to override it". `_Worlds` overrides it: the
default group and the counter that names groups belong to the *current world of
the thread*, so that the ordinary calls (``init_process_group``,
``init_device_mesh``, ``fully_shard``, a whole step) run on the next world in a
builder thread while another thread trains on the live one. "Current" is kept in
torch's thread-local state, which autograd hands to its worker threads.

Laws:
 - names of groups and mesh dimensions are never used twice (DTensor caches by
   mesh *equality*, which sees neither groups nor this process's rank), and
   founders and joiners count alike;
 - groups are destroyed one by one, by the world that made them: gloo frees
   threads and sockets with the last reference, hence `forget`.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.distributed_c10d as c10d
import torch.distributed.fsdp  # imported for its caches, as the next one
import torch.distributed.tensor.parallel
from torch._C._distributed_c10d import PrefixStore, Store
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor._redistribute import clear_redistribute_planner_cache
from torch.distributed.tensor.debug import _clear_sharding_prop_cache

from dynatrain import gloo
from dynatrain.errors import Refused

TESTED_TORCH = ("2.15.",)
PREPARING_TIMEOUT = timedelta(seconds=300)  # a peer that dies, or is far behind
TRAINING_TIMEOUT = timedelta(minutes=30)  # torch's own default for gloo
_KEY = "dynatrain_world"
_NAMES_PER_WORLD = 1 << 20
_caches: list[Any] = []


class Groups:
    """The process groups of one world, made by `create`, ended by `destroy`."""

    def __init__(self, tag: int) -> None:
        self.default: dist.ProcessGroup | None = None
        self.next_name = tag * _NAMES_PER_WORLD
        self.made: list[dist.ProcessGroup] = []
        self._store: Store | None = None

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        """Makes this world the calling thread's, and its autograd workers'."""
        before = _current()
        torch._C._stash_obj_in_tls(_KEY, self)
        try:
            yield
        finally:
            if before is None:
                torch._C._remove_obj_from_tls(_KEY)
            else:
                torch._C._stash_obj_in_tls(_KEY, before)

    def create(self, store: Store, prefix: str, rank: int, world_size: int) -> None:
        """Makes the default group. REQUIRES: this world is current."""
        # torch's C++ side keeps no Python object alive, and without it finds
        # none of the methods of a store that is written in Python.
        self._store = store
        hook = sys.excepthook
        try:
            dist.init_process_group(
                "gloo",
                store=PrefixStore(prefix, store),
                rank=rank,
                world_size=world_size,
                timeout=PREPARING_TIMEOUT,
            )
        finally:
            sys.excepthook = hook  # torch wraps it once more each time

    def set_timeout(self, timeout: timedelta) -> None:
        for group in self.made:
            dist.set_timeout(timeout, group)

    def destroy(self) -> None:
        """Ends all groups. The calling thread must be done with this world."""
        self.default = None  # else torch takes the first one for "destroy all"
        while self.made:
            group = self.made.pop()
            if group in c10d._world.pg_map:
                dist.destroy_process_group(group)
        self._store = None


class _Names(dict[Any, Any]):
    """c10d's table of group names; notes each new group with its world."""

    def __setitem__(self, group: Any, name: Any) -> None:
        super().__setitem__(group, name)
        if (current := _current()) is not None:
            current.made.append(group)


class _Worlds(c10d._World):
    """c10d's state, with a default group and a counter for each world."""

    @property
    def default_pg(self) -> dist.ProcessGroup | None:
        current = _current()
        return current.default if current else self._default_pg

    @default_pg.setter
    def default_pg(self, group: dist.ProcessGroup | None) -> None:
        if (current := _current()) is not None:
            current.default = group
        else:
            self._default_pg = group  # type: ignore[assignment]

    @property
    def group_count(self) -> int:
        current = _current()
        return current.next_name if current else c10d._group_count

    @group_count.setter
    def group_count(self, value: int) -> None:
        if (current := _current()) is not None:
            current.next_name = value
        else:
            c10d._group_count = value


def _current() -> Groups | None:
    if not torch._C._is_key_in_tls(_KEY):
        return None
    groups: Groups = torch._C._get_obj_in_tls(_KEY)
    return groups


def install() -> None:
    """Once per process, before any world and any other thread in torch."""
    if isinstance(c10d._world, _Worlds):
        return
    if not torch.__version__.startswith(TESTED_TORCH):
        raise Refused(
            f"torch {torch.__version__} was not tested with this package, which "
            f"touches c10d's private state; it runs with {', '.join(TESTED_TORCH)}x"
        )
    if dist.is_initialized():
        raise Refused(
            "a process group exists already: dynatrain makes the groups; take "
            "out init_process_group and use `mesh` and `world`"
        )
    gloo.install()
    names = _Names(c10d._pg_names)
    c10d._pg_names = names
    c10d._world = _Worlds()
    gc.collect()
    # Now, not later: beside a thread that is inside torch get_objects() finds
    # half-built tuples and can crash it. propagate_op_sharding's caches are per
    # thread, and the live thread's must stay warm.
    _caches.extend(
        found
        for found in gc.get_objects()
        if type(found) is functools._lru_cache_wrapper
        and str(getattr(found, "__module__", "")).startswith("torch.distributed.")
        and not found.__name__.startswith("propagate_op_sharding")
    )
    gc.freeze()  # what the imports made is never garbage: 0.05 s a collection
    atexit.register(gc.unfreeze)  # but it is at the end


def make_mesh(tag: int, generation: int, sizes: dict[str, int]) -> DeviceMesh:
    """A mesh over the current world, its dimensions named like ``dp7_a3f1``."""
    return init_device_mesh(
        "cpu",
        tuple(sizes.values()),
        mesh_dim_names=tuple(torch_name(axis, tag, generation) for axis in sizes),
    )


def torch_name(axis: str, tag: int, generation: int) -> str:
    return f"{axis}{generation}_{tag:08x}"


def axis_of(name: str) -> str:
    """The axis that a mesh dimension of `make_mesh` stands for."""
    return name.split("_")[0].rstrip("0123456789")


_forgetting = threading.Lock()


def forget() -> None:
    """Empties DTensor's caches, whose keys hold the groups of worlds gone by.

    The caches of sharding propagation are per thread: call it in the thread
    that trained in the world.
    """
    with _forgetting:
        _clear_sharding_prop_cache()  # type: ignore[no-untyped-call]
        clear_redistribute_planner_cache()
        for cache in _caches:
            cache.cache_clear()


def collect() -> None:
    """Frees reference cycles (modules and their hooks) of a retired world."""
    gc.collect()
