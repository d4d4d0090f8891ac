"""An image's name stands for its content: same folder, same name; any difference, another name."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tarfile

MKIMAGE = pathlib.Path(__file__).with_name("mkimage")


def make(folder: pathlib.Path, out: pathlib.Path, *options: str) -> str:
    command = [sys.executable, str(MKIMAGE), "--out", str(out), "--name", "localhost/x", *options, str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def tree(root: pathlib.Path, names: list[str]) -> pathlib.Path:
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return root


def test_the_same_content_made_at_another_time_and_place_has_the_same_bytes(tmp_path: pathlib.Path) -> None:
    one = tree(tmp_path / "one", ["a", "b/c", "b/d"])
    two = tree(tmp_path / "two", ["b/d", "b/c", "a"])
    os.utime(two / "a", (1, 1))
    assert make(one, tmp_path / "1.tar") == make(two, tmp_path / "2.tar")
    assert (tmp_path / "1.tar").read_bytes() == (tmp_path / "2.tar").read_bytes()


def test_content_mode_and_entrypoint_change_the_name(tmp_path: pathlib.Path) -> None:
    folder = tree(tmp_path / "one", ["a"])
    names = [make(folder, tmp_path / "x.tar"), make(folder, tmp_path / "x.tar", "--entrypoint", "/a")]
    (folder / "a").chmod(0o755)
    names.append(make(folder, tmp_path / "x.tar"))
    (folder / "a").write_text("b")
    names.append(make(folder, tmp_path / "x.tar"))
    assert len(set(names)) == 4
    assert all(name.startswith("localhost/x:") and len(name.split(":")[1]) == 12 for name in names)


def test_the_layer_holds_the_folder_with_links_modes_and_root_as_owner(tmp_path: pathlib.Path) -> None:
    folder = tree(tmp_path / "one", ["usr/bin/tool"])
    (folder / "usr/bin/tool").chmod(0o755)
    os.link(folder / "usr/bin/tool", folder / "usr/bin/same")
    (folder / "bin").symlink_to("usr/bin")
    make(folder, tmp_path / "x.tar", "--tag", "1", "--user", "1000:1000")
    with tarfile.open(tmp_path / "x.tar") as image:
        (manifest,) = json.load(image.extractfile("manifest.json"))  # type: ignore[arg-type]
        assert manifest["RepoTags"] == ["localhost/x:1"]
        assert json.load(image.extractfile(manifest["Config"]))["config"]["User"] == "1000:1000"  # type: ignore[arg-type]
        with tarfile.open(fileobj=image.extractfile(manifest["Layers"][0])) as layer:
            members = {member.name: member for member in layer}
            same = layer.extractfile("usr/bin/same")
            assert same is not None and same.read() == b"usr/bin/tool"
    assert members["bin"].linkname == "usr/bin"
    assert members["usr/bin/tool"].mode == 0o755
    assert {member.uid for member in members.values()} == {0}
