"""Linked tables: whatever is known of a person, k people fit in the join of what is published."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import event, given, settings
from hypothesis import strategies as st

from arbitrary.linked import CANARY, LinkedData, linked_data
from oracles.linked import (
    Linked,
    crowd_is_diverse,
    is_token,
    rows_by_token,
    smallest_crowd,
    suspects,
    token_column,
    values_of_crowds,
)
from oracles.release import read_release
from sfumato.audit import audit
from sfumato.audit.tokens import joined_view
from sfumato.errors import Infeasible
from sfumato.methods.linked import publish_linked
from sfumato.randomness import Randomness
from sfumato.recoding.pseudonyms import tokens
from sfumato.release import Release
from sfumato.schema import Hierarchy
from sfumato.table import encode

from arbitrary.linked import KEY, WORD


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
            whole = {a.name: a.hierarchy for a in encode(asked.data[name], asked.schema(name)).schema}
            trees = {n: h.rows() for n, h in whole.items() if isinstance(h, Hierarchy)}
            found[name] = read_release(Path(folder, name), hierarchies=trees)
    return found


def token_of(who: str) -> str:
    import pyarrow as pa

    return tokens(pa.chunked_array([[who]]), "who", WORD, KEY)[0].as_py()


@settings(max_examples=250)
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
    assert joined_view(list(releases.values())).holds
    for release in releases.values():
        assert audit(release).ok
