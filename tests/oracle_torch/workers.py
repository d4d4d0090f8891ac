"""Worlds of real processes that talk over gloo, forked from a server that has imported torch, so that a world starts in a moment.

    workers = Workers(preload=("dtensor_jobs",))
    dumps = workers.run("dtensor_jobs:dump", world=4, arguments={...})   # what each rank returned

There is one server in a process, with what was asked for when it started; so a worker imports by itself what its own Workers want
besides. Torch's and DeepSpeed's jobs can run in one session.

A job names a function `module:function`, called with (rank, world, **arguments) in an initialised process group. Each world has
processes of its own: DTensor keeps caches by the equality of meshes, so a second world in one process would meet the first one's groups.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import logging
import multiprocessing
import multiprocessing.connection
import os
import pathlib
import sys
import tempfile
import traceback
import warnings
from multiprocessing.process import BaseProcess
from typing import Any

TIMEOUT_S = 300.0


@dataclasses.dataclass(frozen=True)
class Imports:
    paths: tuple[str, ...]
    modules: tuple[str, ...]

    def run(self) -> None:
        sys.path[:0] = [path for path in self.paths if path not in sys.path]
        for module in self.modules:
            importlib.import_module(module)


def _rank(rank: int, world: int, store: str, channel: multiprocessing.connection.Connection, function: str,
          arguments: dict[str, Any], imports: Imports) -> None:
    imports.run()
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.getLogger("torch").setLevel(logging.ERROR)
    try:
        dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
        module, name = function.split(":")
        channel.send((True, getattr(importlib.import_module(module), name)(rank, world, **arguments)))
    except BaseException:
        channel.send((False, traceback.format_exc()))
    with contextlib.suppress(EOFError):
        channel.recv()  # a rank that leaves early breaks what its peers still do
    os._exit(0)


class Workers:
    """Not thread-safe. `preload`: what the server imports besides torch. `paths`: where jobs are imported from, besides PYTHONPATH."""

    def __init__(self, preload: tuple[str, ...] = (), paths: tuple[str, ...] = ()) -> None:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        self._imports = Imports(paths, preload)
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["torch", "torch.distributed.tensor", "torch.distributed.fsdp", *preload])

    def run(self, function: str, world: int, arguments: dict[str, Any] | None = None) -> list[Any]:
        """What `function` returned on each rank. A rank that raises is an AssertionError with its traceback."""
        with tempfile.TemporaryDirectory(prefix="dynatrain-oracle-") as folder:
            started = [self._start(rank, world, folder, function, arguments or {}) for rank in range(world)]
            try:
                answers = [_answer(channel, f"rank {rank} of {world} in {function}({arguments})")
                           for rank, (_, channel) in enumerate(started)]
            finally:
                for process, channel in started:
                    _end(process, channel)
        failed = [f"rank {rank}:\n{value}" for rank, (ok, value) in enumerate(answers) if not ok]
        assert not failed, f"{function}({arguments}) in a world of {world}\n" + "\n".join(failed)
        return [value for _, value in answers]

    def _start(self, rank: int, world: int, folder: str, function: str,
               arguments: dict[str, Any]) -> tuple[BaseProcess, multiprocessing.connection.Connection]:
        ours, theirs = self._context.Pipe()
        store = str(pathlib.Path(folder) / "store")
        process = self._context.Process(target=_rank, daemon=True,
                                        args=(rank, world, store, theirs, function, arguments, self._imports))
        process.start()
        theirs.close()
        return process, ours


def _answer(channel: multiprocessing.connection.Connection, who: str) -> Any:
    assert channel.poll(TIMEOUT_S), f"{who} gave no answer in {TIMEOUT_S} s"
    try:
        return channel.recv()
    except EOFError:
        return False, f"{who} ended without an answer"


def _end(process: BaseProcess, channel: multiprocessing.connection.Connection) -> None:
    channel.close()
    process.join(5.0)
    if process.is_alive():
        process.kill()
        process.join()
