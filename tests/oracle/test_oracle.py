"""Our layout of twenty jobs is what real Megatron holds; `make oracle` asks for all."""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess

import configuration
import layouts
import matrix
import pytest
import verdicts
from worlds import Truth, Worlds

CASES = matrix.all_cases()
# The widest of each kind; a second each.
SHORT = [
    "llama-tp6-groups2", "gpt3", "qwen3-moe", "deepseek", "experts-ep1-etp1", "mtp", "tied-vpp", "vpp2-uneven", "string-empty-stages",
    "cp-experts", "instances3-cp", "order-experts", "small-norms-instances", "whole-buckets",
    "te-deepseek", "mamba-experts", "precision-aware-te", "order-cp (order)", "uneven-vpp (first_stage_layers)", "qkv-rows (qkv)"]


@pytest.mark.parametrize("case", SHORT)
def test_a_job_is_as_we_say(running: Worlds, dynatrain: pathlib.Path, case: str) -> None:
    real, ours = running.run(CASES[case]), layouts.listing(layouts.layout_file(CASES[case]), dynatrain)
    verdict = verdicts.compare(CASES[case], real, ours, matrix.expected_word(case))
    assert verdict.agrees, "\n".join([CASES[case].label(), verdict.text, *verdict.differences[:10]])


@pytest.mark.long
@pytest.mark.parametrize("case", sorted(CASES.keys() - set(SHORT)))
def test_every_job_is_as_we_say(running: Worlds, dynatrain: pathlib.Path, case: str) -> None:
    test_a_job_is_as_we_say(running, dynatrain, case)


def test_the_listing_of_a_real_job_is_diffed_by_the_tool(running: Worlds, dynatrain: pathlib.Path, tmp_path: pathlib.Path) -> None:
    c = configuration.parse(["--world", "8", "--tp", "2", "--pp", "2", "--bucket-size", "3000", "--bf16"])
    real = running.run(c)
    assert isinstance(real, Truth)
    real.save(tmp_path)

    def diff(other: configuration.Configuration) -> subprocess.CompletedProcess[str]:
        (tmp_path / "layout.json").write_text(layouts.layout_file(other))
        files = [str(tmp_path / name) for name in ("listing.json", "layout.json")]
        return subprocess.run([str(dynatrain), "layout", "--diff", *files], capture_output=True, text=True, timeout=layouts.LIMIT_S)
    same, other = diff(c), diff(dataclasses.replace(c, bucket_size=2000))
    assert (same.returncode, other.returncode) == (0, 1), same.stdout + same.stderr
    assert "embedding.word_embeddings.weight" in other.stdout
