"""All metrics at once: of every layout, against counts in Python, and bounds that hold."""

from __future__ import annotations

import json
from collections import Counter
from math import sqrt

import numpy as np
import pyarrow as pa
import pytest
from answers.test_plausible import CASES, people, published, schema

from sfumato.answers import to_microdata
from sfumato.datasets import census, census_schema
from sfumato.errors import ParameterError
from sfumato.measures.association import phi_squared
from sfumato.methods import Anatomy, Mondrian, SensitiveQID
from sfumato.methods.sensitive_qid import over_domains
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Attribute, Kind, Mask, Role, Schema
from sfumato.table import encode
from sfumato.utility import discernibility, distortion_ratio, mean_probability, ncp
from sfumato.utility.margins import Rows, contingency, margin
from sfumato.utility.original import coded_original
from sfumato.utility.overview import missed_bounds, overview
from sfumato.utility.recoded import Reconstructed, recoded


def measured(release: Release, data: pa.Table, queries: int = 20):
    original = coded_original(data, release)
    return overview(release, original, queries=queries, rng=repeatable(1))


@pytest.mark.parametrize("case", CASES)
def test_every_layout_is_measured(case):
    found = measured(published(case), people())
    assert [each.attributes for each in found.margins] == [
        (name,) for name in ("age", "sex", "ward", "illness")
    ]
    assert (len(found.pairs), found.all_pairs) == (6, 6)
    assert [(each.aggregate, each.dimension) for each in found.queries[:3]] == [
        ("COUNT(*)", 1),
        ("COUNT(*)", 2),
        ("COUNT(*)", 3),
    ]
    assert all(each.queries == 20 and each.bounded for each in found.queries[:3])
    assert found.missed == 0
    assert missed_bounds(found) == ()
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_metrics_are_those_of_their_functions():
    release = published("generalized")
    found, table = measured(release, people()), encode(people(), schema())
    assert found.metrics["ncp"]["mean"] == ncp(release, table).mean
    assert found.metrics["discernibility"] == discernibility(release)
    assert found.metrics["distortion"] == distortion_ratio(release, {})
    assert found.metrics["mean_probability of illness"] == mean_probability(release)
    assert "not defined" in found.undefined["glp of illness"]
    assert measured(published("anatomized"), people()).metrics["glp of illness"] > 0


def test_distances_are_those_of_shares():
    original = encode(people(), schema())
    rows = people().set_column(1, "sex", pa.array(["F"] * 180 + ["M"] * 40 + ["X", None] * 10))
    found = margin(Rows(original, rows), ["sex"])
    # 1/2 and 1/2 became 3/4, 1/6, 1/24 and 1/24
    differences = [1 / 4, -1 / 3, 1 / 24, 1 / 24]
    assert found.l1 == pytest.approx(sum(map(abs, differences)))
    assert found.l2 == pytest.approx(sqrt(sum(d * d for d in differences)))
    pairs = [(1 / 2, 3 / 4), (1 / 2, 1 / 6), (0, 1 / 24), (0, 1 / 24)]
    squares = sum((sqrt(a) - sqrt(b)) ** 2 for a, b in pairs)
    assert found.hellinger == pytest.approx(sqrt(squares / 2))


def test_equal_tables_have_no_distance():
    original = encode(people(), schema())
    sides = Rows(original, people())
    for names in (["age"], ["ward"], ["age", "illness"]):
        found = margin(sides, names)
        assert (found.l1, found.l2, found.hellinger) == (0, 0, 0)
    assert found.association[0] == found.association[1]
    assert found.association[0] == pytest.approx(
        phi_squared(original["age"].codes, original["illness"].codes)
    )
    assert found.correlation is None


def test_numbers_are_counted_by_ten_intervals_and_correlated():
    rng = repeatable(2)
    x = rng.integers(0, 1_000, 500)
    data = pa.table({"x": x, "y": x * 2 + rng.integers(0, 50, 500)})
    original = encode(data, Schema.of(x="quasi-identifier", y="sensitive"))
    released = data.set_column(0, "x", pa.array(x + 500))
    found = margin(Rows(original, released), ["x"])
    span = x.max() - x.min()

    def places(values):
        return Counter(np.clip((values - x.min()) * 10 // span, 0, 9).tolist())

    before, after = places(x), places(x + 500)
    assert found.l1 == pytest.approx(sum(abs(before[i] - after[i]) for i in range(10)) / 500)
    pair = margin(Rows(original, released), ["x", "y"])
    assert pair.correlation == pytest.approx((np.corrcoef(x, data["y"])[0, 1],) * 2)
    rows = to_microdata(Mondrian(k=50).publish(data, original.schema), repeatable(1))
    assert margin(Rows(original, rows), ["x", "y"]).correlation[1] < pair.correlation[0]


@pytest.mark.parametrize("size", [1.0, 1e80, 1e-80])
def test_correlations_of_few_pairs_are_those_of_rows(size):
    rng = repeatable(5)
    x = rng.integers(0, 9, 3_000)
    data = pa.table({"x": x * size, "y": (x + rng.integers(0, 3, 3_000)) * size})
    original = encode(data, Schema.of(x="quasi-identifier", y="sensitive"))
    found = margin(Rows(original, data), ["x", "y"]).correlation
    assert found == pytest.approx((np.corrcoef(data["x"], data["y"])[0, 1],) * 2, rel=1e-12)


def test_no_correlation_is_beyond_one():
    for seed in range(60):
        x = repeatable(seed).integers(0, 7, 3_000)
        data = pa.table({"x": x, "y": np.round(x * (0.1, 0.7, 3, -1.3)[seed % 4], 6)})
        original = encode(data, Schema.of(x="quasi-identifier", y="sensitive"))
        for found in margin(Rows(original, data), ["x", "y"]).correlation:
            assert 1 - 1e-12 <= abs(found) <= 1


def test_rare_values_are_taken_together():
    names = pa.table({"name": [f"n{i % 400}" for i in range(1_000)], "x": [1] * 1_000})
    original = encode(names, Schema.of(name="quasi-identifier", x="sensitive"))
    before, after = Rows(original, names).counts(["name", "x"])
    assert before.shape == (102, 3)
    assert (before == after).all()
    assert contingency(before / 1_000) == 0


# --- sets ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stays() -> pa.Table:
    return census(2_000, seed=4).select(["age", "sex", "education", "salary"])


def secret(data: pa.Table) -> Schema:
    return Schema(
        tuple(
            Attribute(n, Role.SENSITIVE if n == "salary" else Role.SENSITIVE_QUASI_IDENTIFIER)
            for n in data.column_names
        )
    )


@pytest.mark.parametrize("joint", [(), (("age", "sex"),)])
def test_sets_are_measured_over_their_domains(stays, joint):
    method = SensitiveQID(t=0.3, bins=6, joint=joint)
    release = method.publish(stays, secret(stays), randomness=Randomness.test(1))
    original = coded_original(stays, release)
    again = recoded(original, release)
    whole, _ = over_domains(encode(stays, secret(stays)), 6)
    for column in again.columns:
        if "&" not in column.name:
            assert (column.codes == whole[column.name].codes).all()
            assert column.values.equals(whole[column.name].values)
        else:
            texts = [
                f"{a} & {b}"
                for a, b in zip(_texts(whole["age"]), _texts(whole["sex"]), strict=True)
            ]
            assert column.values.take(pa.array(column.codes)).to_pylist() == texts
    sides = Reconstructed(again, release, repeatable(1))
    before, after = sides.counts([column.name for column in again.columns][:2])
    assert before.sum() == 2_000
    assert after.sum() == pytest.approx(2_000)
    found = overview(release, original, queries=10, rng=repeatable(1))
    assert len(found.queries) == 5  # parts of joint attributes are asked about, too
    assert found.missed == 0
    assert json.dumps(found.to_dict(), allow_nan=False)


def _texts(column) -> list[str]:
    texts = column.values.to_pylist()
    return [json.dumps(texts[c]) if "[" in texts[c] else texts[c] for c in column.codes]


# --- what the original must be -------------------------------------------------------------------


def test_other_tables_are_refused():
    release = published("anatomized")
    with pytest.raises(ParameterError, match=r"of 240 rows and the original has 239"):
        coded_original(people().slice(1), release)
    with pytest.raises(ParameterError, match="no column 'ward'"):
        coded_original(people().drop_columns(["ward"]), release)


def test_bounds_that_miss_are_told():
    """Another table with as many rows has other truths."""
    data = people()
    other = data.set_column(0, "age", pa.array(data["age"].to_numpy()[::-1]))
    found = measured(published("anatomized"), other)
    assert found.missed > 0
    assert not found.to_dict()["ok"]
    assert "do not contain the truth" in missed_bounds(found)[0]


def test_a_hierarchy_that_is_not_whole_needs_the_policy():
    zips = [f"{10_000 + i * 7}" for i in range(200)]
    data = pa.table({"zip": zips, "illness": [*"abcd"] * 50})
    full = Schema(
        (Attribute("zip", "quasi-identifier", hierarchy=Mask()), Attribute("illness", "sensitive"))
    )
    release = Mondrian(k=20).publish(data, full, randomness=Randomness.test(1))
    assert "give the policy" in measured(release, data).undefined["ncp"]
    found = overview(release, coded_original(data, release, full), queries=5, rng=repeatable(1))
    assert found.metrics["ncp"]["mean"] == ncp(release, encode(data, full)).mean


def test_orders_come_from_the_manifest():
    data = pa.table({"grade": [*"cab"] * 20, "illness": [*"abcd"] * 15})
    given = Schema(
        (
            Attribute("grade", "quasi-identifier", order=("c", "b", "a")),
            Attribute("illness", "sensitive"),
        )
    )
    release = Mondrian(k=2).publish(data, given, randomness=Randomness.test(1))
    original = coded_original(data, release)
    assert original["grade"].kind is Kind.ORDINAL
    assert original["grade"].values.to_pylist() == ["c", "b", "a"]


def test_suppression_is_told_and_allowed_for(tmp_path):
    data = pa.table({"age": [*range(40)], "illness": ["Flu"] * 26 + [*"abcdefghijklmn"]})
    plain = Schema.of(age="quasi-identifier", illness="sensitive")
    kept = data.slice(12)
    release = Anatomy(l=2).publish(kept, plain, randomness=Randomness.test(1))
    manifest = release.manifest.model_copy(update={"suppressed": 12, "suppressed_by_value": True})
    found = measured(Release(manifest, release.tables), data)
    assert found.missed == 0
    assert any("12 rows were suppressed" in note for note in found.notes)


def test_numbers_that_make_no_sense_are_refused():
    release = published("anatomized")
    original = coded_original(people(), release)
    for changes in ({"queries": 0}, {"selectivity": 0.0}):
        with pytest.raises(ParameterError):
            overview(release, original, rng=repeatable(1), **changes)


def test_census_is_measured_with_the_published_hierarchies():
    data = census(600, seed=3)
    release = Mondrian(k=4).publish(data, census_schema(), randomness=Randomness.test(1))
    found = measured(release, data)
    assert found.metrics["ncp"]["mean"] == ncp(release, encode(data, census_schema())).mean
    assert [each.aggregate for each in found.queries[3:]] == ['SUM("salary")', 'AVG("salary")']
    assert found.missed == 0
