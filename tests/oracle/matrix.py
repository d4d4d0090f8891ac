"""The configurations that are compared: picked ones in matrix.txt, and beside them a pairwise covering, generated here.

    python matrix.py    # prints the generated part anew; after a change of FACTORS it goes into matrix.txt

A factor is a question to a configuration with few answers. Every two answers to two questions that any valid configuration gives
together, are given together by a line of matrix.txt.
"""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import random
import shlex
from collections.abc import Callable, Iterator

import configuration
from configuration import DEFAULT_ORDER, Configuration, Model

HERE = pathlib.Path(__file__).resolve().parent
TP_PP_DP = "tp-cp-ep-pp-dp"
SEED = 20261130
SAMPLES = 20_000
WIDEST, DEEPEST = 16, 24  # ranks of a world and layers of a model: what this machine carries with ease

Pair = tuple[tuple[str, str], tuple[str, str]]


def _split(c: Configuration) -> str:
    if c.pipeline_layout:
        return "string"
    if c.account_for_embedding or c.account_for_loss:
        return "account"
    ends = [name for name, layers in (("first", c.first_stage_layers), ("last", c.last_stage_layers)) if layers]
    return "+".join(ends) or "even"


def _attention(c: Configuration) -> str:
    m = c.model
    if m.latent:
        return "latent"
    return "multi-head" if m.groups == m.heads else "groups<tp" if m.groups < c.tp else "groups"


def _experts(c: Configuration) -> str:
    return f"ep{c.ep}" if c.model.experts else "dense"


def _optimizer(c: Configuration) -> str:
    if not c.distributed_optimizer:
        return "whole"
    return f"instances {c.optimizer_instances}" if c.optimizer_instances > 1 else "sharded"


def _buckets(c: Configuration) -> str:
    if not c.overlap_grad_reduce:
        return "no overlap"
    return "one" if not c.bucket_size else "tiny" if c.bucket_size < 1000 else "small"


FACTORS: dict[str, Callable[[Configuration], str]] = {
    "tp": lambda c: str(c.tp), "pp": lambda c: str(c.pp), "vpp": lambda c: str(c.vpp or 1) if not c.pipeline_layout else "string",
    "cp": lambda c: str(c.cp), "stages": _split, "experts": _experts, "etp": lambda c: str(c.etp or "as tp") if c.model.experts else "none",
    "order": lambda c: c.order, "optimizer": _optimizer, "buckets": _buckets, "padding": lambda c: "busbw" if c.pad_for_busbw else "128",
    "dtype": lambda c: "bf16" if c.bf16 else "fp32", "tied": lambda c: "tied" if c.model.tied else "untied", "attention": _attention,
    "norm": lambda c: c.model.norm, "gated": lambda c: str(c.model.gated), "qk norm": lambda c: str(c.model.qk_norm)}


def pairs(c: Configuration) -> set[Pair]:
    answers = [(name, answer(c)) for name, answer in FACTORS.items()]
    return set(itertools.combinations(answers, 2))


STRINGS = {2: ["Et*2|ttttL", "Et|tt|tt|tL", "E|t*6|L|"], 3: ["Ett|tttt|L", "E|(tt|)*3,|L"],
           4: ["E|ttt|tt|tL", "Et|(t|)*5,L|", "Ett|t|t|(t|)*2,|L|"]}
STRING_LAYERS = 6


def sample(rng: random.Random) -> Configuration:
    """A random configuration, not always a valid one."""
    pp, tp, cp = rng.choice([1, 2, 2, 3, 4]), rng.choice([1, 2, 2, 3, 4, 6]), rng.choice([1, 1, 2])
    split = rng.choice(["even", "even", "first", "last", "first+last", "account", "string"])
    vpp = 0 if split == "string" else rng.choice([0, 0, 2, 3, 4])
    chunks = vpp or 1
    first = rng.choice([1, 2]) * chunks if "first" in split else 0
    last = rng.choice([1, 3]) * chunks if "last" in split else 0
    layers = {"even": pp * chunks * rng.choice([1, 2]), "account": 2 * pp * chunks - 2, "string": STRING_LAYERS}.get(
        split, first + last + (pp - bool(first) - bool(last)) * chunks * rng.choice([1, 2]))
    model = sample_model(rng, layers, tp)
    optimizer = rng.choice(["whole", "sharded", "sharded", "2", "3"])
    return Configuration(
        world=tp * pp * cp * rng.choice([1, 1, 2, 2, 3, 4]), tp=tp, pp=pp, cp=cp, ep=rng.choice([1, 2, 4]) if model.experts else 1,
        etp=rng.choice([0, 1, 2]) if model.experts else 0, vpp=vpp, order=rng.choice([DEFAULT_ORDER, TP_PP_DP]),
        first_stage_layers=first, last_stage_layers=last, account_for_embedding=split == "account", account_for_loss=split == "account",
        pipeline_layout=rng.choice(STRINGS.get(pp, [""])) if split == "string" else "", distributed_optimizer=optimizer != "whole",
        optimizer_instances=int(optimizer) if optimizer.isdigit() else 1, overlap_grad_reduce=rng.random() < 0.75,
        bucket_size=rng.choice([0, 500, 500, 5000]), pad_for_busbw=rng.random() < 0.2, bf16=rng.random() < 0.5, model=model)


def sample_model(rng: random.Random, layers: int, tp: int) -> Model:
    model = Model(layers=layers, heads=12, groups=rng.choice([1, 2, 3, 6, 12]), head_dim=0 if tp % 3 else 6, tied=rng.random() < 0.4,
                  experts=rng.choice([0, 4]), expert_ffn=48, latent=rng.random() < 0.2, qk_norm=rng.random() < 0.4,
                  gated=rng.random() < 0.7)
    return dataclasses.replace(model, norm="layer", bias=True, positions=32) if rng.random() < 0.3 else model


def valid(c: Configuration) -> bool:
    """Whether to try a sample: what Megatron is known to refuse, and what this machine can't carry, is left out."""
    m, chunks = c.model, c.vpp or 1
    dense, expert = c.tp * c.pp * c.cp, (c.etp or c.tp) * c.ep * c.pp
    return all([
        c.world <= WIDEST, c.world % dense == 0, c.world % expert == 0, m.layers > 0,
        c.order == DEFAULT_ORDER or c.pp == 1 or dense == expert,
        not c.vpp or c.pp > 1, c.pp > 1 or _split(c) == "even",
        _split(c) != "account" or (m.layers + 2) % (c.pp * chunks) == 0,
        c.pp > bool(c.first_stage_layers) + bool(c.last_stage_layers) or (c.pp == 2 and not c.vpp and _split(c) == "first+last"),
        m.groups % c.tp == 0 or c.tp % m.groups == 0, not m.latent or m.groups == m.heads,
        (c.world // (c.tp * c.pp)) % c.optimizer_instances == 0,
        c.optimizer_instances == 1 or not m.experts or (c.world // expert) % c.optimizer_instances == 0,
        not c.pad_for_busbw or c.distributed_optimizer, not m.experts or m.norm == "rms"])


def possible(rng: random.Random) -> Iterator[Configuration]:
    return (c for c in (sample(rng) for _ in range(SAMPLES)) if valid(c))


def random_cases(count: int, seed: int) -> dict[str, Configuration]:
    """Configurations beyond the matrix, with other numbers of the model too; most of them are refused."""
    rng = random.Random(seed)
    cases: dict[str, Configuration] = {}
    while len(cases) < count:
        c = vary(rng, sample(rng))
        # Megatron lets one stage that is both first and last pass if two negative numbers divide; ours always says what is wrong.
        senseless = c.pp == 1 and c.first_stage_layers and c.last_stage_layers
        if c.world <= WIDEST and c.model.layers <= DEEPEST and not senseless:
            cases[f"random{len(cases)}"] = c
    return cases


def vary(rng: random.Random, c: Configuration) -> Configuration:
    """Other numbers for what the matrix keeps fixed."""
    m, latent = c.model, c.model.latent
    m = dataclasses.replace(
        m, hidden=rng.choice([24, 48, 60]), ffn=rng.choice([24, 60, 96, 100]), vocab=rng.randrange(50, 600),
        vocab_multiple=rng.choice([1, 8, 64]), qkv_bias=rng.random() < 0.2 and not latent, groups=m.heads if latent else m.groups,
        mtp_layers=int(rng.random() < 0.2 and not m.tied), head_dim=rng.choice([0, 6, 8]), kv_rank=rng.choice([14, 20]),
        q_rank=rng.choice([0, 24]))
    if m.experts:
        shared = rng.choice([0, 0, 24])
        m = dataclasses.replace(m, experts=rng.choice([4, 6, 8]), shared_ffn=shared, shared_gate=bool(shared) and rng.random() < 0.3,
                                first_dense=rng.choice([0, 0, 1]), expert_bias=rng.random() < 0.5)
    return dataclasses.replace(c, model=m, bucket_size=rng.choice([0, 64, 333, 500, 5000]), overlap_step=rng.random() < 0.1)


def words(c: Configuration) -> str:
    """The command line that says `c`."""
    given = []
    for part, default in ((c, Configuration()), (c.model, Model())):
        for name, value in vars(default).items():
            said = getattr(part, name)
            if name == "model" or said == value:
                continue
            option = name.replace("_", "-")
            given.append(f"--{option}" if said is True else f"--no-{option}" if said is False else f"--{option} {shlex.quote(str(said))}")
    return " ".join(given)


def read(name: str = "matrix.txt") -> dict[str, Configuration]:
    """The cases of a file, by their names: a line is `name: words`, # begins a comment."""
    lines = [line for line in (HERE / name).read_text().splitlines() if line and not line.startswith("#")]
    cases = {case: configuration.parse(shlex.split(text)) for case, text in (line.split(": ", 1) for line in lines)}
    if len(cases) != len(lines):
        raise ValueError(f"{name}: two cases have one name")
    return cases


def all_cases() -> dict[str, Configuration]:
    return {**read(), **read("fakes.txt"), **read("refused.txt")}


def plain_name(case: str) -> str:
    return case.split(" ", 1)[0]


def expected_word(case: str) -> str:
    """What the reason of a refusal must say: in refused.txt a case is `name (word)`."""
    return case.partition("(")[2].removesuffix(")")


def cover(known: list[Configuration], rng: random.Random) -> Iterator[Configuration]:
    """Greedy: of all samples always the one with most pairs that are still missing, small worlds first."""
    samples = [(c, pairs(c)) for c in possible(rng)]
    missing = set[Pair]().union(*(p for _, p in samples)) - set[Pair]().union(*(pairs(c) for c in known))
    while missing:
        best, its_pairs = max(samples, key=lambda entry: (len(entry[1] & missing) / (8 + entry[0].world), -entry[0].world))
        missing -= its_pairs
        yield best


def main() -> None:
    picked = [c for name, c in read().items() if not name.startswith("pair")]
    for number, c in enumerate(cover(picked, random.Random(SEED))):
        print(f"pair{number}: {words(c)}")


if __name__ == "__main__":
    main()
