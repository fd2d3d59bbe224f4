"""Releases of randomised sets: sound ones hold, and what contradicts them is told."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.audit import audit
from sfumato.errors import ReleaseDamaged
from sfumato.measures.set_randomization import largest_p, mass_interval
from sfumato.publish.set_kernels import random_sets
from sfumato.randomness import Randomness
from sfumato.release import AttributeEntry, Manifest, Release, TableEntry
from sfumato.release.set_columns import set_column
from sfumato.schema import Hierarchy

from .conftest import with_attribute, with_claims, with_manifest

AGES = (20, 31, 42, 53, 64, None)
DISEASES = ("Flu", "Ulcer, acute", "null", "")
SEVERITY = ("mild", "severe", "deadly")
ROWS = 6
SETS = {
    "age": [[20, 31], [31, None], [42, 64], [20, None], [53, 64], [31, 42]],
    "disease": [
        ["Flu", "Ulcer, acute", "null"],
        ["Flu", "null", ""],
        ["Ulcer, acute", "null", ""],
        ["Flu", "Ulcer, acute", ""],
        ["Flu", "Ulcer, acute", "null"],
        ["Flu", "null", ""],
    ],
    "severity": [["mild"], ["deadly"], ["mild"], ["severe"], ["severe"], ["mild"]],
}
MASSES = mass_interval([50, 30, 20], 1)
P_AGE = largest_p(0.3, 2, 6)
P_SEVERITY = largest_p(0.4, 1, 3, MASSES)
STATED = {
    "age": {"p": P_AGE, "eta": 2},
    "disease": {"p": 1.0, "eta": 3},
    "severity": {"p": P_SEVERITY, "eta": 1, "masses": list(MASSES)},
}
CLAIMS = (
    {"model": "set-diversity", "attribute": "age", "l": 2, "variant": "frequency"},
    {"model": "set-closeness", "attribute": "age", "t": 0.3, "distance": "ordered"},
    {"model": "set-diversity", "attribute": "disease", "l": 2.5, "variant": "entropy"},
    {"model": "set-anonymity", "attribute": "disease", "k": 3},
    {"model": "set-closeness", "attribute": "severity", "t": 0.4, "prior": "data"},
)


def entry(name: str, role: str, kind: str, dtype: str, domain=None) -> AttributeEntry:
    return AttributeEntry(name=name, role=role, kind=kind, type=dtype, domain=domain)


def records(**columns: pa.Array) -> pa.Table:
    """Return the table of the release, some of its columns replaced."""
    table = {
        "age": pa.array(SETS["age"], pa.list_(pa.int32())),
        "disease": pa.array(SETS["disease"], pa.list_(pa.string())),
        "severity": pa.array(SETS["severity"], pa.list_(pa.string())),
        "town": pa.array(["Bonn", "Ulm", None, "Bonn", "Ulm", '"*"']),
        "ward": pa.array([1, 2, 1, 2, None, 1], pa.int8()),
    }
    return pa.table(table | columns)


@pytest.fixture(scope="module")
def sets() -> Release:
    ages = tuple(None if age is None else str(age) for age in AGES)
    names = ("age", "disease", "severity", "town", "ward")
    manifest = Manifest(
        method="sensitive-qid",
        layout="sets",
        software="sfumato 0.1.0",
        created="2026-01-31",
        rows=ROWS,
        attributes=(
            entry("age", "sensitive-quasi-identifier", "numeric", "int32", ages),
            entry("disease", "sensitive", "categorical", "string", DISEASES),
            entry("severity", "sensitive-quasi-identifier", "ordinal", "string", SEVERITY),
            entry("town", "quasi-identifier", "categorical", "string", ("Bonn", "Ulm", "*")),
            entry("ward", "insensitive", "categorical", "int8"),
        ),
        tables=(TableEntry(name="records", attributes=names),),
        guarantees=CLAIMS,
        parameters={"sets": STATED},
    )
    return Release(manifest, {"records": records()})


def with_table(release: Release, **columns: pa.Array) -> Release:
    return Release(release.manifest, {"records": records(**columns)})


def with_sets(release: Release, **changes: object) -> Release:
    return with_manifest(release, parameters={"sets": {**STATED, **changes}})


def texts(lists: list[list[str | None] | None]) -> pa.Array:
    return pa.array(lists, pa.list_(pa.string()))


def numbers(lists: list[list[int | None] | None]) -> pa.Array:
    return pa.array(lists, pa.list_(pa.int32()))


# --- sound releases -------------------------------------------------------------------------------


def test_a_sound_release_holds_all_that_it_claims(sets):
    report = audit(sets)
    assert report.ok
    assert report.exit_code == 0
    assert all(verdict.holds for verdict in report.guarantees)
    assert [v.worst for v in report.guarantees] == pytest.approx([2, 0.3, 3, 3, 0.4])
    notes = [v.note for v in report.guarantees]
    assert notes[0] == notes[2] == notes[3] == ""
    # files show sets, not the p that they were drawn with
    assert notes[1].startswith("given the stated p; by its bound")
    assert notes[4] == "given the stated p and masses"


@pytest.mark.parametrize("claims", [CLAIMS, CLAIMS[:1], CLAIMS[2:3], CLAIMS[3:4]])
def test_it_says_that_diversity_is_a_bound_for_a_uniform_prior(sets, claims):
    """Once, whichever of the models of sizes is claimed, and the release may be relied on."""
    report = audit(with_claims(sets, *claims))
    (line,) = (line for line in report.problems if "nothing is claimed" not in line)
    assert line.startswith("set-diversity is a bound for people who hold all values equally likely")
    assert "reconstructed from the release" in line
    assert "may be far likelier than 1/l" in line
    assert "set-closeness bounds what is learnt" in line
    assert report.ok


def test_closeness_needs_no_such_warning(sets):
    close = [claim for claim in CLAIMS if claim["model"] == "set-closeness"]
    # of the three attributes, the disease alone is not claimed to be close
    assert audit(with_claims(sets, *close)).problems == (
        "nothing is claimed about the values of 'disease', so nothing says that they are protected",
    )


def test_it_says_of_which_attributes_nothing_is_claimed(sets):
    report = audit(with_claims(sets, CLAIMS[1]))
    assert report.ok
    assert [line for line in report.problems if "nothing is claimed" in line] == [
        "nothing is claimed about the values of 'disease', so nothing says that they are protected",
        "nothing is claimed about the values of 'severity', so nothing says that they are "
        "protected",
    ]


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_a_folder_is_judged_like_the_release_in_memory(sets, file_format, tmp_path):
    sets.save(tmp_path / "release", format=file_format)
    loaded = Release.load(tmp_path / "release")
    assert loaded.tables["records"].to_pylist() == sets.tables["records"].to_pylist()
    assert loaded.manifest.attribute("age").domain == sets.manifest.attribute("age").domain
    assert audit(tmp_path / "release") == audit(sets)


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_an_empty_release_breaks_nothing(sets, file_format, tmp_path):
    manifest = sets.manifest.model_copy(update={"rows": 0})
    Release(manifest, {"records": records().slice(0, 0)}).save(tmp_path / "r", format=file_format)
    assert audit(tmp_path / "r").ok


def test_sets_of_all_values_tell_nothing(sets):
    changed = with_table(sets, severity=texts([list(SEVERITY)] * ROWS))
    changed = with_sets(changed, severity={"p": 1, "eta": 3})
    claims = [
        {"model": "set-closeness", "attribute": "severity", "t": 0.01},
        {"model": "set-diversity", "attribute": "severity", "l": 3},
    ]
    report = audit(with_claims(changed, *claims))
    assert report.ok
    assert [v.worst for v in report.guarantees] == [0, 3]


@given(st.integers(1, 30), st.integers(1, 6), st.data())
def test_any_sets_in_the_order_of_the_domain_are_sound(rows, eta, data):
    places = st.lists(st.integers(0, 5), min_size=eta, max_size=eta, unique=True).map(sorted)
    cells = data.draw(st.lists(places, min_size=rows, max_size=rows))
    domain = ("b", "a", None, "d", "", "null")
    manifest = Manifest(
        method="sensitive-qid",
        layout="sets",
        software="sfumato 0.1.0",
        created="2026-01-31",
        rows=rows,
        attributes=(entry("x", "sensitive", "categorical", "string", domain),),
        tables=(TableEntry(name="records", attributes=("x",)),),
        guarantees=({"model": "set-diversity", "attribute": "x", "l": eta},),
        parameters={"sets": {"x": {"p": 0.5, "eta": eta}}},
    )
    column = texts([[domain[place] for place in cell] for cell in cells])
    assert audit(Release(manifest, {"records": pa.table({"x": column})})).ok
    if eta > 1:
        turned = texts([[domain[place] for place in reversed(cell)] for cell in cells])
        with pytest.raises(ReleaseDamaged, match="out of order"):
            audit(Release(manifest, {"records": pa.table({"x": turned})}))


# --- claims that do not hold ----------------------------------------------------------------------


def held(release: Release) -> list[bool | None]:
    report = audit(release)
    assert report.ok == all(verdict.holds for verdict in report.guarantees)
    return [verdict.holds for verdict in report.guarantees]


@pytest.mark.parametrize(
    ("changed", "broken"),
    [
        ({"age": {"p": P_AGE + 1e-9, "eta": 2}}, 1),
        ({"age": {"p": 1.0, "eta": 2}}, 1),
        ({"severity": {**STATED["severity"], "p": P_SEVERITY + 1e-9}}, 4),
        ({"severity": {**STATED["severity"], "p": 0.8}}, 4),
    ],
)
def test_a_raised_p_breaks_the_claim(sets, changed, broken):
    assert held(with_sets(sets, **changed)) == [place != broken for place in range(len(CLAIMS))]


def test_wider_masses_break_the_claim(sets):
    """Where p was chosen for narrow ones."""
    narrow = {"p": largest_p(0.2, 1, 3, (0.3, 0.35)), "eta": 1, "masses": [0.3, 0.35]}
    claim = {"model": "set-closeness", "attribute": "severity", "t": 0.2, "prior": "data"}
    assert held(with_claims(with_sets(sets, severity=narrow), claim)) == [True]
    wider = narrow | {"masses": [0.3, 0.36]}
    assert held(with_claims(with_sets(sets, severity=wider), claim)) == [False]
    assert held(with_claims(with_sets(sets, severity=narrow), claim | {"prior": "free"})) == [False]


@pytest.mark.parametrize(
    "claim",
    [
        {"model": "set-diversity", "attribute": "age", "l": 3},
        {"model": "set-diversity", "attribute": "disease", "l": 3.01, "variant": "entropy"},
        {"model": "set-anonymity", "attribute": "severity", "k": 2},
        {"model": "set-closeness", "attribute": "age", "t": 0.29},
        {"model": "set-closeness", "attribute": "disease", "t": 0.99},
        {"model": "set-closeness", "attribute": "severity", "t": 0.39, "prior": "data"},
        {"model": "k-anonymity", "k": 2},
    ],
)
def test_claims_beyond_the_sets_do_not_hold(sets, claim):
    assert held(with_claims(sets, claim)) == [False]


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"model": "set-diversity", "attribute": "town", "l": 1}, "cells are not sets"),
        ({"model": "set-closeness", "attribute": "ward", "t": 1}, "cells are not sets"),
        ({"model": "l-diversity", "attribute": "disease", "l": 1}, "not sensitive"),
        ({"model": "set-closeness", "attribute": "age", "t": 0.3, "prior": "data"}, "masses"),
        (
            {"model": "set-closeness", "attribute": "disease", "t": 1, "distance": "ordered"},
            "no order",
        ),
        ({"model": "set-diversity", "attribute": "age"}, "needs"),
        ({"model": "set-diversity", "attribute": "age", "l": 0}, "at least 1"),
    ],
)
def test_claims_about_something_else_are_refused(sets, claim, message):
    with pytest.raises(ReleaseDamaged, match=message):
        audit(with_claims(sets, claim))


def test_claims_about_sets_need_sets(generalized):
    claim = {"model": "set-diversity", "attribute": "disease", "l": 1}
    with pytest.raises(ReleaseDamaged, match="cells are not sets"):
        audit(with_claims(generalized, claim))


# --- releases that contradict themselves ----------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"age": numbers([[20], *SETS["age"][1:]])}, "1 sets of another size"),
        ({"age": numbers([[], *SETS["age"][1:]])}, "1 sets of another size"),
        ({"age": numbers([[20, 31, 42], *SETS["age"][1:]])}, "1 sets of another size"),
        # as many members in all, and still
        ({"age": numbers([[20], [31, 42, None], *SETS["age"][2:]])}, "2 sets of another size"),
        ({"age": numbers([None, *SETS["age"][1:]])}, "lacks a set"),
        ({"age": numbers([[20, 99], *SETS["age"][1:]])}, "outside its domain"),
        ({"age": numbers([[31, 20], *SETS["age"][1:]])}, "out of order"),
        ({"age": numbers([[None, 31], *SETS["age"][1:]])}, "out of order"),
        ({"age": numbers([[20, 20], *SETS["age"][1:]])}, "a value twice"),
        ({"severity": texts([[None], *SETS["severity"][1:]])}, "outside its domain"),
        ({"severity": pa.array(["mild"] * ROWS)}, "not sets"),
        ({"severity": pa.nulls(ROWS)}, "not sets"),
        ({"town": texts([["Bonn"]] * ROWS)}, "its cells are sets"),
        ({"town": pa.array(["{Bonn, Ulm}"] * ROWS)}, "not exact"),
        ({"town": pa.array(["Rome"] * ROWS)}, "outside its domain"),
        ({"ward": pa.array(["[1, 2]"] * ROWS)}, "not of its type"),
    ],
)
def test_cells_that_are_not_such_sets_are_told(sets, columns, message):
    with pytest.raises(ReleaseDamaged, match=message) as refusal:
        audit(with_table(sets, **columns))
    assert not any(word in str(refusal.value) for word in ("99", "Rome", "mild"))


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"p": P_AGE, "eta": 1}, "6 sets of another size"),
        ({"p": P_AGE, "eta": 3}, "6 sets of another size"),
        ({"p": P_AGE, "eta": 7}, "at most all"),
        ({"p": P_AGE, "eta": 0}, "at least one value"),
        ({"p": P_AGE, "eta": True}, "at least one value"),
        ({"p": P_AGE, "eta": 2.0}, "at least one value"),
        ({"p": 0, "eta": 2}, "above 0"),
        ({"p": -0.5, "eta": 2}, "above 0"),
        ({"p": 1.01, "eta": 2}, "at most 1"),
        ({"p": True, "eta": 2}, "above 0"),
        ({"p": "0.5", "eta": 2}, "above 0"),
        ({"p": None, "eta": 2}, "above 0"),
        ({"p": P_AGE}, "without the p and eta"),
        ({"eta": 2}, "without the p and eta"),
        ({"p": P_AGE, "eta": 2, "seed": 1}, "without the p and eta"),
        ([P_AGE, 2], "without the p and eta"),
        (None, "without the p and eta"),
        ({"p": P_AGE, "eta": 2, "masses": [0.3]}, "not two numbers"),
        ({"p": P_AGE, "eta": 2, "masses": [0.3, "1"]}, "not two numbers"),
        ({"p": P_AGE, "eta": 2, "masses": [0.3, 0.5, None]}, "not two numbers"),
        ({"p": P_AGE, "eta": 2, "masses": 0.5}, "not two numbers"),
        ({"p": P_AGE, "eta": 2, "masses": [0.5, 0.3]}, "not an interval"),
        ({"p": P_AGE, "eta": 2, "masses": [0.3, 1.5]}, "not an interval"),
        ({"p": P_AGE, "eta": 2, "masses": [-1, 0.5]}, "not an interval"),
        # the mean of all sets has a third
        ({"p": P_AGE, "eta": 2, "masses": [0.4, 0.9]}, "no distribution"),
        ({"p": P_AGE, "eta": 2, "masses": [0.1, 0.3]}, "no distribution"),
    ],
)
def test_draws_that_cannot_be_are_told(sets, stated, message):
    with pytest.raises(ReleaseDamaged, match=message):
        audit(with_sets(sets, age=stated))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"sets": []},
        {"sets": {"age": STATED["age"]}},
        {"sets": {**STATED, "town": {"p": 1.0, "eta": 1}}},
        {"sets": {**STATED, "cost": {"p": 1.0, "eta": 1}}},
    ],
)
def test_the_sets_of_all_protected_attributes_and_no_others_are_stated(sets, parameters):
    with pytest.raises(ReleaseDamaged, match="'sets' does not"):
        audit(with_manifest(sets, parameters=parameters))


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("age", {"domain": None}, "does not list its values"),
        ("age", {"domain": ()}, "does not list its values"),
        ("age", {"domain": ("20", "31", "42", "53", None)}, "outside its domain"),
        ("age", {"domain": ("20", "31", "42", "53", "64")}, "outside its domain"),
        ("age", {"domain": ("31", "20", "42", "53", "64", None)}, "in disorder"),
        ("age", {"domain": ("20", "31", "42", "53", "64", None, None)}, "twice"),
        ("age", {"domain": ("20", "031", "42", "53", "64", None)}, "not of its type"),
        ("disease", {"domain": (*DISEASES, "Flu")}, "twice"),
        ("disease", {"kind": "numeric"}, "its type is not"),
        ("disease", {"role": "semi-sensitive"}, "has no place"),
        ("disease", {"role": "insensitive"}, "does not name each"),
        ("town", {"role": "sensitive"}, "does not name each"),
    ],
)
def test_attributes_that_do_not_fit_are_told(sets, name, changes, message):
    typed = {k: v for k, v in changes.items() if k == "domain"}
    whole = sets.manifest.attribute(name).model_dump() | changes
    fitting = AttributeEntry(**whole)
    update = {**typed, "role": fitting.role, "kind": fitting.kind}
    with pytest.raises(ReleaseDamaged, match=message):
        audit(with_attribute(sets, name, **update))


def test_a_wrong_number_of_records_is_told(sets):
    with pytest.raises(ReleaseDamaged, match="holds 6 records, and the manifest says 7"):
        audit(with_manifest(sets, rows=7))


def test_groups_counts_and_other_tables_are_told(sets):
    (table,) = sets.manifest.tables
    grouped = table.model_copy(update={"group": "group"})
    manifest = sets.manifest.model_copy(update={"tables": (grouped,)})
    data = records(group=pa.array(range(1, ROWS + 1), pa.int32()))
    with pytest.raises(ReleaseDamaged, match="groups or counts"):
        audit(Release(manifest, {"records": data}))
    renamed = table.model_copy(update={"name": "rows"})
    manifest = sets.manifest.model_copy(update={"tables": (renamed,)})
    with pytest.raises(ReleaseDamaged, match="one table 'records'"):
        audit(Release(manifest, {"rows": records()}))


def test_hierarchies_are_told(sets):
    tree = Hierarchy.from_rows([(each, "*") for each in DISEASES], "disease")
    with pytest.raises(ReleaseDamaged, match="has hierarchies"):
        audit(Release(sets.manifest, sets.tables, {"disease": tree}))


def test_other_layouts_list_no_missing_value(sets):
    text = sets.manifest.to_json().replace(b'"layout": "sets"', b'"layout": "sliced"')
    with pytest.raises(ReleaseDamaged, match="lists a missing value"):
        Manifest.from_json(text)
    assert Manifest.from_json(sets.manifest.to_json()) == sets.manifest


# --- sets that were drawn in another way ----------------------------------------------------------

DRAWN = ("a", "b", "c", "d", "e")


def drawn(rows: int, p: float, stated: float, own: int = 0, eta: int = 2) -> Release:
    """Return a release of one value alone, whose sets are drawn with p; another may be stated."""
    codes = np.full(rows, own, np.int32)
    rng = Randomness.test(rows).generator("sets")
    lines = random_sets(codes, p=p, eta=eta, d=len(DRAWN), rng=rng, dtype=np.uint8)
    column = set_column(lines, pa.array(DRAWN))
    manifest = Manifest(
        method="sensitive-qid",
        layout="sets",
        software="sfumato 0.1.0",
        created="2026-01-31",
        rows=rows,
        attributes=(entry("x", "sensitive", "categorical", "string", DRAWN),),
        tables=(TableEntry(name="records", attributes=("x",)),),
        guarantees=({"model": "set-diversity", "attribute": "x", "l": eta},),
        parameters={"sets": {"x": {"p": stated, "eta": eta}}},
    )
    return Release(manifest, {"records": pa.table({"x": column})})


@pytest.mark.parametrize(("p", "stated"), [(1.0, 0.1), (0.9, 0.1), (1.0, 0.4)])
@pytest.mark.parametrize("own", [0, 4])
def test_another_p_than_the_stated_one_shows_where_a_value_dominates(p, stated, own):
    with pytest.raises(ReleaseDamaged, match="not drawn with the stated p and eta"):
        audit(drawn(1000, p, stated, own))


def test_values_that_the_sets_leave_out_show():
    """Every value is in a set by chance, however rare it is."""
    release = drawn(1000, 1.0, 1.0)
    always = pa.array([["a", "b"]] * 1000)
    with pytest.raises(ReleaseDamaged, match="not drawn with the stated p and eta"):
        audit(Release(release.manifest, {"records": pa.table({"x": always})}))


@pytest.mark.parametrize("rows", [1, 2, 5, 40, 1000, 20_000])
@pytest.mark.parametrize("p", [0.001, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("eta", [1, 2, 5])
def test_a_proper_draw_is_never_refused(rows, p, eta):
    """Whatever chance does with few rows, and with one value alone."""
    for own in range(2):
        assert audit(drawn(rows, p, p, own, eta)).ok


def test_the_sets_of_rating_are_no_draws():
    release = drawn(1000, 1.0, 0.1)
    rated = with_manifest(release, method="rating")
    assert audit(rated).ok


# --- values that are too common to be hidden among l ----------------------------------------------


def rated(sets: list[list[str]]) -> tuple[str, ...]:
    release = with_manifest(drawn(len(sets), 1.0, 1.0, eta=len(sets[0])), method="rating")
    told = audit(Release(release.manifest, {"records": pa.table({"x": texts(sets)})}))
    assert told.ok
    return told.problems[1:]  # behind what is said of diversity


def test_a_value_in_all_sets_of_rating_is_told():
    """Two groups have it, and whoever else has it repeats their sets."""
    groups = [["a", "b"]] * 2 + [["a", "c"]] * 2
    (line,) = rated(groups + [["a", "b"]] * 3)
    assert line.startswith("7 of 7 sets of 'x' hold the same value: more than 1/2 of the people")
    assert "the files do not tell how many" in line
    # one record may have joined a group that the value then leaves a set of
    circle = [["a", "b"], ["b", "c"], ["a", "c"]]
    (line,) = rated(groups + circle)
    assert line.startswith("6 of 7 sets")
    assert rated(groups + circle + [["b", "c"]]) == ()
    assert rated([["a", "b"]] * 2 + [["c", "d"]] * 2) == ()
