"""The comparison itself: it finds nothing in what a real job says of itself, and whatever is changed in that, it finds."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import boxes
import configuration
import hashing
import numpy as np
import pytest
from comparison import differences, other_layers, summed_apart
from worlds import Truth, Worlds

Json = dict[str, Any]

# Two chunks of buckets that straddle parameters, two dims that are cut, gated fc1 in two regions, master and moments in shards.
WORLD = "--world 8 --tp 2 --pp 2 --bf16 --bucket-size 2000 --layers 2 --tied --experts 2 --ep 2"


@pytest.fixture(scope="module")
def truth(running: Worlds) -> Truth:
    real = running.run(configuration.parse(WORLD.split()))
    assert isinstance(real, Truth)
    return real


@pytest.fixture
def ours(truth: Truth) -> Json:
    """A listing that agrees, to be changed."""
    return copy.deepcopy(truth.listing)


def entry(listing: Json, rank: int, part: str, state: str = "param") -> Json:
    found: Json = next(e for e in listing["ranks"][rank]["tensors"] if part in e["live_name"] and e["state"] == state and e["regions"])
    return found


def test_what_a_job_says_of_itself_agrees_with_its_memory(truth: Truth, ours: Json) -> None:
    found, counts = differences(ours, truth)
    assert not found
    assert counts.elements == sum(len(values) for values in truth.values) > 100_000
    assert counts.regions > counts.tensors > 8 * 20


def shift_offset(listing: Json) -> None:
    entry(listing, 3, "linear_proj", "exp_avg")["regions"][0]["offset"] += 1


def shift_origin(listing: Json) -> None:
    region = entry(listing, 1, "linear_proj")["regions"][0]
    region["origin"][1] -= 1


def swap_blocks(listing: Json) -> None:
    gate, up = entry(listing, 0, "linear_fc1")["regions"]
    gate["origin"], up["origin"] = up["origin"], gate["origin"]


def swap_ranks(listing: Json) -> None:
    first, second = listing["ranks"][0], listing["ranks"][1]
    first["tensors"], second["tensors"] = second["tensors"], first["tensors"]


def swap_data_parallel_ranks(listing: Json) -> None:
    first, second = listing["ranks"][0], listing["ranks"][2]
    first["tensors"], second["tensors"] = second["tensors"], first["tensors"]


def drop_state(listing: Json) -> None:
    for rank in listing["ranks"]:
        rank["tensors"] = [e for e in rank["tensors"] if e["state"] != "main"]


def drop_region(listing: Json) -> None:
    entry(listing, 5, "linear_fc1")["regions"].pop()


def repeat_region(listing: Json) -> None:
    regions = entry(listing, 5, "linear_fc1")["regions"]
    regions.append(regions[0])


def drop_tensor(listing: Json) -> None:
    listing["ranks"][7]["tensors"].pop()


def repeat_tensor(listing: Json) -> None:
    listing["ranks"][7]["tensors"].append(listing["ranks"][7]["tensors"][0])


def invent_tensor(listing: Json) -> None:
    listing["ranks"][4]["tensors"].append({**entry(listing, 4, "linear_proj"), "live_name": "0/decoder.layers.7.mlp.linear_fc1.bias"})


def transpose(listing: Json) -> None:
    region = entry(listing, 0, "router")["regions"][0]
    region["strides"] = [1, region["shape"][0]]


def next_layer(listing: Json) -> None:
    first, second = entry(listing, 0, "experts.local_experts.0.linear_fc2"), entry(listing, 4, "experts.local_experts.0.linear_fc2")
    assert first["name"] != second["name"]
    first["name"] = second["name"]


def outside(listing: Json) -> None:
    entry(listing, 0, "word_embeddings")["regions"][0]["origin"][0] += 1000


def beyond_storage(listing: Json) -> None:
    entry(listing, 0, "word_embeddings")["regions"][0]["offset"] += 1000


def other_dtype(listing: Json) -> None:
    entry(listing, 0, "word_embeddings", "exp_avg")["dtype"] = "bfloat16"


def other_shape(listing: Json) -> None:
    entry(listing, 0, "word_embeddings")["shape"][0] += 8


def other_local_shape(listing: Json) -> None:
    entry(listing, 0, "word_embeddings")["local_shape"][0] += 8


def drop_rank(listing: Json) -> None:
    listing["ranks"].pop(2)


def invent_rank(listing: Json) -> None:
    listing["ranks"].append({"rank": 8, "tensors": [], "buffers": []})


def shift_in_buffer(listing: Json) -> None:
    place = listing["ranks"][6]["buffers"][0]["tensors"][1]
    place["begin"] += 64
    place["end"] += 64


def longer_bucket(listing: Json) -> None:
    listing["ranks"][0]["buffers"][0]["buckets"][0]["end"] += 128


def padded_bucket(listing: Json) -> None:
    listing["ranks"][0]["buffers"][0]["buckets"][-1]["unpadded"] += 1


def longer_buffer(listing: Json) -> None:
    listing["ranks"][0]["buffers"][0]["elements"] += 128


def drop_buffer(listing: Json) -> None:
    listing["ranks"][0]["buffers"].pop()


def dense_as_expert(listing: Json) -> None:
    listing["ranks"][0]["buffers"][0]["name"] = "0/expert2/bfloat16"


def other_world(listing: Json) -> None:
    listing["world_size"] = 9


CHANGES: list[Callable[[Json], None]] = [
    shift_offset, shift_origin, swap_blocks, swap_ranks, swap_data_parallel_ranks, drop_state, drop_region, repeat_region, drop_tensor,
    repeat_tensor, invent_tensor, transpose, next_layer, outside, beyond_storage, other_dtype, other_shape, other_local_shape, drop_rank,
    invent_rank, shift_in_buffer, longer_bucket, padded_bucket, longer_buffer, drop_buffer, dense_as_expert, other_world]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_is_found(truth: Truth, ours: Json, change: Callable[[Json], None]) -> None:
    change(ours)
    assert differences(ours, truth)[0]


def test_a_difference_names_the_tensor_and_both_elements(truth: Truth, ours: Json) -> None:
    shift_origin(ours)
    found, _ = differences(ours, truth)
    assert found == ["rank 1: 0/decoder.layers.0.self_attention.linear_proj.weight (param): "
                     "element 0 of its storage: ours [0,23], real [0,24] of [48, 48]; 1152 elements differ"]


def test_one_element_of_memory_that_is_not_what_it_should_be_is_found(truth: Truth, ours: Json) -> None:
    values = [v.copy() for v in truth.values]
    values[6][4711] ^= 1
    assert len(differences(ours, Truth(truth.listing, values))[0]) == 1


def intervals() -> Iterator[tuple[tuple[int, ...], int, int]]:
    for shape in [(), (5,), (3, 4), (2, 3, 4), (1, 3, 1, 2), (3, 1), (1, 1)]:
        size = int(np.prod(shape))
        yield from ((shape, begin, end) for begin, end in itertools.combinations_with_replacement(range(size + 1), 2))


def test_a_flat_interval_is_its_boxes() -> None:
    for shape, begin, end in intervals():
        found = list(boxes.boxes_of_interval(shape, begin, end))
        elements = [hashing.global_indices(shape, origin, extent).reshape(-1) for origin, extent in found]
        assert np.array_equal(np.concatenate([np.zeros(0, np.int64), *elements]), np.arange(begin, end)), (shape, begin, end)
        assert len(found) <= max(1, 2 * len(shape) - 1)


def test_hashes_of_a_tensor_are_spread() -> None:
    found = hashing.values("decoder.layers.0.mlp.linear_fc1.weight", "param", np.arange(10_000))
    assert found.max() < 2**hashing.BITS
    assert len(np.unique(found)) > 9_990
    assert not np.array_equal(found, hashing.values("decoder.layers.0.mlp.linear_fc1.weight", "exp_avg", np.arange(10_000)))


def test_a_job_that_sums_gradients_of_different_parts_is_known(running: Worlds, truth: Truth) -> None:
    assert not summed_apart(truth)
    # Without expert parallelism Megatron sums experts over the ranks of dense parameters, which may hold other parts of them.
    mixed = running.run(configuration.parse(["--world", "2", "--etp", "2", "--experts", "2", "--layers", "1"]))
    assert isinstance(mixed, Truth)
    assert not other_layers(mixed, 1)
    assert summed_apart(mixed) == ("sums gradients of different elements: "
                                   "0/decoder.layers.0.mlp.experts.local_experts.1.linear_fc2.weight on ranks 0 and 1")


def test_a_job_with_other_layers_than_asked_for_is_known(running: Worlds) -> None:
    more = running.run(configuration.parse(["--world", "4", "--pp", "4", "--first-stage-layers", "3", "--last-stage-layers", "3"]))
    assert isinstance(more, Truth)
    assert other_layers(more, 4) == "builds other layers than 4: [0, 1, 2, 1, 2, 3]"
