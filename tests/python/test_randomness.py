"""What a builder draws never moves the live world's random stream."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest
import torch
from fake_world import fake_world
from torch import nn
from torch.distributed.tensor import DTensor, Shard
from torch.nn import functional as F

from dynatrain import streams
from dynatrain.errors import Refused
from dynatrain.randomness import Private, derived_seed
from dynatrain.state import local_of

DRAWS: dict[str, Callable[[], object]] = {
    "dropout": lambda: F.dropout(torch.ones(50), 0.5),
    "attention": lambda: F.scaled_dot_product_attention(
        torch.ones(1, 2, 4, 8),
        torch.ones(1, 2, 4, 8),
        torch.ones(1, 2, 4, 8),
        None,
        0.5,
    ),
    "rand": lambda: torch.rand(9),
    "randn": lambda: torch.randn(9),
    "randint": lambda: torch.randint(0, 9, (9,)),
    "randperm": lambda: torch.randperm(9),
    "rand_like": lambda: torch.rand_like(torch.ones(9)),
    "randn_like": lambda: torch.randn_like(torch.ones(9)),
    "normal": lambda: torch.normal(torch.zeros(9), 1.0),
    "bernoulli": lambda: torch.bernoulli(torch.full((9,), 0.5)),
    "multinomial": lambda: torch.multinomial(torch.ones(9), 3),
    "init": lambda: nn.Linear(9, 9),
    "rrelu": lambda: F.rrelu(torch.ones(9), training=True),
    "seed": lambda: torch.manual_seed(1),
    "fork": lambda: torch.random.fork_rng().__enter__(),
    "set_state": lambda: torch.set_rng_state(torch.get_rng_state()),
}


@pytest.mark.parametrize("name", sorted(DRAWS))
def test_nothing_reaches_the_default_generator(name: str) -> None:
    torch.manual_seed(3)
    before = torch.default_generator.get_state()
    with Private(1):
        DRAWS[name]()
    assert torch.equal(torch.default_generator.get_state(), before)


def test_draws_of_sharded_tensors_are_private_too() -> None:
    torch.manual_seed(3)
    before = torch.default_generator.get_state()
    with fake_world("dp2,tp1", 0) as mesh, Private(1):
        local = torch.ones(4, 4)
        tensor = DTensor.from_local(local, mesh["dp"], (Shard(0),), run_check=False)
        dropped = local_of(F.dropout(tensor, 0.5))
        tensor.uniform_()
    assert torch.equal(torch.default_generator.get_state(), before)
    assert 0 in dropped and 2 in dropped


def test_an_operator_that_cannot_be_kept_private_is_refused_by_name() -> None:
    with Private(1), pytest.raises(Refused, match="native_dropout"):
        torch.ops.aten.native_dropout(torch.ones(3), 0.5, True)


def test_privacy_is_of_the_thread_and_ends() -> None:
    torch.manual_seed(3)
    expected = torch.rand(4), torch.rand(4)
    torch.manual_seed(3)
    inside, go_on = threading.Event(), threading.Event()

    def build() -> None:
        with Private(1):
            torch.rand(3)
            inside.set()
            go_on.wait(10)
            torch.manual_seed(9)
            F.dropout(torch.ones(9), 0.5)

    builder = threading.Thread(target=build)
    builder.start()
    inside.wait(10)
    assert torch.equal(torch.rand(4), expected[0])
    go_on.set()
    builder.join()
    assert torch.equal(torch.rand(4), expected[1])


def test_new_coordinates_get_seeds_of_their_own_but_tp_peers_share() -> None:
    place = {"pp": 0, "rep": 0, "dp": 0, "ep": 0, "tp": 0}
    seed = derived_seed(1, 2, place)
    assert seed == derived_seed(1, 2, {**place, "tp": 1})
    others = {derived_seed(1, 2, {**place, "dp": 1}), derived_seed(1, 3, place)}
    assert len({seed, derived_seed(2, 2, place), *others}) == 4


def draw() -> tuple[object, ...]:
    """From all streams, also what they keep for the next call."""
    return (
        torch.rand(3).tolist(),
        random.random(),
        random.gauss(0, 1),
        random.choice(range(1000)),
        float(np.random.rand()),
        float(np.random.randn()),
        int(np.random.randint(1000)),
    )


def test_all_streams_go_on_where_they_were_saved() -> None:
    streams.begin(5)
    draw()  # leaves half a pair of normal numbers in random and numpy
    state = streams.save()
    expected = draw()
    streams.begin(6)
    assert streams.save().shape == state.shape
    streams.restore(state)
    assert draw() == expected


def test_streams_begin_by_their_seed() -> None:
    seen = []
    for seed in (5, 6, 5):
        streams.begin(seed)
        seen.append(draw())
    assert seen[0] == seen[2] != seen[1]


def test_without_numpy_the_others_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    streams.begin(5)
    with_numpy = streams.save()
    monkeypatch.delitem(sys.modules, "numpy.random")
    state = streams.save()
    assert state.shape == with_numpy.shape
    expected = random.random(), torch.rand(3).tolist()
    for kept in (state, with_numpy):
        streams.begin(7)
        streams.restore(kept)
        assert (random.random(), torch.rand(3).tolist()) == expected


def test_what_a_builder_draws_from_random_and_numpy_is_private() -> None:
    streams.begin(5)
    state, expected = streams.save(), draw()
    streams.restore(state)
    inside, go_on = threading.Event(), threading.Event()

    def build() -> None:
        with Private(1):
            first = draw()
            inside.set()
            go_on.wait(10)
            random.seed(1)
            np.random.seed(1)
            assert draw() != first

    builder = threading.Thread(target=build)
    builder.start()
    inside.wait(10)
    assert draw() == expected
    go_on.set()
    builder.join()
    with Private(1):
        private = draw()
    streams.restore(state)
    assert draw() == expected != private
