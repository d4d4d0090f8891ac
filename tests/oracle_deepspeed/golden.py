"""Dumps of DeepSpeed jobs as text, small enough to be kept: ids as runs [first, count].

    python tests/oracle_deepspeed/golden.py        # writes testdata/dumps.json anew; needs tools/setup/deepspeed
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE / "testdata" / "dumps.json"
Json = dict[str, Any]


def _runs(ids: Any) -> list[list[int]]:
    runs: list[list[int]] = []
    for index in map(int, ids):
        if runs and index == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([index, 1])
    return runs


def _ids(runs: list[list[int]]) -> Any:
    return np.concatenate([np.arange(first, first + count, dtype=np.int64) for first, count in runs] or [np.zeros(0, np.int64)])


def packed(dumps: list[Json]) -> list[Json]:
    """Of each rank."""
    return [{**dump, "tensors": [{**tensor, "ids": _runs(tensor["ids"])} for tensor in dump["tensors"]]} for dump in dumps]


def unpacked(dumps: list[Json]) -> list[Json]:
    return [{**dump, "tensors": [{**tensor, "ids": _ids(tensor["ids"])} for tensor in dump["tensors"]]} for dump in dumps]


def read() -> dict[str, list[Json]]:
    """By the name of the case."""
    found: dict[str, list[Json]] = json.loads(FILE.read_text())
    return found


def main() -> None:
    sys.path.insert(0, str(HERE))
    import conftest
    from cases import CASES

    workers = conftest.real_workers()
    texts = []
    for name, (ranks, arguments) in CASES.items():
        print(name, file=sys.stderr, flush=True)
        dumps = packed(workers.run("deepspeed_jobs:dump", ranks, arguments))
        ranks_text = ",\n".join(json.dumps(dump, separators=(",", ":")) for dump in dumps)
        texts.append(f"{json.dumps(name)}: [\n{ranks_text}]")
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text("{\n" + ",\n".join(texts) + "\n}\n")


if __name__ == "__main__":
    main()
