"""A share of the mutation check; `python -m tests.mutations` has the whole of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from contracts.raw_release import read_manifest, read_rows, rewrite_manifest, write_rows

from sfumato.audit import audit
from sfumato.datasets import hospital, hospital_schema
from sfumato.errors import ReleaseDamaged
from sfumato.methods import METHODS, Mondrian
from sfumato.models import LDiversity
from sfumato.randomness import Randomness
from sfumato.schema import Attribute, EqualWidth, Schema

from . import check
from .check import run

SHARE = range(40)


def test_the_audit_and_the_oracle_agree_on_changed_releases():
    count = run(SHARE)
    assert count.slipped == []
    assert count.refused == []
    assert count.caught.total() > 100 and count.passed.total() > 100
    assert count.caught.keys() == {"generalized", "anatomized", "sliced", "local", "sets"}


def test_an_audit_that_says_yes_to_all_would_be_noticed(monkeypatch):
    monkeypatch.setattr(check, "by_audit", lambda _: (0, "all is well"))
    assert len(run(range(3)).slipped) > 3
    monkeypatch.setattr(check, "by_audit", lambda _: (2, "nothing is"))
    assert len(run(range(3)).refused) > 3


# What slipped through once.


@pytest.fixture
def release(tmp_path) -> Path:
    schema = hospital_schema(("age", "sex"))
    method = Mondrian(k=3, models=(LDiversity("disease", 2),))
    randomness = Randomness.secret(b"not that secret, but no test seed")
    folder = tmp_path / "release"
    method.publish(hospital(60, seed=2), schema, randomness=randomness).save(folder)
    assert audit(folder).exit_code == 0
    return folder


@pytest.mark.parametrize("key", ["variant"])
def test_a_claim_that_leaves_open_which_it_is(release, key):
    place = next(i for i, c in enumerate(read_manifest(release)["guarantees"]) if key in c)
    rewrite_manifest(release, lambda m: m["guarantees"][place].pop(key))
    with pytest.raises(ReleaseDamaged, match=f"does not state its `{key}`"):
        audit(release)


def test_the_bare_word_null_in_place_of_a_cell(release):
    rows = read_rows(release, "records")
    group = rows[0]["group"]
    for row in rows:
        if row["group"] == group:
            row["sex"] = "null"
    write_rows(release, "records", rows)
    with pytest.raises(ReleaseDamaged, match="does not follow the cell grammar"):
        audit(release)


def test_a_range_beside_a_hierarchy(tmp_path):
    age = Attribute("age", "quasi-identifier", hierarchy=EqualWidth(width=10, levels=2))
    schema = Schema((age, Attribute("disease", "sensitive")))
    table = hospital(60, seed=2).select(["age", "disease"])
    randomness = Randomness.secret(b"not that secret, but no test seed")
    folder = tmp_path / "release"
    Mondrian(k=3).publish(table, schema, randomness=randomness).save(folder)
    rows = read_rows(folder, "records")
    group = rows[0]["group"]
    for row in rows:
        if row["group"] == group:
            row["age"] = "[-20, 39]"
    write_rows(folder, "records", rows)
    with pytest.raises(ReleaseDamaged, match="ranges that are no nodes of it"):
        audit(folder)


def test_sets_of_numbers_that_are_said_to_be_texts(tmp_path):
    attributes = (Attribute("age", "sensitive-quasi-identifier"), Attribute("disease", "sensitive"))
    table = hospital(60, seed=2).select(["age", "disease"])
    randomness = Randomness.secret(b"not that secret, but no test seed")
    folder = tmp_path / "release"
    made = METHODS["sensitive-qid"](l=2).publish(table, Schema(attributes), randomness=randomness)
    made.save(folder)
    assert audit(folder).exit_code == 0
    rewrite_manifest(folder, lambda m: m["attributes"][0].update(type="string"))
    with pytest.raises(ReleaseDamaged, match=r"does not hold values of its type|does not read"):
        audit(folder)
