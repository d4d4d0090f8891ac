"""An ElasticTrainingJob as a test handles it: what a user does to it, and what a user can wait for."""

from __future__ import annotations

import copy
import json
import subprocess
import threading
from collections.abc import Callable

import install
import kube
from kube import Cluster, Json


class TrainingJob:
    """An ElasticTrainingJob as a user handles it."""

    NAME = "job"

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.cluster, self.namespace = cluster, namespace
        self.uid = ""

    # ---- kubectl

    def kubectl(self, *arguments: str, timeout: float = 60, stdin: str | None = None) -> str:
        return self.cluster.kubectl("-n", self.namespace, *arguments, timeout=timeout, stdin=stdin)

    def get(self) -> Json:
        return self.cluster.get("-n", self.namespace, f"etj/{self.NAME}")

    @property
    def status(self) -> Json:
        status: Json = self.get().get("status", {})
        return status

    def scale(self, replicas: int) -> None:
        self.kubectl("scale", f"etj/{self.NAME}", f"--replicas={replicas}")

    def patch(self, spec: Json) -> None:
        self.kubectl("patch", f"etj/{self.NAME}", "--type=merge", "-p", json.dumps({"spec": spec}))

    def until(self, holds: Callable[[Json], bool], what: str, timeout: float = 90) -> Json:
        return self.cluster.until(holds, "-n", self.namespace, f"etj/{self.NAME}", timeout=timeout, what=what)

    # ---- what tests wait for

    def settled(self, replicas: int, generation: int = 1, timeout: float = 120) -> Json:
        """Until `replicas` members train in at least that generation and no transition is going on; the status then."""
        def holds(job: Json) -> bool:
            status = job.get("status", {})
            return (status.get("generation", 0) >= generation and status.get("replicas") == replicas
                    and status.get("transition", {}).get("phase") in (None, "", "Released"))
        status: Json = self.until(holds, f"{replicas} members in generation ≥ {generation}", timeout).get("status", {})
        return status

    def condition(self, kind: str, status: str = "True", timeout: float = 90) -> Json:
        """Until the condition has that status; the condition then."""
        job = self.until(lambda j: kube.condition(j, kind).get("status") == status, f"condition {kind}={status}", timeout)
        return kube.condition(job, kind)

    def serials(self) -> list[int]:
        pods = self.cluster.get("-n", self.namespace, "pods", "-l", f"dynatrain.io/job={self.NAME}")["items"]
        return sorted(int(p["metadata"]["labels"]["dynatrain.io/serial"]) for p in pods)

    def log(self, serial: int, *arguments: str) -> str:
        return self.kubectl("logs", f"{self.NAME}-{serial}", *arguments)

    def log_until(self, serial: int, holds: Callable[[str], bool], what: str, timeout: float = 90) -> list[str]:
        """Follows a pod's log until `holds(line)`; the lines so far."""
        command = ["kubectl", "-n", self.namespace, "logs", "-f", f"{self.NAME}-{serial}"]
        lines: list[str] = []
        with subprocess.Popen(command, env=self.cluster.environment, stdout=subprocess.PIPE, text=True) as follow:
            assert follow.stdout
            killer = _Deadline(follow, timeout)
            try:
                for line in follow.stdout:
                    lines.append(line.rstrip())
                    if holds(line):
                        return lines
            finally:
                killer.cancel()
                follow.kill()
        raise kube.NotSeen(f"{what}: not in the log of {self.NAME}-{serial} within {timeout:.0f} s; last lines: {lines[-5:]}")

    def processes(self) -> dict[tuple[int, int], kube.Process]:
        return kube.rank_processes(self.uid)

    # ---- making it

    def apply(self, *, replicas: int = 2, minimum: int = 1, maximum: int = 4, ranks: int = 1, parallelism: Json | None = None,
              program: str = "small.py", arguments: list[str] | None = None, memory: str = "2Gi", spec: Json | None = None,
              policy: Json | None = None, pod: Json | None = None) -> None:
        """Applies the job; `spec`, `policy` (elasticPolicy) and `pod` (pod spec) are merged over the defaults."""
        manifest = self.manifest(replicas, minimum, maximum, ranks, parallelism, program, arguments or [], memory)
        manifest["spec"] |= spec or {}
        manifest["spec"]["elasticPolicy"] |= policy or {}
        manifest["spec"]["template"]["spec"] |= pod or {}
        self.kubectl("apply", "-f", "-", stdin=json.dumps(manifest))
        self.uid = self.get()["metadata"]["uid"]

    def manifest(self, replicas: int, minimum: int, maximum: int, ranks: int, parallelism: Json | None, program: str,
                 arguments: list[str], memory: str) -> Json:
        """The example's job.yaml with another program and other numbers, so that tests run what the example shows."""
        text = self.kubectl("create", "--dry-run=client", "-o", "json", "-f", str(kube.ROOT / "examples" / "gpt" / "job.yaml"))
        manifest: Json = copy.deepcopy(json.loads(text))
        manifest["metadata"] = {"name": self.NAME, "namespace": self.namespace}
        manifest["spec"] |= {"replicas": replicas, "ranksPerReplica": ranks,
                             "parallelism": parallelism or {"dp": {"min": 1, "max": 8}, "tp": {"min": 1, "max": 8}}}
        manifest["spec"]["elasticPolicy"] |= {"minReplicas": minimum, "maxReplicas": maximum}
        template = manifest["spec"]["template"]["spec"]
        container = template["containers"][0]
        python = container["command"][0]
        container["command"] = [python, f"/program/{program}", *arguments]
        container.pop("args", None)
        container["resources"] = {"limits": {"memory": memory}}
        for volume in template["volumes"]:
            if "configMap" in volume:
                volume["configMap"]["name"] = "program"
        return manifest

    def tell(self) -> None:
        """Shows what a person would look at."""
        for arguments in (("describe", f"etj/{self.NAME}"), ("get", "pods", "-o", "wide")):
            try:
                print(self.kubectl(*arguments))
            except kube.KubectlError as error:
                print(error)
        for serial in self.serials():
            try:
                print(f"--- log of {self.NAME}-{serial}\n" + self.log(serial, "--tail=25"))
            except kube.KubectlError as error:
                print(error)
        print("--- operator\n" + self.cluster.kubectl("-n", install.NAMESPACE, "logs", "deployment/dynatrain-operator", "--tail=40"))


class _Deadline:
    """Kills a process after a time, so that reading its output ends."""

    def __init__(self, process: subprocess.Popen[str], seconds: float) -> None:
        self._timer = threading.Timer(seconds, process.kill)
        self._timer.start()

    def cancel(self) -> None:
        self._timer.cancel()
