"""Random numbers: a private place for the builder, a stream per coordinate.

torch's default generator is one per *process*, and so are Python's and numpy's.
A builder that seeds, initialises or runs dropout would move the live world's
losses. `Private` keeps what the calling thread draws away from them: operators
that would draw from the default generator get the thread's own, and
``torch.manual_seed`` and its kin, and the functions of the modules ``random``
and ``numpy.random``, reach the thread's own too. Only by that name: a function
that the program has taken out of its module (``from random import choice``)
still draws from the process's stream.
"""

from __future__ import annotations

import functools
import hashlib
import random
import sys
from collections.abc import Callable, Mapping
from types import ModuleType, TracebackType
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
    """While entered, nothing this thread does touches the default generators.

    `before_each` is called before each operator.
    """

    def __init__(
        self, seed: int, before_each: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._before_each = before_each
        self.generator = torch.Generator().manual_seed(seed)
        self.python = random.Random(seed)
        numpy = sys.modules.get("numpy.random")
        self.numpy: Any = numpy and numpy.RandomState(seed % 2**32)

    def __enter__(self) -> Self:
        _install_proxies()
        torch._C._stash_obj_in_tls(_KEY, self)
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
        self._before_each()
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


def _private() -> Private | None:
    """What the calling thread, or the one whose autograd it does, has entered."""
    if not torch._C._is_key_in_tls(_KEY):
        return None
    private: Private = torch._C._get_obj_in_tls(_KEY)
    return private


class _ThreadGenerator:
    """Stands in torch.random for the default generator: the thread's own."""

    def __init__(self, default: torch.Generator) -> None:
        self._default = default

    def __getattr__(self, name: str) -> Any:
        private = _private()
        return getattr(private.generator if private else self._default, name)


def _install_proxies() -> None:
    """torch's manual_seed, get_rng_state, fork_rng … look it up in their module."""
    module: Any = torch.random
    if not isinstance(module.default_generator, _ThreadGenerator):
        module.default_generator = _ThreadGenerator(module.default_generator)
    _install_in(random, lambda private: private.python)
    if (numpy := sys.modules.get("numpy.random")) is not None:
        _install_in(numpy, lambda private: private.numpy)


# Functions of numpy.random that are no methods themselves, and whom they call.
_NUMPY_FUNCTIONS = {"seed": "seed", "ranf": "random_sample", "sample": "random_sample"}


def _install_in(module: ModuleType, own: Callable[[Private], Any]) -> None:
    """The module's functions are methods of one hidden generator: of the
    thread's, if it has one."""
    hidden = getattr(module.random, "__self__", None)
    if hidden is None:
        return  # done before
    functions = dict(vars(module))
    methods = {n: n for n, f in functions.items() if hidden is _owner(f)}
    for name, method in {**_NUMPY_FUNCTIONS, **methods}.items():
        if name in functions and hasattr(hidden, method):
            setattr(module, name, _of_the_thread(method, functions[name], own))


def _owner(function: Any) -> Any:
    return getattr(function, "__self__", None)


def _of_the_thread(
    name: str, function: Callable[..., Any], own: Callable[[Private], Any]
) -> Callable[..., Any]:
    @functools.wraps(function)
    def draw(*args: Any, **kwargs: Any) -> Any:
        private = _private()
        generator = own(private) if private else None
        return (getattr(generator, name) if generator else function)(*args, **kwargs)

    return draw
