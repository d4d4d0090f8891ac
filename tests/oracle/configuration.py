"""One configuration of a Megatron job: how many ranks, how they are arranged, what model, what optimizer.

It is what the oracle's command line takes, what a case of the matrix is, and what a world of Megatron processes is built from.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from typing import Any

VERSION = "0.16.1"
AXES = ("tp", "pp", "cp", "ep", "etp", "vpp")
DEFAULT_ORDER = "tp-cp-ep-dp-pp"
NOPE_DIM, ROPE_DIM, V_DIM = 8, 4, 8  # of a head, with latent attention


@dataclasses.dataclass(frozen=True)
class Model:
    """The numbers of a model: tiny ones, since the rules that are compared don't depend on size."""

    layers: int = 4
    hidden: int = 48
    heads: int = 4
    groups: int = 2
    head_dim: int = 0  # 0: hidden / heads
    ffn: int = 96
    vocab: int = 250
    vocab_multiple: int = 8  # make-vocab-size-divisible-by
    positions: int = 0  # learned; 0: rotary
    norm: str = "rms"  # or layer
    gated: bool = True
    bias: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    tied: bool = False
    experts: int = 0
    expert_ffn: int = 64
    shared_ffn: int = 0
    shared_gate: bool = False
    expert_bias: bool = True
    first_dense: int = 0  # so many leading layers have no experts
    latent: bool = False  # multi-head latent attention
    q_rank: int = 24  # 0: queries are not compressed
    kv_rank: int = 20
    mtp_layers: int = 0
    mamba: str = ""  # a hybrid's layers: M a Mamba block, * attention, - dense, E experts
    mamba_heads: int = 8
    mamba_head_dim: int = 6
    mamba_groups: int = 4
    mamba_state: int = 5


@dataclasses.dataclass(frozen=True)
class Configuration:
    """A job. 0 or "" is Megatron's default: not given."""

    world: int = 1
    tp: int = 1
    pp: int = 1
    cp: int = 1
    ep: int = 1
    etp: int = 0
    vpp: int = 0
    order: str = DEFAULT_ORDER
    first_stage_layers: int = 0
    last_stage_layers: int = 0
    account_for_embedding: bool = False
    account_for_loss: bool = False
    pipeline_layout: str = ""
    distributed_optimizer: bool = True
    optimizer_instances: int = 1
    overlap_grad_reduce: bool = True
    bucket_size: int = 0
    pad_for_busbw: bool = False
    overlap_step: bool = False
    bf16: bool = False
    spec: str = "local"  # or te
    grouped: bool = False
    precision_aware: bool = False
    moments: str = "float32"  # other dtypes need precision_aware
    model: Model = Model()

    @property
    def needs_fakes(self) -> bool:
        """Whether it is built of what stands in for packages that need CUDA (fakes/README.md)."""
        return self.spec == "te" or self.precision_aware

    @property
    def states(self) -> list[str]:
        """The states of a parameter. In float32 the parameter itself is what the optimizer updates: there is no second copy."""
        return ["param", *(["main"] if self.bf16 else []), "exp_avg", "exp_avg_sq", "grad"]

    def dtype_of(self, state: str) -> str:
        if state == "param":
            return "bfloat16" if self.bf16 else "float32"
        return self.moments if state.startswith("exp_avg") else "float32"

    def padded_vocab(self) -> int:
        """Megatron-LM's vocab_size_with_padding (training/tokenizer): Megatron-Core is handed the padded number."""
        multiple = self.model.vocab_multiple * self.tp
        return -(-self.model.vocab // multiple) * multiple

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Configuration:
        fields = json.loads(text)
        return cls(**{**fields, "model": Model(**fields["model"])})

    def label(self) -> str:
        """Short and readable: what differs from the defaults."""
        parts = [f"w{self.world}"]
        for parent, default in ((self, Configuration()), (self.model, Model())):
            for field in dataclasses.fields(default):
                value = getattr(parent, field.name)
                if field.name in ("world", "model") or value == getattr(default, field.name):
                    continue
                name = field.name.replace("_", "-")
                parts.append((name if value else f"no-{name}") if isinstance(value, bool) else f"{name}={value}" if isinstance(value, str)
                             else f"{name}{value}" if name in AXES else f"{name}={value}")
        return " ".join(parts)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One option for each field of Configuration and of Model."""
    for title, default in (("the job", Configuration()), ("the model (the numbers of a transformer)", Model())):
        group = parser.add_argument_group(title)
        for field in dataclasses.fields(default):
            value = getattr(default, field.name)
            name = "--" + field.name.replace("_", "-")
            text = HELP.get(field.name, "")
            if isinstance(value, bool):
                group.add_argument(name, action=argparse.BooleanOptionalAction, default=value, help=text or "default: %(default)s")
            elif not isinstance(value, Model):
                group.add_argument(name, type=type(value), default=value, metavar="TEXT" if isinstance(value, str) else "N",
                                   help=(text + "; " if text else "") + f"default: {value if value != '' else 'none'}")


def from_arguments(arguments: argparse.Namespace) -> Configuration:
    given = vars(arguments)

    def those(kind: type[Any]) -> dict[str, Any]:
        return {field.name: given[field.name] for field in dataclasses.fields(kind) if field.name != "model"}
    return Configuration(**those(Configuration), model=Model(**those(Model)))


def parse(words: Sequence[str]) -> Configuration:
    """The configuration that these words of a command line say."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return from_arguments(parser.parse_args(words))


HELP = {
    "world": "number of ranks, each a real process",
    "tp": "tensor parallel", "pp": "pipeline stages", "cp": "context parallel", "ep": "expert parallel",
    "etp": "expert tensor parallel; 0: as tp", "vpp": "model chunks per stage; 0: one, not interleaved",
    "order": "of the axes, the fastest first",
    "first_stage_layers": "layers on the first stage; 0: even", "last_stage_layers": "layers on the last stage; 0: even",
    "account_for_embedding": "the embedding counts as a layer", "account_for_loss": "the loss counts as a layer",
    "pipeline_layout": "custom stages, such as 'Et*2|tt|tL'; the number of chunks follows from it",
    "distributed_optimizer": "ZeRO-1 over flat buffers", "optimizer_instances": "copies of the distributed optimizer's shards",
    "overlap_grad_reduce": "needed for more than one bucket", "bucket_size": "elements; 0: Megatron's own, which is above all tiny models",
    "pad_for_busbw": "buckets are padded to 65536 elements",
    "overlap_step": "the gather of parameters overlaps the optimizer's step", "bf16": "with float32 masters",
    "spec": "local, or te: Transformer Engine's modules, by stand-ins (fakes/README.md)",
    "grouped": "experts of a rank in one module (moe_grouped_gemm); needs the spec te",
    "precision_aware": "moments in other dtypes; needs a stand-in for Transformer Engine's FusedAdam", "moments": "dtype of both",
    "mamba": "pattern of a hybrid's layers, such as 'M-*E'; needs the spec te",
    "groups": "key-value heads", "head_dim": "0: hidden / heads",
    "vocab_multiple": "the vocabulary is padded to a multiple of this times tp",
    "positions": "rows of a learned position embedding; 0: rotary", "norm": "rms or layer", "gated": "fc1 is gate and up (SwiGLU)",
    "tied": "the output layer uses the word embedding", "experts": "per layer; 0: a dense model",
    "first_dense": "so many leading layers have no experts", "latent": "multi-head latent attention",
    "q_rank": "of latent attention; 0: queries are not compressed", "mtp_layers": "multi-token prediction",
}
