"""Regions of texts that are named nowhere are those of a literal enumeration."""

from __future__ import annotations

from datetime import date
from itertools import product

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given, settings

import sfumato as sf
from sfumato.answers import Answerer, Count
from sfumato.answers.parts import Part
from sfumato.answers.regions import regions
from sfumato.answers.sheet import Sheet
from sfumato.predicates import And, Between, Comparison, IsMissing, Not, OneOf, Or, Prefix
from sfumato.randomness import Randomness
from sfumato.release import AttributeEntry, Manifest, Release, TableEntry

# U+0000 follows every text at once, and 'd' ends the texts that start with 'c'.
EVERY = ["".join(text) for size in range(4) for text in product("\0abcd", repeat=size)]
PLAIN = [text for text in EVERY if set(text) <= set("abc")]

TEXTS = st.text("abc", max_size=2)
OPERATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
LEAVES = st.one_of(
    st.builds(Comparison, st.just("c"), OPERATORS, TEXTS),
    st.builds(Between, st.just("c"), TEXTS, TEXTS),
    st.builds(OneOf, st.just("c"), st.lists(TEXTS, min_size=1, max_size=3).map(tuple)),
    st.builds(Prefix, st.just("c"), TEXTS),
    st.just(IsMissing("c")),
)


def withheld(named: list[str]) -> Release:
    """Return a column of which these values and a withheld cell are published."""
    entry = AttributeEntry(name="c", role="quasi-identifier", kind="categorical", type="string")
    manifest = Manifest(
        method="test",
        layout="generalized",
        software="test",
        created=date(2026, 1, 31),
        rows=len(named) + 1,
        attributes=(entry,),
        tables=(TableEntry(name="records", attributes=("c",), group="group"),),
    )
    cells = {
        "group": pa.array([1] * (len(named) + 1), pa.int32()),
        "c": pa.array([*named, "*"], pa.string()),
    }
    return Release(manifest, {"records": pa.table(cells)})


def is_true(predicate, text: str | None) -> bool | None:
    """Return what a predicate says of a text, as SQL has it (None: unknown)."""
    match predicate:
        case IsMissing():
            return text is None
        case Not(part):
            known = is_true(part, text)
            return None if known is None else not known
        case And(parts) | Or(parts):
            found = [is_true(part, text) for part in parts]
            decides = isinstance(predicate, Or)
            if decides in found:
                return decides
            return None if None in found else not decides
    if text is None:
        return None
    match predicate:
        case Comparison(_, operator, value):
            sign = (text > value) - (text < value)
            holds = {"=": sign == 0, "<": sign < 0, ">": sign > 0}
            if operator in holds:
                return holds[operator]
            return not holds[{"!=": "=", "<=": ">", ">=": "<"}[operator]]
        case Between(_, low, high):
            return low <= text <= high
        case OneOf(_, values):
            return text in values
        case Prefix(_, prefix):
            return text[: len(prefix)] == prefix


def truths(leaves, texts) -> set[tuple[bool, ...]]:
    return {tuple(is_true(leaf, text) is True for leaf in leaves) for text in texts}


@settings(max_examples=400)
@given(
    st.lists(LEAVES, min_size=1, max_size=4, unique_by=str),
    st.lists(st.text("abc", min_size=1, max_size=2), max_size=3, unique=True),
)
def test_regions_of_texts_are_those_of_an_enumeration(leaves, named):
    parts = [Part("c", leaf) for leaf in leaves]
    found = regions(Sheet(withheld(named), "records").read("c"), parts)
    vectors = {tuple(region.truth[part] for part in parts) for region in found}
    assert vectors >= truths(leaves, [*PLAIN, None])
    assert vectors == truths(leaves, [*EVERY, None])  # so that each of them may be


EDGES = ["\U0010ffff", "a\U0010ffff", "\ud7ff", "\ue000", "z\ud7ff", ""]


@pytest.mark.parametrize("prefix", EDGES)
def test_texts_after_all_that_start_with_a_prefix(prefix):
    """The last code point has none after it, and half a surrogate pair is no text."""
    leaves = [Prefix("c", prefix), Comparison("c", ">", prefix)]
    parts = [Part("c", leaf) for leaf in leaves]
    found = regions(Sheet(withheld([]), "records").read("c"), parts)
    vectors = {tuple(region.truth[part] for part in parts) for region in found}
    beyond = {(False, True)} if prefix not in ("", "\U0010ffff") else set()
    before = {(False, False)}  # missing, if nothing else
    assert vectors == {(True, False), (True, True)} | beyond | before


@pytest.mark.parametrize(
    "asked",
    [
        "c BETWEEN 'p' AND 'p' AND (s = 'u' OR c != 'r')",
        "c < 'q' AND (s = 'u' OR c != 'r')",
        "c > 'p' AND (s = 'x' OR c < 'r')",
    ],
)
def test_bounds_hold_the_truth_where_texts_are_withheld(asked):
    data = pa.table({"a": [11, 12, 13, 14], "c": list("pqrs"), "s": list("uvuv")})
    schema = sf.Schema.of(a="quasi-identifier", c="quasi-identifier", s="sensitive")
    release = sf.LocalSuppression(k=3).publish(data, schema, randomness=Randomness.test(1))
    found = Answerer(release).answer(Count(), asked)
    assert found.low <= 1 <= found.high  # of the data


@settings(max_examples=300)
@given(
    st.lists(LEAVES, min_size=2, max_size=3),
    st.sampled_from([And, Or]),
    st.booleans(),
    st.lists(st.text("abc", min_size=1, max_size=2), max_size=2, unique=True),
)
def test_one_attribute_is_read_as_a_whole(leaves, joined, negated, named):
    """Bounds of a withheld cell are those of all its values, however the predicate is put."""
    predicate = Not(joined(tuple(leaves))) if negated else joined(tuple(leaves))
    found = Answerer(withheld(named)).answer(Count(), predicate)
    held = {is_true(predicate, text) is True for text in [*EVERY, None]}
    sure = sum(is_true(predicate, text) is True for text in named)
    assert (found.low, found.high) == (sure + min(held), sure + max(held))


@pytest.mark.parametrize(
    ("asked", "low", "high"),
    [
        ("a = 3 AND a != 3", 0, 0),
        ("a BETWEEN 4 AND 3", 0, 0),
        ("a < 3 OR a >= 3 OR a IS NULL", 4, 4),
        ("a = 12", 0, 4),
        ("c = 'p' AND c = 'q'", 0, 0),
        ("c = 'p'", 0, 4),
    ],
)
def test_contradictions_are_seen_where_all_is_withheld(asked, low, high):
    data = pa.table({"a": [11, 12, 13, 14], "c": list("pqrs"), "s": list("uvuv")})
    schema = sf.Schema.of(a="quasi-identifier", c="quasi-identifier", s="sensitive")
    release = sf.LocalSuppression(k=3).publish(data, schema, randomness=Randomness.test(1))
    found = Answerer(release).answer(Count(), asked)
    assert (found.low, found.high) == (low, high)
