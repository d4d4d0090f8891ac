"""The training state, walked: every tensor that must travel, by name.

Names are fully qualified names; ``state`` is ``param``, ``buffer`` or the
optimizer's key (``exp_avg``, ``step``), with the place in it where the
optimizer nests (``factors['left']``). State that would
be lost silently is refused by name instead: tensors as plain module
attributes, optimizer state that belongs to no parameter, extras that can't
say their state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor
from torch.optim import Optimizer

from dynatrain import nested
from dynatrain.errors import Refused

PARAM, BUFFER = "param", "buffer"
_MODULE_FIELDS = {"_parameters", "_buffers", "_modules"}


class Key(NamedTuple):
    name: str
    state: str


Tensors = dict[Key, Tensor]
Optimizers = Optimizer | Sequence[Optimizer] | Mapping[str, Optimizer]


def each(optimizers: Optimizers) -> dict[str, Optimizer]:
    """What build() gave, one by one, each with what it is called in messages."""
    if isinstance(optimizers, Optimizer):
        return {"optimizer": optimizers}
    if isinstance(optimizers, Mapping):
        return {f"optimizer[{k!r}]": one for k, one in optimizers.items()}
    return {f"optimizer[{i}]": one for i, one in enumerate(optimizers)}


def tensors_of(model: nn.Module, optimizers: Optimizers) -> Tensors:
    """All tensors of the state, as the program holds them (DTensors or plain)."""
    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.reshard()  # else unsharded parameters may be registered
    found: Tensors = {}
    names: dict[int, str] = {}
    for name, parameter in model.named_parameters():
        found[Key(name, PARAM)] = parameter
        names[id(parameter)] = name
    for name, buffer in model.named_buffers():
        found[Key(name, BUFFER)] = buffer
    for label, optimizer in each(optimizers).items():
        for owner, state in optimizer.state.items():
            for name, value in state.items():
                for path, tensor in nested.tensors(value, str(name)):
                    key = _state_key(names, owner, path)
                    if key in found:
                        raise Refused(
                            f"{key.state} of {key.name} is kept by {label} and by "
                            "another optimizer too; give each parameter to one"
                        )
                    found[key] = tensor
    return found


def _state_key(names: Mapping[int, str], owner: Any, key: str) -> Key:
    name = names.get(id(owner))
    if name is None:
        raise Refused(
            f"optimizer state {key!r} belongs to no parameter of the model "
            f"(it is kept for {_describe(owner)}); it can't be named in another "
            "world. Register that tensor as a parameter of the model"
        )
    if key in (PARAM, BUFFER):
        raise Refused(
            f"optimizer state of {name} is called {key!r}, which means something else"
        )
    return Key(name, key)


def plain_state(
    model: nn.Module, optimizer: Optimizer, by_value: Collection[int] = ()
) -> dict[str, dict[str, Any]]:
    """What the optimizer keeps per parameter that is no tensor.

    None stands for each tensor, but those whose id is in `by_value` are there.
    """
    names = {id(p): name for name, p in model.named_parameters()}
    found: dict[str, dict[str, Any]] = {}
    for owner, state in optimizer.state.items():
        plain: dict[str, Any] = {}
        for key, value in state.items():
            if _tensors_within(nested.without_tensors(value)):
                raise Refused(
                    f"optimizer state {key!r} of {names.get(id(owner), '?')} holds "
                    f"tensors in a {type(value).__name__}; only plain dicts, lists and "
                    "tuples of them can travel"
                )
            _state_key(names, owner, key)
            if not isinstance(value, Tensor) or id(value) in by_value:
                plain[key] = nested.change(
                    lambda t: local_of(t) if id(t) in by_value else None, value
                )
        if plain:
            found[names[id(owner)]] = plain
    return found


def check_told(
    model: nn.Module, optimizers: Optimizers, extras: Mapping[str, Any]
) -> None:
    """Refuses, by name, what would be lost at a transition."""
    known = {id(t) for t in (*model.parameters(), *model.buffers())}
    for path, value in _plain_attributes(model):
        if any(id(t) not in known for t in _tensors_within(value)):
            raise Refused(
                f"model attribute {path} is a tensor that is neither parameter nor "
                "buffer, so it would be lost at a transition; use register_buffer "
                "(persistent=False if it doesn't belong in a checkpoint)"
            )
    for label, optimizer in each(optimizers).items():
        for index, group in enumerate(optimizer.param_groups):
            for parameter in group["params"]:
                if id(parameter) not in known:
                    raise Refused(
                        f"{label}.param_groups[{index}] holds {_describe(parameter)}, "
                        "which is no parameter of the model"
                    )
    for name, extra in extras.items():
        _check_extra(name, extra)


def _check_extra(name: str, extra: Any) -> None:
    for method in ("state_dict", "load_state_dict"):
        if not callable(getattr(extra, method, None)):
            raise Refused(
                f"extras[{name!r}] ({type(extra).__name__}) has no {method}(), so its "
                "state can't travel; give it state_dict() and load_state_dict(), or "
                "take it out of extras if it has no state"
            )
    for path, value in _leaves(extra.state_dict(), f"extras[{name!r}]"):
        if isinstance(value, DTensor):
            raise Refused(
                f"{path} is a sharded tensor; extras travel whole. Keep it as a "
                "parameter or buffer of the model"
            )


def _plain_attributes(model: nn.Module) -> Iterator[tuple[str, Any]]:
    for prefix, module in model.named_modules():
        for field, value in vars(module).items():
            if field not in _MODULE_FIELDS and isinstance(field, str):
                yield f"{prefix}.{field}" if prefix else field, value


def _tensors_within(value: Any) -> list[Tensor]:
    return [leaf for _, leaf in _leaves(value, "") if isinstance(leaf, Tensor)]


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}[{key!r}]")
    elif isinstance(value, list | tuple | set):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]")
    else:
        yield path, value


def _describe(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {list(value.shape)}"
    return f"a {type(value).__name__}"


def dtype_of(tensor: Tensor) -> str:
    """The dtype as the manifest names it: float32, bfloat16, int64, …"""
    return str(tensor.dtype).removeprefix("torch.")


def local_of(tensor: Tensor) -> Tensor:
    """This rank's part."""
    with torch.no_grad():
        local = tensor.to_local() if isinstance(tensor, DTensor) else tensor
        return local.detach()
