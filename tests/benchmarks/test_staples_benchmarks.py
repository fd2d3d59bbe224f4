"""The measurements of MDAV and of local suppression run, and the pages tell what they found."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.local_suppression import RESULTS as SUPPRESSED
from benchmarks.local_suppression import measure as measure_suppression
from benchmarks.mdav import RESULTS as MEANS
from benchmarks.mdav import measure as measure_means

POLICY = (Path(__file__).parents[2] / "docs" / "policy.md").read_text("utf-8")


def test_means_are_measured():
    rng = np.random.default_rng(1)
    data = pa.table({"a": rng.integers(0, 90, 400), "b": rng.normal(size=400)})
    found = measure_means(data, few=300)
    losses = [each["loss"] for each in found["by_k"]]
    assert losses == sorted(losses) and 0 < losses[0] < losses[-1] < 1
    whole, *others = found["parted"]
    assert all(each["loss"] >= 0.9 * whole["loss"] for each in others)
    assert whole["loss"] < found["mondrian_loss"] and 0 < found["own_mean_is_nearest"] <= 1


def test_suppression_is_measured():
    rng = np.random.default_rng(1)
    data = pa.table({name: rng.integers(0, 6, 300) for name in "abc"})
    (run,) = measure_suppression({"made up": data})["runs"]
    assert 0 < run["cells"] <= run["plain_greedy_cells"] < 900


def test_the_policy_page_tells_the_numbers():
    means = json.loads(MEANS.read_text("utf-8"))
    for each in means["by_k"]:
        assert f"{each['loss']:.4f} for\nk = {each['k']}" in POLICY or (
            f"{each['loss']:.4f} for k = {each['k']}" in POLICY
        )
    assert f"{means['mondrian_loss']:.4f} against {means['parted'][0]['loss']:.4f}" in POLICY
    adult = json.loads(SUPPRESSED.read_text("utf-8"))["runs"][0]
    assert f"{adult['cells']:,} cells, and the greedy {adult['plain_greedy_cells']:,}" in POLICY
