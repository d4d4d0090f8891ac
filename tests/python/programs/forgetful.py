"""Runs a program whose optimizer forgets its first moments at each switch.

A test of the tests: what compares losses must notice. Usage: forgetful.py PROGRAM
ARGUMENTS…
"""

from __future__ import annotations

import runpy
import sys
from typing import Any

from dynatrain.live import Live
from dynatrain.state import local_of

take_over = Live.take_over


def forget(self: Live, *arguments: Any) -> None:
    take_over(self, *arguments)
    if self.world.step > 0:
        for state in self.world.optimizer.state.values():
            local_of(state["exp_avg"]).zero_()


if __name__ == "__main__":
    Live.take_over = forget  # type: ignore[method-assign]
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
