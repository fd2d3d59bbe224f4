"""The distortion ratio: by hand on small releases, and against a literal reading of every cell."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.cells import Exact, Node, Range, Reading, Star, ValueSet, parse_cell
from oracles.points import point_of_text

from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.methods import LGB, Anatomy, Mondrian
from sfumato.models import LUniqueBuckets
from sfumato.randomness import Randomness
from sfumato.release import AttributeEntry, Manifest, Release, TableEntry
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.schema.builders import Mask
from sfumato.utility import distortion_ratio

# 0..7 in pairs, fours and all: height 3.
EIGHTS = Hierarchy.from_rows(
    [(str(i), f"{i // 2 * 2}-{i // 2 * 2 + 1}", "low" if i < 4 else "high") for i in range(8)],
    "age",
)
SEXES = Hierarchy.from_rows([("F", "*"), ("M", "*")], "sex")


def release_of(columns: dict[str, list[Any]], suppressed: int = 0, **kinds: str) -> Release:
    """Return a sliced release of these cells; `kinds` are of columns that are not numeric."""
    attributes = tuple(
        AttributeEntry(
            name=name,
            role=Role.SENSITIVE if name == "disease" else Role.QUASI_IDENTIFIER,
            kind=kinds.get(name, "numeric"),
            type="string" if name in kinds else "int64",
            domain=tuple("abcd") if kinds.get(name) == "ordinal" else None,
        )
        for name in columns
    )
    rows = len(next(iter(columns.values())))
    manifest = Manifest(
        method="test",
        layout="sliced",
        software="test",
        created=dt.date(2026, 1, 31),
        rows=rows,
        suppressed=suppressed,
        attributes=attributes,
        tables=(TableEntry(name="records", attributes=tuple(columns), group="group"),),
        parameters={"columns": [[name] for name in columns]},
    )
    cells = {name: pa.array(cells) for name, cells in columns.items()}
    return Release(manifest, {"records": pa.table({"group": pa.array([1] * rows), **cells})})


def test_a_table_as_in_the_paper():
    """Exact cells but for few, as Merging publishes them: four of eight cells are generalised."""
    release = release_of(
        {
            "age": ["2", "[2, 3]", "[1, 3]", "*"],
            "sex": ["M", "{F, M}", "F", "F"],
            "disease": ["Fever", "Flu", "Flu", "Gastritis"],
        },
        sex="categorical",
        disease="categorical",
    )
    # ages: 0, 1/3 (one level up), 2/3 (two), 1; sexes: 0, 1, 0, 0
    by_hand = (0 + 1 / 3 + 2 / 3 + 1 + 0 + 1 + 0 + 0) / 8
    assert distortion_ratio(release, {"age": EIGHTS, "sex": SEXES}) == pytest.approx(by_hand)
    # without a hierarchy each generalised cell is at the top
    assert distortion_ratio(release, {"sex": SEXES}) == pytest.approx((3 + 1) / 8)
    assert distortion_ratio(release, {}) == pytest.approx(4 / 8)


@pytest.mark.parametrize(
    ("cell", "level"),
    [
        ("0", 0),
        ("[0, 1]", 1),
        ("[1, 2]", 2),
        ("[0, 3]", 2),
        ("[3, 4]", 3),
        ("[0, 7]", 3),
        ("[6, 9]", 3),  # beyond what the hierarchy lists
        ("2-3", 1),
        ("low", 2),
        ("*", 3),
        ("null", 0),
        (None, 0),
        ("{null, 3}", 3),  # a missing value is a child of the root
        ("{null, [2, 3]}", 3),
        ("9", 0),  # exact, though not listed
    ],
)
def test_levels_of_cells(cell, level):
    release = release_of({"age": [cell, "1"]})
    assert distortion_ratio(release, {"age": EIGHTS}) == pytest.approx(level / 3 / 2)


def test_a_range_between_leaves_needs_the_node_around_it():
    """15 to 18 lies between the leaves 10 and 20, which meet at `low`, two of three levels up."""
    release = release_of({"age": ["[15, 18]"]})
    tens = Hierarchy.from_rows(
        [(str(10 * i), f"pair {i // 2}", "low" if i < 4 else "high") for i in range(8)], "age"
    )
    assert distortion_ratio(release, {"age": tens}) == pytest.approx(2 / 3)


def test_sets_and_ordinal_ranges():
    tree = Hierarchy.from_rows([("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")], "grade")
    for cell, level in (("{a, b}", 1), ("{a, c}", 2), ("{c, d}", 1), ("{a, z}", 2), ("x", 1)):
        release = release_of({"grade": [cell]}, grade="categorical")
        assert distortion_ratio(release, {"grade": tree}) == pytest.approx(level / 2)
    for cell, level in (("[a, b]", 1), ("[b, c]", 2), ("b", 0)):
        release = release_of({"grade": [cell]}, grade="ordinal")
        assert distortion_ratio(release, {"grade": tree}) == pytest.approx(level / 2)


def test_a_label_of_several_levels_counts_as_the_lowest():
    tree = Hierarchy.from_rows([("a", "x", "x"), ("b", "x", "x"), ("c", "c", "y")], "grade")
    release = release_of({"grade": ["x", "c", "{a, b}"]}, grade="categorical")
    assert distortion_ratio(release, {"grade": tree}) == pytest.approx(2 * (1 / 3) / 3)


# --- against the literal definition ---------------------------------------------------------------


def literal_share(text: str | None) -> Fraction:
    """Return level / height of a cell under EIGHTS, by trying every node from the lowest up."""
    reading = Reading.of("int64", "numeric", hierarchy=EIGHTS.rows())
    cell = parse_cell(text, reading)
    if isinstance(cell, Exact):
        return Fraction(0)
    for level in (1, 2, 3):
        for label in {row[level] for row in EIGHTS.rows()}:
            leaves = {point_of_text(r[0], "int64") for r in EIGHTS.rows() if r[level] == label}
            if _is_within(cell, leaves, label):
                return Fraction(level, 3)
    return Fraction(1)


def _is_within(cell: Any, leaves: set[Any], label: str) -> bool:
    match cell:
        case Star():
            return label == "*"
        case Node(own):
            return own == label
        case Range(low, high):
            return all(Fraction(n) in leaves for n in range(int(low), int(high) + 1))
        case ValueSet(members):
            return all(m.point in leaves for m in members)
    raise TypeError(cell)


@st.composite
def cell_texts(draw: Any) -> str | None:
    low, high = sorted(draw(st.tuples(st.integers(0, 7), st.integers(0, 7))))
    ranged = f"[{low}, {high}]" if low < high else str(low)
    label = draw(st.sampled_from([row[level] for row in EIGHTS.rows() for level in (1, 2, 3)]))
    return draw(st.sampled_from([ranged, ranged, label, str(low), None]))


@given(cells=st.lists(cell_texts(), min_size=1, max_size=12), suppressed=st.integers(0, 3))
def test_the_ratio_is_the_mean_of_the_literal_shares(cells, suppressed):
    release = release_of({"age": pa.array(cells, pa.string())}, suppressed)
    expected = (sum(map(literal_share, cells)) + suppressed) / (len(cells) + suppressed)
    assert distortion_ratio(release, {"age": EIGHTS}) == pytest.approx(float(expected))


# --- releases of methods --------------------------------------------------------------------------


def test_methods_from_exact_to_fully_generalised():
    data = pa.table({"age": range(8), "illness": [*"abababab"]})
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    trees = {"age": EIGHTS}
    ratios = [distortion_ratio(Mondrian(k=k).publish(data, schema), trees) for k in (1, 2, 4, 8)]
    assert ratios == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert distortion_ratio(Anatomy(l=2).publish(data, schema), trees) == 0


def test_nodes_of_a_hierarchy_that_was_built_and_cut_down():
    data = pa.table({"zip": ["8123", "8124", "9001", "9001"], "illness": [*"abab"]})
    attributes = (
        Attribute("zip", Role.QUASI_IDENTIFIER, hierarchy=Mask("right")),
        Attribute("illness", Role.SENSITIVE),
    )
    release = Mondrian(k=2).publish(data, Schema(attributes))
    assert set(release.tables["records"]["zip"].to_pylist()) == {"812*", "9001"}
    whole = Mask("right").build(data["zip"].combine_chunks(), "zip")
    assert distortion_ratio(release, {"zip": whole}) == pytest.approx(2 * (1 / 4) / 4)
    assert distortion_ratio(release, {}) == pytest.approx(2 / 4)


def test_numbers_that_are_their_own_label_are_exact():
    codes = Hierarchy.from_rows([("7", "7", "*"), ("81", "8#", "*"), ("82", "8#", "*")], "zip")
    release = release_of({"zip": ["7", "8#", "8#"]})
    release = Release(release.manifest, release.tables, {"zip": codes})
    assert distortion_ratio(release, {}) == pytest.approx(2 / 3)


def test_cells_in_buckets_are_left_out():
    data = pa.table(
        {
            "age": [0, 1, 2, 3, 4, 5],
            "town": ["a", "b", "c", "d", "a", "a"],
            "hide": [False, False, True, True, False, False],
            "pay": [1, 2, 3, 4, 5, 6],
        }
    )
    schema = Schema(
        (
            Attribute("age", Role.SEMI_SENSITIVE, flag="hide"),
            Attribute("town", Role.QUASI_IDENTIFIER),
            Attribute("hide", Role.INSENSITIVE),
            Attribute("pay", Role.SENSITIVE),
        )
    )
    method = LGB(k=2, l=2, protection={"pay": LUniqueBuckets("pay", 1)})
    release = method.publish(data, schema, randomness=Randomness.test(1))
    records = release.tables["records"].to_pylist()
    cells = [row["town"] for row in records]
    cells += [row["age"] for row in records if row["age.bucket"] is None]
    assert 6 < len(cells) < 12
    generalised = sum(str(cell)[0] in "[{*" for cell in cells)
    assert distortion_ratio(release, {}) == pytest.approx(generalised / len(cells))


def test_what_is_refused():
    release = release_of({"age": ["[1, 2]"]})
    with pytest.raises(ParameterError, match="no attribute 'agee'"):
        distortion_ratio(release, {"agee": EIGHTS})
    with pytest.raises(ReleaseDamaged, match="'age'") as refusal:
        distortion_ratio(release_of({"age": ["[secret, 2]"]}), {"age": EIGHTS})
    assert "secret" not in str(refusal.value)
    sets = release.manifest.model_copy(update={"layout": "sets"})
    with pytest.raises(ParameterError, match="layout sets"):
        distortion_ratio(Release(sets, release.tables), {})
