"""Optimizers whose state grows, or whose step needs a closure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from fake_world import fake_world
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

from dynatrain import late, memory
from dynatrain.binding import check_planned
from dynatrain.blobs import Common
from dynatrain.errors import Refused
from dynatrain.manifest import manifest_of
from dynatrain.materialize import allocate, fill, make_optimizer_state
from dynatrain.runtime import Side
from dynatrain.state import Key, tensors_of
from dynatrain.transition import Transition

Make = Callable[[nn.Module], torch.optim.Optimizer]


class Averaging(torch.optim.Optimizer):
    """Begins to average the parameters in its third step, and counts by value."""

    def __init__(self, params: Any) -> None:
        super().__init__(params, {"lr": 0.1})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for parameter in self.param_groups[0]["params"]:
            state = self.state[parameter]
            state["steps"] = state.get("steps", 0) + 1
            parameter.sub_(0.1 * parameter.grad)
            if state["steps"] >= 3:
                mean = state.setdefault("mean", {"of": parameter.clone()})["of"]
                mean.mul_(0.9).add_(parameter, alpha=0.1)
                parameter.lerp_(mean, 0.01)


class Sharpness(torch.optim.Optimizer):
    """Needs a closure, and keeps moments: as sharpness-aware minimizers do."""

    def __init__(self, params: Any) -> None:
        super().__init__(params, {"lr": 0.1})

    @torch.no_grad()
    def step(self, closure: Callable[[], Tensor]) -> Tensor:  # type: ignore[override]
        closure = torch.enable_grad()(closure)
        closure()
        for p in self.param_groups[0]["params"]:
            self.state[p]["away"] = 0.05 * p.grad / (p.grad.norm() + 1e-6)
            p.add_(self.state[p]["away"])
        loss = closure()
        for p in self.param_groups[0]["params"]:
            p.sub_(self.state[p]["away"])
            momentum = self.state[p].setdefault("momentum", torch.zeros_like(p))
            p.sub_(momentum.mul_(0.9).add_(p.grad), alpha=0.05)
        return loss


MAKERS: dict[str, Make] = {
    "LBFGS": lambda m: torch.optim.LBFGS(m.parameters(), lr=0.5, max_iter=3, history_size=4),
    "LBFGS with a line search": lambda m: torch.optim.LBFGS(m.parameters(), max_iter=3, line_search_fn="strong_wolfe"),
    "SparseAdam": lambda m: torch.optim.SparseAdam(m.parameters(), lr=0.1),
    "Averaging": lambda m: Averaging(m.parameters()),
    "Sharpness": lambda m: Sharpness(m.parameters()),
}


def model_for(name: str) -> nn.Module:
    if name == "SparseAdam":
        return nn.Sequential(nn.Embedding(9, 3, sparse=True))
    return nn.Sequential(nn.Linear(5, 3), nn.Tanh(), nn.Linear(3, 2))


def batch_for(name: str) -> Tensor:
    torch.manual_seed(7)
    return torch.tensor([1, 4, 4, 8]) if name == "SparseAdam" else torch.randn(4, 5)


def train(name: str, model: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> list[float]:
    def closure() -> Tensor:
        optimizer.zero_grad()
        loss: Tensor = (model(batch_for(name)) - 1).square().mean()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    losses = []
    for _ in range(steps):
        if name.startswith(("LBFGS", "Sharpness")):
            losses.append(float(optimizer.step(closure)))  # type: ignore[arg-type]
        else:
            losses.append(float(closure()))
            optimizer.step()
    return losses


@pytest.mark.parametrize("before", [1, 2, 7])
@pytest.mark.parametrize("name", sorted(MAKERS))
def test_whatever_an_optimizer_keeps_trains_on_equally_in_a_new_world(name: str, before: int) -> None:
    """As a transition does it: built on meta, warmed up by a step, then filled."""
    old = model_for(name)
    old_optimizer = MAKERS[name](old)
    known = planned_keys(name)
    train(name, old, old_optimizer, before)
    source = late.split(tensors_of(old, old_optimizer), known)
    assert source.planned.keys() == known
    common = Common.of(before, 12, old, old_optimizer, {}, source.late)
    common.check_travels()

    with torch.device("meta"):
        new = model_for(name)
        optimizer = MAKERS[name](new)
    make_optimizer_state(optimizer)
    allocate(new, optimizer)
    fill(new)
    train(name, new, optimizer, 4)  # the warm-up, with a history of its own
    late.forget(new, optimizer, known)
    target = tensors_of(new, optimizer)
    assert target.keys() == known
    with torch.no_grad():
        for key, tensor in source.planned.items():
            target[key].copy_(tensor)
    Common.decode(common.encode()).restore(new, optimizer, {})

    assert new.state_dict().keys() == old.state_dict().keys()
    assert train(name, new, optimizer, 5) == train(name, old, old_optimizer, 5)
    here, there = tensors_of(new, optimizer), tensors_of(old, old_optimizer)
    assert here.keys() == there.keys()
    for key, tensor in here.items():
        assert torch.equal(tensor, there[key]), key


def planned_keys(name: str) -> set[Key]:
    with torch.device("meta"):
        model = model_for(name)
        optimizer = MAKERS[name](model)
    make_optimizer_state(optimizer)
    assert all(p.grad is None for p in model.parameters())
    return set(tensors_of(model, optimizer))


def test_what_is_planned_for_them() -> None:
    states = {name: {key.state for key in planned_keys(name)} for name in MAKERS}
    assert states == {
        "LBFGS": {"param"},
        "LBFGS with a line search": {"param"},
        "SparseAdam": {"param", "exp_avg", "exp_avg_sq"},
        "Averaging": {"param"},
        "Sharpness": {"param", "away", "momentum"},
    }


def test_a_buffer_or_parameter_that_came_late_is_never_sent_by_value() -> None:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    known = set(tensors_of(model, optimizer))
    model.register_buffer("mask", torch.ones(2))
    parts = late.split(tensors_of(model, optimizer), known)
    assert not parts.late and Key("mask", "buffer") in parts.planned


def test_sharded_state_that_came_late_is_refused_by_name() -> None:
    with fake_world("dp2,tp1", 0) as mesh:
        model = nn.Linear(4, 4, bias=False)
        fully_shard(model, mesh=mesh["dp"])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        tensors = tensors_of(model, optimizer)
        known = manifest_of(tensors, model, mesh.layout, mesh.coordinates).by_key()
        weight = next(model.parameters())
        entries = [{"index": 0, "name": "weight", "state": "param"}]
        optimizer.state[weight] = {"plain": torch.ones(2, 4), "cut": torch.zeros_like(weight)}
        for state in ("cut", "plain"):
            parts = late.split(tensors_of(model, optimizer), known)
            with pytest.raises(Refused, match=f"{state} of weight.*not in the manifest"):
                check_planned({"sources": entries}, Side.SOURCE, parts.planned)
            del optimizer.state[weight][state]


def test_replicated_state_of_a_sharded_parameter_goes_over_the_new_mesh() -> None:
    """As torch's LBFGS keeps it where all parameters are cut evenly."""
    with fake_world("dp2,tp1", 0) as mesh:
        model = nn.Linear(4, 4, bias=False)
        fully_shard(model, mesh=mesh["dp"])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        weight = next(model.parameters())
        assert isinstance(weight, DTensor)
        whole = distribute_tensor(torch.arange(16.0), weight.device_mesh, [Replicate()], src_data_rank=None)
        optimizer.state[weight] = {"past": [whole, torch.ones(())], "count": 3}
        parts = late.split(tensors_of(model, optimizer), {Key("weight", "param")})
        assert {key.state for key in parts.late} == {"past[0]", "past[1]"}
        data = Common.of(1, 1, model, optimizer, {}, parts.late).encode()

        optimizer.state[weight] = {}
        Common.decode(data).restore(model, optimizer, {})
        past = optimizer.state[weight]["past"]
        assert isinstance(past[0], DTensor) and past[0].placements == (Replicate(),)
        assert past[0].device_mesh == weight.device_mesh and not isinstance(past[1], DTensor)
        assert torch.equal(past[0].to_local(), torch.arange(16.0))


def test_only_what_is_whole_on_all_ranks_of_its_parameter_goes_by_value() -> None:
    with fake_world("dp2,tp2", 0) as mesh:
        model = nn.Linear(4, 4)
        whole = [Replicate(), Replicate()]

        def spread(placements: list[Any], where: Any = mesh.torch_mesh) -> DTensor:
            return distribute_tensor(torch.ones(4, 4), where, placements, src_data_rank=None)

        model.weight = nn.Parameter(spread([Shard(0), Replicate()]))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        known = set(tensors_of(model, optimizer))
        optimizer.state[model.weight] = {
            "whole": spread(whole),
            "half": spread([Shard(1), Replicate()]),
            "other": spread([Replicate()], mesh["tp"]),
        }
        optimizer.state[model.bias] = {"spread": spread(whole), "plain": torch.ones(4)}
        late_ones = late.split(tensors_of(model, optimizer), known).late
        assert late_ones.keys() == {Key("weight", "whole"), Key("bias", "plain")}


def test_what_goes_by_value_keeps_its_kind_for_each_parameter() -> None:
    """On a mesh of two axes; the same path is a DTensor's of one, a number's of the other."""
    with fake_world("dp2,tp2", 0) as mesh:
        model = nn.Linear(4, 4)
        for name in ("weight", "bias"):
            cut = distribute_tensor(getattr(model, name).detach(), mesh.torch_mesh, [Shard(0), Replicate()], src_data_rank=None)
            setattr(model, name, nn.Parameter(cut))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        known = set(tensors_of(model, optimizer))
        whole = distribute_tensor(torch.arange(3.0), mesh.torch_mesh, [Replicate(), Replicate()], src_data_rank=None)
        optimizer.state[model.weight] = {"past": [whole]}
        optimizer.state[model.bias] = {"past": [torch.ones(())]}
        parts = late.split(tensors_of(model, optimizer), known)
        data = Common.of(1, 1, model, optimizer, {}, parts.late).encode()
        optimizer.state.clear()
        Common.decode(data).restore(model, optimizer, {})
        (past,), (number,) = (optimizer.state[p]["past"] for p in (model.weight, model.bias))
        assert isinstance(past, DTensor) and past.placements == whole.placements
        assert torch.equal(past.to_local(), torch.arange(3.0))
        assert not isinstance(number, DTensor) and number == 1
    # Whose parameter is no DTensor any more gets it plain.
    value = [torch.ones(3)]
    assert late.put_back(value, "past", {"past[0]"}, torch.zeros(3)) is value


def test_a_new_world_forgets_all_but_what_is_planned() -> None:
    model = nn.Linear(2, 2, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    planned = torch.ones(2)
    optimizer.state[model.weight] = {"both": [planned, torch.zeros(2), 3], "late": [torch.zeros(2)], "count": 5}
    late.forget(model, optimizer, {Key("weight", "param"), Key("weight", "both[0]")})
    (state,) = optimizer.state.values()
    assert state.keys() == {"both"}
    assert state["both"][0] is planned and state["both"][1:] == [None, 3]


def test_lbfgs_over_uneven_shards_is_refused_with_torch_s_own_reason() -> None:
    with fake_world("dp2,tp1", 0) as mesh:
        with torch.device("meta"):
            model = nn.Linear(4, 5, bias=False)
        fully_shard(model, mesh=mesh["dp"])
        optimizer = torch.optim.LBFGS(model.parameters())
        with pytest.raises(Refused, match=r"LBFGS can't do a step.*Cannot flatten unevenly sharded"):
            make_optimizer_state(optimizer)


class Bare(torch.optim.SGD):
    """Its step takes whatever it is given, and needs nothing."""

    def step(self, *given: Any) -> None:  # type: ignore[override]
        assert not given
        for parameter in self.param_groups[0]["params"]:
            if parameter.grad is not None:
                self.state[parameter]["mean"] = torch.zeros_like(parameter)


def test_a_step_is_given_a_closure_only_if_it_needs_one_and_frozen_parameters_no_gradient() -> None:
    with torch.device("meta"):
        model = nn.Linear(2, 2)
        model.bias.requires_grad_(False)
        optimizer = Bare(model.parameters(), lr=0.1)
    make_optimizer_state(optimizer)
    assert tensors_of(model, optimizer).keys() == {Key("weight", "param"), Key("bias", "param"), Key("weight", "mean")}


@pytest.mark.parametrize(
    ("error", "why"), [(RuntimeError("no sums\nbecause"), "no sums"), (NotImplementedError(), "NotImplementedError")]
)
def test_a_step_that_can_t_be_done_is_refused_in_a_line(error: Exception, why: str) -> None:
    class Unable(torch.optim.SGD):
        def step(self, closure: Any = None) -> None:  # type: ignore[override]
            raise error

    with torch.device("meta"):
        optimizer = Unable(nn.Linear(2, 2).parameters(), lr=0.1)
    with pytest.raises(Refused, match=f"Unable can't do a step of .* not known: {why}$"):
        make_optimizer_state(optimizer)


def test_more_than_a_joiner_could_receive_is_refused_with_the_number() -> None:
    tensors = {Key("w", f"past[{i}]"): torch.empty(1, device="meta").expand(40 << 20) for i in range(2)}
    with pytest.raises(Refused, match=r"past\[0\] of w and 1 more.*335544320 bytes; at most 251658240"):
        late.check_size(tensors)
    assert late.check_size({Key("w", "past[0]"): torch.ones(3)}) == 12


def limited(limit_mib: int) -> Transition:
    member = {"serial": 0, "ranks": [{}, {}]}
    return Transition.of({
        "id": "t", "generation": 2, "manifest": "", "source": {"generation": 1, "layout": "dp2,tp1,pp1", "members": [member]},
        "target": {"generation": 2, "layout": "dp1,tp2,pp1", "members": [member]},
        "options": {"seed": 1, "memory_limit_bytes": limit_mib << 20, "memory_used_bytes": 100 << 20}})


def test_what_goes_by_value_is_held_against_the_container_s_limit() -> None:
    need = memory.Need(state_bytes=10 << 20, gradient_bytes=1 << 20, transient_bytes=1 << 20, staging_bytes=1 << 20)
    memory.check_late(limited(142), need, memory.WARM, 4 << 20)
    with pytest.raises(Refused, match=r"needs 146 MiB, the container has 142 MiB: 100 MiB are in use.*13 MiB.*twice 5 MiB"):
        memory.check_late(limited(142), need, memory.WARM, 5 << 20)
    # Cold, a step of the new world comes when the live one has gone.
    memory.check_late(limited(142), need, memory.COLD, 9 << 19)
    with pytest.raises(Refused, match=r"12 MiB for the new world and twice 5 MiB"):
        memory.check_late(limited(142), need, memory.COLD, 19 << 18)
    # Without a limit all fits; without such state it is not what `decide` is asked.
    memory.check_late(limited(0), need, memory.WARM, 1 << 40)
    memory.check_late(limited(101), need, memory.WARM, 0)
