"""What a test of the whole operator needs: a namespace, a fake node, operators that can be started and killed, and eyes."""

from __future__ import annotations

import json
import pathlib
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from types import TracebackType
from typing import Any

from api_server import TOKEN, ApiServer

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPERATOR = ROOT / "bazel-bin" / "operator" / "dynatrain-operator"
FAKE_NODE = ROOT / "bazel-bin" / "tests" / "kube" / "fake_node"
JOBS = "apis/dynatrain.io/v1alpha1"
WAIT_S = 30.0


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Kube:
    """Requests without kubectl, which costs a process each."""

    def __init__(self, api: ApiServer) -> None:
        self._url = api.url
        self._tls = ssl.create_default_context(cafile=str(api.authority))

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        request = urllib.request.Request(
            f"{self._url}/{path}", method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": kind})
        with urllib.request.urlopen(request, context=self._tls, timeout=10) as answer:
            return json.load(answer)

    def find(self, path: str) -> Any:
        """The object, or None."""
        try:
            return self.call("GET", path)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise


class World:
    def __init__(self, api: ApiServer, folder: pathlib.Path, number: int) -> None:
        self.api = api
        self.folder = folder
        self.namespace = f"t{number}"
        self.kube = Kube(api)
        self._port = free_port()
        self._network = 20 + number % 200
        self._processes: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._control: dict[str, Any] = {}
        self.kubeconfig = folder / "kubeconfig"
        self._secret = folder / "root-secret"

    def __enter__(self) -> World:
        self._secret.write_text("a secret of at least sixteen bytes")
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": self.api.url, "certificate-authority": str(self.api.authority)}}],
            "users": [{"name": "u", "user": {"token": TOKEN}}]}))
        self.kube.call("POST", "api/v1/namespaces", {"metadata": {"name": self.namespace}})
        # No controller makes it here, and without it pods are refused.
        self.kube.call("POST", f"api/v1/namespaces/{self.namespace}/serviceaccounts", {"metadata": {"name": "default"}})
        self.control()
        self._start("node", [str(FAKE_NODE), f"--kubeconfig={self.kubeconfig}", f"--agent_port={self._port}", f"--network={self._network}",
                             f"--ns={self.namespace}", f"--control={self.folder / 'control.json'}"])
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for _, process in reversed(self._processes):
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()
        # pytest shows it only if the test failed.
        for log in sorted(self.folder.glob("*.log")):
            print(f"--- {log.name}\n{log.read_text()[-6000:]}")

    # ---- acts

    def _start(self, name: str, command: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        self._processes.append((name, process))
        return process

    def operator(self, *flags: str, name: str = "operator") -> subprocess.Popen[bytes]:
        return self._start(name, [
            str(OPERATOR), f"--kubeconfig={self.kubeconfig}", f"--namespace={self.namespace}", f"--root-secret-file={self._secret}",
            "--agent-image=agent:1", f"--agent-port={self._port}", "--health-address=127.0.0.1:0", *flags])

    def processes(self, name: str) -> list[subprocess.Popen[bytes]]:
        return [process for other, process in self._processes if other == name]

    def control(self, **trouble: Any) -> None:
        """What goes wrong on the node: see fake_node.h."""
        self._control |= trouble
        fresh = self.folder / "control.new"
        fresh.write_text(json.dumps(self._control))
        fresh.rename(self.folder / "control.json")

    def apply(self, replicas: int, name: str = "gpt", **spec: Any) -> None:
        container = {"name": "train", "image": "i", "command": ["python", "train.py"]}
        self.kube.call("POST", f"{JOBS}/namespaces/{self.namespace}/elastictrainingjobs", {
            "apiVersion": "dynatrain.io/v1alpha1", "kind": "ElasticTrainingJob", "metadata": {"name": name},
            "spec": {"replicas": replicas, "elasticPolicy": {"minReplicas": 1, "maxReplicas": 4, "scaleUpDelaySeconds": 3},
                     "parallelism": {"dp": {"min": 1, "max": 4}}, "template": {"spec": {"containers": [container]}}, **spec}})

    def path(self, name: str) -> str:
        return f"{JOBS}/namespaces/{self.namespace}/elastictrainingjobs/{name}"

    def scale(self, replicas: int, name: str = "gpt") -> None:
        self.kube.call("PATCH", f"{self.path(name)}/scale", {"spec": {"replicas": replicas}}, "application/merge-patch+json")

    def edit(self, spec: Any, name: str = "gpt") -> None:
        self.kube.call("PATCH", self.path(name), {"spec": spec}, "application/merge-patch+json")

    def mark(self, name: str = "gpt") -> str:
        """Writes something to the job that means nothing; the version that it has then."""
        body = {"metadata": {"annotations": {"test/mark": self.version(name)}}}
        marked = self.kube.call("PATCH", self.path(name), body, "application/merge-patch+json")
        return str(marked["metadata"]["resourceVersion"])

    def delete(self, path: str) -> None:
        self.kube.call("DELETE", path)

    def evict(self, pod: str) -> None:
        self.kube.call("POST", f"api/v1/namespaces/{self.namespace}/pods/{pod}/eviction", {
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": self.namespace}})

    # ---- eyes

    def status(self, name: str = "gpt") -> dict[str, Any]:
        job = self.kube.find(self.path(name))
        return {} if job is None else dict(job.get("status", {}))

    def version(self, name: str = "gpt") -> str:
        """Changes with each write to the job."""
        return str(self.kube.call("GET", self.path(name))["metadata"]["resourceVersion"])

    def condition(self, kind: str) -> dict[str, Any]:
        return next((dict(c) for c in self.status().get("conditions", []) if c["type"] == kind), {})

    def pods(self) -> dict[str, Any]:
        items = self.kube.call("GET", f"api/v1/namespaces/{self.namespace}/pods")["items"]
        return {pod["metadata"]["name"]: pod for pod in items}

    def events(self) -> list[str]:
        items = self.kube.call("GET", f"apis/events.k8s.io/v1/namespaces/{self.namespace}/events")["items"]
        return [event["reason"] for event in items]

    def commands(self) -> list[dict[str, Any]]:
        """What the agents were told, in order."""
        lines = (self.folder / "node.log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def log(self, name: str = "operator") -> str:
        return (self.folder / f"{name}.log").read_text()

    def wait(self, what: str, true: Callable[[], Any], seconds: float = WAIT_S) -> Any:
        end = time.monotonic() + seconds
        while not (value := true()):
            assert time.monotonic() < end, f"not after {seconds} s: {what}; status: {json.dumps(self.status(), indent=1)}"
            time.sleep(0.05)
        return value

    def wait_settled(self, replicas: int, generation: int | None = None) -> dict[str, Any]:
        """Until so many pods train and nothing moves; the status then."""
        def settled() -> dict[str, Any] | None:
            status = self.status()
            transition = status.get("transition", {})
            moving = transition.get("phase") in ("Planned", "Draining", "Committed")
            right = status.get("phase") == "Running" and status.get("replicas") == replicas and not moving
            return status if right and (generation is None or status["generation"] == generation) else None
        found = self.wait(f"{replicas} pods train", settled)
        assert isinstance(found, dict)
        return found
