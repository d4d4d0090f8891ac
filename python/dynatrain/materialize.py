"""Memory for a world that was built on the meta device."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor
from torch.optim import Optimizer
from torch.utils._python_dispatch import TorchDispatchMode

from dynatrain import nested
from dynatrain.errors import Refused
from dynatrain.state import Optimizers, each, local_of

_WARM_UP_VALUE = 0.01  # finite, not zero: no NaN in a division or a check


def check_on_meta(model: nn.Module, optimizers: Optimizers) -> None:
    """Refuses a build() that made memory, or put a learning rate on meta."""
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        if not tensor.is_meta:
            raise Refused(
                f"build() made {name} on {tensor.device}, not on the meta device: "
                "it runs beside the live world and must not take memory; don't name "
                "a device there, values come from init() or from the transfer"
            )
    for label, optimizer in each(optimizers).items():
        for index, group in enumerate(optimizer.param_groups):
            for key, value in group.items():
                if isinstance(value, Tensor) and value.is_meta:
                    raise Refused(
                        f"{label}.param_groups[{index}][{key!r}] is a tensor made under "
                        "build()'s meta device and has no value; give a plain number"
                    )


def make_optimizer_state(optimizers: Optimizers) -> None:
    """Has each optimizer make its state on meta, as its first step would.

    Only which states there are, and their shapes, counts: where the optimizer
    reads a value (a step, a norm, a loss), it gets 1. Raises Refused, with the
    optimizer's own reason, for one that can't do that step.
    """
    for optimizer in each(optimizers).values():
        _make_state(optimizer)


def _make_state(optimizer: Optimizer) -> None:
    trained = [
        p for g in optimizer.param_groups for p in g["params"] if p.requires_grad
    ]

    def closure() -> Tensor:
        for parameter in trained:
            parameter.grad = _gradient(optimizer, parameter)
        return torch.ones(())

    try:
        with _stepping_quietly(optimizer), torch.no_grad(), _pretending():
            closure()
            given = (closure,) if _needs_closure(optimizer) else ()
            type(optimizer).step(optimizer, *given)
    except (RuntimeError, NotImplementedError, TypeError) as error:
        why, *_ = str(error).splitlines() or [type(error).__name__]
        raise Refused(
            f"{type(optimizer).__name__} can't do a step of this model on the meta "
            f"device, so its state is not known: {why}"
        ) from error
    finally:
        for parameter in trained:
            parameter.grad = None


def _gradient(optimizer: Optimizer, parameter: Tensor) -> Tensor:
    if not isinstance(optimizer, torch.optim.SparseAdam):
        return torch.empty_like(parameter)
    nowhere = torch.empty(parameter.ndim, 0, dtype=torch.int64, device=parameter.device)
    return torch.sparse_coo_tensor(
        nowhere, parameter.new_empty(0), parameter.shape, check_invariants=False
    )


def _needs_closure(optimizer: Optimizer) -> bool:
    """``step(closure)`` has no default for it, as LBFGS's."""
    _, *rest = inspect.signature(type(optimizer).step).parameters.values()
    by_position = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    return any(
        p.kind in by_position and p.default is inspect.Parameter.empty for p in rest
    )


def _pretending() -> TorchDispatchMode:
    return _PretendedValues()  # type: ignore[no-untyped-call]


class _PretendedValues(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """``item()`` of a meta tensor is 1."""

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if any(issubclass(kind, DTensor) for kind in types):
            return NotImplemented  # its local operators come here again
        if func is torch.ops.aten._local_scalar_dense.default and args[0].is_meta:
            return args[0].new_ones((), device="cpu").item()
        return func(*args, **(kwargs or {}))


@contextmanager
def _stepping_quietly(optimizer: Optimizer) -> Iterator[None]:
    """No hooks, no kernels that check the device; all put back afterwards."""
    hooks = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
    kept = {name: getattr(optimizer, name) for name in hooks}
    switches = ("foreach", "fused")
    groups = [{k: g[k] for k in switches if k in g} for g in optimizer.param_groups]
    try:
        for name in hooks:
            setattr(optimizer, name, OrderedDict())
        for group, flags in zip(optimizer.param_groups, groups, strict=True):
            group.update(dict.fromkeys(flags, False))
        yield
    finally:
        for name, value in kept.items():
            setattr(optimizer, name, value)
        for group, flags in zip(optimizer.param_groups, groups, strict=True):
            group.update(flags)


def allocate(model: nn.Module, optimizers: Optimizers) -> None:
    """Gives all parameters, buffers and optimizer states memory.

    The parameters stay the same objects, so that the optimizer and whoever
    else holds them need not be told.
    """
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        model.to_empty(device="cpu")
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)
    for optimizer in each(optimizers).values():
        for state in optimizer.state.values():
            for key, value in state.items():
                state[key] = nested.change(_with_memory, value)


@torch.no_grad()
def fill(model: nn.Module) -> None:
    """Harmless values for a warm-up step."""
    for parameter in model.parameters():
        local_of(parameter).fill_(_WARM_UP_VALUE)
    for buffer in model.buffers():
        local_of(buffer).zero_()


def state_at_birth(optimizers: Optimizers) -> list[dict[Any, Any]]:
    """What each optimizer made in its constructor, by parameter."""
    return [
        {owner: dict(state) for owner, state in optimizer.state.items()}
        for optimizer in each(optimizers).values()
    ]


def renew_optimizer_state(optimizers: Optimizers, born: list[dict[Any, Any]]) -> None:
    """For a first start: the state that the optimizers were constructed with.

    `born`: from `state_at_birth`. Optimizers that make state then (Adagrad)
    are constructed once more, now that the parameters have memory.
    """
    for optimizer, first in zip(each(optimizers).values(), born, strict=True):
        optimizer.state.clear()
        if first:
            optimizer.state.update(_constructed_again(optimizer).state)


def _constructed_again(optimizer: Optimizer) -> Optimizer:
    groups = [dict(g) for g in optimizer.param_groups]
    _, _, *rest = inspect.signature(type(optimizer).__init__).parameters.values()
    given = [p.name for p in rest if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if untold := [name for name in given if name not in optimizer.defaults]:
        raise Refused(
            f"{type(optimizer).__name__} makes state in its constructor, and can't be "
            f"constructed again on real memory: what it was given as {untold[0]!r} "
            "isn't among its defaults. Make the state in the first step"
        )
    try:
        return type(optimizer)(groups, **optimizer.defaults)
    except TypeError as error:
        raise Refused(
            f"{type(optimizer).__name__} makes state in its constructor and can't be "
            f"constructed from its defaults: {error}"
        ) from error


def _with_memory(tensor: Tensor) -> Tensor:
    return _zeros_like(tensor) if local_of(tensor).is_meta else tensor


def _zeros_like(tensor: Tensor) -> Tensor:
    local = torch.zeros_like(local_of(tensor), device="cpu")
    if not isinstance(tensor, DTensor):
        return local
    return DTensor.from_local(
        local,
        tensor.device_mesh,
        tensor.placements,
        run_check=False,
        shape=tensor.shape,
        stride=tensor.stride(),
    )
