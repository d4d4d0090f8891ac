"""Lets the tests and their programs import each other by bare name."""

import os
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
HARNESS = HERE.parent / "harness"
sys.path[:0] = [str(HERE), str(HARNESS), str(HERE.parents[1] / "python")]
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(HERE.parents[1] / "python"), os.environ.get("PYTHONPATH", "")]
)
