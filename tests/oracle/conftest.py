"""One zygote for all tests of this folder: its imports cost more than most of its worlds; and our side, built."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import layouts
from worlds import Worlds, worlds


@pytest.fixture(scope="session")
def running() -> Iterator[Worlds]:
    with worlds() as started:
        yield started


@pytest.fixture(scope="session")
def dynatrain() -> pathlib.Path:
    return layouts.build()
