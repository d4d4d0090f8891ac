"""matrix.txt keeps what it promises: every pair of answers that a valid configuration gives, and enough of what is rare."""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable

import configuration
import layouts
import matrix
import pytest
from configuration import Configuration

CASES = matrix.read()
REFUSED = matrix.read("refused.txt")

# At least so many configurations of each kind (issue 4).
RARE: dict[str, tuple[int, Callable[[Configuration], bool]]] = {
    "all": (60, lambda c: True), "refused": (10, lambda c: True), "bf16 with masters": (15, lambda c: c.bf16),
    "uneven stages": (4, lambda c: bool(c.first_stage_layers or c.last_stage_layers)), "vpp 2": (4, lambda c: c.vpp == 2),
    "vpp 4": (4, lambda c: c.vpp == 4), "custom stages": (4, lambda c: bool(c.pipeline_layout)),
    "ep with etp 1": (4, lambda c: c.ep > 1 and c.etp == 1), "ep with etp 2": (4, lambda c: c.ep > 1 and (c.etp or c.tp) == 2),
    "experts, ep 1": (4, lambda c: bool(c.model.experts) and c.ep == 1), "groups < tp": (4, lambda c: c.model.groups < c.tp),
    "tp 3": (4, lambda c: c.tp == 3), "tp 6": (4, lambda c: c.tp == 6), "tied": (4, lambda c: c.model.tied and c.pp > 1),
    "buckets that straddle": (4, lambda c: 0 < c.bucket_size <= 500 and c.distributed_optimizer and c.overlap_grad_reduce),
    "a parameter smaller than dp": (4, lambda c: c.model.qk_norm and not c.model.latent and c.distributed_optimizer
                                    and (c.model.head_dim or c.model.hidden // c.model.heads) < c.world // (c.tp * c.pp)),
    "optimizer instances": (4, lambda c: c.optimizer_instances > 1), "order tp-pp-dp": (4, lambda c: c.order == matrix.TP_PP_DP),
    "another order": (4, lambda c: c.order not in (matrix.TP_PP_DP, configuration.DEFAULT_ORDER)),
    "cp": (4, lambda c: c.cp > 1), "latent attention": (4, lambda c: c.model.latent)}


@pytest.mark.parametrize("kind", RARE)
def test_there_are_enough(kind: str) -> None:
    least, is_one = RARE[kind]
    assert sum(map(is_one, (REFUSED if kind == "refused" else CASES).values())) >= least


def test_every_possible_pair_of_answers_is_given() -> None:
    given = set[matrix.Pair]().union(*map(matrix.pairs, CASES.values()))
    possible = set[matrix.Pair]().union(*map(matrix.pairs, matrix.possible(random.Random(matrix.SEED))))
    assert possible <= given


def test_words_say_a_configuration_in_full() -> None:
    for c in [*CASES.values(), *REFUSED.values()]:
        assert configuration.parse(shlex.split(matrix.words(c))) == c
        assert Configuration.from_json(c.to_json()) == c
        assert layouts.layout_file(c)


def test_refusals_say_which_word_ours_must_have() -> None:
    assert all(matrix.expected_word(case) for case in REFUSED)
