"""Our side: the layout file of a configuration, and what `dynatrain layout` says it is."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import subprocess
import tempfile
from typing import Any

from configuration import DEFAULT_ORDER, NOPE_DIM, ROPE_DIM, V_DIM, VERSION, Configuration, Model
from worlds import ROOT, Json

BINARY = ROOT / "bazel-bin" / "tools" / "cli" / "dynatrain"
LIMIT_S = 60
REFUSED = 3  # the exit code for a layout file that isn't what it should be


def build() -> pathlib.Path:
    """Our side as the sources are now; where it is."""
    command = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", "//tools/cli:dynatrain"]
    subprocess.run(command, cwd=ROOT, check=True, timeout=1800)
    return BINARY


class LayoutError(RuntimeError):
    """`dynatrain layout` could not be asked."""


@dataclasses.dataclass(frozen=True)
class RefusedByUs:
    reason: str


def layout_file(c: Configuration) -> str:
    """The layout file (docs/design/0002) that says what `c` says; what is Megatron's default is left out."""
    parallelism = {axis: getattr(c, axis) for axis in ("tp", "cp", "pp", "ep", "etp", "vpp") if getattr(c, axis) not in (0, 1)}
    if c.etp == 1:
        parallelism["etp"] = 1
    options: dict[str, Any] = {
        "order": c.order if c.order != DEFAULT_ORDER else None,
        "first_stage_layers": c.first_stage_layers, "last_stage_layers": c.last_stage_layers,
        "account_for_embedding": c.account_for_embedding, "account_for_loss": c.account_for_loss, "pipeline_layout": c.pipeline_layout,
        "distributed_optimizer": None if c.distributed_optimizer else False,
        "optimizer_instances": c.optimizer_instances if c.optimizer_instances != 1 else None,
        "overlap_grad_reduce": c.overlap_grad_reduce, "bucket_size": c.bucket_size, "pad_buckets_for_high_nccl_busbw": c.pad_for_busbw,
        "overlap_param_gather_with_optimizer_step": c.overlap_step,
        "spec": "transformer_engine" if c.spec == "te" else "local", "moe_grouped_gemm": c.grouped,
        "precision_aware_optimizer": c.precision_aware, "make_vocab_size_divisible_by": c.model.vocab_multiple}
    states = [f"{state}:{c.dtype_of(state)}" for state in c.states]
    text = {
        "model": model(c.model), "framework": "megatron", "version": VERSION, "world": c.world, "parallelism": parallelism,
        "megatron": {key: value for key, value in options.items() if value or (value is False and key == "distributed_optimizer")},
        "states": states}
    return json.dumps(text, indent=1) + "\n"


def model(m: Model) -> Json:
    """The model by its numbers, named as vps/model/model_config.h names them."""
    numbers: Json = {
        "family": "llama", "hidden": m.hidden, "layers": m.layers, "heads": m.heads, "ffn": m.ffn,
        "vocabulary": m.vocab, "positions": m.positions, "mtp_layers": m.mtp_layers, "norm": m.norm, "tied": m.tied,
        "gated": m.gated, "bias": m.bias, "qkv_bias": m.qkv_bias, "qk_norm": m.qk_norm}
    if m.experts:
        numbers["experts"] = {"count": m.experts, "ffn": m.expert_ffn, "shared_ffn": m.shared_ffn, "shared_gate": m.shared_gate,
                              "correction": m.expert_bias, "first_dense": m.first_dense}
    if m.mamba:
        numbers["mamba"] = {"pattern": m.mamba, "heads": m.mamba_heads, "head_dim": m.mamba_head_dim, "groups": m.mamba_groups,
                            "state": m.mamba_state}
    if m.latent:
        # It has dims of its own.
        numbers["latent"] = {"q_rank": m.q_rank, "kv_rank": m.kv_rank, "nope_dim": NOPE_DIM, "rope_dim": ROPE_DIM, "v_dim": V_DIM}
    elif m.mamba and "*" not in m.mamba:
        del numbers["heads"]  # no layer has attention
    else:
        numbers |= {"query_groups": m.groups, "head_dim": m.head_dim}
    return numbers


def listing(text: str, binary: pathlib.Path = BINARY) -> Json | RefusedByUs:
    """What our layout is: the listing that `dynatrain layout FILE -o json` prints."""
    if not binary.exists():
        raise LayoutError(f"there is no {binary}: bazel build //tools/cli:dynatrain")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([binary, "layout", file.name, "-o", "json"], capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode == REFUSED:
        return RefusedByUs(done.stderr.strip().removeprefix(f"dynatrain: {file.name}: "))
    if done.returncode:
        raise LayoutError(f"{binary} ended with {done.returncode}: {done.stderr}")
    answer: Json = json.loads(done.stdout)
    return answer
