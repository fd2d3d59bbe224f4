"""The audit agrees with the slow literal oracle on arbitrary groups, values and claims."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.release import read_release
from oracles.verdict import claim_holds, verdict

from sfumato.audit import audit
from sfumato.release import AttributeEntry, Bounds, Manifest, Release, TableEntry
from sfumato.schema import Hierarchy

PATHS = [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")]
LETTERS = st.sampled_from(["a", "b", "c", "d", None])
NUMBERS = st.sampled_from([1, 2, 5, 9, None])
MISSING = st.sampled_from(["excluded", "value"])


def claims() -> st.SearchStrategy[dict[str, object]]:
    letter, number = st.just("letter"), st.just("number")
    either = letter | number
    small, alpha = st.integers(1, 4), st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.75, 1.0])
    # No distance of so few rows is equal to these: at a tie the models err towards refusal.
    share = st.sampled_from([0.1371, 0.2633, 0.3119, 0.5137, 0.7719, 1.0])

    def of(model: str, **keys) -> st.SearchStrategy[dict[str, object]]:
        return st.fixed_dictionaries({"model": st.just(model)} | keys)

    def diverse(variant: str, **keys):
        return of(
            "l-diversity", attribute=either, variant=st.just(variant), missing=MISSING, **keys
        )

    def close(attribute, distance: str, missing=MISSING):
        return of(
            "t-closeness", attribute=attribute, t=share, distance=st.just(distance), missing=missing
        )

    return st.one_of(
        of("k-anonymity", k=small),
        diverse("frequency", l=small),
        diverse("distinct", l=small),
        diverse("entropy", l=st.sampled_from([1, 1.5, 2, 2.5, 3])),
        diverse("recursive", l=small, c=st.sampled_from([0.5, 1, 1.5, 2])),
        of("l-unique-groups", attribute=either, l=small),
        close(either, "equal"),
        close(number, "ordered", st.just("excluded")),
        close(st.just("rank"), "ordered", st.just("excluded")),
        close(letter, "hierarchical"),
        of("alpha-k-anonymity", attribute=either, alpha=alpha, k=small),
        of(
            "beta-likeness",
            attribute=either,
            beta=st.sampled_from([0.5317, 1.0713, 2.1139]),
            variant=st.sampled_from(["basic", "enhanced"]),
        ),
    )


@st.composite
def releases(draw) -> Release:
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    groups = [g for g, size in enumerate(sizes, start=1) for _ in range(size)]
    rows = len(groups)
    values = {
        "letter": draw(st.lists(LETTERS, min_size=rows, max_size=rows)),
        "number": draw(st.lists(NUMBERS, min_size=rows, max_size=rows)),
        "rank": draw(
            st.lists(st.sampled_from(["low", "mid", "top"]), min_size=rows, max_size=rows)
        ),
    }
    types = {"letter": pa.string(), "number": pa.int64(), "rank": pa.string()}
    columns = {name: pa.array(values[name], types[name]) for name in values}
    attributes = {
        "age": ("quasi-identifier", "numeric", "int64", Bounds(min=0, max=90)),
        "letter": ("sensitive", "categorical", "string", ("a", "b", "c", "d")),
        "number": ("sensitive", "numeric", "int64", Bounds(min=0, max=10)),
        "rank": ("sensitive", "ordinal", "string", ("top", "mid", "low")),
    }
    guarantees = tuple(draw(st.lists(claims(), min_size=1, max_size=4)))
    common = {
        "software": "sfumato 0.1.0",
        "created": "2026-01-31",
        "rows": rows,
        "attributes": tuple(
            AttributeEntry(name=name, role=role, kind=kind, type=dtype, domain=domain)
            for name, (role, kind, dtype, domain) in attributes.items()
        ),
        "guarantees": guarantees,
    }
    records = pa.table({"group": groups, "age": [f"[{g}, 80]" for g in groups], **columns})
    entry = TableEntry(name="records", attributes=tuple(attributes), group="group")
    manifest = Manifest(method="mondrian", layout="generalized", tables=(entry,), **common)
    hierarchies = {"letter": Hierarchy.from_rows(PATHS, "letter")}
    return Release(manifest, {"records": records}, hierarchies)


@settings(max_examples=150, deadline=None)
@given(releases(), st.sampled_from(["parquet", "csv"]))
def test_every_verdict_is_the_oracles(release, file_format):
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "release")
        release.save(folder, format=file_format)
        report = audit(folder)
        read = read_release(folder)
        expected = [claim_holds(read, claim) for claim in release.manifest.guarantees]
        assert [verdict.holds for verdict in report.guarantees] == expected
        assert report.exit_code == verdict(folder)
