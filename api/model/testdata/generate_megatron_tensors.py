"""Writes megatron_tensors.json: the tensors of models that Megatron-Core builds on one rank, for megatron_oracle_test.

    tools/setup/megatron    # Megatron-Core 0.16.1 for CPUs
    PYTHONPATH=tests/oracle ~/.cache/dynatrain/megatron-0.16.1-*/bin/python api/model/testdata/generate_megatron_tensors.py \
        > api/model/testdata/megatron_tensors.json

Random small models in the words of api/model/plain_model.h. Each lists name, shape and kind of all that state_dict has, in its order:
parameters and persistent buffers as their modules declare them. The layer specs are Megatron's own ("local") ones; what is called
`local_experts.{e}` on a rank is expert `e`, as one rank has all. Hybrids are built from the same local layers, with Megatron's own Mamba
blocks; only the class of their gated norm, which comes with a package for GPUs, is a stand-in with its one weight.
"""

from __future__ import annotations

import json
import os
import random
import sys
import types
import warnings
from typing import Any

import pretend  # of tests/oracle
import torch

SEED = 20261130
MODELS = 60
HYBRIDS = 30

Fields = dict[str, Any]


def attention(rng: random.Random) -> Fields:
    if rng.random() < 0.3:
        dims = {name: 2 * rng.randint(1, 4) for name in ("kv_rank", "nope_dim", "rope_dim", "v_dim")}
        return {"heads": rng.randint(1, 4), "latent": dims | {"q_rank": rng.choice([0, rng.randint(1, 8)])}}
    groups = rng.randint(1, 3)
    return {
        "query_groups": groups, "heads": groups * rng.randint(1, 3), "head_dim": 2 * rng.randint(1, 4),
        "qkv_bias": rng.random() < 0.3, "output_gate": rng.random() < 0.3}


def experts(rng: random.Random, layers: int, bias: bool) -> Fields:
    shared = 0 if bias else rng.choice([0, rng.randint(1, 9)])
    frequency = rng.choice([1, 1, 2, 3])
    return {
        "count": rng.randint(2, 5), "ffn": rng.randint(1, 9), "correction": rng.random() < 0.5, "shared_ffn": shared,
        "shared_gate": shared > 0 and rng.random() < 0.5, "first_dense": rng.randint(0, layers), "frequency": frequency,
        "phase": rng.randrange(frequency)}


def draw(rng: random.Random) -> Fields:
    layers, bias = rng.randint(1, 4), rng.random() < 0.4
    model = {
        "family": "llama", "hidden": 4 * rng.randint(1, 5), "layers": layers, "ffn": rng.randint(1, 12), "vocabulary": rng.randint(4, 30),
        "positions": rng.choice([0, rng.randint(1, 9)]), "norm": rng.choice(["rms", "layer"]), "tied": rng.random() < 0.4,
        "gated": rng.random() < 0.5, "bias": bias, "qk_norm": rng.random() < 0.5}
    model |= attention(rng)
    if rng.random() < 0.5:
        model["experts"] = experts(rng, layers, bias)
    # Megatron has no prediction layers with learned positions.
    if not model["positions"] and rng.random() < 0.3:
        model["mtp_layers"] = rng.randint(1, 2)
    return model


def draw_hybrid(rng: random.Random) -> Fields:
    pattern = "".join(rng.choice("M*-E") for _ in range(rng.randint(1, 6)))
    model = draw(rng)
    for part in ("experts", "latent", "mtp_layers", "heads", "query_groups", "head_dim", "qkv_bias", "output_gate"):
        model.pop(part, None)
    groups = rng.randint(1, 3)
    sizes = {"heads": groups * rng.randint(1, 3), "head_dim": rng.randint(1, 5), "groups": groups, "state": rng.randint(1, 6)}
    model |= {"layers": len(pattern), "mamba": {"pattern": pattern} | sizes}
    if "*" in pattern:
        query_groups = rng.randint(1, 3)
        model |= {"query_groups": query_groups, "heads": query_groups * rng.randint(1, 3), "head_dim": 2 * rng.randint(1, 4)}
    if "E" in pattern:
        model["experts"] = experts(rng, len(pattern), model["bias"]) | {"first_dense": 0, "frequency": 1, "phase": 0}
    # Megatron's hybrid has no norm of queries and keys.
    return model | {"qk_norm": False}


def has_experts(model: Fields, layer: int) -> bool:
    e = model["experts"]
    return bool(layer >= e["first_dense"] and layer % e["frequency"] == e["phase"])


def transformer_config(m: Fields) -> Any:
    from megatron.core.transformer.transformer_config import MLATransformerConfig, TransformerConfig
    numbers: Fields = {
        "num_layers": m["layers"], "hidden_size": m["hidden"], "num_attention_heads": m["heads"], "num_query_groups": m.get("query_groups"),
        "kv_channels": m.get("head_dim", 2), "ffn_hidden_size": m["ffn"], "gated_linear_unit": m["gated"],
        "activation_func": torch.nn.functional.silu if m["gated"] else torch.nn.functional.gelu, "add_bias_linear": m["bias"],
        "add_qkv_bias": m.get("qkv_bias", False), "qk_layernorm": m["qk_norm"], "attention_output_gate": m.get("output_gate", False),
        "mtp_num_layers": m.get("mtp_layers"), "normalization": "RMSNorm" if m["norm"] == "rms" else "LayerNorm",
        "use_cpu_initialization": True, "masked_softmax_fusion": False, "bias_dropout_fusion": False, "bias_activation_fusion": False,
        "gradient_accumulation_fusion": False, "persist_layer_norm": False, "apply_rope_fusion": False}
    if "experts" in m:
        e = m["experts"]
        numbers |= {
            "num_moe_experts": e["count"], "moe_router_topk": 2, "moe_ffn_hidden_size": e["ffn"], "moe_router_score_function": "sigmoid",
            "moe_router_enable_expert_bias": e["correction"], "moe_router_load_balancing_type": "none",
            "moe_token_dispatcher_type": "alltoall", "moe_shared_expert_intermediate_size": e["shared_ffn"] or None,
            "moe_shared_expert_gate": e["shared_gate"], "moe_layer_freq": [int(has_experts(m, i)) for i in range(m["layers"])]}
    if "latent" not in m:
        return TransformerConfig(**numbers)
    latent = m["latent"]
    return MLATransformerConfig(
        **numbers, multi_latent_attention=True, q_lora_rank=latent["q_rank"] or None, kv_lora_rank=latent["kv_rank"],
        qk_head_dim=latent["nope_dim"], qk_pos_emb_head_dim=latent["rope_dim"], v_head_dim=latent["v_dim"], rope_type="rope")


def build(m: Fields) -> Any:
    from megatron.core.models.gpt import gpt_layer_specs as specs
    from megatron.core.models.gpt.gpt_model import GPTModel
    config = transformer_config(m)
    block = specs.get_gpt_decoder_block_spec(config, use_transformer_engine=False, normalization=config.normalization)
    mtp = specs.get_gpt_mtp_block_spec(config, block, use_transformer_engine=False) if m.get("mtp_layers") else None
    return GPTModel(
        config, block, vocab_size=m["vocabulary"], max_sequence_length=m["positions"] or 32, mtp_block_spec=mtp,
        position_embedding_type="learned_absolute" if m["positions"] else "rope", share_embeddings_and_output_weights=m["tied"])


class GatedNorm(torch.nn.Module):
    """Stands for mamba_ssm's RMSNorm: the weight of the width that it is given."""

    def __init__(self, width: int, device: Any = None, dtype: Any = None, **_: Any) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(width, dtype=dtype))


def pretend_mamba() -> None:
    for module in ("", ".ops", ".ops.triton", ".ops.triton.layernorm_gated", ".ops.triton.ssd_combined"):
        sys.modules["mamba_ssm" + module] = types.ModuleType("mamba_ssm" + module)
    sys.modules["mamba_ssm.ops.triton.layernorm_gated"].RMSNorm = GatedNorm  # type: ignore[attr-defined]
    for kernel in ("mamba_chunk_scan_combined", "mamba_split_conv1d_scan_combined"):
        setattr(sys.modules["mamba_ssm.ops.triton.ssd_combined"], kernel, None)


def hybrid_spec(m: Fields) -> Any:
    """Megatron's mamba_stack_spec (models/mamba/mamba_layer_specs.py) with local layers for Transformer Engine's."""
    from megatron.core.models.gpt.moe_module_specs import get_moe_module_spec
    from megatron.core.ssm import mamba_block
    from megatron.core.ssm.mamba_layer import MambaLayer, MambaLayerSubmodules
    from megatron.core.ssm.mamba_mixer import MambaMixer, MambaMixerSubmodules
    from megatron.core.ssm.mlp_layer import MLPLayer
    from megatron.core.tensor_parallel.layers import ColumnParallelLinear, RowParallelLinear
    from megatron.core.transformer.attention import SelfAttention, SelfAttentionSubmodules
    from megatron.core.transformer.dot_product_attention import DotProductAttention
    from megatron.core.transformer.identity_op import IdentityFuncOp
    from megatron.core.transformer.mlp import MLP, MLPSubmodules
    from megatron.core.transformer.spec_utils import ModuleSpec
    from megatron.core.transformer.torch_norm import WrappedTorchNorm
    from megatron.core.transformer.transformer_layer import TransformerLayer, TransformerLayerSubmodules
    mamba_block.TENorm = WrappedTorchNorm
    mixer = ModuleSpec(module=MambaMixer, submodules=MambaMixerSubmodules(in_proj=ColumnParallelLinear, out_proj=RowParallelLinear))
    attention = ModuleSpec(module=SelfAttention, submodules=SelfAttentionSubmodules(
        linear_qkv=ColumnParallelLinear, core_attention=DotProductAttention, linear_proj=RowParallelLinear))
    mlp = ModuleSpec(module=MLP, submodules=MLPSubmodules(linear_fc1=ColumnParallelLinear, linear_fc2=RowParallelLinear))
    moe = get_moe_module_spec(use_te=False, num_experts=m["experts"]["count"]) if "experts" in m else None
    return ModuleSpec(module=mamba_block.MambaStack, submodules=mamba_block.MambaStackSubmodules(
        mamba_layer=ModuleSpec(module=MambaLayer, submodules=MambaLayerSubmodules(
            norm=WrappedTorchNorm, mixer=mixer, mamba_bda=IdentityFuncOp)),
        attention_layer=ModuleSpec(module=TransformerLayer, submodules=TransformerLayerSubmodules(
            input_layernorm=WrappedTorchNorm, self_attention=attention)),
        mlp_layer=ModuleSpec(module=MLPLayer, submodules=TransformerLayerSubmodules(pre_mlp_layernorm=WrappedTorchNorm, mlp=mlp)),
        moe_layer=ModuleSpec(module=TransformerLayer, submodules=TransformerLayerSubmodules(pre_mlp_layernorm=WrappedTorchNorm, mlp=moe))))


def build_hybrid(m: Fields) -> Any:
    from megatron.core.models.mamba.mamba_model import MambaModel
    # A model without attention has no heads; the config wants some.
    config = transformer_config({"heads": 1} | m)
    config.mamba_num_heads, config.mamba_head_dim = m["mamba"]["heads"], m["mamba"]["head_dim"]
    config.mamba_num_groups, config.mamba_state_dim = m["mamba"]["groups"], m["mamba"]["state"]
    return MambaModel(
        config, hybrid_spec(m), vocab_size=m["vocabulary"], max_sequence_length=m["positions"] or 32,
        hybrid_override_pattern=m["mamba"]["pattern"], position_embedding_type="learned_absolute" if m["positions"] else "none",
        share_embeddings_and_output_weights=m["tied"])


def tensors(model: Any) -> list[list[Any]]:
    parameters = {name for name, _ in model.named_parameters()}
    return [
        [name.replace("experts.local_experts.", "experts."), list(value.shape), "parameter" if name in parameters else "buffer"]
        for name, value in model.state_dict().items() if isinstance(value, torch.Tensor)]


def main() -> None:
    from megatron.core import parallel_state
    from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed
    warnings.simplefilter("ignore")
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    pretend.cuda()
    pretend_mamba()
    pretend.transformer_engine()
    torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=torch.distributed.HashStore())
    parallel_state.initialize_model_parallel()
    model_parallel_cuda_manual_seed(123)
    rng = random.Random(SEED)
    models = [(m, build(m)) for m in (draw(rng) for _ in range(MODELS))]
    models += [(m, build_hybrid(m)) for m in (draw_hybrid(rng) for _ in range(HYBRIDS))]
    rows = [{"model": m, "tensors": tensors(model)} for m, model in models]
    sys.stdout.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
