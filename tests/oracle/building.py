"""Builds a rank's part of a job with Megatron-Core, the way Megatron-LM's training script does: chunks, their DDP, the optimizer."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch
from configuration import NOPE_DIM, ROPE_DIM, V_DIM, Configuration

SEQUENCE_LENGTH = 32


@dataclasses.dataclass(frozen=True)
class Job:
    """What a rank holds once everything is built. The models are without their wrappers, the chunks with them."""

    models: list[Any]
    chunks: list[Any]
    optimizers: list[Any]


def start_parallel(c: Configuration) -> None:
    from megatron.core import parallel_state
    from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed
    parallel_state.initialize_model_parallel(
        c.tp, c.pp, chunk_count(c), context_parallel_size=c.cp, expert_model_parallel_size=c.ep, expert_tensor_parallel_size=c.etp or None,
        num_distributed_optimizer_instances=c.optimizer_instances, order=c.order, create_gloo_process_groups=False)
    model_parallel_cuda_manual_seed(123)
    torch.manual_seed(1234)


def chunk_count(c: Configuration) -> int | None:
    """Chunks per stage; None if not interleaved. A custom layout says it itself."""
    if c.pipeline_layout:
        from megatron.core.transformer.pipeline_parallel_layer_layout import PipelineParallelLayerLayout
        count: int = PipelineParallelLayerLayout(c.pipeline_layout, c.pp).virtual_pipeline_model_parallel_size
        return count if count > 1 else None
    return c.vpp or None


def transformer_config(c: Configuration) -> Any:
    from megatron.core.transformer.transformer_config import MLATransformerConfig, TransformerConfig
    m, dtype = c.model, torch.bfloat16 if c.bf16 else torch.float32
    numbers: dict[str, Any] = {
        "num_layers": m.layers, "hidden_size": m.hidden, "num_attention_heads": m.heads, "num_query_groups": m.groups,
        "kv_channels": m.head_dim or None, "ffn_hidden_size": m.ffn, "gated_linear_unit": m.gated,
        "activation_func": torch.nn.functional.silu if m.gated else torch.nn.functional.gelu, "add_bias_linear": m.bias,
        "add_qkv_bias": m.qkv_bias, "qk_layernorm": m.qk_norm, "mtp_num_layers": m.mtp_layers or None,
        "normalization": "RMSNorm" if m.norm == "rms" else "LayerNorm", "hidden_dropout": 0.0, "attention_dropout": 0.0}
    if m.experts:
        numbers |= {
            "num_moe_experts": m.experts, "moe_router_topk": min(2, m.experts), "moe_ffn_hidden_size": m.expert_ffn,
            "moe_router_enable_expert_bias": m.expert_bias, "moe_router_score_function": "sigmoid", "moe_token_dispatcher_type": "alltoall",
            "moe_router_load_balancing_type": "none", "moe_layer_freq": [int(layer >= m.first_dense) for layer in range(m.layers)],
            "moe_shared_expert_intermediate_size": m.shared_ffn or None, "moe_shared_expert_gate": m.shared_gate}
    if m.latent:
        numbers |= {"multi_latent_attention": True, "q_lora_rank": m.q_rank or None, "kv_lora_rank": m.kv_rank, "qk_head_dim": NOPE_DIM,
                    "qk_pos_emb_head_dim": ROPE_DIM, "v_head_dim": V_DIM, "rope_type": "rope"}
    parallel = {
        "tensor_model_parallel_size": c.tp, "pipeline_model_parallel_size": c.pp, "context_parallel_size": c.cp,
        "expert_model_parallel_size": c.ep, "expert_tensor_parallel_size": c.etp or None,
        "virtual_pipeline_model_parallel_size": None if c.pipeline_layout else c.vpp or None,
        "sequence_parallel": bool(m.experts) and c.tp > 1,
        "num_layers_in_first_pipeline_stage": c.first_stage_layers or None,
        "num_layers_in_last_pipeline_stage": c.last_stage_layers or None,
        "account_for_embedding_in_pipeline_split": c.account_for_embedding, "account_for_loss_in_pipeline_split": c.account_for_loss,
        "pipeline_model_parallel_layout": c.pipeline_layout or None}
    local = {  # kernels that a CPU lacks
        "use_cpu_initialization": True, "masked_softmax_fusion": False, "bias_dropout_fusion": False, "bias_activation_fusion": False,
        "gradient_accumulation_fusion": False, "persist_layer_norm": False, "apply_rope_fusion": False}
    if m.experts and c.grouped:
        numbers["moe_grouped_gemm"] = True
    if m.mamba:
        numbers |= {"mamba_num_heads": m.mamba_heads, "mamba_head_dim": m.mamba_head_dim, "mamba_num_groups": m.mamba_groups,
                    "mamba_state_dim": m.mamba_state, "is_hybrid_model": True}
    kind = MLATransformerConfig if m.latent else TransformerConfig
    return kind(**numbers, **parallel, **local, params_dtype=dtype, pipeline_dtype=dtype, bf16=c.bf16)


def build_model(c: Configuration, config: Any, chunk: int) -> Any:
    from megatron.core import parallel_state
    from megatron.core.models.gpt import gpt_layer_specs as specs
    from megatron.core.models.gpt.gpt_model import GPTModel
    if c.model.mamba:
        return build_mamba(c, config)
    stage, engine = chunk if chunk_count(c) else None, c.spec == "te"
    block = specs.get_gpt_decoder_block_spec(config, use_transformer_engine=engine, normalization=config.normalization, vp_stage=stage)
    mtp = None
    if c.model.mtp_layers:
        like = block if block.layer_specs else specs.get_gpt_decoder_layer_specs(config, engine, config.normalization)[-1]
        mtp = specs.get_gpt_mtp_block_spec(config, like, use_transformer_engine=engine, vp_stage=stage)
    return GPTModel(
        config, block, vocab_size=c.padded_vocab(), max_sequence_length=c.model.positions or SEQUENCE_LENGTH, mtp_block_spec=mtp,
        pre_process=parallel_state.is_pipeline_first_stage(ignore_virtual=False, vp_stage=stage),
        post_process=parallel_state.is_pipeline_last_stage(ignore_virtual=False, vp_stage=stage),
        position_embedding_type="learned_absolute" if c.model.positions else "rope",
        share_embeddings_and_output_weights=c.model.tied, vp_stage=stage)


def build_mamba(c: Configuration, config: Any) -> Any:
    from megatron.core import parallel_state
    from megatron.core.models.mamba.mamba_layer_specs import mamba_stack_spec
    from megatron.core.models.mamba.mamba_model import MambaModel
    return MambaModel(
        config, mamba_stack_spec, vocab_size=c.padded_vocab(), max_sequence_length=SEQUENCE_LENGTH, hybrid_override_pattern=c.model.mamba,
        pre_process=parallel_state.is_pipeline_first_stage(), post_process=parallel_state.is_pipeline_last_stage(),
        share_embeddings_and_output_weights=c.model.tied)


def build(c: Configuration) -> Job:
    """Everything that a training script builds before its first step."""
    from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig
    from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
    from megatron.core.transformer.module import Float16Module
    start_parallel(c)
    config = transformer_config(c)
    models = [build_model(c, config, chunk) for chunk in range(chunk_count(c) or 1)]
    ddp = DistributedDataParallelConfig(
        use_distributed_optimizer=c.distributed_optimizer, overlap_grad_reduce=c.overlap_grad_reduce, bucket_size=c.bucket_size or None,
        grad_reduce_in_fp32=c.bf16, num_distributed_optimizer_instances=c.optimizer_instances,
        pad_buckets_for_high_nccl_busbw=c.pad_for_busbw, overlap_param_gather=c.overlap_step)
    wrapped = [Float16Module(config, model) if c.bf16 else model for model in models]
    chunks = [DistributedDataParallel(config, ddp, model, disable_bucketing=chunk > 0 or c.overlap_step)
              for chunk, model in enumerate(wrapped)]
    optimizer = get_megatron_optimizer(
        OptimizerConfig(optimizer="adam", lr=1e-3, use_distributed_optimizer=c.distributed_optimizer, bf16=c.bf16,
                        params_dtype=config.params_dtype, overlap_param_gather_with_optimizer_step=c.overlap_step,
                        use_precision_aware_optimizer=c.precision_aware, exp_avg_dtype=getattr(torch, c.moments),
                        exp_avg_sq_dtype=getattr(torch, c.moments)),
        chunks, use_gloo_process_groups=False)
    return Job(models, chunks, list(getattr(optimizer, "chained_optimizers", [optimizer])))
