"""The count at the end of a run is what CI believes, so each way of not passing must show in it."""

from __future__ import annotations

import contextlib
import json
import pathlib
import time

import commands
import results
from results import Outcome


def configured(label: str, kind: str = "cc_test rule") -> dict[str, object]:
    return {"id": {"targetConfigured": {"label": label}}, "configured": {"targetKind": kind}}


def summary(label: str, status: str) -> dict[str, object]:
    return {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}}


def completed(label: str, **rest: object) -> dict[str, object]:
    return {"id": {"targetCompleted": {"label": label}}, **rest}


def read(tmp_path: pathlib.Path, exit_code: int, *events: dict[str, object]) -> dict[str, Outcome]:
    report = tmp_path / "events.json"
    report.write_text("\n".join(json.dumps(event) for event in events))
    return {check.name: check.outcome for check in results.bazel_checks(report, exit_code)}


def test_each_test_target_is_one_check(tmp_path: pathlib.Path) -> None:
    events = [configured("//a:x_test"), configured("//a:y_test"), configured("//a:lib", "cc_library rule"),
              completed("//a:lib", completed={"success": True}), completed("//a:x_test", completed={"success": True}),
              summary("//a:x_test", "PASSED"), summary("//a:y_test", "TIMEOUT")]
    assert read(tmp_path, 3, *events) == {"//a:x_test": Outcome.PASSED, "//a:y_test": Outcome.FAILED}


def test_a_flaky_test_has_failed(tmp_path: pathlib.Path) -> None:
    assert read(tmp_path, 0, configured("//a:x_test"), summary("//a:x_test", "FLAKY")) == {"//a:x_test": Outcome.FAILED}


def test_a_skipped_test_has_not_passed(tmp_path: pathlib.Path) -> None:
    events = [configured("//gpu:x_test"), completed("//gpu:x_test", aborted={"reason": "SKIPPED"})]
    assert read(tmp_path, 0, *events) == {"//gpu:x_test": Outcome.SKIPPED}


def test_what_does_not_build_has_failed_be_it_a_test_or_not(tmp_path: pathlib.Path) -> None:
    events = [configured("//a:x_test"), configured("//a:lib", "cc_library rule"), completed("//a:lib"),
              completed("//a:x_test", completed={})]
    assert read(tmp_path, 1, *events) == {"//a:lib": Outcome.FAILED, "//a:x_test": Outcome.FAILED}


def test_a_test_that_never_reported_has_failed(tmp_path: pathlib.Path) -> None:
    assert read(tmp_path, 0, configured("//a:x_test")) == {"//a:x_test": Outcome.FAILED}


def test_a_build_runs_no_test_and_misses_none(tmp_path: pathlib.Path) -> None:
    report = tmp_path / "report.json"
    events = [configured("//a:x_test"), completed("//a:x_test", completed={"success": True}), configured("//a:y_test")]
    report.write_text("\n".join(json.dumps(event) for event in events))
    assert results.bazel_checks(report, 0, ran_tests=False) == []
    report.write_text("\n".join(json.dumps(event) for event in [*events, completed("//a:y_test", completed={})]))
    assert [check.name for check in results.bazel_checks(report, 1, ran_tests=False)] == ["//a:y_test"]


def test_bazel_that_dies_silently_is_a_failure(tmp_path: pathlib.Path) -> None:
    assert results.bazel_checks(tmp_path / "none.json", 37)[0].outcome is Outcome.FAILED
    assert read(tmp_path, commands.TIMED_OUT, configured("//a:x_test"), summary("//a:x_test", "PASSED"))["bazel"] is Outcome.FAILED


JUNIT = """<testsuites><testsuite>
<testcase classname="t" name="good"/>
<testcase classname="t" name="bad"><failure message="assert 1 == 2&#10;more">...</failure></testcase>
<testcase classname="t" name="unready"><error message="fixture died"/></testcase>
<testcase classname="t" name="later"><skipped message="needs a GPU"/></testcase>
</testsuite></testsuites>"""


def test_pytest_cases_are_read_one_by_one(tmp_path: pathlib.Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(JUNIT)
    found = results.pytest_checks("e2e", report, 1)
    assert [check.outcome.value for check in found] == ["passed", "failed", "failed", "skipped"]
    assert found[1] == results.failed("e2e: t::bad", "assert 1 == 2")


def test_pytest_that_finds_nothing_or_dies_is_a_failure(tmp_path: pathlib.Path) -> None:
    for code in (2, 3, 4, 5, commands.TIMED_OUT):
        (only,) = results.pytest_checks("e2e", tmp_path / "none.xml", code)
        assert only.outcome is Outcome.FAILED


def test_the_last_line_counts_and_names_what_failed_before_it() -> None:
    checks = [results.passed("a"), results.failed("b", "why"), results.skipped("c", "no GPU")]
    assert results.summary(checks).splitlines() == ["skipped: c (no GPU)", "failed: b (why)", "1 passed, 1 failed"]


def living(group: int) -> list[str]:
    """The processes of a group that are more than zombies."""
    states = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, pgrp = stat.read_text().rsplit(") ", 1)[1].split()[:3]
            states += [state] if int(pgrp) == group and state != "Z" else []
    return states


def test_a_command_that_takes_too_long_is_ended_with_its_children(tmp_path: pathlib.Path) -> None:
    pid = tmp_path / "pid"
    script = f"trap '' HUP; echo $$ > {pid}; (trap '' TERM; tail -f /dev/null) & tail -f /dev/null"
    assert commands.run(["bash", "-c", script], 1.0) == commands.TIMED_OUT
    deadline = time.monotonic() + 10
    while living(int(pid.read_text())) and time.monotonic() < deadline:
        pass
    assert not living(int(pid.read_text()))


def test_a_command_s_exit_code_comes_back() -> None:
    assert commands.run(["bash", "-c", "exit 7"], 10.0) == 7
