"""Audits of releases with tokens: what tokens show is counted, and what belies them is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.audit import audit
from sfumato.audit.joined import joined_view
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.methods.linked import LinkedTable, publish_linked
from sfumato.models import LDiversity
from sfumato.recoding.pseudonyms import with_tokens
from sfumato.release import AttributeEntry, Bounds, Manifest, Release, TableEntry
from sfumato.table import encode

KEY = bytes(range(50, 90))
FRESH = "abcdefghijklmnopqrstuvwxyz"


def coded(data: dict, *models: LDiversity) -> LinkedTable:
    rows = pa.table(data)
    roles = (
        sf.Attribute("who", sf.Role.IDENTIFIER, pseudonym="person"),
        sf.Attribute("age", sf.Role.QUASI_IDENTIFIER),
        sf.Attribute("ill", sf.Role.SENSITIVE),
    )
    table = encode(rows, sf.Schema(roles, unit="who"))
    return LinkedTable(with_tokens(table, rows, KEY), models)


@pytest.fixture(scope="module")
def releases() -> dict[str, Release]:
    """Twelve people with a row each, and two rows each in another table."""
    rng = np.random.default_rng(8)
    people = {"who": list(range(12)), "age": list(range(30, 42)), "ill": ["Flu", "Gout"] * 6}
    twice = {
        "who": [n for n in range(12) for _ in range(2)],
        "age": rng.integers(0, 90, 24),
        "ill": ["Flu", "Kuru", "Gout", "Rash"] * 6,
    }
    return publish_linked(
        {
            "people": coded(people, LDiversity("ill", 2)),
            "visits": coded(twice, LDiversity("ill", 2)),
        },
        k=3,
        randomness=sf.Randomness.secret(bytes(range(16))),
    )


def changed(release: Release, table: str = "records", *, rows: int = 0, **columns) -> Release:
    """Return a release with other columns in a table, and so many more rows in its manifest."""
    tables = dict(release.tables)
    old = {name: tables[table][name].to_pylist() for name in tables[table].column_names}
    types = {name: tables[table].schema.field(name).type for name in old}
    new = {name: columns.get(name, cells) for name, cells in old.items()}
    tables[table] = pa.table({name: pa.array(cells, types[name]) for name, cells in new.items()})
    manifest = release.manifest.model_copy(update={"rows": release.manifest.rows + rows})
    return Release(manifest, tables, release.hierarchies)


def column(release: Release, name: str, table: str = "records") -> list:
    return release.tables[table][name].to_pylist()


def verdicts(release: Release) -> list[bool | None]:
    return [verdict.holds for verdict in audit(release).guarantees]


def test_what_was_published_stands_alone_and_together(releases):
    assert all(audit(release).ok for release in releases.values())
    assert [v.holds for v in joined_view(list(releases.values()))] == [True] * 3
    assert all("pseudonymised" in audit(release).problems[0] for release in releases.values())
    # tokens show what would otherwise have to be taken on trust
    assert {verdict.note for verdict in audit(releases["visits"]).guarantees} == {""}


def in_different_groups(release: Release) -> tuple[int, int]:
    groups = column(release, "group")
    return 0, next(i for i, group in enumerate(groups) if group != groups[0])


def test_tokens_swapped_between_groups_fail_in_the_join(releases):
    one, other = in_different_groups(releases["people"])
    tokens = column(releases["people"], "who")
    tokens[one], tokens[other] = tokens[other], tokens[one]
    spoilt = changed(releases["people"], who=tokens)
    assert audit(spoilt).ok  # alone it may be so
    joined = joined_view([spoilt, releases["visits"]])
    assert not joined[0].holds and joined[0].worst == 1


def test_tokens_of_a_person_in_two_groups_fail_alone(releases):
    one, other = in_different_groups(releases["visits"])
    tokens = column(releases["visits"], "who")
    tokens[one], tokens[other] = tokens[other], tokens[one]
    found = audit_of_spoilt(changed(releases["visits"], who=tokens))
    assert found == "damaged" or found[0] is False


def audit_of_spoilt(release: Release) -> str | list[bool | None]:
    try:
        return verdicts(release)
    except ReleaseDamaged:
        return "damaged"


def test_a_row_less_fails_in_the_join(releases):
    for name, release in releases.items():
        columns = release.tables["records"].column_names
        spoilt = changed(release, rows=-1, **{each: column(release, each)[1:] for each in columns})
        others = [other for key, other in releases.items() if key != name]
        assert audit_of_spoilt(spoilt) == "damaged" or not joined_view([spoilt, *others])[0].holds


def test_a_row_less_of_several_is_seen_alone(releases):
    release = releases["visits"]
    for place in range(release.manifest.rows):
        fewer = {
            name: [cell for i, cell in enumerate(column(release, name)) if i != place]
            for name in release.tables["records"].column_names
        }
        found = audit_of_spoilt(changed(release, rows=-1, **fewer))
        assert found == "damaged" or found[0] is False


def test_a_row_twice_fails(releases):
    for release in releases.values():
        names = release.tables["records"].column_names
        more = {name: [*column(release, name), column(release, name)[0]] for name in names}
        found = audit_of_spoilt(changed(release, rows=1, **more))
        assert found == "damaged" or found[0] is False


def test_a_new_token_fails(releases):
    for release in releases.values():
        tokens = [FRESH, *column(release, "who")[1:]]
        spoilt = changed(release, who=tokens)
        found = audit_of_spoilt(spoilt)
        others = [each for each in releases.values() if each is not release]
        assert found == "damaged" or not all(v.holds for v in joined_view([spoilt, *others]))


@pytest.mark.parametrize(
    "cell",
    [None, "", FRESH.upper(), FRESH[:-1], FRESH + "a", FRESH[:-1] + "1", FRESH[:-1] + "\n", "Ann"],
)
def test_cells_that_are_no_tokens_are_refused(releases, cell):
    spoilt = changed(releases["people"], who=[cell, *column(releases["people"], "who")[1:]])
    with pytest.raises(ReleaseDamaged, match="cells that are no pseudonyms"):
        audit(spoilt)
    with pytest.raises(ReleaseDamaged, match="cells that are no pseudonyms"):
        joined_view([spoilt, releases["visits"]])


def test_tables_of_people_that_tokens_belie_are_refused(releases):
    release = releases["visits"]
    counts = column(release, "count", "units")
    with pytest.raises(ReleaseDamaged, match="tokens belie the numbers of people"):
        audit(changed(release, "units", count=[counts[0] + 1, *counts[1:]]))


def test_values_of_people_that_tokens_belie_are_refused():
    # both have both, so l = 2 fails; the table of people says that each has one
    release = by_hand(
        [(1, "a", "Flu"), (1, "a", "Gout"), (1, "b", "Flu"), (1, "b", "Gout")],
        units=[(1, 2)],
        values=[(1, "Flu", 1), (1, "Gout", 1)],
    )
    with pytest.raises(ReleaseDamaged, match="tokens belie how many people have the values"):
        audit(release)


def test_models_are_judged_in_crowds_of_equal_numbers_of_rows():
    """Of four people in a group two have two rows: who knows that is left with one value."""
    rows = [
        *[(1, "a", "Flu"), (1, "a", "Flu"), (1, "b", "Flu"), (1, "b", "Flu")],
        *[(1, "c", "Gout"), (1, "d", "Kuru")],
    ]
    values = [(1, "Flu", 2), (1, "Gout", 1), (1, "Kuru", 1)]
    release = by_hand(rows, units=[(1, 4)], values=values)
    assert verdicts(release) == [True, False]
    even = [(group, who, "Gout" if who == "b" else value) for group, who, value in rows]
    values = [(1, "Flu", 1), (1, "Gout", 2), (1, "Kuru", 1)]
    assert verdicts(by_hand(even, units=[(1, 4)], values=values)) == [True, True]


def test_two_deliveries_can_break_together_what_each_keeps():
    one = by_hand([(1, "a", "Flu"), (1, "b", "Gout"), (2, "c", "Flu"), (2, "d", "Gout")])
    other = by_hand([(1, "a", "Flu"), (1, "c", "Gout"), (2, "b", "Flu"), (2, "d", "Gout")])
    assert verdicts(one) == verdicts(other) == [True, True]
    assert [v.holds for v in joined_view([one, one])] == [True, True, True]
    assert [v.holds for v in joined_view([one, other])] == [False, False, False]


def token(letter: str) -> str:
    return letter * 26


def by_hand(rows, units=(), values=(), **more) -> Release:
    """Return a release of (group, person, value) that claims k = 2 and l = 2."""
    kinds = {
        "age": AttributeEntry(
            name="age",
            role="quasi-identifier",
            kind="numeric",
            type="int64",
            domain=Bounds(min=1, max=9),
        ),
        "ill": AttributeEntry(
            name="ill",
            role="sensitive",
            kind="categorical",
            type="string",
            domain=("Flu", "Gout", "Kuru"),
        ),
    }
    records = pa.table(
        {
            "group": [group for group, _, _ in rows],
            "who": [token(person) for _, person, _ in rows],
            "age": [f"[{group}, {group + 1}]" for group, _, _ in rows],
            "ill": [value for _, _, value in rows],
        }
    )
    entry = TableEntry(
        name="records", attributes=("age", "ill"), group="group", pseudonyms=("who",)
    )
    tables, entries = {"records": records}, [entry]
    if units:
        groups, counts = zip(*units, strict=True)
        tables["units"] = pa.table({"group": groups, "count": counts})
        entries.append(TableEntry(name="units", attributes=(), group="group", count="count"))
        groups, ills, counts = zip(*values, strict=True)
        tables["units_1"] = pa.table({"group": groups, "ill": ills, "count": counts})
        entries.append(
            TableEntry(name="units_1", attributes=("ill",), group="group", count="count")
        )
    stated = {
        "method": "mondrian",
        "layout": "generalized",
        "software": "sfumato 0.1.0",
        "created": "2026-01-31",
        "rows": len(rows),
        "attributes": tuple(kinds.values()),
        "tables": tuple(entries),
        "guarantees": (
            {"model": "k-anonymity", "k": 2},
            {"model": "l-diversity", "attribute": "ill", "variant": "frequency", "l": 2},
        ),
        **more,
    }
    return Release(Manifest(**stated), tables)


def test_a_second_column_of_tokens_is_refused():
    release = by_hand([(1, "a", "Flu"), (1, "b", "Gout")])
    entry = TableEntry(
        name="records", attributes=("age", "ill"), group="group", pseudonyms=("who", "ssn")
    )
    records = release.tables["records"].append_column("ssn", release.tables["records"]["who"])
    manifest = release.manifest.model_copy(update={"tables": (entry,)})
    with pytest.raises(ReleaseDamaged, match="several columns of pseudonyms"):
        audit(Release(manifest, {"records": records}))


@pytest.mark.parametrize("layout", ["sliced", "anatomized"])
def test_tokens_in_other_layouts_are_refused(layout):
    with pytest.raises(ReleaseDamaged, match="no place but in the records of generalized"):
        audit(by_hand([(1, "a", "Flu"), (1, "b", "Gout")], layout=layout))


def test_tokens_beside_cells_that_were_replaced_at_random_are_refused():
    parameters = {"transitions": {"ill": {"values": ["Flu"], "matrix": [[1]]}}}
    release = by_hand([(1, "a", "Flu"), (1, "b", "Gout")], parameters=parameters)
    with pytest.raises(ReleaseDamaged, match="no place but in the records of generalized"):
        audit(release)


def test_a_join_needs_tokens_and_a_k(releases):
    people = pa.table({"age": [1, 2], "ill": ["Flu", "Gout"]})
    plain = sf.Mondrian(k=2).publish(people, sf.Schema.of(age="quasi-identifier", ill="sensitive"))
    with pytest.raises(ParameterError, match="one of these has none"):
        joined_view([releases["people"], plain])
    claimless = by_hand([(1, "a", "Flu"), (1, "b", "Gout")], guarantees=())
    with pytest.raises(ParameterError, match="none of the releases claims k-anonymity"):
        joined_view([claimless, claimless])


def test_the_largest_k_counts_for_everybody(releases):
    claims = ({"model": "k-anonymity", "k": 2},)
    modest = by_hand([(1, "a", "Flu"), (1, "b", "Gout")], guarantees=claims)
    assert [v.holds for v in joined_view([modest])] == [True]
    found = joined_view([modest, *releases.values()])
    assert (found[0].claim["k"], found[0].holds, found[0].worst) == (3, False, 2)
