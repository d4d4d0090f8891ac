"""Axis sizes, coordinates and the chunk rule."""

import pytest
import torch

from dynatrain.layout import AXES, Extent, Layout, chunk, share


def test_text_has_one_form_whatever_the_order_it_was_written_in() -> None:
    assert Layout.parse("tp2,dp3").text == "dp3,tp2,pp1"
    assert Layout.parse("dp1,tp1,pp1,rep2,ep3").text == "dp1,tp1,pp1,ep3,rep2"


@pytest.mark.parametrize("text", ["", "dp", "dp0", "dp2,dp2", "xx2", "dp-1", "dp2,"])
def test_bad_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="layout"):
        Layout.parse(text)


def test_ranks_and_coordinates_are_one_to_one_with_tp_fastest() -> None:
    layout = Layout.parse("dp3,tp2,pp2,rep2")
    places = [layout.coordinate(rank) for rank in range(layout.world_size)]
    assert len({tuple(p[a] for a in AXES) for p in places}) == layout.world_size == 24
    assert places[1]["tp"] == 1 and places[2]["dp"] == 1 and places[-1]["pp"] == 1


def test_unused_axes_are_not_in_the_mesh_but_dp_and_tp_always_are() -> None:
    assert Layout.parse("dp1,tp1").mesh_axes == ("dp", "tp")
    assert Layout.parse("dp2,tp1,rep2").mesh_axes == ("rep", "dp", "tp")


def test_chunk_is_torchs_rule() -> None:
    for size in range(1, 14):
        for parts in range(1, 8):
            theirs = [len(t) for t in torch.arange(size).chunk(parts)]
            theirs += [0] * (parts - len(theirs))
            mine = [chunk(Extent(0, size), parts, i) for i in range(parts)]
            assert [e.size for e in mine] == theirs
            assert [e.origin for e in mine] == [sum(theirs[:i]) for i in range(parts)]


def test_shares_are_even_and_cover_the_batch() -> None:
    for total in range(20):
        for parts in range(1, 7):
            shares = [share(total, parts, i) for i in range(parts)]
            assert [s.origin for s in shares] == [
                sum(s.size for s in shares[:i]) for i in range(parts)
            ]
            assert sum(s.size for s in shares) == total
            assert max(s.size for s in shares) - min(s.size for s in shares) <= 1
