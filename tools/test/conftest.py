"""Lets the tests import the runner's modules by bare name, as the runner itself does."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
