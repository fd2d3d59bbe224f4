"""A table in shards is published as safely as in one piece, and hardly less usefully."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.frames import Frame
from contracts.questions import equal_releases
from contracts.test_methods import CASES, SEEDS, frames_for, method_of
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.audit import audit
from sfumato.datasets import census
from sfumato.datasets.schemas import census_schema
from sfumato.engines.in_shards import release_in_shards
from sfumato.errors import EngineUnavailable, Infeasible, SfumatoError
from sfumato.methods import (
    ARP,
    LGB,
    METHODS,
    SLPPA,
    Anatomy,
    Merging,
    Method,
    Mondrian,
    SensitiveQID,
)
from sfumato.models import LDiversity, TCloseness
from sfumato.predicates.flags import flagged
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Role, Schema, as_arrow
from sfumato.table import Table, encode
from sfumato.utility import glp, ncp

SPLIT = ("mondrian", "anatomy", "arp", "slppa", "merging", "lgb", "sensitive-qid")
SPLIT_CASES = [case for case, (name, _) in enumerate(CASES) if name in SPLIT]
KNOWN = ("age", "sex", "marital_status", "education", "hours_per_week")
FLAGS = {"age is secret": 0.3, "education is secret": 0.005}
SECRET = Randomness.secret(b"a secret of more than sixteen bytes")


def coded(frame: Frame) -> Table:
    rows = as_arrow(frame.data)
    return flagged(encode(rows, frame.schema), rows)


def with_roles(schema: Schema, role: Role, *names: str) -> Schema:
    return Schema(tuple(replace(a, role=role) if a.name in names else a for a in schema))


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return census(4_000, seed=8).select([*KNOWN, "occupation", "birthplace"])


@pytest.fixture(scope="module")
def tables(people: pa.Table) -> dict[str, Table]:
    """Return the people in the roles that the schemes know."""
    schema = census_schema(quasi_identifiers=KNOWN, sensitive=("occupation",))
    schema = Schema(tuple(a for a in schema if a.name in people.column_names))
    semi = Schema(
        tuple(
            replace(a, role=Role.SEMI_SENSITIVE, flag=f"{a.name} is secret")
            if f"{a.name} is secret" in FLAGS
            else a
            for a in schema
        )
    )
    rng = np.random.default_rng(4)
    flagged_people = people
    for name, share in FLAGS.items():
        flagged_people = flagged_people.append_column(
            name, pa.array(rng.random(len(people)) < share)
        )
    return {
        "plain": encode(people, schema),
        "semi": flagged(encode(flagged_people, semi), flagged_people),
        "sets": encode(
            people, with_roles(schema, Role.SENSITIVE_QUASI_IDENTIFIER, "age", "education")
        ),
    }


SCHEMES: list[tuple[str, Method]] = [
    ("plain", Mondrian(k=5)),
    ("plain", Mondrian(k=5, strict=False, models=(LDiversity("occupation", 3),))),
    ("plain", Mondrian(k=5, models=(TCloseness("occupation", 0.5),))),
    ("plain", Anatomy(l=4)),
    ("plain", ARP(l=4)),
    ("plain", ARP(l=3, initial="mondrian", publish_by="generalize")),
    ("plain", ARP(l=3, initial="top-down", publish_by="slice")),
    ("plain", ARP(l=3, initial="anatomy")),
    ("plain", ARP(l=3, initial=["sex", "education"])),
    ("plain", SLPPA(beta=0.2)),
    ("plain", SLPPA(beta=0.3, delta=0.1, tables=3)),
    ("plain", Merging(l=2, fakes="3%")),
    ("plain", Merging(l=2, fakes=5, expected=None, columns=1)),
    ("semi", LGB(k=5, l=2)),
    ("semi", LGB(k=5, t=0.4)),
    ("semi", LGB(k=5, l=2, generalize="ncp")),
    ("plain", LGB(k=5, l=3)),
    ("sets", SensitiveQID(l=3)),
    ("sets", SensitiveQID(t=0.4, prior="data")),
    ("sets", SensitiveQID(l=3, joint=[["age", "education"]], bins=10)),
]


@pytest.mark.parametrize(("roles", "method"), SCHEMES, ids=lambda each: str(each)[:60])
def test_every_scheme_keeps_its_claims_in_several_shards(
    tables: dict[str, Table], roles: str, method: Method
) -> None:
    table = tables[roles]
    sharded = release_in_shards(method, table, SECRET, shard_rows=1_200)
    assert len(sharded.shard_rows) > 2
    assert sum(sharded.shard_rows) == table.rows
    release = sharded.release
    assert audit(release).ok
    unsplit = method.release(table, SECRET)
    manifest, whole = release.manifest, unsplit.manifest
    assert manifest.guarantees == whole.guarantees
    assert (manifest.rows, manifest.layout) == (whole.rows, whole.layout)
    for key in ("columns", "tables", "sets", "bins", "joint", "types", "generalize", "fakes"):
        assert manifest.parameters.get(key) == whole.parameters.get(key)
    assert _exact_columns(release, table) == _exact_columns(unsplit, table)


def _exact_columns(release: Release, table: Table) -> dict[str, Counter[Any]]:
    """Return how often each value is published, of the columns that are published as they are."""
    found: dict[str, Counter[Any]] = {}
    if release.manifest.layout == "sets" or release.manifest.parameters.get("fakes"):
        return found
    for name, part in release.tables.items():
        for column in release.manifest.table(name).attributes:
            is_exact = table[column].attribute.role is Role.SENSITIVE
            if is_exact or release.manifest.layout == "anatomized":
                values = part[column].to_pylist()
                counts = part["count"].to_pylist() if "count" in part.column_names else None
                counter = found.setdefault(column, Counter())
                for value, count in zip(values, counts or [1] * len(values), strict=True):
                    counter[value] += count
    return found


@given(case=st.sampled_from(SPLIT_CASES), data=st.data(), seed=SEEDS, rows=st.integers(1, 9))
@settings(max_examples=150)
def test_no_table_is_refused_or_weakened_for_being_split(
    case: int, data: st.DataObject, seed: bytes, rows: int
) -> None:
    frame, method = data.draw(frames_for(case)), method_of(case)
    try:
        table = coded(frame)
        method.release(table, Randomness.secret(seed))
    except SfumatoError:
        return
    try:
        sharded = release_in_shards(method, table, Randomness.secret(seed), shard_rows=rows)
    except EngineUnavailable:
        assert frame.schema.unit is not None or any(a.density for a in frame.schema)
        return
    except Infeasible:
        # whether gamma can be kept is a matter of who is dealt where
        assert isinstance(method, SLPPA)
        return
    assert sum(sharded.shard_rows) == table.rows
    assert all(verdict.holds is not False for verdict in audit(sharded.release).guarantees)
    assert not audit(sharded.release).damaged


@pytest.mark.parametrize("place", [0, 3, 4, 9, 11, 17])
def test_a_seed_gives_the_same_release_whatever_the_order_of_rows(
    tables: dict[str, Table], place: int
) -> None:
    roles, method = SCHEMES[place]
    table = tables[roles]
    order = np.random.default_rng(1).permutation(table.rows)
    columns = tuple(replace(column, codes=column.codes[order]) for column in table.columns)
    mixed = replace(table, columns=columns)
    one, other = (
        release_in_shards(method, each, SECRET, shard_rows=1_200).release for each in (table, mixed)
    )
    assert equal_releases(one, other)


def test_little_is_lost_by_splitting(tables: dict[str, Table]) -> None:
    table = tables["plain"]
    for method, measure in (
        (Mondrian(k=5), lambda release: ncp(release, table).mean),
        (LGB(k=5, l=3), lambda release: ncp(release, table).mean),
        (Anatomy(l=4), lambda release: glp(release, table)),
        (ARP(l=4), lambda release: glp(release, table)),
    ):
        sharded = release_in_shards(method, table, SECRET, shard_rows=1_000)
        assert len(sharded.shard_rows) >= 4
        assert measure(sharded.release) <= 1.05 * measure(method.release(table, SECRET))


def test_a_table_that_no_cut_can_part_stays_in_one_piece() -> None:
    data = pa.table({"age": [30] * 8 + [40] * 2, "illness": ["a", "b"] * 5})
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    sharded = release_in_shards(Mondrian(k=3), encode(data, schema), SECRET, shard_rows=2)
    assert sharded.shard_rows == (10,)


@pytest.mark.parametrize("name", sorted(METHODS.keys() - set(SPLIT)))
def test_other_methods_say_that_they_run_on_one_machine(name: str) -> None:
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    table = encode(pa.table({"age": [1, 2, 3], "illness": ["a", "b", "c"]}), schema)
    (case, *_) = (case for case, (each, _) in enumerate(CASES) if each == name)
    with pytest.raises(EngineUnavailable, match=f"{name} runs on one machine; leave out"):
        release_in_shards(method_of(case), table, SECRET, shard_rows=1)


def test_people_with_several_rows_are_not_split() -> None:
    data = pa.table({"who": ["a", "a", "b", "c"], "age": [1, 1, 2, 3], "illness": list("xyxy")})
    schema = Schema.of(who="identifier", age="quasi-identifier", illness="sensitive")
    table = encode(data, replace(schema, unit="who"))
    with pytest.raises(EngineUnavailable, match="several rows"):
        release_in_shards(Mondrian(k=2), table, Randomness.test(1), shard_rows=2)
