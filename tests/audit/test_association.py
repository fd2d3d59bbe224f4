"""Claims of (alpha, beta, gamma, delta): sound releases hold, spoilt ones are refused."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from contracts.raw_release import (
    NotApplicable,
    entry_of,
    read_manifest,
    read_rows,
    rewrite_manifest,
    rows_by_group,
    table_file,
    table_names,
    write_rows,
)
from contracts.spoil import SPOILS
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import association as oracle
from oracles.release import read_release
from oracles.samples import write_release
from oracles.verdict import claim_holds, verdict

from sfumato.audit import audit
from sfumato.errors import ReleaseDamaged
from sfumato.methods import SLPPA
from sfumato.models import AlphaBetaGammaDelta
from sfumato.randomness import Randomness
from sfumato.release import AttributeEntry, Bounds, Manifest, Release, TableEntry
from sfumato.schema import Attribute, Role, Schema

from .conftest import people, schema, with_claims, with_manifest

KEYS = oracle.KEYS
TIGHT = {"alpha": 0.25, "beta": 0.25, "gamma": 0.015625}
ALL = {"alpha": 1.0, "beta": 1.0, "gamma": 1.0, "delta": 1.0}


def exit_code(folder: Path) -> int:
    """Return what the command line would answer; damage has one line."""
    try:
        return audit(folder).exit_code
    except ReleaseDamaged as error:
        assert str(error) and "\n" not in str(error)
        return 2


# --- a release of the method ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def slppa() -> Release:
    """Five quasi-identifiers in two tables, some values of the disease missing."""
    one = Schema(
        tuple(Attribute("cost", Role.INSENSITIVE) if e.name == "cost" else e for e in schema())
    )
    seed = Randomness.secret(b"a seed that leaves some crowds..")
    release = SLPPA(alpha=0.5, beta=0.4, delta=0.4, tables=2).publish(
        people(), one, randomness=seed
    )
    assert any(max(table["count"].to_pylist()) > 1 for table in release.tables.values())
    assert len(set(release.tables["sensitive_1"]["group"].to_pylist())) > 20
    return release


@pytest.fixture(scope="module")
def good(slppa, tmp_path_factory) -> dict[str, Path]:
    """The release as files."""
    home = tmp_path_factory.mktemp("good")
    for file_format in ("parquet", "csv"):
        slppa.save(home / file_format, format=file_format)
    return {file_format: home / file_format for file_format in ("parquet", "csv")}


def test_the_release_holds_and_the_report_says_what_is_reached(slppa, good):
    report = audit(slppa)
    assert report.exit_code == 0
    found = oracle.of_release(read_release(good["csv"]), "disease").values()
    reached = {key: max(getattr(each, key) for each in found) for key in KEYS}
    for key, least in reached.items():
        assert f"{key} {float(least):.4g}" in report.guarantees[0].note
    claim = slppa.manifest.guarantees[0]
    assert report.guarantees[0].worst == pytest.approx(
        max(float(reached[key]) / claim[key] for key in KEYS)
    )
    for folder in good.values():
        assert audit(folder) == report
        assert verdict(folder) == 0


@pytest.mark.parametrize("key", KEYS)
def test_a_stricter_claim_is_broken_and_a_weaker_one_holds(key, slppa, good):
    found = oracle.of_release(read_release(good["csv"]), "disease").values()
    least = float(max(getattr(each, key) for each in found))
    claim = slppa.manifest.guarantees[0]
    for share, code in [(least * 0.99, 1), (least * 0.999999, 1), (min(least * 1.001, 1.0), 0)]:
        assert audit(with_claims(slppa, {**claim, key: share})).exit_code == code


# --- spoilt ones ----------------------------------------------------------------------------------

DAMAGED, BROKEN = 2, 1
Spoil = Callable[[Path], None]
OWN: dict[str, tuple[Spoil, int]] = {}


def spoil(code: int) -> Callable[[Spoil], Spoil]:
    def register(function: Spoil) -> Spoil:
        OWN[function.__name__] = (function, code)
        return function

    return register


def renumbered(folder: Path, tables: list[str], old: int, new: int) -> None:
    for table in tables:
        rows = read_rows(folder, table)
        write_rows(
            folder, table, [r | {"group": new if r["group"] == old else r["group"]} for r in rows]
        )


def summed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with the counts of equal ones added up."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        counts[tuple((k, v) for k, v in row.items() if k != "count")] += row["count"]
    return [dict(key) | {"count": count} for key, count in counts.items()]


def pile_up(folder: Path, table: str) -> None:
    """Give all counts of a table's largest group to one of its rows, sizes unchanged."""
    groups = rows_by_group(folder, table)
    chosen = max(groups, key=lambda g: len(groups[g]))
    rest = [row for row in read_rows(folder, table) if row["group"] != chosen]
    first = next(r for r in groups[chosen] if None not in r.values())
    all_of_them = sum(row["count"] for row in groups[chosen])
    write_rows(folder, table, [*rest, first | {"count": all_of_them}])


@spoil(DAMAGED)
def give_two_groups_one_number_in_one_table(folder: Path) -> None:
    last = max(rows_by_group(folder, "qi_1"))
    renumbered(folder, ["qi_1"], last, 1)
    write_rows(folder, "qi_1", summed(read_rows(folder, "qi_1")))


@spoil(DAMAGED)
def swap_two_groups_of_different_size_in_one_table(folder: Path) -> None:
    sizes = {
        g: sum(row["count"] for row in rows) for g, rows in rows_by_group(folder, "qi_2").items()
    }
    small, large = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
    assert sizes[small] < sizes[large]
    for old, new in ((small, 10**6), (large, small), (10**6, large)):
        renumbered(folder, ["qi_2"], old, new)


@spoil(DAMAGED)
def merge_two_groups_and_leave_a_gap(folder: Path) -> None:
    for table in table_names(folder):
        renumbered(folder, [table], 2, 1)
        write_rows(folder, table, summed(read_rows(folder, table)))


@spoil(BROKEN)
def pile_up_a_quasi_identifier_table(folder: Path) -> None:
    pile_up(folder, "qi_1")


@spoil(BROKEN)
def pile_up_the_other_quasi_identifier_table(folder: Path) -> None:
    pile_up(folder, "qi_2")


@spoil(BROKEN)
def pile_up_the_sensitive_table(folder: Path) -> None:
    pile_up(folder, "sensitive_1")


@spoil(DAMAGED)
def move_a_count_to_another_group(folder: Path) -> None:
    rows = read_rows(folder, "qi_1")
    taken = next(r for r in rows if sum(r["group"] == o["group"] for o in rows) > 1)
    other = next(r for r in rows if r["group"] != taken["group"])
    taken["count"] -= 1
    other["count"] += 1
    write_rows(folder, "qi_1", [row for row in rows if row["count"]])


@spoil(DAMAGED)
def hide_a_crowd_in_rows_of_one(folder: Path) -> None:
    """A combination listed twice looks rarer than it is."""
    for table in ("qi_1", "qi_2", "sensitive_1"):
        rows = read_rows(folder, table)
        crowd = next((row for row in rows if row["count"] > 1), None)
        if crowd:
            crowd["count"] -= 1
            write_rows(folder, table, [*rows, crowd | {"count": 1}])
            return
    raise AssertionError("everybody differs")


@spoil(DAMAGED)
def list_a_sensitive_value_twice(folder: Path) -> None:
    """Sizes stay as they are, and the value looks rarer than it is."""
    rows, (name,) = read_rows(folder, "sensitive_1"), entry_of(folder, "sensitive_1")["attributes"]
    other = next(row for row in rows[1:] if row["group"] == rows[0]["group"])
    other[name] = rows[0][name]
    write_rows(folder, "sensitive_1", rows)


@spoil(DAMAGED)
def drop_a_table_of_the_manifest(folder: Path) -> None:
    table_file(folder, "qi_2").unlink()
    rewrite_manifest(
        folder, lambda m: m.update(tables=[t for t in m["tables"] if t["name"] != "qi_2"])
    )


@spoil(BROKEN)
def drop_a_table_with_all_that_it_says(folder: Path) -> None:
    """What is left is sound, but one factor of gamma is gone."""
    gone = entry_of(folder, "qi_2")["attributes"]
    drop_a_table_of_the_manifest(folder)
    kept = [a for a in read_manifest(folder)["attributes"] if a["name"] not in gone]
    rewrite_manifest(folder, lambda m: m.update(attributes=kept))
    left = sum(name.startswith("qi_") for name in table_names(folder))
    rewrite_manifest(folder, lambda m: m["parameters"].update(tables=left))
    for name in gone:
        (folder / "hierarchies" / f"{name}.csv").unlink(missing_ok=True)
    read = read_release(folder)
    found = oracle.of_release(read, "disease").values()
    assert all(each.alpha <= 0.5 and each.beta <= 0.4 for each in found)
    assert max(each.gamma for each in found) > read.manifest["guarantees"][0]["gamma"]


@spoil(DAMAGED)
def name_a_table_as_if_it_were_kept(folder: Path) -> None:
    """So that its crowds would not count."""

    def change(manifest: dict[str, Any]) -> None:
        next(t for t in manifest["tables"] if t["name"] == "qi_2")["name"] = "kept_2"

    rewrite_manifest(folder, change)


@spoil(BROKEN)
def lose_the_values_of_a_group(folder: Path) -> None:
    """Of people without a value nothing can be confirmed."""
    rows = read_rows(folder, "sensitive_1")
    size = sum(row["count"] for row in rows if row["group"] == 1)
    rest = [row for row in rows if row["group"] != 1]
    lost = dict.fromkeys(rows[0]) | {"group": 1, "count": size}
    write_rows(folder, "sensitive_1", [*rest, lost])


@spoil(BROKEN)
def part_a_person_from_the_group(folder: Path) -> None:
    """One of each table: a group of one, who has a value."""
    new = len(rows_by_group(folder, "qi_1")) + 1
    for table in table_names(folder):
        rows = read_rows(folder, table)
        one = next(r for r in rows if r["group"] == 1 and r.get("disease", "") is not None)
        one["count"] -= 1
        rows.append(one | {"group": new, "count": 1})
        write_rows(folder, table, [row for row in rows if row["count"]])


def changed_claim(**keys: Any) -> Spoil:
    return lambda folder: rewrite_manifest(folder, lambda m: m["guarantees"][0].update(keys))


def without_key(key: str) -> Spoil:
    return lambda folder: rewrite_manifest(folder, lambda m: m["guarantees"][0].pop(key))


for _key in KEYS:
    OWN[f"claim_a_tiny_{_key}"] = (changed_claim(**{_key: 1e-9}), BROKEN)
    OWN[f"claim_no_{_key}"] = (without_key(_key), DAMAGED)
    for _wrong in (0, -0.5, 1.5, "0.5", True, None):
        OWN[f"claim_{_key}_of_{_wrong}"] = (changed_claim(**{_key: _wrong}), DAMAGED)
OWN["claim_about_a_quasi_identifier"] = (changed_claim(attribute="age"), DAMAGED)
OWN["claim_about_a_kept_attribute"] = (changed_claim(attribute="ward"), DAMAGED)
OWN["claim_about_nothing"] = (changed_claim(attribute="height"), DAMAGED)
OWN["claim_without_an_attribute"] = (without_key("attribute"), DAMAGED)


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("name", OWN)
def test_a_spoilt_release_is_refused(name, file_format, good, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(good[file_format], folder)
    apply, code = OWN[name]
    apply(folder)
    assert exit_code(folder) == code
    assert verdict(folder) == code


# What there is to spoil in other releases: generalised cells, and claims of other models.
LACKING = {
    "delete_a_hierarchy",
    "name_a_node_that_is_not_there",
    "swap_the_ends_of_a_range",
    "widen_a_range_beyond_the_domain",
    "leave_a_bracket_open",
    "claim_a_larger_l",
    "claim_a_smaller_t",
    "part_a_record_from_its_group",
    "make_a_group_all_alike",
}


@pytest.mark.parametrize(
    "each", [s for s in SPOILS if "anatomized" in s.layouts], ids=lambda each: each.name
)
def test_what_spoils_any_release_spoils_this_one(each, good, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(good["parquet"], folder)
    try:
        each.apply(folder)
    except NotApplicable:
        assert each.name in LACKING
        return
    assert each.name not in LACKING
    assert exit_code(folder) == each.code
    assert verdict(folder) == each.code


# --- one requirement at a time --------------------------------------------------------------------


def written(folder: Path, ages: str, jobs: str, pays: str, **claim: float) -> Path:
    """Write groups as texts: `aab bcc` are two groups of three people, `-` a missing value."""

    def counted(name: str, groups: str) -> dict[str, list[Any]]:
        found = [
            (g, None if letter == "-" else letter, count)
            for g, letters in enumerate(groups.split(), start=1)
            for letter, count in Counter(letters).items()
        ]
        group, cells, counts = (list(each) for each in zip(*found, strict=True))
        return {"group": group, name: pa.array(cells, pa.string()), "count": counts}

    def attribute(name: str, role: str, groups: str) -> dict[str, Any]:
        domain = sorted(set(groups) - {" ", "-"})
        kind = {"kind": "categorical", "type": "string", "domain": domain}
        return {"name": name, "role": role} | kind

    return write_release(
        folder,
        layout="anatomized",
        rows=len(ages.replace(" ", "")),
        attributes=[
            attribute("age", "quasi-identifier", ages),
            attribute("job", "quasi-identifier", jobs),
            attribute("pay", "sensitive", pays),
        ],
        tables={
            "qi_1": counted("age", ages),
            "qi_2": counted("job", jobs),
            "sensitive_1": counted("pay", pays),
        },
        guarantees=[{"model": oracle.MODEL, "attribute": "pay", **ALL, **claim}],
    )


@pytest.mark.parametrize(
    ("ages", "jobs", "pays", "claim", "code"),
    [
        # two of four share an age
        ("aabc defg", "pqrs pqrs", "wxyz wxyz", {"alpha": 0.5}, 0),
        ("aabc defg", "pqrs pqrs", "wxyz wxyz", {"alpha": 0.49}, 1),
        # or a job: every table counts
        ("abcd defg", "pqrs ppqr", "wxyz wxyz", {"alpha": 0.49}, 1),
        # two of four have a value, or two of three who have one
        ("abcd defg", "pqrs pqrs", "wwyz wxyz", {"beta": 0.5}, 0),
        ("abcd defg", "pqrs pqrs", "ww-z wxyz", {"beta": 0.5}, 1),
        ("abcd defg", "pqrs pqrs", "ww-z wxyz", {"beta": 0.667}, 0),
        # one half times one quarter times one half, and two thirds instead of the last
        ("aabc defg", "pqrs pqrs", "wwyz wxyz", {"gamma": 0.0625}, 0),
        ("aabc defg", "pqrs pqrs", "wwyz wxyz", {"gamma": 0.0624}, 1),
        ("aabc defg", "pqrs pqrs", "ww-z wxyz", {"gamma": 0.0625}, 1),
        ("aabc defg", "pqrs pqrs", "ww-z wxyz", {"gamma": 0.0834}, 0),
        # a value that the group lacks: a quarter of all
        ("abcd defg", "pqrs pqrs", "wwxy xyzz", {"delta": 0.25}, 0),
        ("abcd defg", "pqrs pqrs", "wwxy xyzz", {"delta": 0.24}, 1),
        ("abcd defg", "pqrs pqrs", "wxyz wxyz", {"delta": 1e-9}, 0),
        ("abcd", "pqrs", "wwxy", {"delta": 1e-9}, 0),
        # all that is asked at once
        ("abcd defg", "pqrs pqrs", "wxyz wxyz", TIGHT, 0),
        ("abcd defg", "pqrs pqrs", "wxyz wxyz", TIGHT | {"gamma": 0.0156}, 1),
        # people without any value: one group of them, or everybody
        ("abcd defg", "pqrs pqrs", "---- wxyz", {}, 1),
        ("abcd defg", "pqrs pqrs", "---- ----", {}, 1),
    ],
)
def test_each_requirement_is_checked(ages, jobs, pays, claim, code, tmp_path):
    folder = written(tmp_path / "release", ages, jobs, pays, **claim)
    assert exit_code(folder) == code
    assert verdict(folder) == code


def test_an_empty_release_breaks_nothing(slppa):
    empty = {name: table.slice(0, 0) for name, table in slppa.tables.items()}
    manifest = slppa.manifest.model_copy(update={"rows": 0})
    assert audit(Release(manifest, empty, slppa.hierarchies)).ok


def test_a_release_without_quasi_identifiers_has_nothing_to_put_together(slppa):
    quasi = {e.name for e in slppa.manifest.attributes if e.role is Role.QUASI_IDENTIFIER}
    kept = [e for e in slppa.manifest.tables if not e.name.startswith("qi_")]
    bare = Release(
        slppa.manifest.model_copy(
            update={
                "tables": tuple(kept),
                "attributes": tuple(e for e in slppa.manifest.attributes if e.name not in quasi),
                "parameters": {},
            }
        ),
        {entry.name: slppa.tables[entry.name] for entry in kept},
        {name: tree for name, tree in slppa.hierarchies.items() if name not in quasi},
    )
    with pytest.raises(ReleaseDamaged, match="tables of their own"):
        audit(bare)


def test_the_claim_says_nothing_of_other_layouts(generalized, slppa):
    claim = AlphaBetaGammaDelta("disease", 1, 1, 1, 1).claim()
    with pytest.raises(ReleaseDamaged, match="tables of their own"):
        audit(with_claims(generalized, claim))
    assert audit(with_claims(slppa, claim)).ok


def test_nor_of_people_with_several_rows(slppa, tmp_path):
    """Rows that share a combination may then all be one person's."""
    sizes = Counter()
    for row in slppa.tables["sensitive_1"].to_pylist():
        sizes[row["group"]] += row["count"]
    units = pa.table({"group": list(sizes), "count": list(sizes.values())})
    entries = (
        TableEntry(name="units", attributes=(), group="group", count="count"),
        TableEntry(name="units_1", attributes=("disease",), group="group", count="count"),
    )
    tables = slppa.tables | {"units": units, "units_1": slppa.tables["sensitive_1"]}
    manifest = slppa.manifest.model_copy(update={"tables": (*slppa.manifest.tables, *entries)})
    release = Release(manifest, tables, slppa.hierarchies)
    release.save(tmp_path / "release", format="csv")
    assert exit_code(tmp_path / "release") == 2
    assert verdict(tmp_path / "release") == 2


def test_a_test_is_never_confirmed(slppa):
    assert audit(with_manifest(slppa, test=True)).exit_code == 1


# --- arbitrary ones -------------------------------------------------------------------------------

SHARES = st.sampled_from([0.1, 0.125, 0.25, 0.3, 0.333333333, 0.333333334, 0.5, 0.75, 1, 1.0])
CLAIMS = st.fixed_dictionaries(
    {"model": st.just(oracle.MODEL), "attribute": st.sampled_from(["letter"] * 6 + ["number"])}
    | dict.fromkeys(KEYS, SHARES)
)


@st.composite
def releases(draw) -> Release:
    """Return groups of people in two or three tables of quasi-identifiers and two of secrets."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    cells = {
        "age": st.integers(0, draw(st.integers(0, 9))),
        "sex": st.sampled_from(["f", "m", None]),
        "zip": st.integers(10, 12),
        "letter": st.sampled_from(["a", "b", "c", None]),
        "number": st.integers(0, 3),
    }
    types = {"age": pa.int64(), "sex": pa.string(), "zip": pa.int64()}
    types |= {"letter": pa.string(), "number": pa.int64()}
    divided = draw(
        st.sampled_from(
            [
                (("age", "sex", "zip"),),
                (("age", "sex"), ("zip",)),
                (("zip",), ("age",), ("sex",)),
            ]
        )
    )
    named = {f"qi_{i}": part for i, part in enumerate(divided, start=1)}
    named |= {"sensitive_1": ("letter",), "sensitive_2": ("number",)}
    tables = {}
    for table, part in named.items():
        counts: Counter[tuple[Any, ...]] = Counter()
        for group, size in enumerate(sizes, start=1):
            for _ in range(size):
                counts[group, *(draw(cells[name]) for name in part)] += 1
        rows = list(counts)
        columns = {name: [row[i] for row in rows] for i, name in enumerate(part, start=1)}
        tables[table] = pa.table(
            {
                "group": [row[0] for row in rows],
                **{name: pa.array(values, types[name]) for name, values in columns.items()},
                "count": [counts[row] for row in rows],
            }
        )
    domains = {"age": Bounds(min=0, max=9), "sex": ("f", "m"), "zip": Bounds(min=10, max=12)}
    domains |= {"letter": ("a", "b", "c"), "number": Bounds(min=0, max=3)}
    manifest = Manifest(
        method="slppa",
        layout="anatomized",
        software="sfumato 0.1.0",
        created="2026-01-31",
        rows=sum(sizes),
        attributes=tuple(
            AttributeEntry(
                name=name,
                role="sensitive" if name in ("letter", "number") else "quasi-identifier",
                kind="numeric" if isinstance(domains[name], Bounds) else "categorical",
                type=str(types[name]),
                domain=domains[name],
            )
            for name in types
        ),
        tables=tuple(
            TableEntry(name=name, attributes=part, group="group", count="count")
            for name, part in named.items()
        ),
        guarantees=tuple(draw(st.lists(CLAIMS, min_size=1, max_size=3))),
        parameters={"tables": len(divided)},
    )
    return Release(manifest, tables)


@settings(max_examples=80)
@given(releases(), st.sampled_from(["parquet", "csv"]))
def test_every_verdict_is_the_oracles(release, file_format):
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "release")
        release.save(folder, format=file_format)
        assert exit_code(folder) == verdict(folder) < 2
        read = read_release(folder)
        held = [claim_holds(read, claim) for claim in release.manifest.guarantees]
        assert [each.holds for each in audit(folder).guarantees] == held
