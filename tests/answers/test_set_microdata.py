"""Tables drawn from random sets: every value may be its record's, and all as often as is told."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from answers.every_set import drawn_sets
from answers.hand_made_sets import attribute, coded_release, release
from arbitrary.frames import frames
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.answers import reconstruct, set_microdata, to_microdata
from sfumato.answers.set_microdata import names_of_rows
from sfumato.errors import ReleaseDamaged, SfumatoError
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Schema

ROWS = 20_000
# Distance (total variation) of a drawn margin from the reconstructed one. Drawing alone is off by
# about √(values / rows) / 2, here 0.01; the rest is what margins of joint tables differ by.
NEAR = 0.03
# The 0.9999 quantile of chi-square with 5 degrees of freedom, from tables. Seeds are fixed.
CHI_SQUARE_5 = 25.75
SECRETS = "sensitive-quasi-identifier"

# --- what may stand in a cell, by what the files say ---------------------------------------------


def possible(release: Release, record: dict[str, Any], column: str) -> list[Any]:
    """Return the members of a record's set if it surely holds the own value, else the domain."""
    stated = release.manifest.parameters["sets"][column]
    domain = list(release.manifest.attribute(column).domain)
    if stated["p"] < 1:
        return domain
    texts = [None if value is None else spelled(value) for value in record[column]]
    assert set(texts) <= set(domain)
    return texts


def spelled(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def is_of(value: Any, text: str | None, is_range: bool) -> bool:
    """Whether a drawn value is what a text of the domain says."""
    if value is None or text is None:
        return value is None and text is None
    if is_range and text[:1] == "[":
        low, high = text[1:-1].split(", ")
        if isinstance(value, dt.date):
            return low <= value.isoformat() <= high
        return Decimal(low) <= Decimal(str(value)) <= Decimal(high)
    if isinstance(value, float):
        return float(text) == value
    return spelled(value) == text


def assert_consistent(release: Release, table: pa.Table) -> None:
    """Every value, or combination of values, is one that the record's cell allows."""
    parameters = release.manifest.parameters
    joint, bins = parameters.get("joint", {}), parameters.get("bins", {})
    records = release.tables["records"].to_pylist()
    assert table.num_rows == len(records)
    for record, row in zip(records, table.to_pylist(), strict=True):
        for name, cell in record.items():
            if name not in parameters["sets"]:
                is_quoted = isinstance(cell, str) and cell.startswith('"')
                assert row[name] == (json.loads(cell) if is_quoted else cell)
                continue
            parts = joint.get(name, [name])
            allowed = possible(release, record, name)
            if len(parts) == 1:
                assert any(is_of(row[name], text, name in bins) for text in allowed)
                continue
            # ranges stand in quotes, and the texts of these tests have none
            split = [text.replace('"', "").split(" & ") for text in allowed]
            assert any(
                all(
                    is_of(row[part], None if text == "null" else text, part in bins)
                    for part, text in zip(parts, texts, strict=True)
                )
                for texts in split
            )


def test_the_oracle_of_these_tests_can_fail():
    made = release(
        [attribute("x", "string", ["a", "b", "c"])],
        {"x": [["a", "b"], ["b", "c"]]},
        {"x": {"p": 1.0, "eta": 2}},
    )
    assert_consistent(made, pa.table({"x": ["a", "c"]}))
    with pytest.raises(AssertionError):
        assert_consistent(made, pa.table({"x": ["c", "c"]}))
    assert is_of(7, "[3, 7]", True) and not is_of(8, "[3, 7]", True)
    assert not is_of(None, "a", False) and not is_of("null", None, False)


@st.composite
def any_releases(draw: Any) -> Release:
    frame = draw(frames())
    # exact cells in clear, and sets of all that is sensitive or known
    roles = {
        a.name: draw(st.sampled_from([SECRETS, "sensitive", "quasi-identifier"]))
        for a in frame.schema.attributes
        if pa.types.is_string(frame.data[a.name].type)
        or pa.types.is_integer(frame.data[a.name].type)
    }
    assume(any(role != "quasi-identifier" for role in roles.values()))
    method = draw(
        st.sampled_from([sf.SensitiveQID(l=2), sf.SensitiveQID(t=0.3, bins=3), sf.Rating(l=2)])
    )
    try:
        data = frame.data.select(list(roles))
        return method.publish(data, Schema.of(roles), randomness=Randomness.test(1))
    except SfumatoError:
        assume(False)
        raise


@settings(max_examples=40)
@given(any_releases(), st.integers(0, 9))
def test_any_release_of_sets_is_turned_into_rows_that_its_sets_allow(made, seed):
    table = to_microdata(made, repeatable(seed))
    assert table.column_names == [entry.name for entry in made.manifest.attributes]
    assert_consistent(made, table)
    assert table.equals(to_microdata(made, repeatable(seed)))


# --- a table in which everything occurs -----------------------------------------------------------


@pytest.fixture(scope="module")
def people() -> pa.Table:
    rng = np.random.default_rng(3)
    age = np.minimum(18 + rng.geometric(0.04, ROWS), 89)
    job = (age // 12 + rng.integers(0, 2, ROWS)) % 6
    day = [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 700, ROWS)]
    return pa.table(
        {
            "age": age,
            "job": pa.array([None if j == 5 else f"job {j}" for j in job]),
            "illness": np.array(["Flu", "HIV", "Asthma", "Gout"])[np.minimum(job // 2, 3)],
            "pay": np.round(rng.random(ROWS) * 900 + 100, 2),
            "day": pa.array(day),
            "sex": np.array(["F", "M"])[rng.integers(0, 2, ROWS)],
        }
    )


def published(people: pa.Table, *names: str, **parameters: Any) -> Release:
    roles = dict.fromkeys(names, SECRETS) | {"sex": "quasi-identifier"}
    method = sf.SensitiveQID(**parameters)
    data = people.select([*names, "sex"])
    return method.publish(data, Schema.of(roles), randomness=Randomness.test(1))


def distance(found: Counter[Any], told: dict[Any, float]) -> float:
    rows = sum(found.values())
    return sum(abs(found[each] / rows - told.get(each, 0) / rows) for each in {*found, *told}) / 2


PROTECTIONS = [{"l": 2}, {"t": 0.4}]


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_margins_are_near_the_reconstructed_ones(people, protection):
    made = published(people, "job", "illness", **protection)
    table = to_microdata(made, repeatable(5))
    for name in ("job", "illness"):
        told = reconstruct(made, [name])
        margin = dict(zip(told.labels[0], told.counts, strict=True))
        assert distance(Counter(table[name].to_pylist()), margin) < NEAR
    assert table["sex"].to_pylist() == made.tables["records"]["sex"].to_pylist()
    # and values that go together do so in the rows
    told = reconstruct(made, ["job", "illness"])
    both = dict(zip(product(*told.labels), told.counts.ravel(), strict=True))
    pairs = zip(table["job"].to_pylist(), table["illness"].to_pylist(), strict=True)
    assert distance(Counter(pairs), both) < NEAR


def test_attributes_with_too_many_combinations_are_drawn_one_by_one(people, monkeypatch):
    made = published(people, "job", "illness", l=2)
    monkeypatch.setattr(set_microdata, "MOST_TOGETHER", 5)
    table = to_microdata(made, repeatable(5))
    assert_consistent(made, table)
    for name in ("job", "illness"):
        told = reconstruct(made, [name])
        margin = dict(zip(told.labels[0], told.counts, strict=True))
        assert distance(Counter(table[name].to_pylist()), margin) < NEAR


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_ranges_become_numbers_and_joint_attributes_columns(people, protection):
    made = published(
        people.slice(0, 3_000), "age", "job", "pay", "day",
        joint=(("age", "job"),), bins=4, **protection,
    )  # fmt: skip
    table = to_microdata(made, repeatable(5))
    assert names_of_rows(made.manifest) == ("age", "job", "pay", "day", "sex")
    assert table.column_names == ["age", "job", "pay", "day", "sex"]
    assert [str(c.type) for c in table.columns[:4]] == ["int64", "string", "double", "date32[day]"]
    assert_consistent(made, table)
    assert len(set(table["age"].to_pylist())) > 30  # not the ends of the four ranges alone
    assert len(set(table["pay"].to_pylist())) > 1_000
    assert 0 < table["job"].null_count < 3_000
    told = reconstruct(made, ["job"])
    margin = dict(zip(told.labels[0], told.counts, strict=True))
    assert distance(Counter(table["job"].to_pylist()), margin) < 3 * NEAR  # a seventh of the rows


def test_another_seed_gives_another_table(people):
    made = published(people.slice(0, 500), "job", l=2)
    one, same_one, other = (made.to_microdata(seed) for seed in (1, 1, 2))
    assert one.equals(same_one)
    assert not one.equals(other)


# --- how likely each value is ---------------------------------------------------------------------


@pytest.mark.parametrize("p", [Fraction(1), Fraction(1, 3)])
def test_values_are_drawn_by_their_posterior(p, monkeypatch):
    """Two attributes, a stated table, and all records with the same sets: by going through all."""
    prior = np.array([[8.0, 1, 3], [2, 4, 2]])
    monkeypatch.setattr(
        set_microdata.set_estimators, "bayes", lambda axes, counts: (prior, 1, True)
    )
    rows = 6_000
    members = [np.tile([[0]], (rows, 1)), np.tile([[1, 2]], (rows, 1))]
    made = coded_release(members, [2, 3], [(float(p), 1), (float(p), 2)])
    weights = {}
    for a, b in product(range(2), range(3)):
        chance = Fraction(int(prior[a, b]))
        chance *= dict(drawn_sets(range(2), a, p, 1))[(0,)]
        chance *= dict(drawn_sets(range(3), b, p, 2))[(1, 2)]
        weights[a, b] = chance
    table = to_microdata(made, repeatable(7))
    found = Counter(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))
    total = sum(weights.values())
    assert set(found) == {cell for cell, weight in weights.items() if weight}
    expected = {cell: float(rows * weight / total) for cell, weight in weights.items() if weight}
    assert sum((found[cell] - e) ** 2 / e for cell, e in expected.items()) < CHI_SQUARE_5


def test_sets_of_other_records_values_give_each_member_equally_often():
    rng = np.random.default_rng(2)
    data = pa.table({"illness": rng.choice(["a", "b", "c", "d"], 4_000, p=[0.4, 0.3, 0.2, 0.1])})
    made = sf.Rating(l=2).publish(
        data, Schema.of(illness="sensitive"), randomness=Randomness.test(1)
    )
    table = to_microdata(made, repeatable(1))
    assert_consistent(made, table)
    firsts = [sorted(r["illness"])[0] for r in made.tables["records"].to_pylist()]
    same = sum(x == y for x, y in zip(firsts, table["illness"].to_pylist(), strict=True))
    assert abs(same - 2_000) < 4 * 32  # standard deviations


def test_no_records_and_sets_of_all_values():
    empty = coded_release([np.zeros((0, 2), int)], [3], [(0.5, 2)])
    assert to_microdata(empty, repeatable(1)).num_rows == 0
    whole = coded_release([np.tile([[0, 1, 2]], (900, 1))], [3], [(0.5, 3)])
    assert all(count > 200 for count in Counter(to_microdata(whole, repeatable(1))["a"]).values())


def test_sets_that_the_manifest_does_not_tell_of_are_damage():
    entries, columns = [attribute("x", "string", ["a", "b"])], {"x": [["a"], ["b"]]}
    with pytest.raises(ReleaseDamaged, match="does not say how they were made"):
        to_microdata(release(entries, columns, {}), repeatable(1))
    made = release(entries, columns, {"x": {"p": 1.0, "eta": 2}})
    with pytest.raises(ReleaseDamaged, match="another size"):
        to_microdata(made, repeatable(1))
