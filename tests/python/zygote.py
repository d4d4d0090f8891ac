"""Starts rank processes quickly: forks of one that has imported torch.

Importing torch takes seconds of CPU, and tests start dozens of ranks. A
request is a line of JSON on standard input, the answer one on standard output.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
import traceback
from typing import Any


class Process:
    """One rank process; as subprocess.Popen where tests use it."""

    def __init__(self, zygote: Zygote, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._zygote = zygote

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._zygote.ask(op="poll", pid=self.pid)["code"]
        return self.returncode

    def wait(self, timeout_s: float = 120.0) -> int:
        limit = time.monotonic() + timeout_s
        while (code := self.poll()) is None:
            if time.monotonic() > limit:
                raise TimeoutError(f"process {self.pid} hasn't ended in {timeout_s} s")
            time.sleep(0.02)
        return code

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


class Zygote:
    """The process that forks. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def start(
        self, program: list[str], environment: dict[str, str], log: str
    ) -> Process:
        answer = self.ask(op="start", program=program, environment=environment, log=log)
        return Process(self, answer["pid"])

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        with self._lock:
            print(json.dumps(request), file=self._process.stdin, flush=True)
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
            return answer


def _be_rank(request: dict[str, Any]) -> None:
    log = os.open(request["log"], os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, nothing), (1, log), (2, log)):
        os.dup2(source, target)
    os.environ.update(request["environment"])
    sys.argv = request["program"]
    sys.path.insert(0, os.path.dirname(sys.argv[0]))
    code = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    import double_runtime

    double_runtime.install()
    ended: dict[int, int] = {}
    while line := sys.stdin.readline():
        request = json.loads(line)
        if request["op"] == "start":
            if (pid := os.fork()) == 0:
                _be_rank(request)
            answer: dict[str, Any] = {"pid": pid}
        else:
            pid = request["pid"]
            if pid not in ended:
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    ended[pid] = os.waitstatus_to_exitcode(status)
            answer = {"code": ended.get(pid)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
