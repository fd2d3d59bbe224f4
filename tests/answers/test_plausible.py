"""Cross tables from plausible tables: right totals everywhere, the truth where it is published."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from sfumato.answers import reconstruct
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.methods import LGB, Anatomy, Hybrid, Merging, Mondrian, Probabilistic, Slicing
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Attribute, Schema

ROWS = 240
# A mean of T draws is further off than so many of its standard errors once in 15,000 cells.
STANDARD_ERRORS = 4.0
QUASI = ("age", "sex", "ward")


def people() -> pa.Table:
    rng = repeatable(5)
    age = rng.integers(20, 28, ROWS)
    sick = np.array(["Flu", "Fever", "Asthma", "HIV"])[
        (age - 20) // 4 * 2 + rng.integers(0, 2, ROWS)
    ]
    ward = pa.array([None if r < 0.1 else "AB"[int(r * 2)] for r in rng.random(ROWS)])
    return pa.table(
        {"age": age, "sex": [*"FM"] * (ROWS // 2), "ward": ward, "illness": pa.array(sick)}
    )


def schema(**roles: str) -> Schema:
    given = dict.fromkeys(QUASI, "quasi-identifier") | {"illness": "sensitive"} | roles
    return Schema(
        tuple(
            Attribute(name, role, density=0.4 if role == "semi-sensitive" else None)
            for name, role in given.items()
        )
    )


def counts_of(rows: pa.Table, names: tuple[str, ...], labels) -> np.ndarray:
    """Return the true cross table, by counting in Python."""
    records = list(zip(*(rows[name].to_pylist() for name in names), strict=True))
    axes = [[None if v is None else v for v in values] for values in labels]
    shape = [len(values) for values in axes]
    return np.array([records.count(cell) for cell in product(*axes)], float).reshape(shape)


CASES = {
    "generalized": (Mondrian(k=4), {}),
    "anatomized": (Anatomy(l=2), {}),
    "sliced": (Slicing(l=2), {}),
    "fakes": (Merging(l=2, collapse=None, fakes=24, expected=20), {}),
    "local": (LGB(k=3, l=2), {"age": "semi-sensitive"}),
    "sample": (Probabilistic(k=2, d=1, alpha=0.3, sample=0.5), {}),
    "redrawn": (Hybrid(k=2, sample=1.0, perturb=0.3), {}),
}


def published(case: str) -> Release:
    method, roles = CASES[case]
    return method.publish(people(), schema(**roles), randomness=Randomness.test(2))


@pytest.mark.parametrize("case", CASES)
def test_margins_sum_to_the_people(case):
    release = published(case)
    names = ("age", "sex", "illness")
    whole = reconstruct(release, names, rng=repeatable(1), tables=4)
    assert whole.method == "plausible"
    assert whole.counts.sum() == pytest.approx(ROWS)
    # cells that are exact have the same margin in every table
    alone = reconstruct(release, ("illness",), rng=repeatable(2), tables=2)
    assert whole.counts.sum(axis=(0, 1)) == pytest.approx(alone.counts)


@pytest.mark.parametrize("case", ["generalized", "anatomized", "sliced", "local"])
def test_what_is_published_exactly_is_counted_exactly(case):
    release = published(case)
    found = reconstruct(release, ("illness",), rng=repeatable(1))
    assert (found.counts == counts_of(people(), ("illness",), found.labels)).all()
    assert (found.se == 0).all()


def test_attributes_of_one_table_are_counted_exactly():
    found = reconstruct(published("anatomized"), ("age", "ward"), rng=repeatable(1))
    labels = [value.to_pylist() for value in found.values]
    assert labels == [list(range(20, 28)), ["A", "B", None]]
    assert (found.counts == counts_of(people(), ("age", "ward"), labels)).all()
    assert (found.se == 0).all()
    assert found.notes == ()


def test_anatomy_s_expectation_and_spread_are_those_of_random_deals():
    """A cell's count is a sum of hypergeometric ones, group by group."""
    release = published("anatomized")
    tables = 400
    found = reconstruct(release, ("sex", "illness"), rng=repeatable(3), tables=tables)
    sexes, sick = found.labels
    quasi, hidden = release.tables["qi_1"].to_pylist(), release.tables["sensitive_1"].to_pylist()
    expected, variance = np.zeros(found.counts.shape), np.zeros(found.counts.shape)
    for group in {row["group"] for row in quasi}:
        size = sum(row["count"] for row in quasi if row["group"] == group)
        for (i, sex), (j, illness) in product(enumerate(sexes), enumerate(sick)):
            own = sum(r["count"] for r in quasi if (r["group"], r["sex"]) == (group, sex))
            ill = sum(r["count"] for r in hidden if (r["group"], r["illness"]) == (group, illness))
            expected[i, j] += own * ill / size
            rest = (size - own) * (size - ill) / (size**2 * max(size - 1, 1))
            variance[i, j] += own * ill * rest
    off = np.abs(found.counts - expected)
    assert (off <= STANDARD_ERRORS * np.sqrt(variance / tables) + 1e-9).all()
    # of 400 tables the spread is within a sixth of the true one; the mean's own adds 1/800
    assert found.se == pytest.approx(np.sqrt(variance * (1 + 1 / tables)), rel=1 / 6)


@pytest.mark.parametrize("case", ["sliced", "local"])
def test_blocks_and_buckets_are_dealt_anew(case):
    """Records that stay as they are published would pretend that nothing is left open."""
    release = published(case)
    names = ("age", "sex")
    if case == "sliced":
        names = tuple(block[0] for block in release.manifest.parameters["columns"])
    assert reconstruct(release, names, rng=repeatable(1)).se.max() > 0


def test_fakes_are_taken_off():
    release = published("fakes")
    assert release.manifest.rows == ROWS + 24
    found = reconstruct(release, ("age",), rng=repeatable(1))
    records = np.array(
        [release.tables["records"]["age"].to_pylist().count(a) for a in range(20, 28)]
    )
    assert found.counts == pytest.approx(records * ROWS / (ROWS + 24))
    assert (found.se > 0).all()  # nobody knows which records are the fakes


def test_samples_are_scaled_up():
    release = published("sample")
    found = reconstruct(release, ("illness",), rng=repeatable(1))
    shown = release.tables["records"]["illness"].to_pylist()
    assert found.counts == pytest.approx([2 * shown.count(v) for v in found.labels[0]])
    share = found.counts / ROWS
    assert found.se == pytest.approx(np.sqrt(ROWS / 2 * share * (1 - share) * 0.5) / 0.5)


def test_redrawn_cells_are_taken_off_in_expectation():
    found = reconstruct(published("redrawn"), ("age", "illness"), rng=repeatable(1), tables=50)
    assert found.se is None
    assert "redrawn at random" in found.warnings[0]
    # young people have no HIV: without the correction about a seventh of the redrawn cells
    raw = reconstruct(
        _without(published("redrawn"), "perturb"), ("age", "illness"), rng=repeatable(1), tables=50
    )
    truth = counts_of(people(), ("age", "illness"), [v.to_pylist() for v in found.values])
    assert np.abs(found.counts - truth).sum() < np.abs(raw.counts - truth).sum()


def _without(release: Release, parameter: str) -> Release:
    parameters = {k: v for k, v in release.manifest.parameters.items() if k != parameter}
    manifest = release.manifest.model_copy(update={"parameters": parameters})
    return Release(manifest, release.tables, release.hierarchies)


def test_tables_repeat_with_their_generator():
    release = published("anatomized")
    first, again, other = (
        reconstruct(release, ("sex", "illness"), rng=repeatable(seed)).counts for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any()


def test_values_that_are_never_known_are_one_cell():
    data = pa.table({"age": [1, 2, 3, 4], "note": pa.nulls(4), "illness": [*"abab"]})
    made = Mondrian(k=2).publish(
        data, Schema.of(age="quasi-identifier", note="quasi-identifier", illness="sensitive")
    )
    found = reconstruct(made, ("note", "illness"), rng=repeatable(1))
    assert found.labels == ((None,), ("a", "b"))
    assert found.counts.tolist() == [[2.0, 2.0]]


def test_too_many_cells_are_refused_before_all_tables_are_drawn(monkeypatch):
    monkeypatch.setattr("sfumato.answers.reconstruction.MOST_CELLS", 10)
    with pytest.raises(ParameterError, match="more than 10 cells"):
        reconstruct(published("anatomized"), ("age", "ward"), rng=repeatable(1))


@pytest.mark.parametrize("tables", [0, 1001, True, 2.5])
def test_numbers_of_tables_that_make_no_sense_are_refused(tables):
    with pytest.raises(ParameterError, match="1 to 1000 plausible tables"):
        reconstruct(published("anatomized"), ("age",), rng=repeatable(1), tables=tables)


def test_one_table_has_no_spread_to_tell():
    found = reconstruct(published("anatomized"), ("sex", "illness"), rng=repeatable(1), tables=1)
    assert found.se is None
    assert found.counts.sum() == ROWS


def test_altered_parameters_are_damage():
    release = published("fakes")
    parameters = release.manifest.parameters | {"fakes": ROWS * 2}
    spoilt = replace(
        release, manifest=release.manifest.model_copy(update={"parameters": parameters})
    )
    with pytest.raises(ReleaseDamaged, match="number of fake records"):
        reconstruct(spoilt, ("age",), rng=repeatable(1))
