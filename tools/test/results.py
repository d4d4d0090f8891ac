"""What a stage found: checks that passed, failed or were skipped, read from Bazel's and pytest's own reports."""

from __future__ import annotations

import dataclasses
import enum
import json
import pathlib
import xml.etree.ElementTree
from collections.abc import Iterable
from typing import Any


class Outcome(enum.Enum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclasses.dataclass(frozen=True)
class Check:
    """One thing that was proved or not: a Bazel test target, a pytest case, a linter's verdict."""

    name: str
    outcome: Outcome
    reason: str = ""


def passed(name: str) -> Check:
    return Check(name, Outcome.PASSED)


def failed(name: str, reason: str) -> Check:
    return Check(name, Outcome.FAILED, reason)


def skipped(name: str, reason: str) -> Check:
    return Check(name, Outcome.SKIPPED, reason)


# Bazel's exit codes that its report explains by itself: all well, and "some tests failed".
BAZEL_EXPLAINED = (0, 3)


def bazel_checks(report: pathlib.Path, exit_code: int, ran_tests: bool = True) -> list[Check]:
    """Reads the build events (--build_event_json_file) of one `bazel test`, or `build` if not `ran_tests`.

    Each test target is one check, if tests ran; a target that did not build is
    a failed one, be it a test or not. If Bazel failed and the report doesn't
    say why, that is a failed check of its own: silence is never success.
    """
    tests: set[str] = set()
    results: dict[str, Check] = {}
    for event in _events(report):
        identity = event.get("id", {})
        if ran_tests and "targetConfigured" in identity and _is_test(event):
            tests.add(identity["targetConfigured"]["label"])
        elif "testSummary" in identity:
            label = identity["testSummary"]["label"]
            results[label] = _test_check(label, event.get("testSummary", {}).get("overallStatus", "NO_STATUS"))
        elif "targetCompleted" in identity:
            label = identity["targetCompleted"]["label"]
            broken = _incomplete(label, event)
            if broken:
                results.setdefault(label, broken)
    for label in tests - set(results):
        results[label] = failed(label, "no result")
    checks = [results[label] for label in sorted(results)]
    if exit_code not in BAZEL_EXPLAINED and not any(c.outcome is Outcome.FAILED for c in checks):
        checks.append(failed("bazel", f"ended with exit code {exit_code}: see its output above"))
    return checks


def _events(report: pathlib.Path) -> Iterable[dict[str, Any]]:
    if report.exists():
        for line in report.read_text().splitlines():
            yield json.loads(line)


def _is_test(event: dict[str, Any]) -> bool:
    return str(event.get("configured", {}).get("targetKind", "")).endswith("_test rule")


def _test_check(label: str, status: str) -> Check:
    # FLAKY passed in the end, but the same input gave two results: that is a failure to look at.
    return passed(label) if status == "PASSED" else failed(label, status.lower().replace("_", " "))


def _incomplete(label: str, event: dict[str, Any]) -> Check | None:
    if event.get("completed", {}).get("success"):
        return None
    aborted = event.get("aborted", {})
    if aborted.get("reason") == "SKIPPED":
        return skipped(label, "its platform is not this one")
    return failed(label, f"did not build: {aborted.get('description') or 'see above'}")


def pytest_checks(suite: str, report: pathlib.Path, exit_code: int) -> list[Check]:
    """Reads the JUnit report of one pytest run; each case is a check named SUITE: FILE::CASE."""
    checks = []
    if report.exists():
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            checks.append(_case_check(f"{suite}: {case.get('classname')}::{case.get('name')}", case))
    if exit_code and not any(c.outcome is Outcome.FAILED for c in checks):
        meaning = {2: "interrupted", 4: "usage error", 5: "no tests found"}.get(exit_code, f"exit code {exit_code}")
        checks.append(failed(f"{suite}: pytest", meaning))
    return checks


def _case_check(name: str, case: xml.etree.ElementTree.Element) -> Check:
    for child in case:
        if child.tag in ("failure", "error"):
            return failed(name, (child.get("message") or child.tag).splitlines()[0][:200])
        if child.tag == "skipped":
            return skipped(name, child.get("message") or "")
    return passed(name)


def summary(checks: Iterable[Check], limit: int = 50) -> str:
    """The text that ends a run: what failed and what was skipped by name, then the one line `N passed, N failed`."""
    by_outcome: dict[Outcome, list[Check]] = {outcome: [] for outcome in Outcome}
    for check in checks:
        by_outcome[check.outcome].append(check)
    lines = []
    for outcome in (Outcome.SKIPPED, Outcome.FAILED):
        named = by_outcome[outcome]
        lines += [f"{outcome.value}: {c.name}" + (f" ({c.reason})" if c.reason else "") for c in named[:limit]]
        if len(named) > limit:
            lines.append(f"{outcome.value}: and {len(named) - limit} more")
    lines.append(f"{len(by_outcome[Outcome.PASSED])} passed, {len(by_outcome[Outcome.FAILED])} failed")
    return "\n".join(lines)
