"""What Transformer Engine's modules register (the constructors in transformer_engine/pytorch/module)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class _Module(nn.Module):
    """TransformerEngineBaseModule: an extra state that is empty without FP8."""

    fp8 = False
    fp8_calibration = False

    def __init__(self) -> None:
        super().__init__()
        self.fp8_meta: dict[str, Any] = {"fp8_checkpoint": False}

    def get_extra_state(self) -> Tensor:
        return torch.empty(0, dtype=torch.uint8)

    def set_extra_state(self, state: Tensor | None) -> None:
        pass

    def forward(self, *_: object, **__: object) -> Tensor:
        raise NotImplementedError("a stand-in: it has parameters and no kernel")


def _cut(features: int, pieces: int) -> int:
    if features % pieces:
        raise AssertionError(f"{features} is not divisible by {pieces}")
    return features // pieces


def _local(in_features: int, out_features: int, parallel_mode: str | None, tp_size: int) -> tuple[int, int]:
    """What of a weight a rank has: "column" cuts its rows, "row" its columns."""
    rows = _cut(out_features, tp_size) if parallel_mode == "column" else out_features
    return rows, _cut(in_features, tp_size) if parallel_mode == "row" else in_features


class _Linear(_Module):
    """`weight`, then `bias`; a bias that there isn't is a plain empty tensor."""

    def __init__(self, in_features: int, out_features: int, bias: bool, parallel_mode: str | None, tp_size: int, dtype: torch.dtype,
                 norm: str = "") -> None:
        super().__init__()
        self.tp_size, self.parallel_mode, self.use_bias = tp_size, parallel_mode, bias
        rows, columns = _local(in_features, out_features, parallel_mode, tp_size)
        self.in_features, self.out_features = columns, rows
        if norm:
            self.layer_norm_weight = nn.Parameter(torch.ones(in_features, dtype=dtype))
        if norm == "LayerNorm":
            self.layer_norm_bias = nn.Parameter(torch.zeros(in_features, dtype=dtype))
        self.weight = nn.Parameter(torch.empty(rows, columns, dtype=dtype))
        self.bias: Tensor = nn.Parameter(torch.zeros(rows, dtype=dtype)) if bias else torch.empty(0, dtype=dtype)


class Linear(_Linear):
    def __init__(self, in_features: int, out_features: int, *, bias: bool, parallel_mode: str | None, tp_size: int,
                 params_dtype: torch.dtype, **_: object) -> None:
        super().__init__(in_features, out_features, bias, parallel_mode, tp_size, params_dtype)


class LayerNormLinear(_Linear):
    def __init__(self, in_features: int, out_features: int, *, bias: bool, parallel_mode: str | None, tp_size: int, normalization: str,
                 params_dtype: torch.dtype, sequence_parallel: bool, **_: object) -> None:
        super().__init__(in_features, out_features, bias, parallel_mode, tp_size, params_dtype, normalization)
        for name, parameter in self.named_parameters():
            if name.startswith("layer_norm_"):
                parameter.sequence_parallel = sequence_parallel  # type: ignore[attr-defined]


class GroupedLinear(_Module):
    """weight0, bias0, weight1, bias1, ... (grouped_linear.py: one loop registers both)."""

    def __init__(self, num_gemms: int, in_features: int, out_features: int, *, bias: bool, parallel_mode: str | None, tp_size: int,
                 params_dtype: torch.dtype, **_: object) -> None:
        super().__init__()
        self.num_gemms, self.use_bias, self.tp_size, self.parallel_mode = num_gemms, bias, tp_size, parallel_mode
        rows, columns = _local(in_features, out_features, parallel_mode, tp_size)
        self.in_features, self.out_features = columns, rows
        for gemm in range(num_gemms):
            setattr(self, f"weight{gemm}", nn.Parameter(torch.empty(rows, columns, dtype=params_dtype)))
            setattr(self, f"bias{gemm}", nn.Parameter(torch.zeros(rows, dtype=params_dtype)) if bias else torch.empty(0))


class RMSNorm(nn.Module):
    """`weight` (ops/basic/rmsnorm.py)."""

    def __init__(self, hidden_size: int, *, params_dtype: torch.dtype, sequence_parallel: bool, **_: object) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size, dtype=params_dtype))
        self.weight.sequence_parallel = sequence_parallel  # type: ignore[attr-defined]


class LayerNorm(RMSNorm):
    """`weight`, then `bias` (ops/basic/layer_norm.py)."""

    def __init__(self, hidden_size: int, *, params_dtype: torch.dtype, sequence_parallel: bool, **_: object) -> None:
        super().__init__(hidden_size, params_dtype=params_dtype, sequence_parallel=sequence_parallel)
        self.bias = nn.Parameter(torch.zeros(hidden_size, dtype=params_dtype))
        self.bias.sequence_parallel = sequence_parallel  # type: ignore[attr-defined]


class DotProductAttention(_Module):
    """No parameters."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()
