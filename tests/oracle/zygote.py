"""Runs worlds of Megatron ranks, one after another: reads requests from its input, a line of JSON each, and answers with a line.

PyTorch and Megatron are imported once; each rank is a process forked from here, real and fresh, that dies with its world. So a world of
sixteen costs a second, not sixteen imports, and nothing of one world can leak into the next.
    {"configuration": "<JSON>", "folder": "/tmp/..."}  ->  {"outcome": "built"} | {"outcome": "refused", "rank": 3, "reason": "..."}

With --fakes, packages that need CUDA are stood in for (fakes/README.md).
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import pathlib
import signal
import socket
import sys
import time
import traceback
from typing import Any

import building
import dumping
import pretend
import torch
import torch.distributed
from configuration import Configuration

LIMIT_S = 120.0
GRACE_S = 3.0  # after the first rank has failed, the others wait for it in vain
REFUSED = 3
HERE = pathlib.Path(__file__).resolve().parent
FAKES = HERE / "fakes"
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def listen() -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return listener


def live(c: Configuration, rank: int, listener: socket.socket, folder: pathlib.Path) -> int:
    """The whole life of a rank. A refusal is Megatron's exception, written down for whoever asked."""
    try:
        host, port = listener.getsockname()
        store = torch.distributed.TCPStore(host, port, c.world, is_master=rank == 0,  # type: ignore[attr-defined]
                                           master_listen_fd=listener.detach() if rank == 0 else None)
        torch.distributed.init_process_group("gloo", store=store, rank=rank, world_size=c.world)
        job = building.build(c)
    except (AssertionError, ValueError, RuntimeError, NotImplementedError, TypeError, ArithmeticError, LookupError) as error:
        traceback.print_exc()
        reason = f"{type(error).__name__}: {error}"
        (folder / f"refused{rank}").write_text(json.dumps({"reason": reason, "in_megatron": _in_megatron(error)}))
        return REFUSED
    dumping.dump(c, job, folder)
    torch.distributed.barrier()  # rank 0 serves the store until all are done
    return 0


def _in_megatron(error: BaseException) -> bool:
    """Whether Megatron raised it, or PyTorch below it: not we, above Megatron or below it in what stands for CUDA."""
    frames = traceback.extract_tb(error.__traceback__)
    # __torch_function__ only hands on what Megatron asks of PyTorch.
    ours = [HERE in pathlib.Path(frame.filename).parents and frame.name != "__torch_function__" for frame in frames]
    # What stands in for a package refuses as it does.
    megatron = ["/megatron/core/" in frame.filename or FAKES in pathlib.Path(frame.filename).parents for frame in frames]
    sides = [is_megatron for is_megatron, is_ours in zip(megatron, ours, strict=True) if is_megatron or is_ours]
    return bool(sides) and sides[-1]


def fork(c: Configuration, rank: int, listener: socket.socket, folder: pathlib.Path) -> int:
    zygote = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        # A rank that waits for others would outlive a zygote that is killed by half an hour.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != zygote:
            os._exit(code)
        log = os.open(folder / f"rank{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.setpgid(0, 0)
        code = live(c, rank, listener, folder)
    except BaseException:  # whatever it was is in the log, and this process must not go on as a second zygote
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def run(c: Configuration, folder: pathlib.Path) -> dict[str, Any]:
    """A world from birth to death; what became of it."""
    folder.mkdir(parents=True, exist_ok=True)
    with listen() as listener:
        alive = {fork(c, rank, listener, folder): rank for rank in range(c.world)}
    deadline, failed = time.monotonic() + LIMIT_S, {}
    while alive and time.monotonic() < deadline:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            time.sleep(0.01)
            continue
        code, rank = os.waitstatus_to_exitcode(status), alive.pop(pid)
        if code:
            deadline = min(deadline, time.monotonic() + GRACE_S)
            failed[rank] = code
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if refused := [rank for rank, code in failed.items() if code == REFUSED]:
        said = {rank: json.loads((folder / f"refused{rank}").read_text()) for rank in refused}
        first = first_cause({rank: entry["reason"] for rank, entry in said.items()})
        return {"outcome": "refused", "rank": first, **said[first]}
    if failed:
        logs = {rank: (folder / f"rank{rank}.log").read_text(errors="replace")[-3000:] for rank in failed}
        return {"outcome": "failed", "rank": first_cause(logs), "reason": logs[first_cause(logs)]}
    return {"outcome": "failed", "rank": min(alive.values()), "reason": "it took too long"} if alive else {"outcome": "built"}


def first_cause(reasons: dict[int, str]) -> int:
    """The rank whose reason to name: one that waits for a rank that failed hears of a lost connection only."""
    return min(reasons, key=lambda rank: ("onnection" in reasons[rank], rank))


def main() -> None:
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    fakes = "--fakes" in sys.argv[1:]
    if fakes:
        sys.path.insert(0, str(FAKES))
    pretend.cuda()
    import megatron.core.distributed
    import megatron.core.models.gpt.gpt_model
    import megatron.core.optimizer
    if fakes:
        import megatron.core.models.mamba.mamba_layer_specs
    pretend.transformer_engine(stands_in=fakes)
    gc.collect()
    gc.freeze()  # the collector must not touch, and so copy, the pages that the ranks share
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    answers.write(json.dumps({"outcome": "ready", "torch": torch.__version__, "megatron": megatron.core.__version__}) + "\n")
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps(run(Configuration.from_json(request["configuration"]), pathlib.Path(request["folder"]))) + "\n")
    answers.flush()
    os._exit(0)  # PyTorch's compiler, imported by Megatron, ends with pages of complaints


if __name__ == "__main__":
    main()
