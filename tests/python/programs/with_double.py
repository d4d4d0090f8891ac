"""Runs a program with the double runtime: with_double.py PROGRAM ARGUMENTS…"""

import pathlib
import runpy
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import double_runtime

double_runtime.install()
sys.argv = sys.argv[1:]
sys.path.insert(0, str(pathlib.Path(sys.argv[0]).parent))
runpy.run_path(sys.argv[0], run_name="__main__")
