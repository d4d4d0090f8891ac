"""What our binaries need and show, read from their ELF tables.

The runtime library is loaded into processes that hold PyTorch with its own
protobuf, gRPC and Abseil; the agent is brought into images we know nothing of.
"""

from __future__ import annotations

import functools
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAY_NEED = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}


def output(*command: str | pathlib.Path) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@functools.cache
def built(package: str, name: str) -> pathlib.Path:
    output("bazel", "build", "--noshow_progress", "--ui_event_filters=-info", f"//{package}:{name}")
    return ROOT / "bazel-bin" / package / name


def library() -> pathlib.Path:
    return built("agent/runtime", "libdynatrain.so")


def exported() -> set[str]:
    lines = output("nm", "--dynamic", "--defined-only", "--extern-only", "--format=posix", library()).splitlines()
    return {line.split()[0].split("@")[0] for line in lines}


def declared() -> set[str]:
    """The functions of the C header, without its comments."""
    header = re.sub(r"/\*.*?\*/", "", (ROOT / "agent" / "runtime" / "dynatrain.h").read_text(), flags=re.DOTALL)
    return set(re.findall(r"\b(dt_\w+)\(", header))


def test_the_runtime_needs_only_what_every_python_has() -> None:
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", library())))
    assert "libc.so.6" in needed
    assert needed <= MAY_NEED


def test_the_runtime_shows_nothing_but_its_c_abi() -> None:
    assert exported() - declared() == set()


def test_the_runtime_shows_all_of_its_c_abi() -> None:
    assert declared() - exported() == set()


def test_the_runtime_loads_without_our_help() -> None:
    show = f"import ctypes, os; print(ctypes.CDLL({str(library())!r}, os.RTLD_NOW | os.RTLD_LOCAL).dt_abi_version())"
    version = output("/usr/bin/env", "-i", "/usr/bin/python3", "-c", show).strip()
    assert f"#define DT_ABI_VERSION {version}\n" in (ROOT / "agent" / "runtime" / "dynatrain.h").read_text()


def test_the_agent_is_static() -> None:
    agent = built("agent", "dynatrain-agent")
    assert "NEEDED" not in output("readelf", "--dynamic", agent)
    assert "INTERP" not in output("readelf", "--program-headers", agent)
