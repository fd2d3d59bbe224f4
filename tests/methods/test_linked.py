"""Linked tables: whatever is known of a person, k people fit in the join of what is published."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from arbitrary.linked import CANARY, KEY, WORD, LinkedData, linked_data
from hypothesis import event, given, settings
from hypothesis import strategies as st
from oracles.linked import (
    Linked,
    crowd_is_diverse,
    is_token,
    rows_by_token,
    smallest_crowd,
    suspects,
    values_of_crowds,
)
from oracles.release import read_release

from sfumato.audit import audit
from sfumato.audit.joined import joined_view
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods.linked import LinkedTable, publish_linked
from sfumato.models import LDiversity
from sfumato.randomness import Randomness
from sfumato.recoding.pseudonyms import tokens
from sfumato.release import Release
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.table import encode


def published(asked: LinkedData, seed: int = 5) -> dict[str, Release] | None:
    try:
        return publish_linked(
            asked.tables(),
            k=asked.k,
            suppression=asked.suppression,
            randomness=Randomness.secret(bytes([seed]) * 16),
        )
    except Infeasible as error:
        assert CANARY not in str(error)
        return None


def read_back(asked: LinkedData, releases: dict[str, Release], format: str = "parquet") -> Linked:
    """Return the releases as their files read, with whole hierarchies."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, release in releases.items():
            release.save(Path(folder, name), format=format)
            whole = {
                a.name: a.hierarchy for a in encode(asked.data[name], asked.schema(name)).schema
            }
            trees = {n: h.rows() for n, h in whole.items() if isinstance(h, Hierarchy)}
            found[name] = read_release(Path(folder, name), hierarchies=trees)
    return found


def token_of(who: str) -> str:
    return tokens(pa.chunked_array([[who]]), "who", WORD, KEY)[0].as_py()


@settings(max_examples=120)
@given(linked_data(), st.sampled_from(["parquet", "csv"]))
def test_whoever_is_known_has_k_suspects_in_the_join(asked: LinkedData, format: str) -> None:
    releases = published(asked)
    event("infeasible" if releases is None else "published")
    if releases is None:
        return
    tables = read_back(asked, releases, format)
    joined = rows_by_token(tables)
    assert all(is_token(token) for token in joined)
    assert smallest_crowd(tables) >= asked.k
    withheld = sum(release.manifest["suppressed"] for release in tables.values())
    rows = sum(len(each) for each in asked.data.values())
    assert withheld <= asked.suppression * rows
    event(f"withheld {withheld > 0}")
    for who, known in asked.known().items():
        own = joined.get(token_of(who))
        if own is None:
            continue
        assert all(len(own[name]) <= len(known[name]) for name in tables)
        found = suspects(tables, known, withheld=withheld > 0)
        assert token_of(who) in found
        assert len(found) >= asked.k
    for name, release in tables.items():
        assert release.manifest["rows"] + release.manifest["suppressed"] == len(asked.data[name])
        assert len(release.tables["records"]) == release.manifest["rows"]
        for attribute, l in asked.diversity[name].items():  # noqa: E741
            crowds = values_of_crowds(tables, name, attribute)
            assert all(crowd_is_diverse(values, l) for values in crowds)
    assert all(verdict.holds for verdict in joined_view(list(releases.values())))
    for release in releases.values():
        assert audit(release).ok


def test_people_are_absent_from_a_table_without_breaking_its_models() -> None:
    """Who has no row in a table has no value there, which is not one value shared by all."""
    people = pa.table({"who": [1, 2, 3, 4], "age": [20, 21, 35, 60]})
    tests = pa.table({"who": [1, 2], "age": [20, 21], "ill": ["Flu", "Gout"]})
    for variant, missing in (
        ("distinct", "excluded"),
        ("entropy", "excluded"),
        ("frequency", "value"),
    ):
        model = LDiversity("ill", 2, variant, missing=missing)
        asked = LinkedData({"people": people, "tests": tests}, 2, 0.0, {"people": {}, "tests": {}})
        tables = asked.tables()
        tables["tests"] = LinkedTable(tables["tests"].table, (model,))
        releases = publish_linked(tables, k=2, randomness=Randomness.secret(bytes(16)))
        assert all(audit(release).ok for release in releases.values())
        assert len(set(releases["people"].tables["records"]["group"].to_pylist())) == 2


def test_several_rows_that_break_a_model_are_refused_with_the_table() -> None:
    rows = pa.table({"who": [1, 1, 2, 2], "age": [20, 21, 20, 21], "ill": ["Flu"] * 4})
    asked = LinkedData({"visits": rows}, 2, 0.0, {"visits": {"ill": 2}})
    with pytest.raises(
        Infeasible, match=r"table 'visits': l-diversity of 'ill' does not hold in 1"
    ):
        publish_linked(asked.tables(), k=2, randomness=Randomness.secret(bytes(16)))


def test_numbers_of_rows_that_are_rare_cost_rows_and_no_more_than_is_allowed() -> None:
    rows = pa.table({"who": [1, 1, 1, 2, 2, 3, 3], "age": [20, 21, 35, 20, 21, 60, 60]})
    asked = LinkedData({"visits": rows}, 3, 0.15, {"visits": {}})
    releases = published(asked)
    assert releases is not None
    assert releases["visits"].manifest.suppressed == 1
    assert not releases["visits"].manifest.suppressed_by_value
    message = r"1 of 7 rows \(1 of 'visits'\) would have to be withheld .*suppression: 0.143"
    with pytest.raises(Infeasible, match=message):
        publish_linked(asked.tables(), k=3, randomness=Randomness.secret(bytes(16)))


@pytest.mark.parametrize("k", [0, True, 2.5])
def test_k_is_a_whole_number(k) -> None:
    rows = pa.table({"who": [1, 2], "age": [20, 21]})
    asked = LinkedData({"people": rows}, 2, 0.0, {"people": {}})
    with pytest.raises(ParameterError):
        publish_linked(asked.tables(), k=k, randomness=Randomness.secret(bytes(16)))


def test_tables_need_tokens_and_a_quasi_identifier() -> None:
    rows = pa.table({"who": [1, 2], "age": [20, 21]})
    plain = Schema((Attribute("who", Role.IDENTIFIER), Attribute("age", Role.QUASI_IDENTIFIER)))
    with pytest.raises(ParameterError, match="table 'people' has no pseudonyms"):
        publish_linked(
            {"people": LinkedTable(encode(rows, plain))},
            k=2,
            randomness=Randomness.secret(bytes(16)),
        )
    ill = pa.table({"who": [1, 2], "ill": ["Flu", "Gout"]})
    asked = LinkedData({"people": ill}, 2, 0.0, {"people": {}})
    with pytest.raises(ParameterError, match="at least one quasi-identifier"):
        published(asked)


def test_the_same_seed_and_key_make_the_same_releases() -> None:
    rows = pa.table({"who": [1, 1, 2, 2, 3], "age": [20, 21, 20, 35, 60]})
    asked = LinkedData({"visits": rows}, 2, 0.5, {"visits": {}})
    one, two, other = published(asked), published(asked), published(asked, seed=6)
    assert one is not None and two is not None and other is not None
    assert one["visits"].tables["records"].equals(two["visits"].tables["records"])
    assert set(one["visits"].tables["records"]["who"].to_pylist()) == set(
        other["visits"].tables["records"]["who"].to_pylist()
    )
