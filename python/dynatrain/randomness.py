"""Random numbers: a private place for the builder, a stream per coordinate.

torch's default generator is one per *process*. A builder that seeds,
initialises or runs dropout would move the live world's losses. `Private` keeps
what the calling thread draws away from it: operators that would draw from
the default generator get the thread's own, and ``torch.manual_seed`` and its
kin reach that one too. Python's ``random`` and numpy are not covered: a step
should draw from torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import torch
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode

from dynatrain.errors import Refused

_KEY = "dynatrain_generator"


def derived_seed(seed: int, generation: int, place: Mapping[str, int]) -> int:
    """Seed of a coordinate that is new in `generation`.

    Without ``tp``: tensor-parallel peers draw the same numbers, as dropout on
    activations that they all hold needs.
    """
    where = ",".join(f"{axis}{i}" for axis, i in place.items() if axis != "tp")
    text = f"{seed}/{generation}/{where}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 1


class Private(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While entered, nothing this thread does touches the default generator."""

    def __init__(self, seed: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.generator = torch.Generator().manual_seed(seed)

    def __enter__(self) -> Self:
        _install_proxy()
        torch._C._stash_obj_in_tls(_KEY, self.generator)
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)  # type: ignore[no-untyped-call]
        torch._C._remove_obj_from_tls(_KEY)

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if any(issubclass(kind, DTensor) for kind in types):
            return NotImplemented  # its local operators come here again
        if torch.Tag.nondeterministic_seeded in func.tags and not (
            _on_meta(args, kwargs) or _drops_nothing(func, args, kwargs)
        ):
            func = _taking_generator(func)
            if kwargs.get("generator") is None:
                kwargs = {**kwargs, "generator": self.generator}
        return func(*args, **kwargs)


def _on_meta(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Draws nothing: the shape is all that is computed."""
    device = kwargs.get("device")
    if device is not None:
        return torch.device(device).type == "meta"
    first = next((a for a in args if isinstance(a, torch.Tensor)), None)
    return first is not None and first.is_meta


def _drops_nothing(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Attention and dropout that are told to drop nothing."""
    for place, argument in enumerate(func._schema.arguments):
        if argument.name in ("dropout_p", "p", "dropout"):
            given = args[place] if place < len(args) else argument.default_value
            return bool(kwargs.get(argument.name, given) == 0)
    return False


def _taking_generator(func: Any) -> Any:
    """The overload of an operator that can be told where to draw from."""
    if _has_generator(func):
        return func
    packet = func.overloadpacket
    for name in packet.overloads():
        candidate = getattr(packet, name)
        if _has_generator(candidate) and _arguments(candidate) == _arguments(func):
            return candidate
    raise Refused(
        f"{func} draws random numbers and takes no generator, so a warm-up step "
        "can't run it beside the live world without moving its losses"
    )


def _has_generator(func: Any) -> bool:
    return any(a.name == "generator" for a in func._schema.arguments)


def _arguments(func: Any) -> list[tuple[str, str]]:
    """Names and types, without the generator."""
    arguments = func._schema.arguments
    return [(a.name, str(a.type)) for a in arguments if a.name != "generator"]


class _ThreadGenerator:
    """Stands in torch.random for the default generator: the thread's own."""

    def __init__(self, default: torch.Generator) -> None:
        self._default = default

    def __getattr__(self, name: str) -> Any:
        mine = torch._C._is_key_in_tls(_KEY)
        generator = torch._C._get_obj_in_tls(_KEY) if mine else self._default
        return getattr(generator, name)


def _install_proxy() -> None:
    """manual_seed, get_rng_state, fork_rng … look it up in their module."""
    module: Any = torch.random
    if not isinstance(module.default_generator, _ThreadGenerator):
        module.default_generator = _ThreadGenerator(module.default_generator)
