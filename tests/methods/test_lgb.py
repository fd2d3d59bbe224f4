"""LGB as its users call it: what it protects by, what it refuses, what it never publishes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError, SchemaError
from sfumato.methods import LGB, TopDown
from sfumato.models import LUniqueBuckets, TCloseBuckets
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Attribute, Hierarchy, Kind, Role, Schema
from sfumato.schema.builders import EqualWidth, Mask, Quantiles

SCHEMA = Schema(
    (
        Attribute("zip", Role.QUASI_IDENTIFIER),
        Attribute("age", Role.SEMI_SENSITIVE, flag="hide"),
        Attribute("illness", Role.SENSITIVE),
    )
)


def patients(rows: int = 60, hidden: float = 0.4) -> pa.Table:
    rng = repeatable(4)
    return pa.table(
        {
            "zip": rng.integers(10, 40, rows),
            "age": rng.integers(20, 80, rows),
            "illness": [f"illness {i % 6}" for i in range(rows)],
            "hide": rng.random(rows) < hidden,
        }
    )


def group_sizes(release: Release) -> list[int]:
    return np.bincount(release.tables["records"]["group"].to_numpy())[1:].tolist()


# --- what is never published ----------------------------------------------------------------------


def lone(hidden: object, others: list[object], dtype: pa.DataType) -> pa.Table:
    """Return a table in which one person alone hides a cell, so that it must be withheld."""
    rows = len(others) + 1
    return pa.table(
        {
            "zip": [1, 1, 1, *range(2, rows - 1)],
            "age": pa.array([hidden, *others], dtype),
            "illness": [f"illness {i}" for i in range(rows)],
            "hide": [True] + [False] * (rows - 1),
        }
    )


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("hidden", "others", "dtype", "attribute"),
    [
        (777_777, [20, 21, 30, 31, 40], pa.int64(), {}),
        (-777_777.5, [20.0, 21.0, 30.0, 31.0, 40.0], pa.float64(), {}),
        ("telltale", [*"ababa"], pa.string(), {}),
        (
            "telltale",
            ["aaaaaaaa", "aaaaaaab", "bbbbbbba", "bbbbbbbb", "aaaaaaaa"],
            pa.string(),
            {"hierarchy": Mask("right")},
        ),
    ],
    ids=["int", "float", "text", "hierarchy"],
)
def test_a_withheld_secret_leaves_no_trace(hidden, others, dtype, attribute, file_format, tmp_path):
    """Neither in a cell nor in a domain, which a lone extreme would stretch, nor a hierarchy."""
    semi = replace(SCHEMA["age"], **attribute)
    schema = Schema((SCHEMA["zip"], semi, SCHEMA["illness"]))
    releases = []
    for secret in (hidden, others[0]):
        data = lone(secret, others, dtype)
        release = LGB(k=2, l=2).publish(data, schema, randomness=Randomness.secret(b"s" * 32))
        assert release.manifest.parameters["withheld_cells"] > 0
        releases.append(release)
    # the release would have been the same had the secret been another
    telling, plain = releases
    assert telling.manifest == plain.manifest
    assert telling.tables["records"].equals(plain.tables["records"])
    assert {n: h.rows() for n, h in telling.hierarchies.items()} == {
        n: h.rows() for n, h in plain.hierarchies.items()
    }
    telling.save(tmp_path / "release", format=file_format)
    for path in (tmp_path / "release").rglob("*"):
        if path.suffix == ".parquet":
            assert "7777" not in str(pq.read_table(path).to_pydict())
        elif path.is_file():
            content = path.read_bytes()
            assert b"telltale" not in content
            assert b"7777" not in content or b"sha256" in content


@pytest.mark.parametrize("hidden", [40, 90, 99])
def test_a_withheld_secret_does_not_change_the_kind(hidden):
    """A hierarchy with one leaf out of place: 99 is `low`."""
    rows = [(str(n), "low" if n < 50 or n == 99 else "high") for n in range(100)]
    semi = replace(SCHEMA["age"], hierarchy=Hierarchy.from_rows(rows, "age"))
    schema = Schema((SCHEMA["zip"], semi, SCHEMA["illness"]))
    release = LGB(k=2, l=2).publish(lone(hidden, [10, 20, 30, 60, 70], pa.int64()), schema)
    assert release.manifest.parameters["withheld_cells"] > 0
    assert release.manifest.attribute("age").kind is Kind.CATEGORICAL


def test_flag_columns_are_never_published():
    release = LGB(k=3, l=2).publish(patients(), SCHEMA)
    names = release.tables["records"].column_names
    assert names == ["group", "zip", "age", "age.bucket", "illness", "illness.bucket"]
    assert all("hide" not in each.name for each in release.manifest.attributes)


# --- independence ---------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["mdp", "ncp"])
def test_groups_do_not_depend_on_l(way):
    seed = Randomness.secret(b"the same groups for whatever l...")
    sizes = [
        group_sizes(LGB(k=4, l=ell, generalize=way).publish(patients(), SCHEMA, randomness=seed))
        for ell in (1, 2, 5)
    ]
    assert sizes[0] == sizes[1] == sizes[2]


def test_each_attribute_has_its_own_protection():
    method = LGB(k=3, t=0.5, protection={"illness": LUniqueBuckets("illness", 5)})
    report = audit(method.publish(patients(), SCHEMA))
    assert report.ok
    assert [dict(v.claim) for v in report.guarantees] == [
        {"model": "k-anonymity", "k": 3},
        {"model": "t-close-buckets", "attribute": "age", "t": 0.5, "distance": "equal"},
        {"model": "l-unique-buckets", "attribute": "illness", "l": 5},
    ]


def test_l_is_taken_where_both_are_given():
    release = LGB(k=3, l=2, t=0.5).publish(patients(), SCHEMA)
    models = [claim["model"] for claim in release.manifest.guarantees]
    assert models == ["k-anonymity", "l-unique-buckets", "l-unique-buckets"]


@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
def test_flags_may_be_drawn_at_random(density):
    semi = Attribute("age", Role.SEMI_SENSITIVE, density=density)
    schema = Schema((SCHEMA["zip"], semi, SCHEMA["illness"]))
    data = patients(300).drop_columns(["hide"])
    records = LGB(k=2, l=2).publish(data, schema).tables["records"]
    share = 1 - records["age.bucket"].null_count / 300
    assert abs(share - density) < 0.15
    assert density in (0.0, 1.0) or 0 < share < 1


def test_only_sensitive_cells_are_in_buckets_whatever_the_table():
    data = patients(200, 0.2)
    release = LGB(k=5, l=3).publish(data, SCHEMA)
    records = release.tables["records"]
    flagged = sum(data["hide"].to_pylist())
    assert release.manifest.parameters["withheld_cells"] == 0
    assert 200 - records["age.bucket"].null_count == flagged
    secret = sorted(row["age"] for row in data.to_pylist() if row["hide"])
    shown = [row["age"] for row in records.to_pylist() if row["age.bucket"] is not None]
    assert sorted(map(int, shown)) == secret


# --- refusals -------------------------------------------------------------------------------------


def refused(method: LGB, data: pa.Table | None = None, schema: Schema = SCHEMA) -> str:
    with pytest.raises((Infeasible, ParameterError)) as caught:
        method.publish(patients() if data is None else data, schema)
    return str(caught.value)


def test_what_cannot_be_protected_is_refused_with_a_way_out():
    assert "say `l` or `t` for 'age'" in refused(LGB(k=2))
    about_other = {"age": LUniqueBuckets("illness", 2)}
    assert "about another attribute" in refused(LGB(k=2, l=2, protection=about_other))
    nobody = {"aeg": LUniqueBuckets("aeg", 2)}
    assert "names 'aeg'" in refused(LGB(k=2, l=2, protection=nobody))
    said = refused(LGB(k=2, l=7))
    assert "'illness'" in said
    assert "largest feasible l is 6" in said
    assert "use k <= 60" in refused(LGB(k=61, l=2))
    no_quasi = patients().select(["illness"])
    assert "needs a quasi-identifier" in refused(LGB(1, 2), no_quasi, Schema((SCHEMA["illness"],)))


def test_a_single_sensitive_value_cannot_be_hidden():
    data = patients().set_column(2, "illness", pa.array(["flu"] * 60))
    one = {"illness": TCloseBuckets("illness", 0.3)}
    for method in (LGB(k=2, l=2), LGB(k=2, l=2, protection=one)):
        said = refused(method, data)
        assert "only one value" in said
        assert "leave the column out" in said
        assert "by `t`" not in said  # no more feasible


def test_sensitive_cells_that_are_all_missing():
    data = patients().set_column(2, "illness", pa.nulls(60, pa.string()))
    assert "all its sensitive cells are missing" in refused(LGB(k=2, l=1), data)
    close = LGB(k=2, l=2, protection={"illness": TCloseBuckets("illness", 0.3)})
    assert "all its sensitive cells are missing" in refused(close, data)


def test_a_minimum_width_is_not_silently_forgotten():
    for name in ("age", "illness"):
        attributes = [replace(a, min_width=2) if a.name == name else a for a in SCHEMA]
        assert "min_width" in refused(LGB(k=2, l=2), schema=Schema(tuple(attributes)))
    wide = (Attribute("zip", Role.QUASI_IDENTIFIER), Attribute("age", Role.SENSITIVE, min_width=2))
    with pytest.raises(ParameterError, match="min_width"):
        TopDown(k=2).publish(patients().select(["zip", "age"]), Schema(wide))


def test_people_with_several_rows_are_refused():
    data = patients().append_column("name", pa.array([f"p{i // 2}" for i in range(60)]))
    schema = Schema((*SCHEMA.attributes, Attribute("name", Role.IDENTIFIER)), "name")
    assert "one row a person" in refused(LGB(k=2, l=2), data, schema)


@pytest.mark.parametrize(
    "wrong", [{"k": 0}, {"k": 2, "l": 0}, {"k": 2, "t": 0}, {"k": 2, "l": 2, "generalize": "x"}]
)
def test_impossible_parameters(wrong):
    with pytest.raises(ParameterError):
        LGB(**wrong)


@pytest.mark.parametrize("builder", [EqualWidth(count=4), EqualWidth(width=10), Quantiles(3)])
def test_intervals_that_follow_the_data_are_refused_where_cells_may_be_withheld(builder):
    with pytest.raises(SchemaError, match="would tell of cells that are withheld"):
        Attribute("age", Role.SEMI_SENSITIVE, density=0.5, hierarchy=builder)
