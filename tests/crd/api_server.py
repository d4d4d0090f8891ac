"""A real kube-apiserver with its etcd, alone on loopback: no kubelet, no controllers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

KUBERNETES_VERSION = "v1.34.4"
CACHE = Path(os.environ.get("DYNATRAIN_CACHE", Path.home() / ".cache/dynatrain"))
ETCD = CACHE / "etcd-v3.6.5/etcd"
BINARIES = CACHE / f"kubernetes-{KUBERNETES_VERSION}"
HELM = CACHE / "helm-v3.22.0/helm"
TOKEN = "crd-test"
START_TIMEOUT_S = 90


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class ApiServer:
    """Starts on entering, ends its two processes on leaving."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self._url = ""
        self._kubectl: list[str] = []
        self._helm: list[str] = []

    def __enter__(self) -> ApiServer:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def kubectl(self, *arguments: str, manifest: Any = None) -> subprocess.CompletedProcess[str]:
        """Runs kubectl; `manifest` goes to its standard input as JSON."""
        return subprocess.run(
            [*self._kubectl, *arguments],
            input=None if manifest is None else json.dumps(manifest),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def helm(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self._helm, *arguments], capture_output=True, text=True, timeout=60, check=False)

    def get(self, *arguments: str) -> Any:
        """The object that `kubectl get ARGUMENTS -o json` prints."""
        result = self.kubectl("get", *arguments, "-o", "json")
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    @property
    def url(self) -> str:
        return self._url

    @property
    def authority(self) -> Path:
        """The certificate that the server shows is its own authority."""
        return self._folder / "certificates" / "apiserver.crt"

    def signal_server(self, number: int) -> None:
        """Sends a signal to kube-apiserver; etcd goes on."""
        self._processes[-1].send_signal(number)

    def wait_for(self, what: str, *arguments: str) -> None:
        """Returns once kubectl succeeds with these arguments."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while (tried := self.kubectl(*arguments)).returncode != 0:
            for process in self._processes:
                if process.poll() is not None:
                    raise RuntimeError(f"{process.args!r} ended; see the logs in {self._folder}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"no {what} after {START_TIMEOUT_S} s: {tried.stderr}")
            time.sleep(0.2)

    def _start(self) -> None:
        etcd_port, peer_port, port = _free_ports(3)
        etcd = f"http://127.0.0.1:{etcd_port}"
        peer = f"http://127.0.0.1:{peer_port}"
        self._run(
            str(ETCD),
            f"--data-dir={self._folder}/etcd",
            f"--listen-client-urls={etcd}",
            f"--advertise-client-urls={etcd}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
        )
        key = self._folder / "sa.key"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        tokens = self._folder / "tokens.csv"
        tokens.write_text(f'{TOKEN},admin,admin,"system:masters"\n')
        self._run(
            str(BINARIES / "kube-apiserver"),
            f"--etcd-servers={etcd}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={self._folder}/certificates",
            f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.96.0.0/24",
        )
        self._url = f"https://127.0.0.1:{port}"
        self._kubectl = [
            str(BINARIES / "kubectl"),
            f"--server={self._url}",
            "--insecure-skip-tls-verify",
            f"--token={TOKEN}",
            f"--cache-dir={self._folder}/kubectl",
            "--kubeconfig=/dev/null",
        ]
        self._helm = [
            str(HELM),
            f"--kube-apiserver={self._url}",
            "--kube-insecure-skip-tls-verify",
            f"--kube-token={TOKEN}",
            "--kubeconfig=/dev/null",
        ]
        self.wait_for("/readyz", "get", "--raw", "/readyz")

    def _run(self, program: str, *arguments: str) -> None:
        log = (self._folder / f"{Path(program).name}.log").open("wb")
        self._processes.append(subprocess.Popen([program, *arguments], stdout=log, stderr=log))

    def _stop(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
