#!/usr/bin/env python3
"""The main job, before your eyes: a PyTorch job is applied, scaled, re-laid-out, drained, and never restarted.

Brings up a real local Kubernetes cluster, installs the Helm chart, runs
examples/gpt/job.yaml and does to it what a user does. Before each act it
prints the kubectl command, after it what the user sees. It exits non-zero if a
check fails; the cluster stays up (make demo-down ends it).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

import install  # noqa: E402
import kube  # noqa: E402
from kube import Cluster, Json  # noqa: E402

JOB, NAMESPACE = "gpt", "default"
MEDIAN_PAUSE_MS, LONGEST_PAUSE_MS = 500, 3000
START_AGAIN_S = 120  # with images that were there already
BOLD, GREEN, RED, PLAIN = ("\033[1m", "\033[32m", "\033[31m", "\033[0m") if sys.stdout.isatty() else ("",) * 4


@dataclasses.dataclass
class Check:
    claim: str
    holds: bool
    seen: str


class Demo:
    """One run: the acts, what was checked, and which processes lived."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.checks: list[Check] = []
        self.survivors: dict[int, tuple[int, int]] = {}  # generation → (lived through it, were meant to)
        self.uid = ""

    # ---- what a user types and sees

    def show(self, *arguments: str, timeout: float = 60) -> str:
        """Prints a kubectl command, runs it, prints what it says."""
        print(f"\n{BOLD}$ kubectl {' '.join(_quoted(a) for a in arguments)}{PLAIN}", flush=True)
        text = self.cluster.kubectl(*arguments, timeout=timeout)
        print(text.rstrip(), flush=True)
        return text

    def see(self) -> None:
        """What the user sees after an act: the job, its pods, the last lines of the loss."""
        self.show("get", f"etj/{JOB}")
        self.show("get", "pods", "-l", f"dynatrain.io/job={JOB}", "-o", "wide")
        status = self.job()["status"]
        first = int(str(status["members"]).replace(",", "-").split("-")[0])
        self.show("logs", f"{JOB}-{first}", "--tail=3")

    def job(self) -> Json:
        return self.cluster.get(f"etj/{JOB}")

    def check(self, claim: str, holds: bool, seen: object) -> None:
        self.checks.append(Check(claim, bool(holds), str(seen)))
        mark = f"{GREEN}ok{PLAIN}" if holds else f"{RED}NOT SO{PLAIN}"
        print(f"  [{mark}] {claim} ({seen})", flush=True)

    # ---- waiting, always for something and never for ever

    def until(self, holds: Callable[[Json], bool], what: str, timeout: float = 120) -> Json:
        print(f"  … until {what}", flush=True)
        return self.cluster.until(holds, f"etj/{JOB}", timeout=timeout, what=what)

    def settled(self, generation: int, replicas: int, timeout: float = 120) -> Json:
        """The job runs `replicas` members in at least `generation`, with no transition going on, and trains."""
        def holds(job: Json) -> bool:
            status = job.get("status", {})
            if (failures := status.get("podFailures", {})).get("count", 0) >= 3:
                raise kube.NotSeen(f"the job's pods end by themselves: {failures['message']} (kubectl logs tells more)")
            return (status.get("generation", 0) >= generation and status.get("replicas") == replicas
                    and status.get("transition", {}).get("phase") in ("Released", None))
        return self.until(holds, f"{replicas} members train in generation {generation} or later", timeout)

    def trained(self, steps: int = 3, timeout: float = 90) -> None:
        """Waits until rank 0 has logged `steps` more steps."""
        first = int(str(self.job()["status"]["members"]).replace(",", "-").split("-")[0])
        follow = subprocess.Popen(["kubectl", "logs", "-f", "--tail=0", f"{JOB}-{first}"], env=self.cluster.environment,
                                  stdout=subprocess.PIPE, text=True)
        assert follow.stdout
        deadline = time.monotonic() + timeout
        try:
            for line in follow.stdout:
                steps -= " loss " in line
                if steps <= 0 or time.monotonic() > deadline:
                    break
        finally:
            follow.kill()
            follow.wait()
        self.check("it trains", steps <= 0, f"rank 0 is {JOB}-{first}")

    # ---- acts

    def act(self, title: str, replicas: int, *arguments: str, stay: Callable[[Json], set[int]] | None = None,
            transitions: int = 1) -> None:
        """Does one thing to the job and checks who lived through it."""
        before = self.job()["status"]
        processes = kube.rank_processes(self.uid)
        print(f"\n{BOLD}━━ {title}{PLAIN}", flush=True)
        self.show(*arguments, timeout=150)
        after = self.settled(before["generation"] + transitions, replicas)["status"]
        self.trained()
        alive = kube.rank_processes(self.uid)
        meant = {key: p for key, p in processes.items()
                 if key[0] in serials(before["members"]) & serials(after["members"])}
        lived = [key for key, p in meant.items() if alive.get(key) == p]
        self.check("the members that stay keep their processes (pid and start time in the host's /proc)",
                   len(lived) == len(meant), f"{len(lived)} of {len(meant)}")
        for generation in range(before["generation"] + 1, after["generation"] + 1):
            self.survivors[generation] = len(lived), len(meant)
        self.see()

    def start(self) -> None:
        print(f"\n{BOLD}━━ Apply the job{PLAIN}", flush=True)
        if JOB in self.cluster.kubectl("get", "etj", "-o", "name"):
            self.show("delete", f"etj/{JOB}", "--wait", timeout=150)
        install.program(self.cluster, ROOT / "examples" / "gpt")
        self.show("apply", "-f", str(ROOT / "examples" / "gpt" / "job.yaml"))
        self.uid = self.job()["metadata"]["uid"]
        self.settled(1, 2, timeout=240)
        self.trained(steps=5)
        self.see()

    def drain(self) -> None:
        """Drains the node of the newest member: one shrink, then one grow when its replacement is ready."""
        status = self.job()["status"]
        serial = max(serials(status["members"]))
        node = self.cluster.get(f"pod/{JOB}-{serial}")["spec"]["nodeName"]
        try:
            self.act(f"Drain {node}, which carries {JOB}-{serial}", status["replicas"], "drain", node, "--ignore-daemonsets",
                     "--delete-emptydir-data", "--force", "--timeout=120s", transitions=2)
        finally:
            self.show("uncordon", node)

    def infeasible(self) -> None:
        """A size outside min..max is refused at once, with the range, and nothing changes."""
        print(f"\n{BOLD}━━ Ask for what can't be had{PLAIN}", flush=True)
        print(f"\n{BOLD}$ kubectl scale etj/{JOB} --replicas=9{PLAIN}")
        try:
            self.cluster.kubectl("scale", f"etj/{JOB}", "--replicas=9")
            said = "nothing"
        except kube.KubectlError as error:
            said = error.stderr.strip()
        print(said)
        self.check("kubectl scale outside min..max is refused with the range", "from 1 to 4" in said, said[-110:])

    # ---- the end

    def table(self) -> None:
        self.show("describe", f"etj/{JOB}")
        status = self.job()["status"]
        rows = [("GEN", "CAUSE", "FROM", "TO", "MOVED", "MINIMAL", "TRANSFER ms", "PAUSE ms", "LIVED")]
        pauses = []
        for entry in status["history"]:
            if entry.get("outcome") not in (None, "Released"):
                continue
            generation = int(entry["generation"])
            lived, meant = self.survivors.get(generation, (0, 0))
            rows.append((str(generation), entry["cause"], entry.get("from", "") or "-", entry["to"], _mib(entry.get("movedBytes", 0)),
                         _mib(entry.get("minimalBytes", 0)), str(entry.get("transferMs", 0)),
                         str(entry.get("pauseMs", 0)), f"{lived} of {meant}"))
            if generation > 1:
                pauses.append(float(entry["pauseMs"]))
                # What the transports count has digests, headers and the state that is no tensor in it.
                moved, minimal = entry["movedBytes"], entry["minimalBytes"]
                self.check(f"generation {generation} moved what had to move and no tensor byte more",
                           minimal <= moved <= minimal * 1.002 + 16384, f"{moved} bytes, minimum {minimal}")
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        print(f"\n{BOLD}━━ Transitions{PLAIN}")
        for row in rows:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        print("\nWhat each pause was made of:")
        for entry in status["history"]:
            print(f"  {entry['summary']}")
        print()
        self.check("at least six transitions", len(pauses) >= 6, len(pauses))
        if pauses:
            self.check(f"the median pause is at most {MEDIAN_PAUSE_MS} ms", statistics.median(pauses) <= MEDIAN_PAUSE_MS,
                       f"{statistics.median(pauses):.0f} ms")
            self.check(f"no pause is above {LONGEST_PAUSE_MS} ms", max(pauses) <= LONGEST_PAUSE_MS, f"{max(pauses):.0f} ms")

    def run(self) -> bool:
        self.start()
        self.act("Scale up", 3, "scale", f"etj/{JOB}", "--replicas=3")
        self.act("Another layout at the same size", 3, "patch", f"etj/{JOB}", "--type=merge", "-p",
                 json.dumps({"spec": {"parallelism": {"dp": 1, "tp": 3}}}))
        self.act("Free the layout again", 3, "patch", f"etj/{JOB}", "--type=merge", "-p",
                 json.dumps({"spec": {"parallelism": {"dp": {"min": 1, "max": 4}, "tp": 1}}}))
        self.drain()
        self.act("Scale down to one", 1, "scale", f"etj/{JOB}", "--replicas=1")
        self.act("And back to two", 2, "scale", f"etj/{JOB}", "--replicas=2")
        self.infeasible()
        self.table()
        wrong = [c for c in self.checks if not c.holds]
        for c in wrong:
            print(f"{RED}NOT SO{PLAIN}: {c.claim} ({c.seen})")
        print(f"{len(self.checks) - len(wrong)} checks hold, {len(wrong)} do not")
        return not wrong


def serials(members: str) -> set[int]:
    """The serials of "0-2,5"."""
    found: set[int] = set()
    for part in filter(None, str(members).split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def image_names() -> str:
    """What the images are called, by content; "" if there are none."""
    values = install.IMAGES / "values.yaml"
    return values.read_text() if values.exists() else ""


def _mib(count: int) -> str:
    return f"{count / 2**20:.1f} MiB"


def _quoted(argument: str) -> str:
    return f"'{argument}'" if set(argument) & set("{}'\" ") else argument


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cluster", default="dynatrain", help="name of the local cluster (default: %(default)s)")
    parser.add_argument("--nodes", type=int, default=3, help="its nodes, if it has to be brought up (default: %(default)s)")
    arguments = parser.parse_args()
    began, images = time.monotonic(), image_names()
    cluster = install.everything(arguments.cluster, arguments.nodes)
    ready_s = time.monotonic() - began
    print(f"Ready after {ready_s:.0f} s. To look around yourself: eval \"$(tools/cluster/cluster env)\"", flush=True)
    demo = Demo(cluster)
    if images and images == image_names():
        demo.check(f"a demo that has nothing to build is ready within {START_AGAIN_S} s", ready_s <= START_AGAIN_S, f"{ready_s:.0f} s")
    return 0 if demo.run() else 1


if __name__ == "__main__":
    sys.exit(main())
