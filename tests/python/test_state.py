"""What must travel is found by name; what would be lost is refused by name."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from fake_world import fake_world
from torch import Tensor, nn

from dynatrain.binding import check_planned
from dynatrain.blobs import Common
from dynatrain.errors import Refused
from dynatrain.manifest import manifest_of
from dynatrain.materialize import (
    allocate,
    check_on_meta,
    make_optimizer_state,
    renew_optimizer_state,
    state_at_birth,
)
from dynatrain.runtime import Side
from dynatrain.state import Key, check_told, plain_state, tensors_of

OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD": {"momentum": 0.9, "nesterov": True},
    "Adam": {"amsgrad": True},
    "AdamW": {"fused": True},
    "Adamax": {},
    "NAdam": {},
    "RAdam": {},
    "RMSprop": {"momentum": 0.9, "centered": True},
    "Rprop": {},
    "Adadelta": {},
    "Adagrad": {"initial_accumulator_value": 0.5},
    "ASGD": {},
    "Adafactor": {},
    "Muon": {},
}


class Net(nn.Module):
    def __init__(self, name: str = "AdamW") -> None:
        super().__init__()
        self.linear = nn.Linear(5, 3, bias=name != "Muon")  # Muon: matrices only
        self.frozen = nn.Parameter(torch.ones(2), requires_grad=False)
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))


def make(name: str, device: str) -> tuple[nn.Module, torch.optim.Optimizer]:
    with torch.device(device):
        model = Net(name)
        options = dict(OPTIMIZERS[name])
        if device == "meta":
            options.pop("fused", None)
        trained = [p for p in model.parameters() if p.requires_grad]
        optimizer = getattr(torch.optim, name)(trained, lr=0.1, **options)
    return model, optimizer


def train(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
    torch.manual_seed(7)
    linear = model.linear
    assert isinstance(linear, nn.Linear)
    for _ in range(steps):
        loss: Tensor = linear(torch.randn(4, 5)).square().mean()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_optimizer_state_on_meta_is_what_a_first_step_makes(name: str) -> None:
    real = make(name, "cpu")
    train(*real, steps=1)
    there = {
        k: (t.shape, t.dtype) for k, t in tensors_of(*real).items() if k.state != "step"
    }
    model, optimizer = make(name, "meta")
    make_optimizer_state(optimizer)
    here = tensors_of(model, optimizer)
    assert {
        k: (t.shape, t.dtype) for k, t in here.items() if k.state != "step"
    } == there
    assert here.keys() == tensors_of(*real).keys()
    assert plain_state(model, optimizer).keys() == plain_state(*real).keys()
    assert all(p.grad is None for p in model.parameters())


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_state_copied_into_a_new_world_trains_on_equally(name: str) -> None:
    old, old_optimizer = make(name, "cpu")
    with torch.no_grad():
        for p in old.parameters():
            p.copy_(torch.linspace(-1, 1, p.numel()).view_as(p))
    train(old, old_optimizer, steps=3)
    common = Common.of(3, 12, old, old_optimizer, {})

    new, optimizer = make(name, "meta")
    make_optimizer_state(optimizer)
    allocate(new, optimizer)
    target = tensors_of(new, optimizer)
    with torch.no_grad():
        for key, tensor in tensors_of(old, old_optimizer).items():
            target[key].copy_(tensor)
    Common.decode(common.encode()).restore(new, optimizer, {})

    train(old, old_optimizer, steps=3)
    train(new, optimizer, steps=3)
    theirs = tensors_of(old, old_optimizer)
    for key, tensor in tensors_of(new, optimizer).items():
        assert torch.equal(tensor, theirs[key]), key


def test_a_first_start_has_the_state_that_the_constructor_gives() -> None:
    model, optimizer = make("Adagrad", "meta")
    born = state_at_birth(optimizer)
    make_optimizer_state(optimizer)
    allocate(model, optimizer)
    renew_optimizer_state(optimizer, born)
    sums = [s["sum"] for s in optimizer.state.values()]
    assert sums and all(torch.equal(t, torch.full_like(t, 0.5)) for t in sums)


class Born(torch.optim.SGD):
    """Has state from the start, of a value that it doesn't tell."""

    def __init__(self, params: Any, lr: float = 0.1, first: float = 0.0) -> None:
        super().__init__(params, lr=lr)
        for parameter in self.param_groups[0]["params"]:
            self.state[parameter]["first"] = torch.full_like(parameter, first)


class Passing(torch.optim.Adagrad):
    """Hands all that it is given on."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


def test_a_constructor_that_hands_all_on_is_called_again() -> None:
    with torch.device("meta"):
        model = nn.Linear(2, 2)
        optimizer = Passing(model.parameters(), initial_accumulator_value=0.5)
    born = state_at_birth(optimizer)
    allocate(model, optimizer)
    renew_optimizer_state(optimizer, born)
    sums = [s["sum"] for s in optimizer.state.values()]
    assert sums and all(torch.equal(t, torch.full_like(t, 0.5)) for t in sums)


def test_state_from_a_constructor_that_can_t_be_called_again_is_refused() -> None:
    with torch.device("meta"):
        model = nn.Linear(2, 2)
        optimizer = Born(model.parameters(), first=0.5)
    born = state_at_birth(optimizer)
    allocate(model, optimizer)
    with pytest.raises(Refused, match=r"Born makes state in its constructor.*'first'"):
        renew_optimizer_state(optimizer, born)


def test_a_parameter_keeps_its_identity_when_it_gets_memory() -> None:
    model, optimizer = make("AdamW", "meta")
    before = list(model.parameters())
    make_optimizer_state(optimizer)
    allocate(model, optimizer)
    assert all(a is b for a, b in zip(before, model.parameters(), strict=True))
    assert not any(t.is_meta for t in tensors_of(model, optimizer).values())


def test_buffers_frozen_and_tied_parameters_are_found_once() -> None:
    model, optimizer = make("SGD", "cpu")
    tied = nn.Linear(5, 3)
    tied.weight = model.linear.weight  # type: ignore[union-attr,assignment]
    model.tied = tied
    assert set(tensors_of(model, optimizer)) == {
        Key("frozen", "param"),
        Key("count", "buffer"),
        Key("linear.weight", "param"),
        Key("linear.bias", "param"),
        Key("tied.bias", "param"),
    }


class Ema:
    """Keeps a copy and doesn't say so."""


def refused(change: str) -> str:
    """The message for a model, optimizer or extras with something wrong."""
    model, optimizer = make("SGD", "cpu")
    extras: dict[str, Any] = {}
    if change == "attribute":
        model.linear.scale = torch.ones(1)  # type: ignore[union-attr]
    if change == "list":
        model.history = [{"last": torch.ones(1)}]  # type: ignore[assignment]
    if change == "foreign":
        optimizer.add_param_group({"params": [nn.Parameter(torch.ones(4))]})
    if change == "extra":
        extras["ema"] = Ema()
    with pytest.raises(Refused) as error:
        check_told(model, optimizer, extras)
    return str(error.value)


def test_untold_state_is_refused_by_name() -> None:
    assert "model attribute linear.scale is a tensor" in refused("attribute")
    assert "model attribute history is a tensor" in refused("list")
    assert "param_groups[1] holds a tensor of shape [4]" in refused("foreign")
    assert "extras['ema'] (Ema) has no state_dict()" in refused("extra")


def test_a_tensor_list_that_names_registered_parameters_is_no_state() -> None:
    model = nn.LSTM(3, 4)  # keeps _flat_weights
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    check_told(model, optimizer, {})


def test_optimizer_state_of_no_parameter_is_refused_by_name() -> None:
    model, optimizer = make("SGD", "cpu")
    optimizer.state[nn.Parameter(torch.ones(6))]["slow"] = torch.ones(6)
    with pytest.raises(Refused, match=r"'slow' belongs to no parameter.*shape \[6\]"):
        tensors_of(model, optimizer)


class Nesting(torch.optim.Optimizer):
    """Keeps tensors and plain values together, several levels deep."""

    def __init__(self, params: Any, lr: float = 0.1) -> None:
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["factors"] = {"left": torch.zeros_like(p), "used": 0}
                    state["past"] = [torch.zeros_like(p), (torch.zeros_like(p), "b")]
                factors, past = state["factors"], state["past"]
                factors["left"].mul_(0.5).add_(p.grad)
                factors["used"] += 1
                past[0].copy_(past[1][0])
                past[1][0].copy_(factors["left"])
                p.sub_((factors["left"] + past[0]) * group["lr"] / factors["used"])


def two_optimizers(device: str) -> tuple[nn.Module, dict[str, torch.optim.Optimizer]]:
    with torch.device(device):
        model = nn.Sequential(nn.Linear(5, 3), nn.Linear(3, 5))
        return model, {
            "odd": Nesting(model[0].parameters()),
            "usual": torch.optim.AdamW(model[1].parameters(), lr=0.01, foreach=False),
        }


def train_both(
    model: nn.Module, optimizers: dict[str, torch.optim.Optimizer], steps: int
) -> None:
    torch.manual_seed(7)
    for _ in range(steps):
        loss: Tensor = model(torch.randn(4, 5)).square().mean()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer in optimizers.values():
            optimizer.step()
        model.zero_grad()


def test_several_optimizers_and_nested_state_train_on_equally_in_a_new_world() -> None:
    old, old_optimizers = two_optimizers("cpu")
    train_both(old, old_optimizers, steps=3)
    common = Common.of(3, 12, old, old_optimizers, {})
    common.check_travels()

    new, optimizers = two_optimizers("meta")
    check_told(new, optimizers, {})
    make_optimizer_state(optimizers)
    allocate(new, optimizers)
    target, source = tensors_of(new, optimizers), tensors_of(old, old_optimizers)
    assert target.keys() == source.keys()
    nested_states = {key.state for key in target if key.name == "0.weight"}
    assert nested_states == {"param", "factors['left']", "past[0]", "past[1][0]"}
    with torch.no_grad():
        for key, tensor in source.items():
            target[key].copy_(tensor)
    Common.decode(common.encode()).restore(new, optimizers, {})
    # Still the tensors that were bound.
    assert all(t is target[k] for k, t in tensors_of(new, optimizers).items())

    train_both(old, old_optimizers, steps=3)
    train_both(new, optimizers, steps=3)
    for key, tensor in tensors_of(new, optimizers).items():
        assert torch.equal(tensor, source[key]), key


def test_two_optimizers_for_one_parameter_are_refused_by_name() -> None:
    model, optimizers = two_optimizers("cpu")
    optimizers["again"] = torch.optim.AdamW(model[1].parameters(), lr=0.01)  # type: ignore[index]
    train_both(model, optimizers, steps=1)
    with pytest.raises(Refused, match=r"of 1\.weight is kept by optimizer\['again'\]"):
        tensors_of(model, optimizers)


def test_tensors_hidden_in_other_containers_are_refused_by_name() -> None:
    model, optimizer = make("SGD", "cpu")
    optimizer.state[next(model.parameters())]["old"] = {torch.ones(2)}
    with pytest.raises(Refused, match=r"'old' of frozen holds tensors in a set"):
        plain_state(model, optimizer)


def test_optimizer_state_that_is_an_object_is_refused_before_anything_moves() -> None:
    model, optimizer = make("SGD", "cpu")
    optimizer.state[next(model.parameters())]["odd"] = Ema()
    with pytest.raises(Refused, match=r"optimizer state 'odd' of frozen holds more"):
        Common.of(1, 1, model, optimizer, {}).check_travels()


def test_a_moment_that_does_not_say_how_it_is_cut_is_refused_by_name() -> None:
    from torch.distributed.fsdp import fully_shard

    with fake_world("dp2,tp1", 0) as mesh:
        model = nn.Linear(4, 4, bias=False)
        fully_shard(model, mesh=mesh["dp"])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.state[next(model.parameters())]["mine"] = torch.ones(2, 4)
        tensors = tensors_of(model, optimizer)
        with pytest.raises(Refused, match=r"mine of weight is a plain tensor"):
            manifest_of(tensors, model, mesh.layout, mesh.coordinates)


def test_memory_or_a_learning_rate_made_in_build_is_refused_by_name() -> None:
    model = nn.Linear(2, 2, device="cpu")
    with pytest.raises(Refused, match="build\\(\\) made weight on cpu"):
        check_on_meta(model, torch.optim.SGD(model.parameters(), lr=0.1))
    with torch.device("meta"):
        model = nn.Linear(2, 2)
        rate = torch.tensor(0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    optimizer.param_groups[0]["lr"] = rate
    with pytest.raises(Refused, match=r"param_groups\[0\]\['lr'\]"):
        check_on_meta(model, optimizer)


def test_an_extra_that_holds_code_is_refused_by_name() -> None:
    class Sly:
        def state_dict(self) -> dict[str, Any]:
            return {"call": Ema()}

        def load_state_dict(self, state: dict[str, Any]) -> None: ...

    model, optimizer = make("SGD", "cpu")
    with pytest.raises(Refused, match=r"extras\['sly'\]\.state_dict\(\)"):
        Common.of(1, 1, model, optimizer, {"sly": Sly()}).check_travels()


def test_states_that_came_or_went_are_named_before_anything_moves() -> None:
    model, optimizer = make("SGD", "cpu")
    tensors = tensors_of(model, optimizer)
    entries = [
        {"index": i, "name": k.name, "state": k.state} for i, k in enumerate(tensors)
    ]
    check_planned({"sources": entries}, Side.SOURCE, tensors)
    with pytest.raises(Refused, match="buffer of count is not in the manifest"):
        less = [e for e in entries if e["name"] != "count"]
        check_planned({"sources": less}, Side.SOURCE, tensors)
    with pytest.raises(Refused, match=r"exp_avg of linear\.weight is in the manifest"):
        more = [*entries, {"index": 9, "name": "linear.weight", "state": "exp_avg"}]
        check_planned({"sources": more}, Side.SOURCE, tensors)


def test_the_scheduler_survives_the_trip() -> None:
    model, optimizer = make("SGD", "cpu")
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    for _ in range(4):
        optimizer.step()
        scheduler.step()
    data = Common.of(4, 40, model, optimizer, {"scheduler": scheduler}).encode()

    again, fresh = make("SGD", "cpu")
    other = torch.optim.lr_scheduler.CosineAnnealingLR(fresh, 10)
    common = Common.decode(data)
    common.restore(again, fresh, {"scheduler": other})
    assert (common.step, common.samples) == (4, 40)
    assert fresh.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"] < 0.1
    assert other.state_dict() == scheduler.state_dict()
