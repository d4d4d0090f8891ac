"""One zygote for all tests of this folder: its imports cost more than all of its worlds."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from worlds import Worlds, worlds


@pytest.fixture(scope="session")
def running() -> Iterator[Worlds]:
    with worlds() as started:
        yield started
