"""Tables drawn from releases: every value may stand behind its cell, and exact ones all stay."""

from __future__ import annotations

import datetime as dt
import tempfile
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from arbitrary.frames import flagged_frames, frames
from contracts.test_methods import EXAMPLES
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.cells import Cell, Exact, Node, Reading, Star, ValueSet, covers
from oracles.points import Point, point_of_text, point_of_value
from oracles.release import Published, read_release

from sfumato.answers import to_microdata
from sfumato.answers.microdata import coded_microdata
from sfumato.errors import ReleaseDamaged, SfumatoError
from sfumato.methods import METHODS
from sfumato.methods.anatomy import Anatomy
from sfumato.methods.mondrian import Mondrian
from sfumato.randomness import Randomness, repeatable
from sfumato.release import AttributeEntry, Bounds, Manifest, Release, TableEntry
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.schema.builders import Dates, Mask

DRAWS = 6000
# The 0.9999 quantile of chi-square with 9 degrees of freedom, from tables. Seeds are fixed.
CHI_SQUARE_9 = 33.72
PLACES = Hierarchy.from_rows(
    [
        ("Rome", "Italy", "Europe"),
        ("Pisa", "Italy", "Europe"),
        ("Lyon", "France", "Europe"),
        ("Lima", "Peru", "America"),
    ],
    "place",
)


def release_of(
    cells: list[Any],
    *,
    type: str = "int64",
    kind: str = "numeric",
    domain: Any = None,
    hierarchy: Hierarchy | None = None,
    layout: str = "generalized",
    buckets: list[int | None] | None = None,
) -> Release:
    """Return a release of one attribute with just these cells, all in one group."""
    entry = AttributeEntry(
        name="x",
        role=Role.QUASI_IDENTIFIER if buckets is None else Role.SEMI_SENSITIVE,
        kind=kind,
        type=type,
        domain=domain,
    )
    manifest = Manifest(
        method="test",
        layout=layout,
        software="test",
        created=dt.date(2026, 1, 31),
        rows=len(cells),
        attributes=(entry,),
        tables=(TableEntry(name="records", attributes=("x",), group="group"),),
    )
    columns = {"group": pa.array([1] * len(cells)), "x": pa.array(cells)}
    if buckets is not None:
        columns["x.bucket"] = pa.array(buckets, pa.int32())
    trees = {} if hierarchy is None else {"x": hierarchy}
    return Release(manifest, {"records": pa.table(columns)}, trees)


def drawn(release: Release, seed: int = 1) -> list[Any]:
    return to_microdata(release, repeatable(seed))["x"].to_pylist()


# --- any table ------------------------------------------------------------------------------------


def hits(cell: Cell, point: Point | None, reading: Reading) -> bool:
    """Whether a value may be drawn for a cell.

    A hierarchy that was built from the data is published without the values below a node. Then its
    label stands in for them, says which they are, or nothing is known: the value is missing.
    """
    if isinstance(cell, Node) and not any(cell.label in path for path in named(reading).values()):
        return point is None or point == cell.label or interval_holds(cell.label, point)
    if isinstance(cell, Node) and interval_holds(cell.label, point):
        return True
    if isinstance(cell, ValueSet) and cell.members[0] == Exact(None) and point is None:
        return True
    return covers(cell, point, reading)


def named(reading: Reading) -> dict[Point, tuple[str, ...]]:
    """Return the leaves that read as values, with their labels."""

    def is_value(leaf: Point) -> bool:
        return reading.type == "string" or not isinstance(leaf, str)

    return {leaf: path for leaf, path in reading.paths.items() if is_value(leaf)}


def interval_holds(label: str, point: Point | None) -> bool:
    """Whether a label as builders write them holds a number: `[a, b]`, `[a, b[`, `<b`, `>=a`."""
    if point is None or isinstance(point, str):
        return False
    if label[:1] == "[":
        low, high = label[1:-1].split(", ")
        below = point <= Decimal(high) if label[-1] == "]" else point < Decimal(high)
        return Decimal(low) <= point and below
    if label.startswith(">="):
        return point >= Decimal(label[2:])
    if label.startswith("<"):
        return point < Decimal(label[1:])
    return False


def day_of(point: Any, type: str) -> str:
    if type.startswith("timestamp"):
        return (dt.datetime(1970, 1, 1) + dt.timedelta(seconds=float(point))).date().isoformat()
    return dt.date.fromordinal(int(point)).isoformat()


def part_of_year(label: str, point: Any, type: str) -> bool:
    """Whether a date lies in a day, month, quarter or year; only of columns of dates."""
    if point is None or not type.startswith(("date", "timestamp")):
        return False
    day = day_of(point, type)
    quarter = f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}"
    return label in (day, day[:7], quarter, day[:4])


@st.composite
def releases(draw: Any) -> Release:
    """Return what one of the registered methods makes of an arbitrary table."""
    name = draw(st.sampled_from(sorted(METHODS.keys() & EXAMPLES.keys())))
    parameters = draw(st.sampled_from(EXAMPLES[name]))
    is_local = Role.SEMI_SENSITIVE in METHODS[name].handles
    frame = draw(flagged_frames() if is_local else frames())
    try:
        method = METHODS[name](**parameters)
        return method.publish(frame.data, frame.schema, randomness=Randomness.test(1))
    except SfumatoError:
        assume(False)
        raise


@settings(max_examples=120)
@given(release=releases(), seed=st.integers(0, 9))
def test_any_release_is_turned_into_rows_that_its_cells_allow(release, seed):
    manifest = release.manifest
    assume(manifest.layout != "sets")  # see test_set_microdata.py
    assume("transitions" not in manifest.parameters)  # see test_transitions.py
    table = to_microdata(release, repeatable(seed))
    assert table.column_names == [entry.name for entry in manifest.attributes]
    assert [column.type for column in table.columns] == [e.dtype for e in manifest.attributes]
    assert table.num_rows == manifest.rows
    assert table.equals(to_microdata(release, repeatable(seed)))
    coded = coded_microdata(release, repeatable(seed))
    # for those who count rows, whatever order they stand in
    assert sorted(map(repr, coded.to_pylist())) == sorted(map(repr, table.to_pylist()))
    with tempfile.TemporaryDirectory() as home:
        release.save(Path(home) / "release")
        published = read_release(Path(home) / "release")
    rows = table.to_pylist()
    if manifest.layout == "anatomized":
        assert_joined_within_groups(published, rows)
        return
    for name, reading in published.readings.items():
        told = [row[name] for row in published.tables["records"]]
        points = [point_of_value(row[name]) for row in rows]
        buckets = [row.get(f"{name}.bucket") for row in published.tables["records"]]
        elsewhere = {p for p, cell in zip(points, told, strict=True) if not isinstance(cell, Star)}
        for cell, point, bucket in zip(told, points, buckets, strict=True):
            if isinstance(cell, Star) and elsewhere:
                assert point in elsewhere
            elif isinstance(cell, Node) and bucket is not None:
                assert point == cell.label
            elif isinstance(cell, Node) and part_of_year(cell.label, point, reading.type):
                continue
            else:
                assert hits(cell, point, reading)
            if isinstance(cell, Exact):
                assert point == cell.point  # exact cells, row by row


def assert_joined_within_groups(published: Published, rows: list[dict[str, Any]]) -> None:
    """Every part of a drawn row is one of its table, as often as it is counted there."""
    for entry in published.manifest["tables"]:
        names = entry["attributes"]
        expected: Counter[Any] = Counter()
        for row in published.tables[entry["name"]]:
            expected[tuple(row[name].point for name in names)] += row["count"]
        if names:
            assert expected == Counter(
                tuple(point_of_value(row[name]) for name in names) for row in rows
            )


# --- joins ----------------------------------------------------------------------------------------


def test_anatomized_tables_are_joined_at_random_within_groups_only():
    """Ages tell the group here, and two groups have no illness in common."""
    data = pa.table(
        {"age": [*range(20)] * 2, "illness": [i // 20 * 100 + i % 4 for i in range(40)]}
    )
    data = data.set_column(0, "age", pa.array([i + 1000 * (i // 20) for i in range(40)]))
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    release = Anatomy(l=2).publish(data, schema)
    group_of = {row["age"]: row["group"] for row in release.tables["qi_1"].to_pylist()}
    held: dict[int, Counter[int]] = {}
    for row in release.tables["sensitive_1"].to_pylist():
        held.setdefault(row["group"], Counter())[row["illness"]] += row["count"]
    joins = set()
    for seed in range(4):
        found: dict[int, Counter[int]] = {}
        table = to_microdata(release, repeatable(seed))
        for row in table.to_pylist():
            found.setdefault(group_of[row["age"]], Counter())[row["illness"]] += 1
        assert found == held
        joins.add(tuple(sorted((row["age"], row["illness"]) for row in table.to_pylist())))
        assert table["age"].to_pylist() != sorted(table["age"].to_pylist())
    assert len(joins) > 1


def test_tables_of_other_groups_or_counts_are_refused():
    data = pa.table({"age": [1, 2, 3, 4], "illness": ["a", "b", "a", "b"]})
    release = Anatomy(l=2).publish(data, Schema.of(age="quasi-identifier", illness="sensitive"))
    for column, change in (("group", [7] * 4), ("count", [9] * 4)):
        table = release.tables["qi_1"]
        place = table.column_names.index(column)
        spoilt = table.set_column(place, column, pa.array(change[: table.num_rows], pa.int32()))
        broken = Release(release.manifest, {**release.tables, "qi_1": spoilt})
        with pytest.raises(ReleaseDamaged, match=r"groups of table|does not count all"):
            to_microdata(broken, repeatable(1))


def test_multisets_of_exact_values_stay_by_group():
    data = pa.table({"age": [20, 21, 40, 41, 42], "illness": ["a", "b", "c", None, "c"]})
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    release = Mondrian(k=2).publish(data, schema)
    table = to_microdata(release, repeatable(3))
    pairs = Counter((row["age"] // 20, row["illness"]) for row in table.to_pylist())
    assert pairs == Counter([(1, "a"), (1, "b"), (2, "c"), (2, None), (2, "c")])


# --- draws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "values"),
    [
        (release_of(["[3, 12]"] * DRAWS), range(3, 13)),
        (
            release_of(["[2026-01-27, 2026-02-05]"] * DRAWS, type="date32[day]"),
            [dt.date(2026, 1, 27) + dt.timedelta(days=i) for i in range(10)],
        ),
        (
            release_of(["[2026-01-27, 2026-02-05]"] * DRAWS, type="date64[ms]"),
            [dt.date(2026, 1, 27) + dt.timedelta(days=i) for i in range(10)],
        ),
        (
            release_of(["[0.95, 1.04]"] * DRAWS, type="decimal128(10, 2)"),
            [Decimal(95 + i) / 100 for i in range(10)],
        ),
        (release_of(["{null, [1, 9]}"] * DRAWS), [*range(1, 10), None]),
        (
            release_of(["{" + ", ".join("abcdefghij") + "}"] * DRAWS, type="string",
                       kind="categorical"),
            [*"abcdefghij"],
        ),
        (
            release_of(["[b, k]"] * DRAWS, type="string", kind="ordinal",
                       domain=tuple("abcdefghijkl")),
            [*"bcdefghijk"],
        ),
        (
            release_of(["*"] * DRAWS, domain=Bounds(min=3, max=12)), range(3, 13),
        ),
    ],
    ids=["whole", "days", "days in milliseconds", "decimals", "or missing", "set", "ordinal", "*"],
)  # fmt: skip
def test_draws_are_uniform(release, values):
    counts = Counter(drawn(release))
    assert counts.keys() <= set(values)
    expected = DRAWS / 10
    assert sum((counts[v] - expected) ** 2 / expected for v in values) < CHI_SQUARE_9


def test_floats_are_uniform_along_their_range_and_never_beyond():
    for type, ends in (("double", "[-1.5, 8.5]"), ("float", "[-1.5, 8.5]")):
        values = drawn(release_of([ends] * DRAWS, type=type))
        assert all(-1.5 <= value <= 8.5 for value in values)
        counts = Counter(int(value + 1.5) for value in values)
        assert sum((counts[i] - DRAWS / 10) ** 2 * 10 / DRAWS for i in range(10)) < CHI_SQUARE_9
    tiny = drawn(release_of(["[0.1, 0.10000001]"] * 99, type="float"))
    assert len(set(tiny)) <= 2
    wide = drawn(release_of(["[-1.7e+308, 1.7e+308]"] * 99, type="double"))
    assert all(-1.7e308 <= value <= 1.7e308 for value in wide) and len(set(wide)) == 99
    assert None not in drawn(release_of(["{null, [0.5, 1]}"] * 99, type="double"))


def test_ranges_as_wide_as_their_type():
    for type, low, high in (
        ("int64", -(2**63), 2**63 - 1),
        ("uint64", 0, 2**64 - 1),
        ("decimal256(60, 0)", -(10**60) + 1, 10**60 - 1),
    ):
        values = [int(v) for v in drawn(release_of([f"[{low}, {high}]"] * 400, type=type))]
        assert all(low <= value <= high for value in values)
        middle = (low + high) // 2
        below = sum(value < middle for value in values)
        assert abs(below - 200) < 4 * 10  # standard deviations
        assert len(set(values)) == 400
        assert len({value % 7 for value in values}) == 7  # the last digits vary, too


def test_nodes_become_any_value_below_them():
    cells = ["Italy", "Europe", "*", "Lima"] * 300
    values = drawn(release_of(cells, type="string", kind="categorical", hierarchy=PLACES))
    assert set(values[0::4]) == {"Rome", "Pisa"}
    assert set(values[1::4]) == {"Rome", "Pisa", "Lyon"}
    assert set(values[2::4]) == {"Rome", "Pisa", "Lyon", "Lima"}
    assert set(values[3::4]) == {"Lima"}


@pytest.mark.parametrize(
    ("label", "cell", "first", "last"),
    [
        ("[10, 20[", '"[10, 20["', 10, 19),
        ("(10, 20]", '"(10, 20]"', 11, 20),
        ("[10, 20]", "[10, 20]", 10, 20),
        ("10-14", "10-14", 10, 14),
        (">=40", ">=40", 40, 50),
        ("<3", "<3", 0, 2),
    ],
)
def test_a_label_that_is_an_interval_tells_its_values(label, cell, first, last):
    """The hierarchy lists none of the values below, as one that was built from the data."""
    tree = Hierarchy.from_rows([(label, label, "*"), ("7", "other", "*")], "x")
    values = drawn(release_of([cell] * 500, hierarchy=tree, domain=Bounds(min=0, max=50)))
    assert set(values) == set(range(first, last + 1))


def test_an_interval_that_does_not_hold_its_values_is_not_believed():
    tree = Hierarchy.from_rows([("7", "10-14", "*"), ("8", "10-14", "*")], "x")
    assert set(drawn(release_of(["10-14"] * 99, hierarchy=tree))) == {7, 8}


def test_a_node_without_values_is_missing_and_a_text_stands_for_itself():
    tree = Hierarchy.from_rows([("8##", "8##", "*"), ("912", "9##", "*")], "x")
    assert drawn(release_of(["8##", "9##", "8##"], hierarchy=tree)) == [None, 912, None]
    texts = release_of(["8##", "9##"], type="string", kind="categorical", hierarchy=tree)
    assert drawn(texts) == ["8##", "912"]


@pytest.mark.parametrize("type", [pa.date32(), pa.timestamp("us"), pa.timestamp("ms", "UTC")])
def test_parts_of_years_become_days_in_them(type):
    days = [dt.datetime(2024, month, day) for month in (2, 5, 12) for day in (1, 29)]
    data = pa.table({"x": pa.array(days).cast(type), "y": range(6)})
    attributes = (
        Attribute("x", Role.QUASI_IDENTIFIER, hierarchy=Dates(("month", "quarter", "year"))),
        Attribute("y", Role.SENSITIVE),
    )
    for k, part in ((2, lambda d: d.month), (6, lambda d: 0)):
        release = Mondrian(k=k).publish(data, Schema(attributes))
        for seed in range(20):
            rows = to_microdata(release, repeatable(seed)).to_pylist()
            assert all(row["x"].year == 2024 for row in rows)
            by_secret = [row["x"] for row in sorted(rows, key=lambda row: row["y"])]
            assert [part(found) for found in by_secret] == [part(day) for day in days]


def test_a_withheld_cell_gets_a_value_of_other_rows():
    values = drawn(release_of(["*", "7", "*", "9", None] * 200, domain=Bounds(min=0, max=99)))
    assert set(values[0::5]) == {7, 9, None}
    assert set(values[1::5]) == {7} and set(values[4::5]) == {None}
    assert drawn(release_of(["*", "*"])) == [None, None]  # neither rows nor a domain tell


def test_missing_stays_missing_in_typed_and_in_generalised_columns():
    assert drawn(release_of([3, None])) == [3, None]
    assert drawn(release_of(["null", None, "[4, 5]"]))[:2] == [None, None]


def test_a_cell_in_a_bucket_is_exact_even_if_it_reads_as_a_label():
    rows = [("Rome", "Italy", "*"), ("Italy, all", "Italy", "*"), ("Lima", "Peru", "*")]
    tree = Hierarchy.from_rows(rows, "x")
    release = release_of(
        ["Italy", "Italy", "Rome", None],
        type="string",
        kind="categorical",
        hierarchy=tree,
        layout="local",
        buckets=[1, None, 1, 2],
    )
    for seed in range(9):
        values = drawn(release, seed)
        assert values[0] == "Italy" and values[2:] == ["Rome", None]
        assert values[1] in ("Rome", "Italy, all")
    spoilt = release_of(["[1, 2]", "3"], layout="local", buckets=[1, 1])
    with pytest.raises(ReleaseDamaged, match="'x'"):
        drawn(spoilt)


def test_what_does_not_read_is_refused_without_the_cell():
    for cells, options in (
        (["[secret, 5]"], {}),
        (["[9, 5]"], {}),
        (["[a, secret]"], {"type": "string", "kind": "ordinal", "domain": ("a", "b")}),
    ):
        with pytest.raises(ReleaseDamaged, match="attribute 'x'") as refusal:
            drawn(release_of(cells, **options))
        assert "secret" not in str(refusal.value)


def test_masked_codes_become_codes_only_where_the_release_lists_them():
    codes = [f"102{n:02}" for n in range(12)]
    data = pa.table({"zip": codes, "y": [n % 3 for n in range(12)]})

    def rows_of(hierarchy: Any) -> list[str]:
        known = Attribute("zip", Role.QUASI_IDENTIFIER, hierarchy=hierarchy)
        schema = Schema((known, Attribute("y", Role.SENSITIVE)))
        release = Mondrian(k=3).publish(data, schema)
        assert any("*" in cell for cell in release.tables["records"]["zip"].to_pylist())
        return to_microdata(release, repeatable(1))["zip"].to_pylist()

    masked = rows_of(Mask())  # built from the data, so that its codes stay with the owner
    assert all(value.startswith("102") for value in masked)
    assert any("*" in value for value in masked)
    paths = [(code, code[:4] + "*", code[:3] + "**", "*") for code in codes]
    assert set(rows_of(Hierarchy.from_rows(paths, "zip"))) <= set(codes)


def test_the_oracle_of_these_tests_can_fail():
    ages, places = Reading.of("int64", "numeric"), Reading.of("string", "categorical")
    assert not covers(ValueSet((Exact(point_of_text("1", "int64")),)), None, ages)
    assert not hits(Exact("a"), "b", places)
    assert not hits(Node("[1, 5["), point_of_value(5), ages)
    assert hits(Node("[1, 5["), point_of_value(4), ages)
    assert not part_of_year("2024-Q1", point_of_value(dt.date(2024, 4, 1)), "date32[day]")
