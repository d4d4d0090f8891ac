"""The local cluster is what the other tests stand on: is it a real one, and do its nodes fail as real ones do?"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = f"t{os.getpid() % 100000}"
IMAGE = "localhost/python-base:1"


def cluster(*arguments: str, name: str = NAME, stdin: str | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([ROOT / "tools" / "cluster" / "cluster", *arguments], env=os.environ | {"DYNATRAIN_CLUSTER": name},
                          capture_output=True, text=True, timeout=300, input=stdin)
    assert not check or done.returncode == 0, f"cluster {' '.join(arguments)}: {done.stderr}"
    return done


def kubectl(*arguments: str, stdin: str | None = None) -> str:
    return cluster("kubectl", *arguments, stdin=stdin).stdout


def pod(name: str, node: str, *program: str, probe: dict[str, object] | None = None) -> dict[str, object]:
    """A pod that runs Python from the machine's own /usr and virtual environment, as any user; `probe` says when it is ready."""
    mounts = {"usr": ("/usr", "/usr"), "venv": ("/var/lib/dynatrain/python", "/venv")}
    container = {
        "name": "main", "image": IMAGE, "imagePullPolicy": "Never", "command": ["/venv/bin/python", *program],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True, "runAsUser": 1000},
        "volumeMounts": [{"name": key, "mountPath": inside, "readOnly": True} for key, (_, inside) in mounts.items()],
        "readinessProbe": probe}
    volumes = [{"name": key, "hostPath": {"path": outside, "type": "Directory"}} for key, (outside, _) in mounts.items()]
    spec = {"restartPolicy": "Never", "nodeName": node, "containers": [container], "volumes": volumes, "terminationGracePeriodSeconds": 1,
            "dnsPolicy": "Default", "tolerations": [{"operator": "Exists"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def serve(name: str, node: str) -> str:
    """Starts a pod with an HTTP server; its address. It is ready once the server listens."""
    probe = {"tcpSocket": {"port": 8000}, "periodSeconds": 1}
    kubectl("apply", "-f", "-", stdin=json.dumps(pod(name, node, "-m", "http.server", "8000", probe=probe)))
    kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=60s")
    return kubectl("get", "pod", name, "-o", "jsonpath={.status.podIP}")


def reaches(client: str, address: str) -> bool:
    program = f"import urllib.request as r; r.urlopen('http://{address}:8000/etc/passwd', timeout=2).read()"
    return cluster("kubectl", "exec", client, "--", "/venv/bin/python", "-c", program, check=False).returncode == 0


def processes(folder: str) -> list[str]:
    """Command lines of what lives below a folder of the cluster's state, or was started from it."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if folder in line and "test_cluster" not in line:
            found.append(line)
    return found


def network_of(entry: pathlib.Path) -> str:
    try:
        return os.readlink(entry / "ns" / "net")
    except OSError:
        return ""


def traces(name: str) -> dict[str, set[str]]:
    """What a cluster of that name has on this machine, by kind."""
    folder, ours = f"/clusters/{name}/", network_of(pathlib.Path("/proc/self"))
    inside = [entry for entry in pathlib.Path("/proc").glob("[0-9]*") if network_of(entry) not in ("", ours)]
    mine = {entry.name for entry in inside if folder in read(entry / "mountinfo") or folder in read(entry / "cmdline")}
    networks = {network_of(pathlib.Path("/proc") / pid) for pid in mine}
    return {
        # Whatever lives in its networks: containers don't tell the folder in their arguments.
        "processes": {entry.name for entry in inside if network_of(entry) in networks} | set(processes(folder)),
        "mounts": {line for line in read(pathlib.Path("/proc/mounts")).splitlines() if folder in line},
        "files": {str(path) for path in (pathlib.Path("/var/lib/dynatrain/clusters") / name, pathlib.Path(f"/run/netns/dynatrain-{name}"))
                  if path.exists()},
        "doors": {line.split()[3] for line in listening() if f"netns/dynatrain-{name}" in line}}


def listening() -> list[str]:
    """The machine's listening ports, each with the command line of whose it is."""
    lines = subprocess.run(["ss", "-Hltnp"], check=True, capture_output=True, text=True).stdout.splitlines()
    return [line + read(pathlib.Path("/proc") / line.split("pid=")[1].split(",")[0] / "cmdline") for line in lines if "pid=" in line]


def read(file: pathlib.Path) -> str:
    try:
        return file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def cgroups(pids: set[str], daemons: str) -> set[pathlib.Path]:
    """That of the daemons and those of containers that the processes are in, of version 1 (a tree for each controller) or 2."""
    lines = [line for pid in pids for line in read(pathlib.Path("/proc") / pid / "cgroup").splitlines()]
    names = {line.split(":", 2)[2].strip("/ ") for line in lines if ":/k8s.io/" in line or line.endswith(f":/{daemons}")}
    roots = [pathlib.Path("/sys/fs/cgroup"), *pathlib.Path("/sys/fs/cgroup").iterdir()]
    return {root / name for name in names for root in roots if (root / name).is_dir()}


def interfaces() -> set[str]:
    """The machine's that have a name such as a cluster gives; others may come and go meanwhile."""
    return {name for name in os.listdir("/sys/class/net") if name == "hosts" or name.startswith("pods-")}


@pytest.fixture(scope="module", autouse=True)
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    work = tmp_path_factory.mktemp("image")
    root, image = work / "root", work / "image.tar"
    subprocess.run([ROOT / "tools" / "images" / "python_base", root], check=True)
    subprocess.run([ROOT / "tools" / "images" / "mkimage", "--out", image, "--name", IMAGE.split(":")[0], "--tag", "1", root], check=True)
    try:
        cluster("up", "2")
        cluster("load", str(image))
        yield
    finally:
        cluster("down")
        assert not any(traces(NAME).values())


def test_down_leaves_nothing_of_what_up_and_pods_made(tmp_path: pathlib.Path) -> None:
    """`make demo-down`: no process, mount, file, network, port, interface or cgroup."""
    other, image = NAME + "d", tmp_path / "image.tar"
    root = tmp_path / "root"
    subprocess.run([ROOT / "tools" / "images" / "python_base", root], check=True)
    subprocess.run([ROOT / "tools" / "images" / "mkimage", "--out", image, "--name", IMAGE.split(":")[0], "--tag", "1", root], check=True)
    before, groups = interfaces(), set[pathlib.Path]()
    try:
        cluster("up", "1", name=other)
        cluster("load", str(image), name=other)
        sleeper = json.dumps(pod("sleeper", "node-1", "-c", "import signal; signal.pause()"))
        cluster("kubectl", "apply", "-f", "-", name=other, stdin=sleeper)
        cluster("kubectl", "wait", "--for=condition=Ready", "pod/sleeper", "--timeout=60s", name=other)
        there = traces(other)
        assert all(there.values()), there  # else the check below would say nothing
        assert any("signal.pause" in read(pathlib.Path("/proc") / pid / "cmdline") for pid in there["processes"])
        groups = cgroups(there["processes"], f"dynatrain-{other}")
        assert {group.name for group in groups} > {f"dynatrain-{other}"}
    finally:
        cluster("down", name=other)
    left = traces(other)
    assert not any(left.values()), left
    assert interfaces() == before
    assert not [group for group in groups if group.exists()]


def test_up_again_changes_nothing_and_says_so() -> None:
    assert "up already, with 2 nodes" in cluster("up").stderr
    assert "up already, with 2 nodes" in cluster("up", "2").stderr


def test_up_with_another_number_of_nodes_is_refused() -> None:
    done = cluster("up", "3", check=False)
    assert done.returncode != 0
    assert "is up with 2 nodes, not 3" in done.stderr


def test_a_cluster_of_another_name_runs_beside_it() -> None:
    other = NAME + "b"
    try:
        cluster("up", "1", name=other)
        nodes = cluster("kubectl", "get", "nodes", "-o", "name", name=other).stdout.split()
        assert nodes == ["node/node-1"]
        assert len(kubectl("get", "nodes", "-o", "name").split()) == 2
    finally:
        cluster("down", name=other)
    assert len(kubectl("get", "nodes", "-o", "name").split()) == 2


@pytest.mark.parametrize("name", ["9", "UPPER", "a/b", "-a", "a" * 16])
def test_a_bad_name_is_refused(name: str) -> None:
    done = cluster("up", name=name, check=False)
    assert done.returncode != 0
    assert "a name has" in done.stderr


def test_the_machine_s_network_is_out_of_reach() -> None:
    routes = subprocess.run(["nsenter", f"--net=/run/netns/dynatrain-{NAME}", "ip", "route"], check=True, capture_output=True, text=True)
    assert routes.stdout
    assert "default" not in routes.stdout


def test_a_pod_of_any_user_has_pytorch() -> None:
    kubectl("apply", "-f", "-", stdin=json.dumps(pod("torch", "node-1", "-c", "import os, torch; print(torch.ones(2).sum(), os.getuid())")))
    kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/torch", "--timeout=90s")
    assert kubectl("logs", "torch").strip() == "tensor(2.) 1000"


def test_pod_security_restricted_is_enforced() -> None:
    kubectl("create", "namespace", "strict")
    kubectl("label", "namespace", "strict", "pod-security.kubernetes.io/enforce=restricted")
    done = cluster("kubectl", "-n", "strict", "apply", "-f", "-", stdin=json.dumps(pod("bad", "node-1", "-c", "0")), check=False)
    assert "violates PodSecurity" in done.stderr


def test_a_cut_node_is_reached_by_nobody_until_it_is_healed() -> None:
    address = serve("far", "node-2")
    serve("near", "node-1")
    assert reaches("near", address)
    cluster("node-cut", "2")
    try:
        assert not reaches("near", address)
    finally:
        cluster("node-heal", "2")
    assert reaches("near", address)


def test_a_killed_node_says_no_goodbye_and_can_be_started_again() -> None:
    serve("victim", "node-2")
    cluster("node-kill", "2")
    assert not processes(f"/var/lib/dynatrain/clusters/{NAME}/node-2/")
    assert kubectl("get", "pod", "victim", "-o", "jsonpath={.status.phase}") == "Running"  # nobody told the API server
    cluster("node-start", "2")
    kubectl("delete", "pod", "victim", "--timeout=60s")
    serve("next", "node-2")


def test_a_node_that_is_none_is_refused() -> None:
    done = cluster("node-kill", "7", check=False)
    assert done.returncode != 0
    assert "'7' is no node: 1 to 2 are" in done.stderr
