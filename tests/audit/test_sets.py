"""Releases of randomised sets: sound ones hold, and what contradicts them is told."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.audit import audit
from sfumato.audit.set_draws import oddity
from sfumato.errors import ReleaseDamaged
from sfumato.measures.set_randomization import Randomization, largest_p, mass_interval
from sfumato.methods import Rating
from sfumato.publish.set_kernels import random_sets
from sfumato.randomness import Randomness
from sfumato.release import AttributeEntry, Manifest, Release, TableEntry
from sfumato.release.set_columns import set_column
from sfumato.schema import Hierarchy, Schema

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
    {
        "model": "set-closeness",
        "attribute": "age",
        "t": 0.3,
        "distance": "ordered",
        "prior": "free",
    },
    {"model": "set-diversity", "attribute": "disease", "l": 2.5, "variant": "entropy"},
    {"model": "set-anonymity", "attribute": "disease", "k": 3},
    {
        "model": "set-closeness",
        "attribute": "severity",
        "t": 0.4,
        "prior": "data",
        "distance": "equal",
    },
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
        {
            "model": "set-closeness",
            "attribute": "severity",
            "t": 0.01,
            "distance": "equal",
            "prior": "free",
        },
        {"model": "set-diversity", "attribute": "severity", "l": 3, "variant": "frequency"},
    ]
    report = audit(with_claims(changed, *claims))
    assert report.ok
    assert [v.worst for v in report.guarantees] == [0, 3]


@given(st.integers(1, 20), st.integers(1, 6), st.data())
def test_any_sets_in_the_order_of_the_domain_are_sound(rows, eta, data):
    """Of so few rows, chance may give any."""
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
        guarantees=(
            {"model": "set-diversity", "attribute": "x", "l": eta, "variant": "frequency"},
        ),
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
    claim = {
        "model": "set-closeness",
        "attribute": "severity",
        "t": 0.2,
        "prior": "data",
        "distance": "equal",
    }
    assert held(with_claims(with_sets(sets, severity=narrow), claim)) == [True]
    wider = narrow | {"masses": [0.3, 0.36]}
    assert held(with_claims(with_sets(sets, severity=wider), claim)) == [False]
    assert held(with_claims(with_sets(sets, severity=narrow), claim | {"prior": "free"})) == [False]


@pytest.mark.parametrize(
    "claim",
    [
        {"model": "set-diversity", "attribute": "age", "l": 3, "variant": "frequency"},
        {"model": "set-diversity", "attribute": "disease", "l": 3.01, "variant": "entropy"},
        {"model": "set-anonymity", "attribute": "severity", "k": 2},
        {
            "model": "set-closeness",
            "attribute": "age",
            "t": 0.29,
            "distance": "equal",
            "prior": "free",
        },
        {
            "model": "set-closeness",
            "attribute": "disease",
            "t": 0.99,
            "distance": "equal",
            "prior": "free",
        },
        {
            "model": "set-closeness",
            "attribute": "severity",
            "t": 0.39,
            "prior": "data",
            "distance": "equal",
        },
        {"model": "k-anonymity", "k": 2},
    ],
)
def test_claims_beyond_the_sets_do_not_hold(sets, claim):
    assert held(with_claims(sets, claim)) == [False]


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (
            {"model": "set-diversity", "attribute": "town", "l": 1, "variant": "frequency"},
            "cells are not sets",
        ),
        (
            {
                "model": "set-closeness",
                "attribute": "ward",
                "t": 1,
                "distance": "equal",
                "prior": "free",
            },
            "cells are not sets",
        ),
        ({"model": "l-diversity", "attribute": "disease", "l": 1}, "not sensitive"),
        (
            {
                "model": "set-closeness",
                "attribute": "age",
                "t": 0.3,
                "prior": "data",
                "distance": "equal",
            },
            "masses",
        ),
        (
            {
                "model": "set-closeness",
                "attribute": "disease",
                "t": 1,
                "distance": "ordered",
                "prior": "free",
            },
            "no order",
        ),
        ({"model": "set-diversity", "attribute": "age", "variant": "frequency"}, "needs"),
        (
            {"model": "set-diversity", "attribute": "age", "l": 0, "variant": "frequency"},
            "at least 1",
        ),
    ],
)
def test_claims_about_something_else_are_refused(sets, claim, message):
    with pytest.raises(ReleaseDamaged, match=message):
        audit(with_claims(sets, claim))


def test_claims_about_sets_need_sets(generalized):
    claim = {"model": "set-diversity", "attribute": "disease", "l": 1, "variant": "frequency"}
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
        ({"p": P_AGE, "eta": 2, "seed": 1}, "more is said than p, eta and masses"),
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
        guarantees=(
            {"model": "set-diversity", "attribute": "x", "l": eta, "variant": "frequency"},
        ),
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


@pytest.mark.parametrize("kind", ["ordinal", "categorical", "numeric"])
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_equal_numbers_are_one_value(kind, dtype):
    """Or else a set of two would hide nothing."""
    domain = ("-0", "0", "1")
    release = drawn(90, 1.0, 1.0)
    attribute = entry("x", "sensitive", kind, dtype, domain)
    values = pa.float64() if dtype == "double" else pa.float32()
    column = pa.array([[-0.0, 0.0], [-0.0, 1.0], [0.0, 1.0]] * 30, pa.list_(values))
    manifest = release.manifest.model_copy(update={"attributes": (attribute,)})
    with pytest.raises(ReleaseDamaged, match="lists a value twice"):
        audit(Release(manifest, {"records": pa.table({"x": column})}))


# --- values that were not drawn independently -----------------------------------------------------


@pytest.mark.parametrize("p", [0.4, 1.0])
@pytest.mark.parametrize(("d", "rows"), [(4, 3000), (5, 2000), (8, 4000), (30, 20_000)])
def test_partners_that_tell_the_own_value_show(d, rows, p):
    """Every value in as many sets as it should be, always with its neighbour."""
    own = np.arange(rows) % d
    sets = np.sort(np.stack([own, (own + 1) % d], axis=1), axis=1).astype(np.int32)
    found = oddity(sets, Randomization(p, 2, d))
    assert found == "has sets whose values were not drawn independently of each other"


def test_partners_show_in_a_release():
    cells = [["a", "b"], ["b", "c"], ["c", "d"], ["d", "e"], ["a", "e"]] * 400
    forged = Release(drawn(2000, 1.0, 1.0).manifest, {"records": pa.table({"x": texts(cells)})})
    with pytest.raises(ReleaseDamaged, match="not drawn independently"):
        audit(forged)


def test_partners_show_among_large_sets_and_in_large_domains():
    """Where fewer rows are looked at, and the commonest values alone."""
    rng = np.random.default_rng(7)
    how = Randomization(1.0, 20, 100)
    codes = rng.integers(0, 100, 30_000).astype(np.int32)
    sets = random_sets(codes, p=1.0, eta=20, d=100, rng=rng, dtype=np.int32)
    assert oddity(sets, how) is None
    blocks = (codes[:, None] % 5 * 20 + np.arange(20)).astype(np.int32)
    assert "independently" in oddity(blocks, how)
    how = Randomization(1.0, 2, 1500)
    common = np.where(rng.random(30_000) < 0.5, 1499, rng.integers(0, 1500, 30_000))
    sets = random_sets(common.astype(np.int32), p=1.0, eta=2, d=1500, rng=rng, dtype=np.int32)
    assert oddity(sets, how) is None
    sets[sets[:, 1] == 1499, 0] = 1400
    assert "independently" in oddity(sets, how)


@pytest.mark.parametrize("d", [2, 3, 4, 7, 40, 300, 1100])
@pytest.mark.parametrize("p", [0.000001, 0.05, 0.6, 1.0])
def test_what_was_drawn_as_stated_is_never_refused(d, p):
    """Sets of any size, of even and of lopsided values, and with the masses that these have."""
    rng = np.random.default_rng(d)
    sizes = {1, 2, 3, d // 2, d - 1, d} if d < 100 else {1, 2, 3, 20}
    for eta in sorted(sizes & set(range(1, d + 1))):
        for rows, evenness in product((1, 7, 400, 5000), (0.02, 1.0, 100.0)):
            shares = rng.dirichlet(np.full(d, evenness))
            codes = rng.choice(d, rows, p=shares).astype(np.int32)
            sets = random_sets(codes, p=p, eta=eta, d=d, rng=rng, dtype=np.int32)
            masses = mass_interval(np.bincount(codes, minlength=d).tolist(), eta)
            assert oddity(sets, Randomization(p, eta, d), masses) is None


def test_no_rows_are_as_good_as_any():
    assert oddity(np.empty((0, 3), np.int32), Randomization(0.5, 3, 8), (0.2, 0.5)) is None


# --- masses that the sets refute ------------------------------------------------------------------


def with_masses(rows: int, masses: tuple[float, float], d: int, t: float) -> Release:
    """Return a release of closeness by the stated masses, 4 of 10 records having one value."""
    domain = tuple(f"v{place:02}" for place in range(d))
    rng = np.random.default_rng(d)
    codes = np.where(rng.random(rows) < 0.4, 1, rng.integers(0, d, rows)).astype(np.int32)
    p = largest_p(t, 1, d, masses)
    column = set_column(
        random_sets(codes, p=p, eta=1, d=d, rng=rng, dtype=np.uint8), pa.array(domain)
    )
    claim = {
        "model": "set-closeness",
        "attribute": "x",
        "t": t,
        "prior": "data",
        "distance": "equal",
    }
    manifest = drawn(rows, p, p).manifest.model_copy(
        update={
            "attributes": (entry("x", "sensitive", "categorical", "string", domain),),
            "guarantees": (claim,),
            "parameters": {"sets": {"x": {"p": p, "eta": 1, "masses": list(masses)}}},
        }
    )
    return Release(manifest, {"records": pa.table({"x": column})})


@pytest.mark.parametrize(("rows", "d"), [(20_000, 100), (50_000, 5)])
def test_masses_that_the_sets_refute_are_told(rows, d):
    """With even ones, p may be larger than what the common value bears."""
    assert audit(with_masses(rows, (0.0, 0.7), d, 0.2)).ok
    with pytest.raises(ReleaseDamaged, match="other masses than the stated ones"):
        audit(with_masses(rows, (1 / d, 1 / d), d, 0.2))


@pytest.mark.parametrize(
    ("cells", "how", "masses"),
    [
        ([[0, 1], [0, 2]] * 2000, Randomization(1.0, 2, 3), (0.0, 0.7)),
        ([[0]] * 3000 + [[1], [2]] * 500, Randomization(0.7, 1, 3), (0.3, 1.0)),
    ],
)
def test_either_end_of_the_masses_is_refuted(cells, how, masses):
    """The commonest values have more than their most, or the rarest less than their least."""
    sets = np.array(cells, np.int32)
    assert oddity(sets, how, (0.0, 1.0)) is None
    assert oddity(sets, how, masses) == "has sets that had other masses than the stated ones"


# --- rating, whose sets records share -------------------------------------------------------------


def by_rating(cells: list[list[str]], *claims: dict[str, object], **stated: object) -> Release:
    """Return a release of rating with such sets, of two values unless stated otherwise."""
    sets = {"x": {"p": 1.0, "eta": len(cells[0])} | stated}
    manifest = drawn(len(cells), 1.0, 1.0).manifest.model_copy(
        update={"method": "rating", "guarantees": claims, "parameters": {"sets": sets}}
    )
    return Release(manifest, {"records": pa.table({"x": texts(cells)})})


DIVERSE = {"model": "set-diversity", "attribute": "x", "l": 2, "variant": "frequency"}
ANONYMOUS = {"model": "set-anonymity", "attribute": "x", "k": 2}
CLOSE = {"model": "set-closeness", "attribute": "x", "t": 0.2, "prior": "free", "distance": "equal"}


def test_the_sets_of_rating_are_no_draws():
    """Chance would not leave three values out of all sets."""
    assert audit(by_rating([["a", "b"]] * 1000, DIVERSE)).ok


def test_rating_has_no_p_but_one():
    """Values in clear would else be close, as if they had been drawn."""
    clear = [["a"]] * 900 + [["b"]] * 100
    for claim in (CLOSE, CLOSE | {"prior": "data"}, {**ANONYMOUS, "k": 1}):
        with pytest.raises(ReleaseDamaged, match="another p than 1, or with masses"):
            audit(by_rating(clear, claim, p=0.01))
        with pytest.raises(ReleaseDamaged, match="another p than 1, or with masses"):
            audit(by_rating(clear, claim, masses=[0.2, 0.2]))


@pytest.mark.parametrize("t", [0.01, 0.5, 0.999])
def test_rating_is_not_close(t):
    assert held(by_rating([["a", "b"]] * 4, DIVERSE, CLOSE | {"t": t})) == [True, False]


@pytest.mark.parametrize(("t", "size"), [(1, 2), (1.0, 2), (0.2, 5)])
def test_closeness_that_says_nothing_is_not_claimed_of_rating(t, size):
    cells = [list(DRAWN[:size])] * 10
    with pytest.raises(ReleaseDamaged, match="said to be close"):
        audit(by_rating(cells, CLOSE | {"t": t}))


@pytest.mark.parametrize(
    "cells",
    [
        [["a", "b"], ["a", "b"], ["a", "c"]],
        [["a", "b"]] * 4 + [["a", "c"]] * 3 + [["a", "d"]],
        [["a", "b"], ["b", "c"], ["c", "d"], ["a", "e"]],
    ],
)
def test_sets_that_are_repeated_are_not_diverse(cells):
    """A record's value is in one set for each of the two that its own set could be."""
    with pytest.raises(ReleaseDamaged, match="records that repeat others' sets"):
        audit(by_rating(cells, DIVERSE))
    assert audit(by_rating(cells, ANONYMOUS)).ok


def test_repeated_sets_are_not_diverse_whatever_the_manifest_says():
    rng = np.random.default_rng(2)
    values = rng.choice(["a", "b", "c", "d", "e", "f"], 900, p=[0.8, 0.04, 0.04, 0.04, 0.04, 0.04])
    method = Rating(l=3, left_over="repeat")
    randomness = Randomness.secret(b"the same sets in every run")
    release = method.publish(
        pa.table({"x": values}), Schema.of(x="sensitive"), randomness=randomness
    )
    assert audit(release).ok
    with pytest.raises(ReleaseDamaged, match="records that repeat others' sets"):
        audit(with_claims(release, DIVERSE | {"l": 3}))


def test_it_says_to_whom_the_sets_of_rating_are_diverse():
    lines = audit(by_rating([["a", "b"]] * 2 + [["c", "d"]] * 2, DIVERSE)).problems
    (line,) = (line for line in lines if line.startswith("set-diversity of 'x'"))
    assert "people who know the shares of values as well" in line
    assert "given that records were dealt into groups" in line
    lines = audit(by_rating([["a", "b"]] * 2 + [["c", "d"]] * 2, ANONYMOUS)).problems
    assert not any("as well" in line for line in lines)


# --- values that are too common to be hidden among l ----------------------------------------------


def rated(sets: list[list[str]]) -> tuple[str, ...]:
    told = audit(by_rating(sets, ANONYMOUS))
    assert told.ok
    return told.problems[1:]  # behind what is said of the size of sets


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
