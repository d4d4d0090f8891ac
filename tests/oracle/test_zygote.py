"""What a rank's exception is taken for: a refusal of Megatron's, or a fault of the oracle, which says nothing about any layout."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from functools import partial

import pytest
import torch
import zygote

MEGATRON = "/env/lib/python/site-packages/megatron/core/models/gpt.py"
PRETEND = str(pathlib.Path(zygote.__file__).parent / "pretend.py")


def in_file(name: str, body: str, function: str = "call") -> Callable[..., None]:
    """`def call(inner=None): <body>`, as if that stood in a file of this name."""
    found: dict[str, Callable[..., None]] = {}
    exec(compile(f"def {function}(inner=None):\n    {body}\n", name, "exec"), found)
    return found[function]


def is_megatrons(call: Callable[[], object]) -> bool:
    with pytest.raises(Exception) as caught:
        call()
    return zygote._in_megatron(caught.value)


def test_what_megatron_raises_is_its_refusal() -> None:
    assert is_megatrons(in_file(MEGATRON, "raise ValueError"))
    # It calls what is wrapped, which calls it.
    wrapped = partial(in_file(PRETEND, "inner()", "norm"), in_file(MEGATRON, "raise ValueError"))
    assert is_megatrons(partial(in_file(MEGATRON, "inner()"), wrapped))


def test_what_torch_raises_below_megatron_is_its_refusal() -> None:
    passed_on = partial(in_file(PRETEND, "inner()", "__torch_function__"), partial(torch.empty, -1))
    assert is_megatrons(partial(in_file(MEGATRON, "inner()"), passed_on))


def test_our_own_fault_is_none_wherever_it_is() -> None:
    assert not is_megatrons(in_file(PRETEND, "raise ValueError"))
    assert not is_megatrons(partial(in_file(MEGATRON, "inner()"), in_file(PRETEND, "raise ValueError")))
