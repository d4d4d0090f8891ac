"""`dynatrain layout --diff`: a live job's own listing against its layout file, and what is said if they differ."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

import layouts
import live
import test_dtensor
from workers import Workers

MESH = {"dp": 2, "tp": 2}
JOB = {"model": {"vocabulary": 11, "width": 6, "hidden": 10}}


def diff(folder: pathlib.Path, file: dict[str, Any], listed: dict[str, Any]) -> tuple[int, str]:
    (folder / "job.yaml").write_text(json.dumps(file))
    (folder / "live.json").write_text(json.dumps(listed))
    command = [str(layouts.BINARY), "layout", "--diff", "live.json", "job.yaml"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def test_a_live_job_equals_its_file_and_another_differs(workers: Workers, tmp_path: pathlib.Path) -> None:
    dumps = workers.run("dtensor_jobs:dump", 4, {"mesh": MESH, **JOB})
    file = test_dtensor.layout_file(MESH, JOB, dumps[0])
    code, text = diff(tmp_path, file, live.listing(dumps))
    assert code == 0, text
    splits = next(tensor for tensor in file["torch"]["tensors"] if tensor["name"] == "layers.1.fc1.weight")["splits"]
    splits.reverse()  # dp first, then tp
    code, text = diff(tmp_path, file, live.listing(dumps))
    assert code == 1
    assert "layers.1.fc1.weight/param" in text
    assert "layers.0" not in text
