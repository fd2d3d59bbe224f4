"""Local suppression as releases: cells are exact or withheld, and read so by everybody."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.cells import Exact, Star
from oracles.consistency import generalized_from
from oracles.release import read_release

from sfumato.answers import Answerer
from sfumato.answers.estimate import Average, Count, Sum
from sfumato.attacks import attack
from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import LocalSuppression
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Attribute, Kind, Role, Schema
from sfumato.table import encode
from sfumato.utility import ncp

QUASI = ("age", "zip", "size", "late")


def schema(**keys: object) -> Schema:
    return Schema(
        (
            Attribute("age", Role.QUASI_IDENTIFIER),
            Attribute("zip", Role.QUASI_IDENTIFIER),
            Attribute("size", Role.QUASI_IDENTIFIER, order=("S", "M", "L"), **keys),
            Attribute("late", Role.QUASI_IDENTIFIER),
            Attribute("illness", Role.SENSITIVE),
        )
    )


@st.composite
def tables(draw, least: int = 1):
    rows = draw(st.integers(least, 14))

    def column(*values: object) -> list[object]:
        return draw(st.lists(st.sampled_from([*values, None]), min_size=rows, max_size=rows))

    return pa.table(
        {
            "age": pa.array(column(30, 31, 47), pa.int16()),
            "zip": pa.array(column("1301", "1302", "*"), pa.string()),
            "size": pa.array(column("S", "M", "L"), pa.string()),
            "late": pa.array(column(True, False), pa.bool_()),
            "illness": [f"i{i}" for i in range(rows)],
        }
    )


@settings(max_examples=60)
@given(data=tables(), k=st.integers(1, 5), file_format=st.sampled_from(["csv", "parquet"]))
def test_cells_are_exact_or_withheld(data, k, file_format, tmp_path_factory):
    try:
        release = LocalSuppression(k).publish(data, schema())
    except Infeasible:
        assert data.num_rows < k
        return
    folder: Path = tmp_path_factory.mktemp("suppressed") / "release"
    release.save(folder, format=file_format)
    assert audit(folder).ok
    published = read_release(folder)
    assert generalized_from(data.to_pylist(), published)
    rows = published.tables["records"]
    stars = {name: sum(isinstance(row[name], Star) for row in rows) for name in QUASI}
    kinds = {type(row[name]) for row in rows for name in QUASI}
    assert kinds <= {Exact, Star}
    stated = release.manifest.parameters["suppressed_cells"]
    assert stated == {"total": sum(stars.values()), "by": stars}


def published(rows: int = 400, seed: int = 5, k: int = 4) -> tuple[pa.Table, Release]:
    rng = np.random.default_rng(seed)
    data = pa.table(
        {
            "age": rng.integers(20, 60, rows),
            "job": [f"j{i}" for i in rng.integers(0, 6, rows)],
            "pay": rng.integers(1, 9, rows) * 500.0,
            "illness": [f"i{i}" for i in rng.integers(0, 9, rows)],
        }
    )
    roles = Schema.of(
        age="quasi-identifier", job="quasi-identifier", pay="quasi-identifier", illness="sensitive"
    )
    return data, LocalSuppression(k).publish(data, roles, randomness=Randomness.test(3))


def test_withheld_numbers_bound_nothing_and_the_truth_is_inside():
    data, release = published()
    frame, answerer = data.to_pandas(), Answerer(release)
    for where, mask in (("age >= 40", frame.age >= 40), ("job = 'j1'", frame.job == "j1")):
        count, total = answerer.answer(Count(), where), answerer.answer(Sum("pay"), where)
        assert count.low <= mask.sum() <= count.high
        assert total.low <= frame.pay[mask].sum() <= total.high
        mean = answerer.answer(Average("pay"), where)
        assert mean.low <= frame.pay[mask].mean() <= mean.high


def test_ncp_is_the_share_of_withheld_cells():
    data, release = published()
    total = release.manifest.parameters["suppressed_cells"]["total"]
    schema = Schema.of(dict.fromkeys(("age", "job", "pay"), "quasi-identifier"))
    loss = ncp(release, encode(data.select(["age", "job", "pay"]), schema))
    assert loss.total == total and loss.mean == pytest.approx(total / (3 * data.num_rows))


def test_attacks_take_the_records_with_the_fewest_withheld_cells():
    data, release = published()
    report = attack(release, data, rng=repeatable(2))
    linkage = report.of("record linkage (prosecutor)")
    assert "fewest withheld cells" in linkage.how
    assert linkage.figures["largest_chance"] <= 1 / 4
    assert linkage.success.share > 0.03
    assert "downcoding" in report.without_outcome


def test_weights_of_cells_are_heeded_and_limits_of_ranges_refused():
    data = pa.table(
        {
            "age": [1, 1, 2, 2],
            "zip": ["a"] * 4,
            "size": ["S", "M", "S", "M"],
            "late": [True] * 4,
            "illness": list("abcd"),
        }
    )
    release = LocalSuppression(2).publish(data, schema(loss_weight=3))
    assert release.manifest.parameters["suppressed_cells"]["by"]["age"] == 4
    release = LocalSuppression(2).publish(data, schema(loss_weight=0.5))
    assert release.manifest.parameters["suppressed_cells"]["by"]["size"] == 4
    with pytest.raises(ParameterError, match="`max_width` of 'size' says nothing"):
        LocalSuppression(2).publish(data, schema(max_width=1))


def test_withheld_values_are_nowhere(tmp_path):
    """Neither in the dictionary of a column, nor in its domain."""
    ages = [1000001, 7730045, 9999999, 5, 5, 5]
    data = pa.table({"age": ages, "illness": list("abcdef")})
    roles = Schema.of(age="quasi-identifier", illness="sensitive")
    release = LocalSuppression(3).publish(data, roles)
    for file_format in ("csv", "parquet"):
        release.save(tmp_path / file_format, format=file_format)
        content = b"".join(path.read_bytes() for path in (tmp_path / file_format).iterdir())
        assert not any(str(age).encode() in content for age in ages[:3])
    assert release.manifest.attribute("age").kind is Kind.NUMERIC
    assert release.manifest.attribute("age").domain.max < 100


def test_people_with_several_rows_are_refused():
    data = pa.table({"age": [1, 2, 3], "name": ["a", "a", "b"]})
    attributes = (Attribute("age", Role.QUASI_IDENTIFIER), Attribute("name", Role.IDENTIFIER))
    with pytest.raises(ParameterError, match="one row a person"):
        LocalSuppression(2).publish(data, Schema(attributes, unit="name"))
