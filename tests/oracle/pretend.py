"""Lets Megatron-Core run on CPUs without Transformer Engine: answers for `torch.cuda`, and nothing about layouts.

What stands between Megatron and a machine without GPUs is the device, streams and random state, plus two checks that ask for
kernels of Transformer Engine. Whatever decides where a parameter lies stays Megatron's own code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class _Stream:
    """Stands for a stream or event: the CPU does everything in order, so every method is a no-op."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *_, **__: self

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class _CudaToCpu(TorchFunctionMode):
    """Sends `device="cuda"` and `tensor.cuda()` to the CPU."""

    def __torch_function__(self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = dict(kwargs or {})
        if "cuda" in str(kwargs.get("device") or ""):
            kwargs["device"] = "cpu"
        args = tuple("cpu" if isinstance(a, (str, torch.device)) and "cuda" in str(a) else a for a in args)
        return args[0] if getattr(function, "__name__", "") == "cuda" else function(*args, **kwargs)


def cuda() -> None:
    """From here on `torch.cuda` is the CPU."""
    cuda: Any = torch.cuda  # one function object per name: torch._dynamo keeps a table of them
    cuda.current_device = lambda: torch.device("cpu")
    cuda.is_available = lambda: False
    cuda.synchronize = lambda *_: None
    cuda.set_device = lambda *_: None
    cuda.manual_seed = lambda seed: torch.manual_seed(seed)
    cuda.initial_seed = lambda: torch.initial_seed()
    cuda.get_rng_state = lambda *_, **__: torch.get_rng_state()
    cuda.default_generators = (torch.default_generator,)
    cuda.current_stream = lambda *_, **__: _Stream()
    cuda.Stream = lambda *_, **__: _Stream()
    cuda.stream = lambda _: _Stream()
    for kind in ("FloatTensor", "IntTensor", "LongTensor", "ByteTensor", "HalfTensor", "BFloat16Tensor"):
        setattr(cuda, kind, getattr(torch, kind))
    _CudaToCpu().__enter__()  # type: ignore[no-untyped-call]
    plain_type = torch.Tensor.type

    def type_(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:  # DistributedOptimizer wants to read 'torch.cuda.FloatTensor'
        kind = plain_type(tensor, *args, **kwargs)
        return kind.replace("torch.", "torch.cuda.", 1) if isinstance(kind, str) and "cuda" not in kind else kind
    for owner in (torch.Tensor, torch.nn.Parameter):
        setattr(owner, "type", type_)  # noqa: B010 (its declared type is overloaded)


def transformer_engine(stands_in: bool = False) -> None:
    """Lets Megatron's local layers, which cut and name parameters by themselves, do where it would ask for Transformer Engine's.

    torch's norms pass with sequence parallel (experts under tensor parallel need it); the attention kernel, which has no parameters,
    passes with context parallel and with latent attention, which says other head sizes; a fused matrix product is dropped.
    `stands_in`: there is a stand-in for it, so that Megatron may say that it has it.
    """
    from megatron.core.tensor_parallel import random
    from megatron.core.transformer import multi_latent_attention, torch_norm
    from megatron.core.transformer.dot_product_attention import DotProductAttention
    from megatron.core.transformer.moe import moe_utils
    random._set_cuda_rng_state = lambda state, device=-1, graph_safe=False: torch.set_rng_state(state)
    random._get_cuda_rng_state = lambda *_, **__: torch.get_rng_state()
    moe_utils.te_general_gemm = None
    wrapped = torch_norm.WrappedTorchNorm.__new__

    def norm(cls: type, config: Any, hidden_size: int, eps: float = 1e-5, **kwargs: Any) -> torch.nn.Module:
        parallel, config.sequence_parallel = config.sequence_parallel, False
        try:
            module: torch.nn.Module = wrapped(cls, config, hidden_size, eps, **kwargs)
        finally:
            config.sequence_parallel = parallel
        for parameter in module.parameters():
            parameter.sequence_parallel = parallel  # type: ignore[attr-defined]
        return module
    torch_norm.WrappedTorchNorm.__new__ = staticmethod(norm)
    plain = DotProductAttention.__init__

    def attention(module: Any, config: Any, *args: Any, k_channels: int = 0, v_channels: int = 0, **kwargs: Any) -> None:
        parallel, config.context_parallel_size = config.context_parallel_size, 1
        try:
            plain(module, config, *args, **kwargs)
        finally:
            config.context_parallel_size = parallel
    DotProductAttention.__init__ = attention
    if not stands_in:
        multi_latent_attention.HAVE_TE = False  # it says yes if the stubs for it can be imported
