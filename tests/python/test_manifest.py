"""The manifest says which part of each tensor a rank holds: checked element
by element against what FSDP2, TP, HSDP and DTensor really shard."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from fake_world import fake_world
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

from dynatrain.errors import Refused
from dynatrain.layout import Layout, Split, local_box
from dynatrain.loading import load_full
from dynatrain.manifest import Manifest, manifest_of
from dynatrain.materialize import allocate, make_optimizer_state
from dynatrain.mesh import Mesh
from dynatrain.state import Tensors, local_of, tensors_of

Sharder = Callable[[nn.Module, Mesh], None]


class Net(nn.Module):
    """Odd sizes, tied weights, a frozen parameter, buffers of several kinds."""

    def __init__(self, width: int = 12, hidden: int = 24, words: int = 7) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)
        self.norm = nn.BatchNorm1d(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.embed.weight
        self.frozen = nn.Parameter(torch.empty(5, 3), requires_grad=False)
        self.scale = nn.Parameter(torch.empty(1))
        self.register_buffer("mask", torch.empty(3, 3, dtype=torch.bool), False)


def plain(model: nn.Module, mesh: Mesh) -> None: ...


def tensor_parallel(model: nn.Module, mesh: Mesh) -> None:
    plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
    parallelize_module(model, mesh["tp"], plan, src_data_rank=None)


def fsdp(model: nn.Module, mesh: Mesh) -> None:
    axes = ("rep", "dp") if "rep" in mesh else "dp"
    fully_shard(model, mesh=mesh[axes])


def fsdp_of_tensor_parallel(model: nn.Module, mesh: Mesh) -> None:
    tensor_parallel(model, mesh)
    fsdp(model, mesh)


def fsdp_on_dim_1(model: nn.Module, mesh: Mesh) -> None:
    def place(p: nn.Parameter) -> Shard | None:
        return Shard(1) if p.ndim == 2 and p.shape[1] % mesh.size("dp") == 0 else None

    tensor_parallel(model, mesh)
    fully_shard(model, mesh=mesh["dp"], shard_placement_fn=place)


CASES = [
    (sharder, layout)
    for sharder, layouts in [
        (plain, ["dp2,tp1"]),
        (tensor_parallel, ["dp1,tp1", "dp1,tp2", "dp2,tp3", "dp1,tp5"]),
        (fsdp, ["dp1", "dp2", "dp3", "dp4", "dp6", "dp2,rep2", "dp3,rep2"]),
        (
            fsdp_of_tensor_parallel,
            [
                *("dp1,tp1", "dp2,tp1", "dp1,tp2", "dp2,tp2", "dp3,tp2", "dp2,tp3"),
                *("dp2,tp4", "dp5,tp2", "dp2,tp2,rep2", "dp1,tp2,rep2"),
            ],
        ),
        (fsdp_on_dim_1, ["dp2,tp1", "dp2,tp2", "dp3,tp2"]),
    ]
    for layout in layouts
]


def full_values(model: nn.Module) -> dict[str, Tensor]:
    """Each element has a value of its own."""
    named = [*model.named_parameters(), *model.named_buffers()]
    return {
        name: (torch.arange(t.numel()).reshape(t.shape) + at).to(t.dtype)
        for at, (name, t) in enumerate(named)
    }


def sharded(sharder: Sharder, mesh: Mesh) -> tuple[nn.Module, torch.optim.Optimizer]:
    with torch.device("meta"):
        model = Net()
        sharder(model, mesh)
    return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def describe(
    model: nn.Module, optimizer: torch.optim.Optimizer, mesh: Mesh
) -> tuple[Manifest, Tensors]:
    tensors = tensors_of(model, optimizer)
    return manifest_of(tensors, model, mesh.layout, mesh.coordinates), tensors


def ranks(layout: str) -> Iterator[int]:
    yield from range(Layout.parse(layout).world_size)


def sharded_by_torch(
    sharder: Sharder, mesh: Mesh, full: dict[str, Tensor]
) -> nn.Module:
    """A model with values that torch itself cuts."""
    model = Net()
    with torch.no_grad():
        for name, tensor in (*model.named_parameters(), *model.named_buffers()):
            tensor.copy_(full[name])
    sharder(model, mesh)
    return model


@pytest.mark.parametrize(("sharder", "layout"), CASES)
def test_local_parts_are_the_boxes_that_the_manifest_says(
    sharder: Sharder, layout: str
) -> None:
    full = full_values(Net())
    texts = set()
    for rank in ranks(layout):
        with fake_world(layout, rank) as mesh:
            on_meta, _ = describe(*sharded(sharder, mesh), mesh)
            model = sharded_by_torch(sharder, mesh, full)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            manifest, tensors = describe(model, optimizer, mesh)
            assert manifest == on_meta
            texts.add(manifest.to_json())
            for spec in manifest.tensors:
                whole = full[spec.key.name]
                for dim, (origin, size) in enumerate(
                    local_box(spec.shape, spec.splits, mesh.layout, mesh.coordinates)
                ):
                    whole = whole.narrow(dim, origin, size)
                real = local_of(tensors[spec.key])
                assert real.numel() == whole.numel(), spec
                assert not whole.numel() or torch.equal(real, whole), spec
    assert len(texts) == 1, "ranks disagree"


@pytest.mark.parametrize(("sharder", "layout"), CASES)
def test_load_full_puts_what_torch_would(sharder: Sharder, layout: str) -> None:
    full = full_values(Net())
    for rank in ranks(layout):
        with fake_world(layout, rank) as mesh:
            model, optimizer = sharded(sharder, mesh)
            allocate(model, optimizer)
            load_full(model, full)
            real = tensors_of(sharded_by_torch(sharder, mesh, full), optimizer)
            for key, tensor in tensors_of(model, optimizer).items():
                mine, theirs = local_of(tensor), local_of(real[key])
                assert not mine.numel() or torch.equal(mine, theirs), key


@pytest.mark.parametrize("sharder", [fsdp_of_tensor_parallel, fsdp, tensor_parallel])
def test_one_manifest_holds_at_all_sizes(sharder: Sharder) -> None:
    texts = set()
    for layout in ("dp1,tp1", "dp2,tp1", "dp1,tp2", "dp3,tp2", "dp2,tp4"):
        with fake_world(layout, 0) as mesh:
            model, optimizer = sharded(sharder, mesh)
            make_optimizer_state(optimizer)
            texts.add(describe(model, optimizer, mesh)[0].to_json())
    assert len(texts) == 1


def test_fsdp_over_tp_is_tp_first_then_dp() -> None:
    with fake_world("dp2,tp2", 0) as mesh:
        manifest, _ = describe(*sharded(fsdp_of_tensor_parallel, mesh), mesh)
    by_key = {tuple(k): s.splits for k, s in manifest.by_key().items()}
    assert by_key["up.weight", "param"] == (Split("tp", 0), Split("dp", 0))
    assert by_key["down.weight", "param"] == (Split("dp", 0), Split("tp", 1))
    assert by_key["embed.weight", "param"] == (Split("dp", 0),)


def test_left_to_right_shards_of_one_dim_keep_their_order() -> None:
    for layout in ("dp2,tp2", "dp2,tp1", "dp1,tp2"):
        with fake_world(layout, 0) as mesh:
            model = nn.Module()
            local = torch.zeros(8 // mesh.size())
            tensor = DTensor.from_local(
                local, mesh["dp", "tp"], (Shard(0), Shard(0)), run_check=False
            )
            model.both = nn.Parameter(tensor)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            manifest, _ = describe(model, optimizer, mesh)
        assert manifest.tensors[0].splits == (Split("dp", 0), Split("tp", 0))


def test_partial_is_refused_by_name() -> None:
    with fake_world("dp2,tp1", 0) as mesh:
        model = nn.Module()
        tensor = DTensor.from_local(
            torch.zeros(4), mesh["dp"], (Partial(),), run_check=False
        )
        model.part = nn.Parameter(tensor)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with pytest.raises(Refused, match=r"part is placed .*on dp: only sharded"):
            describe(model, optimizer, mesh)


def test_a_shard_that_is_not_the_chunk_rule_is_refused() -> None:
    with fake_world("dp2,tp1", 0) as mesh:
        model = nn.Module()
        tensor = DTensor.from_local(
            torch.zeros(3),
            mesh["dp"],
            (Shard(0),),
            run_check=False,
            shape=torch.Size((4,)),
            stride=(1,),
        )
        model.odd = nn.Parameter(tensor)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with pytest.raises(Refused, match=r"param of odd: this rank holds \[3\]"):
            describe(model, optimizer, mesh)
