"""Real Megatron jobs on demand: starts the zygote, asks it for worlds, and puts together what their ranks have written down."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import hashing
import numpy as np
from configuration import VERSION, Configuration

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

Json = dict[str, Any]


class OracleError(RuntimeError):
    """The oracle itself failed, so it says nothing about any layout."""


@dataclasses.dataclass(frozen=True)
class Refused:
    """Megatron doesn't build this configuration."""

    rank: int
    reason: str


@dataclasses.dataclass(frozen=True)
class Truth:
    """What a real job holds: a listing as in docs/design/0002, and the values in the memory of each rank's tensors, end to end.

    `values` of an entry in the listing says which part of its rank's values is its own.
    """

    listing: Json
    values: list[hashing.Values]

    def save(self, folder: pathlib.Path) -> None:
        """listing.json, for `dynatrain layout --diff` too, and values.npy: the ranks' values one after another."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "listing.json").write_text(json.dumps(self.listing))
        np.save(folder / "values.npy", np.concatenate(self.values))

    @classmethod
    def load(cls, folder: pathlib.Path) -> Truth:
        listing, values = json.loads((folder / "listing.json").read_text()), np.load(folder / "values.npy")
        parts, position = [], 0
        for rank in listing["ranks"]:
            size = max((entry["values"][1] for entry in rank["tensors"]), default=0)
            parts.append(values[position:position + size])
            position += size
        return cls(listing, parts)


@functools.cache
def interpreter() -> pathlib.Path:
    """The interpreter of the environment that tools/setup/megatron makes."""
    show = 'cd "$1" && . ./common.sh && printf %s "$MEGATRON_ENV"'
    folder = subprocess.run(["bash", "-c", show, "bash", ROOT / "tools" / "setup"], check=True, capture_output=True, text=True)
    path = pathlib.Path(folder.stdout) / "bin" / "python"
    if not path.exists():
        raise OracleError(f"there is no {path}: run tools/setup/megatron")
    return path


class Zygote:
    """A running zygote.py."""

    def __init__(self, folder: pathlib.Path, *options: str) -> None:
        folder.mkdir()
        self._folder = folder
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
        self._log = (folder / "zygote.log").open("w")
        command = [str(interpreter()), "-W", "ignore", str(HERE / "zygote.py"), *options]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True,
                                         env=environment, bufsize=1)
        self._count = 0
        self.versions = self._answer()

    def _answer(self) -> Json:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            log = (self._folder / "zygote.log").read_text(errors="replace")
            raise OracleError(f"the zygote ended: {log[-3000:]}")
        answer: Json = json.loads(line)
        return answer

    def build(self, configuration: Configuration) -> tuple[Json, pathlib.Path]:
        """What became of a world, and the folder in which its ranks have written what they hold."""
        assert self._process.stdin is not None
        folder = self._folder / str(self._count)
        self._count += 1
        self._process.stdin.write(json.dumps({"configuration": configuration.to_json(), "folder": str(folder)}) + "\n")
        return self._answer(), folder

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


class Worlds:
    """Zygotes, each started when it is first needed: one as it is, one with stand-ins for packages that need CUDA."""

    def __init__(self, folder: pathlib.Path, kept: pathlib.Path | None = None) -> None:
        """With `kept`, jobs are written down there, and one that is there isn't built again."""
        self._folder = folder
        self._kept = kept
        self._zygotes: dict[bool, Zygote] = {}

    def _zygote(self, fakes: bool = False) -> Zygote:
        if fakes not in self._zygotes:
            self._zygotes[fakes] = Zygote(self._folder / ("fakes" if fakes else "plain"), *(["--fakes"] if fakes else []))
        return self._zygotes[fakes]

    @property
    def versions(self) -> Json:
        return (next(iter(self._zygotes.values())) if self._zygotes else self._zygote()).versions

    def run(self, configuration: Configuration) -> Truth | Refused:
        """Builds the job for real, with one process for each rank."""
        if self._kept is None:
            return self._build(configuration)
        place = self._kept / hashlib.sha256(configuration.to_json().encode()).hexdigest()[:16]
        if (place / "refused.json").exists():
            return Refused(**json.loads((place / "refused.json").read_text()))
        if (place / "values.npy").exists():
            return Truth.load(place)
        answer = self._build(configuration)
        if isinstance(answer, Truth):
            answer.save(place)
        else:
            place.mkdir(parents=True, exist_ok=True)
            (place / "refused.json").write_text(json.dumps(dataclasses.asdict(answer)))
        return answer

    def _build(self, configuration: Configuration) -> Truth | Refused:
        answer, folder = self._zygote(configuration.needs_fakes).build(configuration)
        if answer["outcome"] == "refused" and answer["in_megatron"]:
            return Refused(answer["rank"], answer["reason"])
        if answer["outcome"] != "built":
            raise OracleError(f"rank {answer['rank']} of {configuration.label()}: {answer['reason']}")
        ranks = [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(configuration.world)]
        values = [np.load(folder / f"rank{rank}.npy") for rank in range(configuration.world)]
        listing = {"version": 1, "framework": "megatron", "framework_version": VERSION, "world_size": configuration.world, "ranks": ranks}
        return Truth(listing, values)

    def close(self) -> None:
        for zygote in self._zygotes.values():
            zygote.close()


@contextmanager
def worlds(kept: pathlib.Path | None = None) -> Iterator[Worlds]:
    with tempfile.TemporaryDirectory(prefix="dynatrain-oracle-") as folder:
        running = Worlds(pathlib.Path(folder), kept)
        try:
            yield running
        finally:
            running.close()
