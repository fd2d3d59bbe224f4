"""One growing table, published twice."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.attacks.attack import attack
from sfumato.attacks.republication import republication
from sfumato.cli.app import app
from sfumato.randomness import Randomness, repeatable
from sfumato.release import AttributeEntry, Bounds, Manifest, Release, TableEntry
from sfumato.schema import Schema

from .leaking import PLAIN, table


def release(cells: list[str], groups: list[int], diseases: list[str]) -> Release:
    """Return generalised records as they are given."""
    age = AttributeEntry(
        name="age",
        role="quasi-identifier",
        kind="numeric",
        type="int64",
        domain=Bounds(min=0, max=99),
    )
    disease = AttributeEntry(name="disease", role="sensitive", kind="categorical", type="string")
    manifest = Manifest(
        method="mondrian",
        layout="generalized",
        software="test",
        created="2026-01-31",
        rows=len(cells),
        attributes=(age, disease),
        tables=(TableEntry(name="records", attributes=("age", "disease"), group="group"),),
    )
    records = pa.table({"group": groups, "age": cells, "disease": diseases})
    return Release(manifest, {"records": records})


EARLY = pa.table({"name": list("abcd"), "age": [20, 25, 60, 65], "disease": ["x", "y", "x", "z"]})
LATE = pa.table(
    {
        "name": list("abcdef"),
        "age": [20, 25, 60, 65, 22, 40],
        "disease": ["x", "y", "x", "z", "w", "y"],
    }
)


def attacked(earlier: Release, later: Release) -> dict[str, object]:
    found = republication(
        earlier, later, EARLY, LATE, identifier="name", sample=100, rng=repeatable(1)
    )
    return {outcome.attack: outcome for outcome in found}


def test_a_newcomer_among_those_who_were_there_is_told():
    earlier = release(["[20, 25]"] * 2 + ["[60, 65]"] * 2, [1, 1, 2, 2], ["x", "y", "x", "z"])
    later = release(
        ["[20, 25]"] * 3 + ["[40, 65]"] * 3, [1, 1, 1, 2, 2, 2], ["x", "y", "w", "x", "z", "y"]
    )
    newcomers = attacked(earlier, later)["republication (newcomers)"]
    assert newcomers.success.tried == newcomers.population == 2
    assert newcomers.figures["only_candidate"] == 1.0
    assert newcomers.success.share == 1.0
    assert newcomers.blind.share == pytest.approx(1 / 3)


def test_earlier_groups_that_reach_out_account_for_nothing():
    earlier = release(["[20, 60]"] * 3 + ["65"], [1, 1, 1, 2], ["x", "y", "x", "z"])
    later = release(
        ["[20, 25]"] * 3 + ["[40, 65]"] * 3, [1, 1, 1, 2, 2, 2], ["x", "y", "w", "x", "z", "y"]
    )
    newcomers = attacked(earlier, later)["republication (newcomers)"]
    # the one at 65 is accounted for: two are left for whoever came to that group
    assert newcomers.success.hits == pytest.approx(1 / 3 + 1 / 2)
    assert newcomers.blind.hits == pytest.approx(2 / 3)
    assert newcomers.figures["only_candidate"] == 0.0


def test_people_in_both_are_told_by_what_both_share():
    earlier = release(["[20, 25]"] * 2 + ["[60, 65]"] * 2, [1, 1, 2, 2], ["x", "y", "x", "z"])
    later = release(
        ["[20, 22]"] * 2 + ["[25, 65]"] * 4, [1, 1, 2, 2, 2, 2], ["x", "w", "y", "x", "z", "y"]
    )
    both = attacked(earlier, later)["republication (people in both)"]
    # a has x or y, and x or w
    assert both.success.hits == 1
    assert both.blind.hits == 0
    assert both.success.tried == 4
    assert both.certain == 1
    assert both.verdict == "risk"


def test_an_earlier_table_is_not_larger():
    early = release(["[20, 65]"] * 4, [1] * 4, ["x", "y", "x", "z"])
    late = release(["[20, 65]"] * 6, [1] * 6, ["x", "y", "x", "z", "w", "y"])
    with pytest.raises(sf.ParameterError, match="interchanged"):
        republication(late, early, LATE, EARLY, sample=100, rng=repeatable(1))
    with pytest.raises(sf.ParameterError, match="of 4 rows"):
        republication(early, late, EARLY.slice(0, 3), LATE, sample=100, rng=repeatable(1))


def test_two_releases_of_a_growing_table():
    data = table(900, 4)
    early = data.slice(0, 700)
    method = sf.Mondrian(k=4, models=(sf.LDiversity("disease", 2),))
    releases = [
        method.publish(each, PLAIN, randomness=Randomness.test(number))
        for number, each in enumerate((early, data))
    ]
    both, newcomers = republication(*releases, early, data, sample=500, rng=repeatable(1))
    assert newcomers.success.tried <= 200
    assert newcomers.success.share > newcomers.blind.share
    assert both.success.tried == 500


@pytest.mark.parametrize("name", ["anatomy", "slicing"])
def test_layouts_without_regions_have_people_in_both_alone(name):
    data = table(300, 4)
    method = sf.Anatomy(l=3) if name == "anatomy" else sf.Slicing(l=3)
    releases = [
        method.publish(each, PLAIN, randomness=Randomness.test(1))
        for each in (data.slice(0, 200), data)
    ]
    found = republication(*releases, data.slice(0, 200), data, sample=100, rng=repeatable(1))
    assert [outcome.attack for outcome in found] == ["republication (people in both)"]


def test_a_table_that_has_not_grown_has_no_newcomers():
    data = table(100, 4).select(["age", "disease"])
    schema = Schema.of(age="quasi-identifier", disease="sensitive")
    made = sf.Mondrian(k=4).publish(data, schema, randomness=Randomness.test(1))
    found = republication(made, made, data, data, sample=100, rng=repeatable(1))
    assert [outcome.attack for outcome in found] == ["republication (people in both)"]
    assert np.isclose(found[0].success.share, found[0].blind.share)


def test_the_way_in_takes_an_earlier_release():
    data = table(300, 4)
    early = data.slice(0, 250)
    method = sf.Mondrian(k=4, models=(sf.LDiversity("disease", 2),))
    earlier, later = (
        method.publish(each, PLAIN, randomness=Randomness.test(1)) for each in (early, data)
    )
    report = attack(
        later, data, attacks=["republication"], earlier=(earlier, early), rng=repeatable(1)
    )
    assert [outcome.attack for outcome in report.outcomes] == [
        "republication (people in both)",
        "republication (newcomers)",
    ]
    assert all("either release alone" in each.sentence() for each in report.outcomes[:1])
    with pytest.raises(sf.ParameterError, match="'republication' needs an earlier release"):
        attack(later, data, attacks=["republication"], rng=repeatable(1))


def test_the_command_takes_an_earlier_release(tmp_path):
    data = table(200, 4)
    method = sf.Mondrian(k=4)
    for name, rows in (("early", 150), ("late", 200)):
        part = data.slice(0, rows)
        pq.write_table(part, tmp_path / f"{name}.parquet")
        method.publish(part, PLAIN, randomness=Randomness.test(1)).save(tmp_path / name)
    asked = ["attack", str(tmp_path / "late"), "--original", str(tmp_path / "late.parquet")]
    asked += ["--attack", "republication", "--json", "--earlier", str(tmp_path / "early")]
    assert CliRunner().invoke(app, asked).exit_code != 0
    asked += ["--earlier-original", str(tmp_path / "early.parquet")]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0
    found = json.loads(done.stdout)["outcomes"]
    assert {each["name"] for each in found} == {"republication"}
    assert found
