"""The DeepSpeed jobs that are compared, and the layout file of each."""

from __future__ import annotations

from typing import Any

import files

Json = dict[str, Any]
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
}


def layout_file(ranks: int, arguments: Json, shapes: Json) -> Json:
    """What a user would write: DeepSpeed's configuration and the tensors."""
    frozen = arguments.get("frozen", ())

    def fields(name: str, shape: list[int]) -> Json:
        return {"states": ["param:float32"]} if name in frozen else {}
    options = {key: value for key, value in arguments.get("options", {}).items() if not key.startswith("stage3_")}
    section = {"stage": arguments["stage"], "mesh": f"dp{ranks}", "tensors": files.tensors(shapes, fields), **options}
    groups = arguments.get("groups") or [[name for name in shapes if name not in frozen]]
    section["groups"] = [{"tensors": names} for names in groups]
    return {"framework": "deepspeed", "version": "0.19.8", "world": ranks, "states": STATES, "deepspeed": section}
