"""Kernels that Megatron-Core names when it is imported."""

from __future__ import annotations


def _no_kernel(*_: object, **__: object) -> None:
    raise NotImplementedError("a stand-in: there is no kernel")


fused_compute_score_for_moe_aux_loss = fused_moe_aux_loss = fused_topk_with_score_function = _no_kernel
