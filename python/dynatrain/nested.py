"""Tensors inside plain dicts, lists and tuples, as optimizers keep them.

A tensor is named by where it is: ``factors['left']``, ``past[0]``. What is not
exactly a dict, list or tuple is a leaf: nobody could put it together again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor


def tensors(value: Any, path: str) -> Iterator[tuple[str, Tensor]]:
    """Each tensor with its path, which begins with `path`."""
    if isinstance(value, Tensor):
        yield path, value
    elif type(value) is dict:
        for key, inner in value.items():
            yield from tensors(inner, f"{path}[{key!r}]")
    elif type(value) in (list, tuple):
        for index, inner in enumerate(value):
            yield from tensors(inner, f"{path}[{index}]")


def change(each: Callable[[Tensor], Any], value: Any) -> Any:
    """The same structure, in new containers, with each tensor changed."""
    if isinstance(value, Tensor):
        return each(value)
    if type(value) is dict:
        return {key: change(each, inner) for key, inner in value.items()}
    if type(value) in (list, tuple):
        return type(value)(change(each, inner) for inner in value)
    return value


def without_tensors(value: Any) -> Any:
    """The structure with None for each tensor."""
    return change(lambda tensor: None, value)


def merge(plain: Any, holder: Any) -> Any:
    """`plain`, from `without_tensors`, with the tensors that `holder` has.

    Where they differ in structure, what `plain` says counts.
    """
    if isinstance(holder, Tensor) and plain is None:
        return holder
    if type(plain) is dict:
        known = holder if type(holder) is dict else {}
        return {key: merge(inner, known.get(key)) for key, inner in plain.items()}
    if type(plain) in (list, tuple):
        held = list(holder) if type(holder) is type(plain) else []
        held += [None] * (len(plain) - len(held))
        pairs = zip(plain, held, strict=False)
        return type(plain)(merge(inner, other) for inner, other in pairs)
    return plain
