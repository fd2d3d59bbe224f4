"""Pairs of values that never go together: those of rules, and those that the data never show."""

from __future__ import annotations

import pyarrow as pa
import pytest
from arbitrary.coded import Sample, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.incompatible import Rule
from oracles.incompatible import incompatible_pairs as literal_pairs

from sfumato.columns.incompatible import incompatible_pairs
from sfumato.errors import ParameterError
from sfumato.predicates.incompatible import Incompatible
from sfumato.schema import Schema
from sfumato.table import Table, encode

# Each rule as the product reads it, and as the oracle does.
RULES = {
    "job = 'v' AND illness IN ('flu', 'cold')": Rule(
        "job", lambda a: a == "v", "illness", lambda s: s in ("flu", "cold")
    ),
    "illness = 'gout' AND NOT (job = 'w')": Rule(
        "job", lambda a: a is not None and a != "w", "illness", lambda s: s == "gout"
    ),
    "job IS NULL AND illness = 'mumps'": Rule(
        "job", lambda a: a is None, "illness", lambda s: s == "mumps"
    ),
    "age > 3 AND age < 9 AND pay <= 4": Rule(
        "age", lambda a: a is not None and 3 < a < 9, "pay", lambda s: s <= 4
    ),
    "place LIKE 'p%' AND illness IS NULL": Rule(
        "place", lambda a: a is not None, "illness", lambda s: s is None
    ),
}


def as_values(table: Table, pairs) -> set:
    """Return the pairs as values of the table."""
    found = set()
    for (known, hidden), matrix in pairs.items():
        names = [[*table[name].values.to_pylist(), None] for name in (known, hidden)]
        assert matrix.shape == tuple(map(len, names))
        rows, columns = matrix.nonzero()
        for a, s in zip(rows.tolist(), columns.tolist(), strict=True):
            found.add((known, names[0][a], hidden, names[1][s]))
    return found


def rules_for(quasi) -> list[str]:
    return [text for text, rule in RULES.items() if rule.known in quasi]


@settings(max_examples=200)
@given(samples(people=False), st.data(), st.sampled_from([None, 0.25, 0.5, 1, 1.5, 2, 5.0]))
def test_pairs_are_those_of_their_definition(sample: Sample, data, expected):
    known = rules_for(sample.quasi)
    texts = data.draw(st.lists(st.sampled_from(known), unique=True)) if known else []
    table = sample.table
    pairs = incompatible_pairs(table, [Incompatible.parse(t) for t in texts], expected=expected)
    literal = literal_pairs(
        sample.rows, sample.quasi, ("illness", "pay"), [RULES[t] for t in texts], expected
    )
    # the product also marks what no row has: only values of rows can matter
    present = {
        name: {row[name] for row in sample.rows} for name in (*sample.quasi, "illness", "pay")
    }
    marked = {
        pair
        for pair in as_values(table, pairs)
        if pair[1] in present[pair[0]] and pair[3] in present[pair[2]]
    }
    assert marked == literal
    assert all(matrix.any() for matrix in pairs.values())


def people(**columns) -> Table:
    roles = dict.fromkeys(columns, "quasi-identifier")
    return encode(pa.table(columns), Schema.of(roles | {"illness": "sensitive"}))


def test_chance_decides_at_the_number_itself():
    table = people(sex=["m"] * 5 + ["f"] * 5, illness=["flu"] * 5 + ["gout"] * 5)
    for expected, count in ((2.5, 2), (2.51, 0), (None, 0)):
        assert len(as_values(table, incompatible_pairs(table, expected=expected))) == count


def test_missing_values_go_with_all():
    table = people(sex=["m"] * 8 + [None] * 8, illness=["flu"] * 8 + [None] * 4 + ["gout"] * 4)
    found = as_values(table, incompatible_pairs(table, expected=1))
    assert found == {("sex", "m", "illness", "gout")}
    everything = Incompatible.parse("sex = 'm' AND illness IS NULL")
    assert incompatible_pairs(table, [everything], expected=None) == {}


def test_a_value_that_was_seen_once_is_no_pair_of_the_data_but_of_a_rule():
    table = people(sex=["m"] * 9 + ["f"] * 9, illness=["flu"] * 9 + ["gout"] * 8 + ["flu"])
    found = as_values(table, incompatible_pairs(table, expected=2))
    assert found == {("sex", "m", "illness", "gout")}
    rule = Incompatible.parse("sex = 'f' AND illness = 'flu'")
    found = as_values(table, incompatible_pairs(table, [rule], expected=2))
    assert found == {("sex", "m", "illness", "gout"), ("sex", "f", "illness", "flu")}


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("gender = 'm' AND illness = 'flu'", "there is no column 'gender'"),
        ("sex = 'm' AND job = 'x'", "one is about 'job' and 'sex'"),
        ("illness = 'flu' AND pay = 3", "one is about 'illness' and 'pay'"),
        ("sex = 'm' AND ward = 'a'", "one is about 'sex' and 'ward'"),
    ],
)
def test_a_rule_is_about_a_quasi_identifier_and_a_sensitive_attribute(rule, reason):
    roles = {"sex": "quasi-identifier", "job": "quasi-identifier"}
    roles |= {"illness": "sensitive", "pay": "sensitive", "ward": "insensitive"}
    data = pa.table({name: ["a", "b"] for name in roles} | {"pay": [1, 2]})
    table = encode(data, Schema.of(roles))
    with pytest.raises(ParameterError, match=f"`incompatible`: .*{reason}"):
        incompatible_pairs(table, [Incompatible.parse(rule)])
