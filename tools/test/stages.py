"""The stages of a test run, in order. A stage returns its checks; one that cannot start is a failed check."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable

import commands
import results
from commands import ROOT
from results import Check

MINUTE_S = 60


@dataclasses.dataclass(frozen=True)
class Stage:
    """`work` proves something and says what; `short` and `long`: in which runs it takes part."""

    name: str
    work: Callable[[], list[Check]]
    short: bool = True
    long: bool = True


def python() -> pathlib.Path:
    """The interpreter of the Python environment that tools/setup/python makes."""
    show = 'cd "$1" && . ./common.sh && printf %s "$PYTHON_ENV"'
    folder = subprocess.run(["bash", "-c", show, "bash", ROOT / "tools" / "setup"], check=True, capture_output=True, text=True)
    return pathlib.Path(folder.stdout) / "bin" / "python"


def setup(*steps: str) -> Callable[[], list[Check]]:
    """Sets up what the machine lacks. Having set it up proves nothing, so only a failure counts."""
    def work() -> list[Check]:
        codes = {step: commands.run([ROOT / "tools" / "setup" / step], 60 * MINUTE_S) for step in steps}
        return [results.failed(f"setup: {step}", f"exit code {code}") for step, code in codes.items() if code]
    return work


def lint() -> list[Check]:
    """Each script in tools/lint/checks is one check."""
    checks = []
    for script in sorted((ROOT / "tools" / "lint" / "checks").iterdir()):
        code = commands.run([script], 20 * MINUTE_S)
        name = f"lint: {script.name}"
        checks.append(results.failed(name, f"exit code {code}: see above") if code else results.passed(name))
    return checks


def bazel(*options: str, limit_s: float = 70 * MINUTE_S, verb: str = "test") -> Callable[[], list[Check]]:
    """All C++ targets are built and all C++ tests run, in the configuration that `options` say."""
    def work() -> list[Check]:
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "events.json"
            command = ["bazel", verb, *options, "--keep_going", "--show_progress_rate_limit=20",
                       f"--build_event_json_file={report}", "//..."]
            code = commands.run(command, limit_s)
            checks = results.bazel_checks(report, code, ran_tests=verb == "test")
        if verb == "build" and not code:
            checks.append(results.passed("bazel build " + " ".join(options)))
        return checks
    return work


def pytest(suite: str, *paths: str, limit_s: float = 20 * MINUTE_S, marked: str = "not long") -> Callable[[], list[Check]]:
    """The pytest cases under `paths`. A path that isn't there is a failure: tests don't vanish unnoticed."""
    def work() -> list[Check]:
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "junit.xml"
            command = [str(python()), "-m", "pytest", "-q", "-m", marked, f"--junitxml={report}", *paths]
            path = os.pathsep.join(filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")]))
            code = commands.run(command, limit_s, {"PYTHONPATH": path})
            return results.pytest_checks(suite, report, code)
    return work


# Folders of tests/ with a stage of their own.
STRUCTURE, CLUSTER, END_TO_END = ("tests/direction", "tests/binaries"), "tests/cluster", "tests/e2e"


def folders() -> list[str]:
    """Every other folder of tests/ with pytest cases, so that a new one is never forgotten."""
    found = {str(path.parent.relative_to(ROOT)) for path in (ROOT / "tests").glob("*/test_*.py")}
    return sorted(found - {*STRUCTURE, CLUSTER, END_TO_END})


def each_folder(limit_s: float, marked: str = "not long") -> Callable[[], list[Check]]:
    """One pytest run per folder: their helpers have names of their own, and one that hangs doesn't take the others along."""
    def work() -> list[Check]:
        checks = []
        for folder in folders():
            print(f"--> {folder}", flush=True)
            checks += pytest(folder.removeprefix("tests/"), folder, limit_s=limit_s, marked=marked)()
        return checks
    return work


STAGES = [
    Stage("setup", setup("abseil", "bazelrc", "python", "buildifier")),
    Stage("lint", lint),
    Stage("c++", bazel(), long=False),
    Stage("structure", pytest("structure", *STRUCTURE, limit_s=20 * MINUTE_S)),
    Stage("tools", pytest("tools", "tools", limit_s=5 * MINUTE_S)),
    Stage("setup-cluster", setup("kubernetes", "megatron")),
    Stage("python", each_folder(20 * MINUTE_S), long=False),
    Stage("cluster", pytest("cluster", CLUSTER, limit_s=10 * MINUTE_S), long=False),
    Stage("end-to-end", pytest("end-to-end", END_TO_END, limit_s=40 * MINUTE_S), long=False),
    Stage("clang", bazel("--config=clang", verb="build", limit_s=90 * MINUTE_S), short=False),
    Stage("asan", bazel("--config=asan", limit_s=90 * MINUTE_S), short=False),
    Stage("tsan", bazel("--config=tsan", limit_s=120 * MINUTE_S), short=False),
    Stage("c++ long", bazel("--config=long", limit_s=180 * MINUTE_S), short=False),
    Stage("python long", each_folder(60 * MINUTE_S, marked=""), short=False),
    Stage("end-to-end long", pytest("end-to-end", END_TO_END, limit_s=120 * MINUTE_S, marked=""), short=False),
]
