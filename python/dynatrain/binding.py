"""Telling the runtime where the local parts of the state lie."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from dynatrain.errors import Refused
from dynatrain.runtime import Message, Runtime, Side
from dynatrain.state import Key, dtype_of, local_of

_LISTS = {Side.SOURCE: "sources", Side.TARGET: "targets"}


def bind(
    runtime: Runtime,
    generation: int,
    side: Side,
    summary: Message,
    tensors: Mapping[Key, Tensor],
) -> None:
    """Binds each tensor that the plan asks for.

    Raises Refused, naming it, if a tensor is missing, or if there is one that
    the plan doesn't know: it would be lost.
    """
    wanted = check_planned(summary, side, tensors)
    for key, entry in wanted.items():
        local = local_of(tensors[key])
        shape, size = tuple(entry["local_shape"]), local.element_size()
        if (dtype := dtype_of(local)) != entry["dtype"]:
            raise Refused(
                f"{key.state} of {key.name}: this rank holds {dtype}, the plan "
                f"expects {entry['dtype']}: a tensor keeps the dtype it had when its "
                "world was built"
            )
        if tuple(local.shape) != shape and not (local.numel() == 0 and 0 in shape):
            raise Refused(
                f"{key.state} of {key.name}: this rank holds {list(local.shape)}, "
                f"the plan expects {list(shape)}"
            )
        strides = local.stride() if local.numel() else (1,) * len(shape)
        runtime.bind(
            generation,
            side,
            entry["index"],
            local.data_ptr(),
            shape,
            [stride * size for stride in strides],
        )


def check_planned(
    summary: Message, side: Side, tensors: Mapping[Key, Tensor]
) -> dict[Key, Message]:
    """The plan's entries by key; refuses if the program's tensors are others.

    The plan lists what this rank holds an element of, so an empty shard is
    neither missing nor lost: a rank with elements of that tensor tells.
    """
    wanted = {Key(e["name"], e["state"]): e for e in summary[_LISTS[side]]}
    held = {key for key, tensor in tensors.items() if local_of(tensor).numel()}
    if lost := sorted(held - wanted.keys()):
        raise Refused(
            f"{_named(lost)} is not in the manifest, so it would be lost: it was not "
            "there when the world was built"
        )
    if missing := sorted(wanted.keys() - tensors.keys()):
        raise Refused(
            f"{_named(missing)} is in the manifest but doesn't exist; a parameter "
            "that gets no gradient must have requires_grad=False"
        )
    return wanted


def _named(keys: list[Key]) -> str:
    rest = f" (and {len(keys) - 1} more)" if len(keys) > 1 else ""
    return f"{keys[0].state} of {keys[0].name}{rest}"
