"""The random streams of a rank: torch's on the CPU, Python's, numpy's if loaded.

A stream belongs to a coordinate of the mesh. As a tensor of bytes it always has
the same size, so that tensor-parallel peers, who draw alike, can be given one
by a single broadcast.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

_TWISTER_WORDS = 624  # of the Mersenne twister that all three use
_PYTHON_VERSION = 3  # of random.getstate()


def save() -> Tensor:
    """The state of all streams of this process, for `restore`."""
    version, words, gauss = random.getstate()
    assert version == _PYTHON_VERSION
    numpy = _numpy_random()
    held: Any = numpy and numpy.get_state()
    present = isinstance(held, tuple)  # else the program has put another kind there
    if not present:
        held = (None, [0] * _TWISTER_WORDS, 0, 0, 0.0)
    return torch.cat(
        [
            torch.get_rng_state(),
            _bytes(torch.tensor(words)),  # 624 words and the place in them
            _bytes(_optional(gauss)),
            _bytes(torch.tensor([int(present), int(held[2]), int(held[3])])),
            _bytes(torch.tensor([int(word) for word in held[1]])),
            _bytes(torch.tensor([float(held[4])], dtype=torch.float64)),
        ]
    )


def restore(state: Tensor) -> None:
    """Goes on where the process went on that `state` is from.

    numpy's stream is left alone if either of the two processes has no numpy.
    """
    torch_bytes = torch.get_rng_state().numel()
    counts = (_TWISTER_WORDS + 1, 2, 3, _TWISTER_WORDS, 1)
    sizes = [torch_bytes, *(8 * count for count in counts)]
    own, words, gauss, flags, key, held_gauss = torch.split(state, sizes)
    torch.set_rng_state(own.clone())
    random.setstate((_PYTHON_VERSION, tuple(_ints(words)), _value(_floats(gauss))))
    numpy = _numpy_random()
    has_numpy, position, has_gauss = _ints(flags)
    if numpy is not None and has_numpy:
        (cached,) = _floats(held_gauss)
        numpy.set_state(("MT19937", _ints(key), position, has_gauss, cached))


def begin(seed: int) -> None:
    """New streams, for a coordinate that has none yet."""
    torch.manual_seed(seed)
    random.seed(seed)
    if (numpy := _numpy_random()) is not None:
        numpy.seed(seed % 2**32)


def _numpy_random() -> Any:
    """numpy.random, if the program has loaded it."""
    return sys.modules.get("numpy.random")


def _bytes(tensor: Tensor) -> Tensor:
    return tensor.contiguous().view(torch.uint8)


def _optional(value: float | None) -> Tensor:
    return torch.tensor([float(value is not None), value or 0.0], dtype=torch.float64)


def _value(pair: Sequence[float]) -> float | None:
    present, value = pair
    return value if present else None


def _ints(raw: Tensor) -> list[int]:
    values: list[int] = raw.clone().view(torch.int64).tolist()
    return values


def _floats(raw: Tensor) -> list[float]:
    values: list[float] = raw.clone().view(torch.float64).tolist()
    return values
