"""Run a command with a time limit, its output going straight to the terminal."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
from collections.abc import Mapping, Sequence

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMED_OUT = 124  # as timeout(1) says it
GRACE_S = 30


def run(command: Sequence[str | pathlib.Path], limit_s: float, environment: Mapping[str, str] | None = None) -> int:
    """Runs `command` in the repository's root and returns its exit code, TIMED_OUT if it took longer than `limit_s`.

    The command gets a process group of its own; on a time-out, or if we are
    interrupted, the whole group gets SIGTERM and, GRACE_S later, SIGKILL.
    """
    process = subprocess.Popen([str(part) for part in command], cwd=ROOT, stdin=subprocess.DEVNULL,
                               env={**os.environ, **(environment or {})}, start_new_session=True)
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        print(f"    took longer than {limit_s:.0f} s: {' '.join(str(part) for part in command)}", flush=True)
        return TIMED_OUT
    finally:
        if process.poll() is None:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)
    with contextlib.suppress(ProcessLookupError):  # what of the group is still there didn't listen
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
