"""People outside the data, made up or given, and originals that are not the release's."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from attacks.test_adversary import eyes_of

import sfumato as sf
from sfumato.attacks.attack import attack
from sfumato.attacks.controls import _places, made_controls
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.randomness import Randomness, repeatable
from sfumato.schema import Schema

SCHEMA = Schema.of(a="quasi-identifier", b="quasi-identifier", c="quasi-identifier", s="sensitive")


def skewed(seed: int, rows: int = 4_000) -> pa.Table:
    """Return independent attributes some of whose values are far more frequent than others."""
    rng = np.random.default_rng(seed)

    def shares(count: int) -> np.ndarray:
        found = 1 / np.arange(1, count + 1) ** 1.3
        return found / found.sum()

    return pa.table(
        {
            "a": rng.choice([f"v{i}" for i in range(12)], rows, p=shares(12)),
            "b": rng.choice(np.arange(15), rows, p=shares(15)),
            "c": rng.choice([f"w{i}" for i in range(9)], rows, p=shares(9)),
            "s": rng.choice(list("abcdefgh"), rows),
        }
    )


def test_made_people_have_the_margins_and_pairs_of_the_data() -> None:
    rng = np.random.default_rng(1)
    a = rng.choice(["x", "y"], 20_000, p=[0.86, 0.14])
    b = np.where(rng.random(20_000) < 0.9, a, rng.choice(["x", "y"], 20_000))
    data = pa.table({"a": a, "b": b, "n": rng.integers(0, 10**6, 20_000), "s": b})
    made = made_controls(data, ["a", "b", "n"], 20_000, repeatable(1))
    assert made.schema == data.schema
    ours, theirs = (
        [np.asarray(t[name].to_pylist()) == "x" for name in ("a", "b", "s")] for t in (made, data)
    )
    for own, other in zip(ours, theirs, strict=True):
        assert own.mean() == pytest.approx(other.mean(), abs=0.015)
    # b goes with a, and the secret with b, though less
    assert np.mean(ours[0] == ours[1]) > np.mean(theirs[0] == theirs[1]) - 0.1
    assert np.mean(ours[1] == ours[2]) > 0.85
    assert np.median(made["n"].to_numpy()) == pytest.approx(5 * 10**5, rel=0.03)
    # their numbers go with other values than in the data
    rows = set(zip(*(data[name].to_pylist() for name in ("a", "b", "n")), strict=True))
    same = [
        row in rows for row in zip(*(made[n].to_pylist() for n in ("a", "b", "n")), strict=True)
    ]
    assert np.mean(same) < 0.95


@pytest.mark.parametrize("rows", [0, 2, 3, 50])
def test_where_nothing_is_known_nobody_is_made_up(rows):
    data = pa.table({"ill": ["yes"] * rows})
    assert made_controls(data, [], 9, repeatable(1)).num_rows == 0


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_few_rows_make_few_people(rows: int) -> None:
    data = skewed(1, rows)
    made = made_controls(data, ["a", "b", "c"], 10**9, repeatable(1))
    assert made.num_rows == (rows if rows > 2 else 0)


def test_secrets_are_no_parents() -> None:
    data = pa.table({"a": np.arange(50), "b": np.arange(50), "s": np.arange(50)})
    made = made_controls(data, ["a", "b"], 50, repeatable(2)).to_pylist()
    assert all(row["s"] not in (row["a"], row["b"]) for row in made)


@pytest.mark.parametrize("seed", [0, 1])
def test_skewed_independent_attributes_raise_no_alarm(seed: int) -> None:
    data = skewed(seed)
    release = sf.Mondrian(k=500).publish(data, SCHEMA, randomness=Randomness.test(seed))
    chosen = ["membership", "downcoding", "record-linkage"]
    report = attack(release, data, attacks=chosen, sample=10**9, rng=repeatable(seed))
    assert report.controls == 4_000
    assert report.of("downcoding").blind.share > 0
    assert not report.risks


def test_corruption_of_strangers_tells_nothing() -> None:
    """Four people a village with four diseases: who knows three knows the fourth."""
    rng = np.random.default_rng(0)
    diseases = np.concatenate([rng.permutation(list("wxyz")) for _ in range(100)])
    data = pa.table({"village": np.repeat(np.arange(100), 4), "disease": diseases})
    schema = Schema.of(village="quasi-identifier", disease="sensitive")
    release = sf.Mondrian(k=4).publish(data, schema, randomness=Randomness.test(1))
    others = pa.table(
        {"village": rng.integers(0, 100, 400), "disease": rng.choice(list("wxyz"), 400)}
    )
    for controls in (others, None):
        report = attack(release, data, controls=controls, attacks=["corruption"], rng=repeatable(1))
        for known, chance in ((1, 1 / 3), (2, 1 / 2), (3, 1)):
            found = report.of(f"corruption ({known} known)")
            assert found.success.share == pytest.approx(chance)
            assert found.control is not None
            assert found.control.share == pytest.approx(1 / 4)
        assert found.verdict == "risk"


HOSPITAL = sf.datasets.hospital(400)
RELEASE = sf.Mondrian(k=5).publish(
    HOSPITAL, sf.datasets.hospital_schema(), randomness=Randomness.test(1)
)
OTHERS = sf.datasets.hospital(400, seed=7)


def changed(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, values)


@pytest.mark.parametrize(
    ("original", "words"),
    [
        (HOSPITAL.slice(0, 399), "release is of 400 rows and the original has 399"),
        (HOSPITAL.slice(0, 0), "no rows"),
        (changed(HOSPITAL, "age", pa.array(np.full(400, 500))), "fit no record"),
        (changed(HOSPITAL, "disease", pa.array(["none"] * 400)), "values of 'disease'"),
        (changed(HOSPITAL, "disease", pa.nulls(400, pa.string())), "values of 'disease'"),
    ],
    ids=["rows", "empty", "people", "secrets", "no secrets"],
)
def test_another_original_is_refused(original: pa.Table, words: str) -> None:
    with pytest.raises(sf.ParameterError, match=words):
        eyes_of(RELEASE, original)


@pytest.mark.parametrize(
    ("controls", "words"),
    [
        (HOSPITAL, "people who are not in the data"),
        (HOSPITAL.slice(100, 200), "people who are not in the data"),
        (changed(OTHERS, "age", pa.nulls(400, pa.int64())), "no value at all in column 'age'"),
        (changed(OTHERS, "age", pa.array([True] * 400)), "another type"),
        (changed(OTHERS, "disease", pa.array(["none"] * 400)), "write their values differently"),
    ],
    ids=["the data", "some of the data", "null", "bool", "texts"],
)
def test_controls_that_cannot_be_compared_are_refused(controls: pa.Table, words: str) -> None:
    with pytest.raises(sf.ParameterError, match=words):
        eyes_of(RELEASE, HOSPITAL, controls=controls)


def test_an_original_of_other_secrets_is_refused_for_sets() -> None:
    schema = Schema.of(age="sensitive-quasi-identifier", disease="sensitive")
    data = HOSPITAL.select(["age", "disease"])
    release = sf.SensitiveQID(l=3).publish(data, schema, randomness=Randomness.test(1))
    wrong = changed(data, "disease", pa.array(["none"] * 400))
    with pytest.raises(sf.ParameterError, match="outside of the domains"):
        SetAdversary.of(release, wrong, sample=100, rng=repeatable(1))


def test_texts_are_compared_with_dictionaries() -> None:
    coded = changed(HOSPITAL, "sex", HOSPITAL["sex"].dictionary_encode())
    plain, other = (eyes_of(RELEASE, table, controls=OTHERS) for table in (HOSPITAL, coded))
    assert plain.expected(plain.controls).tolist() == other.expected(other.controls).tolist()
    assert other.side.original.num_rows == 800


@pytest.mark.parametrize("few", [0, 1 << 16])
@pytest.mark.parametrize("asked", [[], [0], [3, 4, 7], [2, 7, 900], [8, 9], [900]], ids=str)
def test_keys_are_found_among_those_asked_for_whoever_has_them(asked, few, monkeypatch) -> None:
    monkeypatch.setattr("sfumato.attacks.controls._FEW_KEYS", few)
    keys = np.array([7, 3, 0, 7, 2])
    found = _places(keys, np.array(asked, np.int64))
    assert found.tolist() == [asked.index(key) if key in asked else -1 for key in keys.tolist()]
