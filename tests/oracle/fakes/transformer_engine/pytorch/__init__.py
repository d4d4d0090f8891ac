"""The modules that Megatron-Core's layer specs are made of."""

from . import distributed, fp8, ops, optimizers, tensor
from .modules import DotProductAttention, GroupedLinear, LayerNorm, LayerNormLinear, Linear, RMSNorm

__all__ = [
    "DotProductAttention", "GroupedLinear", "LayerNorm", "LayerNormLinear", "Linear", "RMSNorm", "distributed", "fp8", "ops", "optimizers",
    "tensor"]
