"""Releases with buckets: sound ones hold, spoilt ones are refused with the right answer."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from contracts.raw_release import NotApplicable
from contracts.spoil_local import LOCAL_SPOILS
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import samples
from oracles.release import read_release
from oracles.verdict import claim_holds, verdict

from sfumato.audit import audit
from sfumato.errors import ReleaseDamaged
from sfumato.methods import LGB
from sfumato.models import LUniqueBuckets, TCloseBuckets
from sfumato.release import AttributeEntry, Bounds, Manifest, Release, TableEntry
from sfumato.schema import Attribute, Hierarchy, Kind, Role, Schema

from .conftest import DISEASES, JOBS, SEVERITY, people, with_cells, with_claims

SECRET = {"age": 0.3, "town": 0.1, "severity": 0.5}


def flagged_people() -> pa.Table:
    """Return people some of whom hide their age, town or severity; some patterns are rare."""
    data = people()
    rng = np.random.default_rng(3)
    for name, share in SECRET.items():
        data = data.append_column(f"{name} is secret", pa.array(rng.random(240) < share))
    return data


def local_schema() -> Schema:
    semi, quasi = Role.SEMI_SENSITIVE, Role.QUASI_IDENTIFIER
    order = {"kind": Kind.ORDINAL, "order": SEVERITY}
    return Schema(
        (
            Attribute("age", semi, flag="age is secret"),
            Attribute("job", quasi, hierarchy=Hierarchy.from_rows(JOBS, "job")),
            Attribute("town", semi, flag="town is secret"),
            Attribute("severity", semi, flag="severity is secret", **order),
            Attribute("admitted", quasi),
            Attribute(
                "disease", Role.SENSITIVE, hierarchy=Hierarchy.from_rows(DISEASES, "disease")
            ),
            Attribute("cost", Role.SENSITIVE),
            Attribute("ward", Role.INSENSITIVE, keep=True),
        )
    )


PROTECTION = {
    "severity": TCloseBuckets("severity", 0.2, "ordered"),
    "town": TCloseBuckets("town", 0.3),
    "disease": TCloseBuckets("disease", 0.2, "hierarchical"),
    "cost": LUniqueBuckets("cost", 3),
}


@pytest.fixture(scope="module")
def local() -> Release:
    """A release with missing cells, ranges, sets, nodes, and cells withheld from rare patterns."""
    release = LGB(k=5, l=4, protection=PROTECTION).publish(flagged_people(), local_schema())
    assert release.manifest.parameters["withheld_cells"] > 0
    return release


# --- sound releases -------------------------------------------------------------------------------


def test_a_release_holds_all_that_it_claims(local):
    report = audit(local)
    assert report.ok
    assert report.exit_code == 0
    assert [(v.claim["model"], v.claim.get("attribute")) for v in report.guarantees] == [
        ("k-anonymity", None),
        ("l-unique-buckets", "age"),
        ("t-close-buckets", "town"),
        ("t-close-buckets", "severity"),
        ("t-close-buckets", "disease"),
        ("l-unique-buckets", "cost"),
    ]
    assert all(verdict.holds for verdict in report.guarantees)
    worst = [verdict.worst for verdict in report.guarantees]
    assert worst[0] >= 5
    assert worst[1] >= 4
    assert 0 < worst[2] <= 0.3
    assert 0 < worst[3] <= 0.2
    assert 0 < worst[4] <= 0.2
    assert worst[5] >= 3


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("way", ["mdp", "ncp"])
def test_a_folder_is_judged_like_the_release_in_memory(way, file_format, tmp_path):
    method = LGB(k=3, l=3, protection=PROTECTION, generalize=way)
    release = method.publish(flagged_people(), local_schema())
    release.save(tmp_path / "release", format=file_format)
    assert audit(tmp_path / "release") == audit(release)
    assert audit(release).ok
    assert verdict(tmp_path / "release") == 0


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_the_worked_example_holds(file_format, tmp_path):
    report = audit(samples.clinic(tmp_path / "release", file_format))
    assert report.ok
    assert [v.worst for v in report.guarantees] == pytest.approx([4, 2, 0.125, 3])


@pytest.mark.parametrize("share", [0, 1])
@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_all_or_nothing_may_be_secret(share, file_format, tmp_path):
    data = flagged_people()
    for name in SECRET:
        place = data.column_names.index(f"{name} is secret")
        data = data.set_column(place, f"{name} is secret", pa.array([bool(share)] * 240))
    release = LGB(k=4, l=3, protection=PROTECTION).publish(data, local_schema())
    assert release.manifest.parameters["withheld_cells"] == 0
    release.save(tmp_path / "release", format=file_format)
    report = audit(tmp_path / "release")
    assert report.ok
    assert verdict(tmp_path / "release") == 0
    nothing = [v for v in report.guarantees if v.claim.get("attribute") in SECRET]
    assert all((v.note == "no records") == (share == 0) for v in nothing)


def test_an_empty_release_breaks_nothing(local):
    manifest = local.manifest.model_copy(update={"rows": 0, "parameters": {}})
    empty = Release(manifest, {"records": local.tables["records"].slice(0, 0)}, local.hierarchies)
    assert audit(empty).ok


# --- spoilt ones ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good(local, tmp_path_factory):
    """Sound releases by file format and origin."""
    home = tmp_path_factory.mktemp("good")
    folders = {}
    for file_format in ("parquet", "csv"):
        folders[file_format, "method"] = home / file_format
        local.save(home / file_format, format=file_format)
        folders[file_format, "sample"] = samples.clinic(home / f"s-{file_format}", file_format)
    return folders


def exit_code(folder: Path) -> int:
    """Return what the command line would answer; damage has one line."""
    try:
        return audit(folder).exit_code
    except ReleaseDamaged as error:
        assert str(error)
        assert "\n" not in str(error)
        return 2


@pytest.mark.parametrize("origin", ["method", "sample"])
@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize("spoil", LOCAL_SPOILS, ids=lambda spoil: spoil.name)
def test_a_spoilt_release_is_refused(spoil, file_format, origin, good, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(good[file_format, origin], folder)
    assert exit_code(folder) == 0
    try:
        spoil.apply(folder)
    except NotApplicable:
        # the method's table is random: what the sample has it may lack
        assert origin == "method"
        assert exit_code(folder) == 0
        pytest.skip("the release has nothing to spoil in this way")
    assert exit_code(folder) == spoil.code
    assert verdict(folder) == spoil.code


def without(release: Release, column: str) -> Release:
    tables = {"records": release.tables["records"].drop_columns([column])}
    return Release(release.manifest, tables, release.hierarchies)


def with_bucket(release: Release, name: str, change) -> Release:
    """Return the release with other bucket ids of an attribute."""
    old = release.tables["records"]
    place = old.column_names.index(f"{name}.bucket")
    ids = pa.array(change(old[place].to_pylist()), pa.int32())
    tables = {"records": old.set_column(place, f"{name}.bucket", ids)}
    return Release(release.manifest, tables, release.hierarchies)


def test_what_is_wrong_is_said(local):
    cases = [
        (without(local, "age.bucket"), "'age' is semi-sensitive, and has no buckets"),
        (without(local, "cost.bucket"), "'cost' is sensitive, and has no buckets"),
        (
            with_bucket(local, "cost", lambda ids: [None, *ids[1:]]),
            "'cost' is sensitive, and has cells without a bucket",
        ),
        (
            with_bucket(local, "age", lambda ids: [None if i is None else i + 1 for i in ids]),
            "'age': buckets do not run from 1 without a gap",
        ),
        (with_bucket(local, "age", lambda ids: [None] * len(ids)), "the rows differ in 'age'"),
        (with_bucket(local, "age", lambda ids: [1] * len(ids)), "cells that are not exact"),
        (
            with_cells(local, "records", "disease", lambda cells: ["*", *cells[1:]]),
            "'disease' is sensitive, and has cells that are not exact",
        ),
        (
            with_claims(local, LUniqueBuckets("job", 2).claim()),
            "l-unique-buckets is about 'job', which is not in buckets",
        ),
        (
            with_claims(local, {"model": "l-unique-groups", "attribute": "cost", "l": 1}),
            "l-unique-groups is about 'cost', which is not sensitive",
        ),
    ]
    for release, said in cases:
        with pytest.raises(ReleaseDamaged, match=said):
            audit(release)


def test_buckets_claimed_of_a_layout_without_them(generalized):
    with pytest.raises(ReleaseDamaged, match="which is not in buckets"):
        audit(with_claims(generalized, LUniqueBuckets("disease", 1).claim()))


def test_a_broken_claim_is_named_and_answers_1(local):
    for claim in (LUniqueBuckets("cost", 7), TCloseBuckets("severity", 1e-6, "ordered")):
        report = audit(with_claims(local, claim.claim()))
        assert (report.ok, report.exit_code) == (False, 1)
        assert report.guarantees[0].holds is False


def test_buckets_of_which_nothing_is_claimed_are_named(local):
    assert audit(local).problems == ()
    report = audit(with_claims(local, {"model": "k-anonymity", "k": 5}))
    assert report.ok  # what is claimed holds
    assert [line for line in report.problems if "'age'" in line] == [
        "nothing is claimed about the values of 'age', so nothing says that they are protected"
    ]
    assert len(report.problems) == 5
    claims = [claim for claim in local.manifest.guarantees if claim.get("attribute") != "town"]
    (remark,) = audit(with_claims(local, *claims)).problems
    assert "'town'" in remark


def test_no_more_cells_are_withheld_than_are_stars(local):
    """Fewer may be: where a hierarchy was generalised to its root, that is a star as well."""

    def said(number):
        parameters = {**local.manifest.parameters, "withheld_cells": number}
        manifest = local.manifest.model_copy(update={"parameters": parameters})
        return audit(Release(manifest, local.tables, local.hierarchies))

    cells = local.manifest.parameters["withheld_cells"]
    assert said(cells).ok
    for wrong in (cells + 1000, -1, True, 1.5, "3", None):
        with pytest.raises(ReleaseDamaged, match="`withheld_cells`"):
            said(wrong)


def test_buckets_of_a_single_value_are_named():
    """Their distance may be as small as claimed."""
    numbers = {"yes": 1, "no": 2}
    data = pa.table({"age": [30] * 20, "smoker": ["yes", "no"] * 10, "secret": [True] * 20})
    smoker = Attribute("smoker", Role.SEMI_SENSITIVE, flag="secret")
    schema = Schema((Attribute("age", Role.QUASI_IDENTIFIER), smoker))
    protection = {"smoker": TCloseBuckets("smoker", 0.6)}
    release = LGB(k=2, protection=protection).publish(data, schema)
    smokers = release.tables["records"]["smoker"].to_pylist()
    spoilt = with_bucket(release, "smoker", lambda ids: [numbers[each] for each in smokers])
    (_, judged) = audit(spoilt).guarantees
    assert (judged.holds, judged.worst) == (False, 0.5)
    assert judged.note == "2 of 2 buckets hold fewer than two values"
    assert audit(release).guarantees[1].note == ""


# --- arbitrary ones -------------------------------------------------------------------------------

LETTERS = st.sampled_from(["a", "b", "c", "d", None])
NUMBERS = st.sampled_from([1, 2, 5, 9, None])
PATHS = [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")]
# No distance of so few cells is equal to these: at a tie the models err towards refusal.
SHARES = st.sampled_from([0.1371, 0.2633, 0.3119, 0.5137, 0.7719, 1.0])


def claims() -> st.SearchStrategy[dict[str, object]]:
    name = st.sampled_from(["letter", "number", "age"])
    close = {"letter": ["equal", "hierarchical"], "number": ["equal", "ordered"]}
    close["age"] = close["number"]
    return st.one_of(
        st.integers(1, 4).map(lambda k: {"model": "k-anonymity", "k": k}),
        st.builds(lambda n, ell: LUniqueBuckets(n, ell).claim(), name, st.integers(1, 4)),
        name.flatmap(
            lambda n: st.builds(
                lambda t, d: TCloseBuckets(n, t, d).claim(), SHARES, st.sampled_from(close[n])
            )
        ),
        # claims that make no sense here
        st.sampled_from(
            [
                {"model": "l-unique-buckets", "attribute": "zip", "l": 1},
                {"model": "l-unique-groups", "attribute": "letter", "l": 1},
            ]
        ),
    )


@st.composite
def releases(draw) -> Release:
    """Return a release that may have anything wrong with its buckets and groups."""
    rows = draw(st.integers(1, 10))

    def column(cells):
        return draw(st.lists(cells, min_size=rows, max_size=rows))

    groups = sorted(column(st.integers(1, 2)))
    mess = draw(st.sampled_from([False, False, False, True]))
    kind_of = {1: draw(st.sampled_from(["bucket", "*", "[2, 5]"])), 2: "bucket"}
    looks = [draw(st.sampled_from([*kind_of.values()])) if mess else kind_of[g] for g in groups]
    numbers = [None if n is None else str(n) for n in column(NUMBERS)]
    last = draw(st.integers(1, 3))
    drawn = column(st.integers(1, last))
    ages = [n if look == "bucket" else look for n, look in zip(numbers, looks, strict=True)]
    ids = [b if look == "bucket" else None for b, look in zip(drawn, looks, strict=True)]
    columns = {
        "group": groups,
        "zip": [f"[{g}, 9]" for g in groups],
        "age": pa.array(ages, pa.string()),
        "age.bucket": pa.array(ids, pa.int32()),
        "letter": pa.array(column(LETTERS), pa.string()),
        "letter.bucket": column(st.integers(1, last)),
        "number": pa.array(column(NUMBERS), pa.int64()),
        "number.bucket": column(st.integers(1, 1)),
    }
    nine = Bounds(min=0, max=9)
    attributes = {
        "zip": ("quasi-identifier", "numeric", "int64", nine),
        "age": ("semi-sensitive", "numeric", "int64", nine),
        "letter": ("sensitive", "categorical", "string", ("a", "b", "c", "d")),
        "number": ("sensitive", "numeric", "int64", nine),
    }
    manifest = Manifest(
        method="lgb",
        layout="local",
        software="sfumato 0.1.0",
        created="2026-01-31",
        rows=rows,
        attributes=tuple(
            AttributeEntry(name=name, role=role, kind=kind, type=dtype, domain=domain)
            for name, (role, kind, dtype, domain) in attributes.items()
        ),
        tables=(TableEntry(name="records", attributes=tuple(attributes), group="group"),),
        guarantees=tuple(draw(st.lists(claims(), min_size=1, max_size=3))),
    )
    hierarchies = {"letter": Hierarchy.from_rows(PATHS, "letter")}
    return Release(manifest, {"records": pa.table(columns)}, hierarchies)


@settings(max_examples=200)
@given(releases(), st.sampled_from(["parquet", "csv"]))
def test_every_verdict_is_the_oracles(release, file_format):
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "release")
        release.save(folder, format=file_format)
        expected = verdict(folder)
        assert exit_code(folder) == expected
        if expected < 2:
            read = read_release(folder)
            held = [claim_holds(read, claim) for claim in release.manifest.guarantees]
            assert [v.holds for v in audit(folder).guarantees] == held
