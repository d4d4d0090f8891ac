"""The DeepSpeed jobs that are compared, and the layout file of each."""

from __future__ import annotations

from typing import Any

import files
from dtensor_jobs import TP_DIMS

Json = dict[str, Any]
UNEVEN = {"vocabulary": 11, "width": 6, "hidden": 9, "layers": 1}
EMPTY = {"vocabulary": 11, "width": 6, "hidden": 5, "layers": 1}
STATES = ["param:float32", "main:float32", "exp_avg:float32", "exp_avg_sq:float32"]
ONE = {"vocabulary": 11, "width": 6, "hidden": 10, "layers": 1}
NORMS = ["layers.0.norm.weight", "layers.0.norm.bias", "layers.0.fc1.bias", "scale"]
MATRICES = ["output.weight", "embedding.weight", "layers.0.fc2.weight", "layers.0.fc1.weight"]
FROZEN = ("layers.0.fc1.weight",)

# (ranks, arguments of deepspeed_jobs.dump)
CASES: dict[str, tuple[int, Json]] = {
    "zero1": (2, {"stage": 1, "model": ONE}),
    "zero1-3-ranks": (3, {"stage": 1, "model": ONE}),
    "zero1-groups": (4, {"stage": 1, "model": ONE, "groups": [MATRICES, NORMS]}),
    "zero1-frozen": (2, {"stage": 1, "model": ONE, "frozen": FROZEN}),
    "zero1-tied": (3, {"stage": 1, "model": {**ONE, "tied": True}}),
    "zero2": (3, {"stage": 2, "model": ONE}),
    "zero2-round-robin": (3, {"stage": 2, "model": ONE, "options": {"round_robin_gradients": True}}),
    "zero2-round-robin-groups": (2, {"stage": 2, "model": ONE, "groups": [NORMS, MATRICES], "options": {"round_robin_gradients": True}}),
    "zero2-aligned": (3, {"stage": 2, "model": ONE, "options": {"parameter_alignment": True}}),
    "zero2-aligned-round-robin": (4, {"stage": 2, "model": ONE, "options": {"parameter_alignment": True, "round_robin_gradients": True}}),
    "zero2-many-ranks": (7, {"stage": 2, "model": ONE}),
    "zero3": (2, {"stage": 3, "model": ONE}),
    "zero3-sub-groups": (3, {"stage": 3, "model": ONE, "options": {"sub_group_size": 25}}),
    "zero3-tiny-sub-groups": (2, {"stage": 3, "model": ONE, "options": {"sub_group_size": 1}}),
    "zero3-groups": (4, {"stage": 3, "model": ONE, "groups": [MATRICES, NORMS], "options": {"sub_group_size": 20}}),
    "zero3-frozen": (3, {"stage": 3, "model": ONE, "frozen": FROZEN}),
    "zero3-not-persistent": (2, {"stage": 3, "model": ONE, "options": {"stage3_param_persistence_threshold": 0}}),
    "zero3-many-ranks": (7, {"stage": 3, "model": ONE, "options": {"sub_group_size": 10}}),
    # Tensor parallelism that leaves ranks pieces of different sizes: 9 rows on 2 ranks, 5 on 4, of which the last has none.
    "zero1-uneven": (4, {"stage": 1, "model": UNEVEN, "tp": 2}),
    "zero1-uneven-groups": (4, {"stage": 1, "model": UNEVEN, "tp": 2, "groups": [MATRICES, NORMS]}),
    "zero2-uneven-round-robin": (6, {"stage": 2, "model": {**UNEVEN, "tied": True}, "tp": 2, "options": {"round_robin_gradients": True}}),
    "zero2-uneven-aligned": (6, {"stage": 2, "model": UNEVEN, "tp": 3, "options": {"parameter_alignment": True}}),
    "zero3-uneven": (4, {"stage": 3, "model": UNEVEN, "tp": 2, "options": {"sub_group_size": 12}}),
    "zero3-uneven-groups": (6, {"stage": 3, "model": UNEVEN, "tp": 3, "groups": [MATRICES, NORMS], "options": {"sub_group_size": 15}}),
    "zero3-uneven-frozen": (4, {"stage": 3, "model": UNEVEN, "tp": 2, "frozen": FROZEN}),
    "zero1-empty": (8, {"stage": 1, "model": EMPTY, "tp": 4}),
    "zero2-empty-round-robin": (8, {"stage": 2, "model": EMPTY, "tp": 4, "options": {"round_robin_gradients": True}}),
    "zero3-empty": (8, {"stage": 3, "model": EMPTY, "tp": 4, "options": {"sub_group_size": 10}}),
}


def layout_file(ranks: int, arguments: Json, shapes: Json) -> Json:
    """What a user would write: DeepSpeed's configuration and the tensors."""
    frozen = arguments.get("frozen", ())

    tp = arguments.get("tp", 1)

    def fields(name: str, shape: list[int]) -> Json:
        found: Json = {"states": ["param:float32"]} if name in frozen else {}
        dim = next((dim for suffix, dim in TP_DIMS.items() if name.startswith("layers.") and name.endswith(suffix)), None)
        if tp > 1 and dim is not None:
            found["splits"] = [{"axis": "tp", "dim": dim}]
        return found
    mesh = f"dp{ranks // tp},tp{tp}" if tp > 1 else f"dp{ranks}"
    options = {key: value for key, value in arguments.get("options", {}).items() if not key.startswith("stage3_")}
    section = {"stage": arguments["stage"], "mesh": mesh, "tensors": files.tensors(shapes, fields), **options}
    groups = arguments.get("groups") or [[name for name in shapes if name not in frozen]]
    section["groups"] = [{"tensors": names} for names in groups]
    return {"framework": "deepspeed", "version": "0.19.8", "world": ranks, "states": STATES, "deepspeed": section}
