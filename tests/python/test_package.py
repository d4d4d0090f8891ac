"""The package by itself: its versions, its doors, its old worlds."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest
import torch.distributed.distributed_c10d as c10d
from fake_world import fake_world
from torch import nn, optim

import dynatrain
from dynatrain import worlds
from dynatrain.metrics import line
from dynatrain.network import interface_of
from dynatrain.runtime import load_library
from dynatrain.world import World


def version(library: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dynatrain", "--version"],
        env={**os.environ, "DYNATRAIN_LIBRARY": library},
        capture_output=True,
        text=True,
        check=False,
    )


def test_version_says_what_is_missing() -> None:
    run = version("/nowhere/libdynatrain.so")
    assert run.returncode == 1
    assert run.stdout.startswith(f"dynatrain {dynatrain.__version__}, torch 2.")
    assert "can't load the DynaTrain runtime /nowhere/libdynatrain.so" in run.stderr


def test_a_library_that_is_no_runtime_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(dynatrain.Refused, match="DYNATRAIN_LIBRARY names another"):
        broken = tmp_path / "libdynatrain.so"
        broken.write_bytes(b"not a library")
        load_library(broken)


def test_another_torch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.__version__", "2.99.0")
    monkeypatch.setattr(c10d, "_world", object())
    with pytest.raises(dynatrain.Refused, match=r"torch 2\.99\.0 was not tested"):
        worlds.install()


def test_objects_of_an_old_world_raise_when_used() -> None:
    with fake_world("dp2,tp1", 0, generation=4) as mesh:
        world = World(mesh, worlds.Groups(1))
        model = nn.Linear(2, 2)
        world.set_built(model, optim.SGD(model.parameters(), lr=0.1), {})
        assert world.model is model
        world.retire()
        for use in (
            lambda: world.model,
            lambda: world.optimizer,
            lambda: world.extras,
            lambda: mesh["dp"],
            world.steps,
        ):
            with pytest.raises(dynatrain.StaleWorld):
                use()


def test_an_axis_that_the_mesh_lacks_is_named() -> None:
    with fake_world("dp2,tp1", 0) as mesh:
        assert mesh.size("rep") == 1 and mesh.size() == 2 and "rep" not in mesh
        with pytest.raises(KeyError, match="no axis 'rep': layout dp2,tp1,pp1 has"):
            mesh["rep", "dp"]


def test_names_inside_torch_are_new_with_each_attempt() -> None:
    first, second = (worlds.torch_name("dp", tag, 7) for tag in (0xA, 0xB))
    assert first != second
    assert {worlds.axis_of(name) for name in (first, second)} == {"dp"}


def test_metrics_have_one_form() -> None:
    text = line(120, 2880, "dp2,tp1,pp1", 95.4, {"loss": 2.5, "rate": 0.001})
    assert text == (
        "step 120 loss 2.500000 samples 2880 world dp2,tp1,pp1 ms 95 rate 0.001"
    )


def test_the_interface_of_an_address_is_found() -> None:
    assert interface_of("127.0.0.1") == "lo"
    assert interface_of("192.0.2.1") is None
