"""What is written into every element of every tensor: a hash of the tensor's name, its state and the element's index in the whole tensor.

24 bits, so that a float32 holds one exactly; a bfloat16 holds 8 bits exactly, so a world is filled three times for it, a digit each
time. Two elements that are mixed up agree by chance once in 2**24 times, and each tensor has thousands.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]
Values = npt.NDArray[np.uint32]

BITS = 24


def seed(name: str, state: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(f"{state} {name}".encode(), digest_size=8).digest(), "little"))


def values(name: str, state: str, indices: Indices) -> Values:
    """The hashes of the elements at `indices` (row-major, in the whole tensor): the finisher of splitmix64 over seed + index."""
    with np.errstate(over="ignore"):
        z = indices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + seed(name, state)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) >> np.uint64(64 - BITS)).astype(np.uint32)


def global_indices(shape: tuple[int, ...], origin: tuple[int, ...], extent: tuple[int, ...]) -> Indices:
    """The row-major indices, in a tensor of `shape`, of the box at `origin`, as an array of the box's `extent`."""
    indices = np.zeros((), np.int64)
    for size, begin, count in zip(shape, origin, extent, strict=True):
        indices = indices[..., None] * size + np.arange(begin, begin + count, dtype=np.int64)
    return indices
