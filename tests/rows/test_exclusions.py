"""Exclusions: kinds of people, and groups that stay diverse once their impossible values go."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import Sample, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.incompatible import holds_for_everybody, is_possible, left_for
from oracles.incompatible import incompatible_pairs as literal_pairs

from sfumato.columns.incompatible import incompatible_pairs
from sfumato.errors import Infeasible
from sfumato.models import KAnonymity, LDiversity, Linkable
from sfumato.predicates.incompatible import Incompatible
from sfumato.randomness import Randomness
from sfumato.rows.exclusions import Exclusions, refuse_excluded
from sfumato.rows.mondrian import mondrian
from sfumato.schema import Schema
from sfumato.table import Table, encode

SECRETS = ("illness", "pay")
EXPECTED = st.sampled_from([0.1, 0.25, 0.5, 1.0])


def both(sample: Sample, expected: float) -> tuple[Exclusions | None, set]:
    """Return the exclusions of a table, and the pairs that they come from."""
    pairs = incompatible_pairs(sample.table, expected=expected)
    literal = literal_pairs(sample.rows, sample.quasi, SECRETS, (), expected)
    return Exclusions.of(sample.table, pairs), literal


def excluded_by(exclusions: Exclusions, attribute: int, known: np.ndarray) -> set[int]:
    """Return the codes of an attribute that are impossible for who has these values."""
    class_of, _, starts, classes = exclusions.excluded
    own = {int(class_of[q, value]) for q, value in enumerate(known)}
    codes = range(starts.shape[1] - 1)
    return {v for v in codes if own & {*classes[starts[attribute, v] : starts[attribute, v + 1]]}}


def clinic(**columns) -> Table:
    roles = dict.fromkeys(columns, "quasi-identifier") | {"illness": "sensitive"}
    return encode(pa.table(columns), Schema.of(roles))


# --- classes --------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(samples(people=False), EXPECTED)
def test_each_row_excludes_what_its_quasi_identifiers_do(sample, expected):
    exclusions, pairs = both(sample, expected)
    if exclusions is None:
        assert not pairs
        return
    for a, name in enumerate(SECRETS):
        values = [*sample.table[name].values.to_pylist(), None]
        for row, known in zip(sample.rows, exclusions.values(sample.table), strict=True):
            told = excluded_by(exclusions, a, known)
            for code, value in enumerate(values):
                possible = is_possible(row, sample.quasi, name, value, pairs)
                assert (code in told) == (not possible)


@settings(max_examples=60)
@given(samples(people=False), EXPECTED)
def test_values_are_of_one_class_where_they_exclude_the_same(sample, expected):
    exclusions, _ = both(sample, expected)
    if exclusions is None:
        return
    class_of, owner, starts, classes = exclusions.excluded
    excludes = {
        c: {
            (a, v)
            for a in range(2)
            for v in np.flatnonzero(np.diff(starts[a])).tolist()
            if c in classes[starts[a, v] : starts[a, v + 1]]
        }
        for c in range(len(owner))
    }
    for q, name in enumerate(exclusions.names):
        own = {c for c in range(len(owner)) if owner[c] == q}
        used = set(class_of[q, : sample.table[name].null_code + 1].tolist())
        assert own == used | {min(own)} and not excludes[min(own)]
        assert len({frozenset(excludes[c]) for c in own}) == len(own)


def test_what_several_quasi_identifiers_exclude_is_excluded_together():
    table = clinic(
        sex=["m", "m", "f", "f"], age=[5, 50, 5, 50], illness=["flu", "gout", "flu", "ovaries"]
    )
    rules = ["sex = 'm' AND illness = 'ovaries'", "age < 18 AND illness = 'gout'"]
    pairs = incompatible_pairs(table, map(Incompatible.parse, rules), expected=None)
    exclusions = Exclusions.of(table, pairs)
    names = table["illness"].values.to_pylist()
    told = [
        {names[code] for code in excluded_by(exclusions, 0, known)}
        for known in exclusions.values(table)
    ]
    assert told == [{"ovaries", "gout"}, {"ovaries"}, {"gout"}, set()]


def test_without_pairs_there_is_nothing_to_exclude():
    assert Exclusions.of(clinic(sex=["m", "f"], illness=["flu", "gout"]), {}) is None


# --- groups ---------------------------------------------------------------------------------------


def as_linkable(left: list, size: int, table: list, alpha: float) -> bool:
    """Whether a like group shares one of the values left beside the likeliest of them."""
    shares = sorted({s: Fraction(table.count(s), len(table)) for s in left}.values())
    none = prod((1 - share) ** (size - 1) for share in shares[:-1])
    return not left or 1 - none >= Fraction(str(alpha))


@settings(max_examples=200)
@given(
    samples(people=False, max_rows=40),
    EXPECTED,
    st.integers(1, 3),
    st.sampled_from(["frequency", "distinct"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 0.3]),
)
def test_every_group_is_diverse_for_every_person_in_it(
    sample, expected, ell, variant, strict, two, alpha
):
    exclusions, pairs = both(sample, expected)
    names = SECRETS if two else ("illness",)
    models = [KAnonymity(2), *(LDiversity(name, ell, variant) for name in names)]
    models += [] if alpha is None else [Linkable("illness", 1, alpha)]
    rng = Randomness.test(1).generator("ties")
    try:
        groups = mondrian(sample.table, models, rng=rng, exclusions=exclusions, strict=strict)
    except Infeasible:
        fine = len(sample.rows) >= 2 and all(
            holds_for_everybody(
                sample.rows, [r[n] for r in sample.rows], sample.quasi, n, pairs, ell, variant
            )
            for n in names
        )
        assert not fine or alpha is not None
        return
    table = [row["illness"] for row in sample.rows]
    for group in range(groups.count):
        people = sample.members(groups, group)
        for name in names:
            values = [row[name] for row in people]
            assert holds_for_everybody(people, values, sample.quasi, name, pairs, ell, variant)
        values = [row["illness"] for row in people]
        for person in people if alpha is not None else ():
            left = left_for(person, values, sample.quasi, "illness", pairs)
            assert as_linkable(left, len(people), table, alpha)


def test_a_group_that_tells_a_mans_disease_is_not_made():
    """Two by two would do for everybody, but not for the man who cannot have the other's."""
    table = clinic(
        age=[20, 20, 60, 60],
        sex=["m", "f", "m", "f"],
        illness=["gastritis", "ovaries", "flu", "fever"],
    )
    rule = Incompatible.parse("sex = 'm' AND illness = 'ovaries'")
    exclusions = Exclusions.of(table, incompatible_pairs(table, [rule], expected=None))
    models = [KAnonymity(2), LDiversity("illness", 2)]
    options = {"rng": Randomness.test(1).generator("ties"), "quasi_identifiers": [table["age"]]}
    assert mondrian(table, models, **options).count == 2
    assert mondrian(table, models, **options, exclusions=exclusions).count == 1


def test_a_refusal_says_for_how_many_people():
    table = clinic(
        sex=["m"] * 2 + ["f"] * 4, illness=["gout", "telltale", "ovaries", "ovaries", "flu", "flu"]
    )
    rule = Incompatible.parse("sex = 'm' AND illness IN ('ovaries', 'flu')")
    exclusions = Exclusions.of(table, incompatible_pairs(table, [rule], expected=None))
    refuse_excluded(table, [LDiversity("illness", 2)], exclusions)
    advice = r"l = 3 is infeasible for 2 of 6 people: .*`illness`.*smaller l.*larger `expected`$"
    with pytest.raises(Infeasible, match=advice) as refusal:
        mondrian(
            table,
            [LDiversity("illness", 3)],
            rng=Randomness.test(1).generator("ties"),
            exclusions=exclusions,
        )
    assert "telltale" not in str(refusal.value) and "ovaries" not in str(refusal.value)
    with pytest.raises(Infeasible, match=r"linkable is infeasible for 2 of 6 .*`collapse`"):
        refuse_excluded(table, [Linkable("illness", 1, 0.7)], exclusions)


def test_a_value_needs_enough_people_who_may_have_it():
    """One woman among men: a value that is impossible for men is hers for sure."""
    data = pa.table({"sex": [*"fmmm"], "ill": ["ovaries", "a", "b", "c"]})
    schema = Schema.of(sex="quasi-identifier", ill="sensitive")
    table = encode(data, schema)
    rules = [Incompatible.parse("sex = 'm' AND ill = 'ovaries'")]
    exclusions = Exclusions.of(table, incompatible_pairs(table, rules, expected=None))
    for variant in ("frequency", "distinct"):
        with pytest.raises(Infeasible, match="some values of `ill` are possible for too few"):
            refuse_excluded(table, [LDiversity("ill", 2, variant)], exclusions)


@given(
    st.lists(
        st.tuples(st.sampled_from("fm"), st.integers(0, 3), st.sampled_from("abcdo")),
        min_size=4,
        max_size=60,
    ),
    st.sampled_from([2, 3]),
    st.sampled_from(["frequency", "distinct"]),
)
def test_every_group_has_enough_people_for_its_exclusive_values(rows, l, variant):  # noqa: E741
    sex, age, ill = zip(*rows, strict=True)
    schema = Schema.of(sex="quasi-identifier", age="quasi-identifier", ill="sensitive")
    table = encode(pa.table({"sex": sex, "age": age, "ill": ill}), schema)
    rules = [Incompatible.parse("sex = 'm' AND ill = 'o'")]
    exclusions = Exclusions.of(table, incompatible_pairs(table, rules, expected=None))
    if exclusions is None:
        return
    try:
        groups = mondrian(
            table,
            [LDiversity("ill", l, variant)],
            rng=np.random.default_rng(0),
            exclusions=exclusions,
            strict=False,
        )
    except Infeasible:
        return
    for group in range(groups.count):
        members = [rows[i] for i in groups.members(group)]
        women = sum(row[0] == "f" for row in members)
        ill_ones = sum(row[2] == "o" for row in members)
        if ill_ones and women < len(members):
            assert women >= (ill_ones * l if variant == "frequency" else l)
