"""FusedAdam: what it keeps of a parameter, in which dtype (transformer_engine/pytorch/optimizers/fused_adam.py, `_initialize_state`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer


class FusedAdam(Optimizer):
    """With `master_weights`, it keeps the masters too. No step."""

    def __init__(self, params: Iterable[Any], lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
                 adam_w_mode: bool = True, weight_decay: float = 0.0, master_weights: bool = False, use_decoupled_grad: bool = False,
                 store_param_remainders: bool = False, exp_avg_dtype: torch.dtype = torch.float32,
                 exp_avg_sq_dtype: torch.dtype = torch.float32, master_weight_dtype: torch.dtype = torch.float32) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        self.master_weights, self.store_param_remainders = master_weights, store_param_remainders
        self.dtypes = {"exp_avg": exp_avg_dtype, "exp_avg_sq": exp_avg_sq_dtype, "master_param": master_weight_dtype}

    def initialize_state(self, param: Tensor, store_param_remainders: bool = False) -> None:
        for name in ("exp_avg", "exp_avg_sq"):
            self.state[param][name] = torch.zeros_like(param, dtype=self.dtypes[name])
        if self.master_weights:
            dtype = torch.int16 if store_param_remainders else self.dtypes["master_param"]
            self.state[param]["master_param"] = param.detach().clone().to(dtype)

    def step(self, closure: Any = None) -> None:
        raise NotImplementedError("a stand-in: it has state and no kernel")


class FusedSGD(Optimizer):
    """Only named when Megatron-Core is imported."""
