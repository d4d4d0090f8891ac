"""Writes huggingface_sizes.json: how many elements the models have that `transformers` builds, for huggingface_oracle_test.

    pip install torch transformers==5.24.0
    python api/model/testdata/generate_huggingface_sizes.py > api/model/testdata/huggingface_sizes.json

Each model is built on the meta device, so that the public ones of testdata/huggingface need no memory either. For every config:
the parameters and persistent buffers in all, and the parameters of each layer. DeepSeek-V3 is built without its prediction
layer, which `transformers` leaves out.
"""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM  # type: ignore[import-not-found]

SEED = 20261130
TINY_PER_TYPE = 12
PUBLIC = Path(__file__).parent / "huggingface"

Fields = dict[str, object]


def dense(rng: random.Random, model_type: str) -> Fields:
    groups = rng.randint(1, 3)
    heads = groups * rng.randint(1, 3)
    head_dim = 2 * rng.randint(1, 4)
    fields: Fields = {
        "model_type": model_type,
        # Where head_dim is not given it is hidden_size / num_attention_heads.
        "hidden_size": heads * head_dim,
        "num_hidden_layers": rng.randint(1, 4),
        "num_attention_heads": heads,
        "num_key_value_heads": groups,
        "intermediate_size": rng.randint(1, 40),
        "vocab_size": rng.randint(4, 60),
        "tie_word_embeddings": rng.random() < 0.3,
        "pad_token_id": None,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    if model_type.startswith("qwen3") or (model_type != "qwen2" and rng.random() < 0.5):
        fields["head_dim"] = 2 * rng.randint(1, 6)
    return fields


def llama(rng: random.Random) -> Fields:
    bias = rng.random() < 0.3
    return dense(rng, "llama") | {"attention_bias": bias, "mlp_bias": bias}


def mixtral(rng: random.Random) -> Fields:
    return dense(rng, "mixtral") | {"num_local_experts": rng.randint(2, 6), "num_experts_per_tok": 2}


def qwen3_moe(rng: random.Random) -> Fields:
    fields = dense(rng, "qwen3_moe") | {"num_experts": rng.randint(2, 6), "num_experts_per_tok": 2}
    fields["moe_intermediate_size"] = rng.randint(1, 20)
    fields["decoder_sparse_step"] = rng.choice([1, 1, 2, 3])
    fields["mlp_only_layers"] = list(range(rng.choice([0, 0, 1, 2])))
    return fields


def deepseek_v3(rng: random.Random) -> Fields:
    heads, layers = rng.randint(1, 4), rng.randint(1, 5)
    return {
        "model_type": "deepseek_v3",
        "hidden_size": rng.randint(4, 40),
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "intermediate_size": rng.randint(1, 40),
        "moe_intermediate_size": rng.randint(1, 20),
        "vocab_size": rng.randint(4, 60),
        "tie_word_embeddings": rng.random() < 0.3,
        "q_lora_rank": rng.choice([None, rng.randint(1, 12)]),
        "kv_lora_rank": rng.randint(1, 12),
        "qk_nope_head_dim": rng.randint(1, 8),
        "qk_rope_head_dim": 2 * rng.randint(1, 4),
        "v_head_dim": rng.randint(1, 8),
        "n_routed_experts": 2 * rng.randint(1, 4),
        "n_shared_experts": rng.randint(1, 3),
        "n_group": 1,
        "topk_group": 1,
        "num_experts_per_tok": 2,
        "first_k_dense_replace": rng.randint(0, layers),
        "num_nextn_predict_layers": 0,
        "pad_token_id": None,
    }


def nemotron_h(rng: random.Random) -> Fields:
    groups, query_groups = rng.randint(1, 3), rng.randint(1, 3)
    pattern = "".join(rng.choice("M*-E") for _ in range(rng.randint(1, 8)))
    return {
        "model_type": "nemotron_h",
        "hidden_size": rng.randint(4, 40),
        "hybrid_override_pattern": pattern,
        "num_hidden_layers": len(pattern),
        "num_attention_heads": query_groups * rng.randint(1, 3),
        "num_key_value_heads": query_groups,
        "head_dim": 2 * rng.randint(1, 4),
        "intermediate_size": rng.randint(1, 40),
        "vocab_size": rng.randint(4, 60),
        "mamba_num_heads": groups * rng.randint(1, 3),
        "mamba_head_dim": rng.randint(1, 8),
        "n_groups": groups,
        "ssm_state_size": rng.randint(1, 8),
        "conv_kernel": rng.randint(2, 5),
        "use_conv_bias": rng.random() < 0.7,
        "n_routed_experts": rng.randint(2, 6),
        "num_experts_per_tok": 2,
        "moe_intermediate_size": rng.randint(1, 20),
        "moe_shared_expert_intermediate_size": rng.randint(1, 20),
        "pad_token_id": None,
    }


def gpt2(rng: random.Random) -> Fields:
    heads = rng.randint(1, 4)
    fields: Fields = {
        "model_type": "gpt2",
        "n_embd": heads * 2 * rng.randint(1, 5),
        "n_head": heads,
        "n_layer": rng.randint(1, 4),
        "n_positions": rng.randint(1, 30),
        "vocab_size": rng.randint(4, 60),
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": None,
    }
    if rng.random() < 0.5:
        fields["n_inner"] = rng.randint(1, 60)
    return fields


def tiny(rng: random.Random) -> list[tuple[str, Fields]]:
    makers = [llama, mixtral, qwen3_moe, deepseek_v3, nemotron_h, gpt2]
    makers += [lambda r, name=name: dense(r, name) for name in ("mistral", "qwen2", "qwen3")]  # type: ignore[misc]
    return [(f"tiny {i}", maker(rng)) for maker in makers for i in range(TINY_PER_TYPE)]


def measure(name: str, fields: Fields) -> Fields:
    arguments = dict(fields)
    for remote in ("auto_map", "quantization_config"):
        arguments.pop(remote, None)
    config = AutoConfig.for_model(**arguments)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    parameters = {n: p.numel() for n, p in model.named_parameters()}
    layers: dict[int, int] = {}
    for parameter, numel in parameters.items():
        found = re.search(r"\.(?:layers|h)\.(\d+)\.", parameter)
        if found:
            layers[int(found[1])] = layers.get(int(found[1]), 0) + numel
    persistent = set(model.state_dict())
    buffers = sum(b.numel() for n, b in model.named_buffers() if n in persistent)
    return {
        "name": name,
        "config": fields,
        "parameters": sum(parameters.values()),
        "buffers": buffers,
        "layers": [layers[i] for i in sorted(layers)],
    }


def main() -> None:
    public = [(path.stem, json.loads(path.read_text())) for path in sorted(PUBLIC.glob("*.json"))]
    rows = [measure(name, fields) for name, fields in public + tiny(random.Random(SEED))]
    sys.stdout.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
