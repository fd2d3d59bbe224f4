"""Pseudonyms: which records are one person's, so that the people behind a group can be counted.

Tokens show which rows belong together, in one release and across releases that were made with the
same key. Whoever knows somebody by all of their rows then looks for the one token whose rows lie in
the right groups. People are a crowd only if they agree in that: in the number of their rows in
every group of every release, their *trace*. What a group promises must hold for each crowd.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.errors import ReleaseDamaged
from sfumato.release import Manifest, Release
from sfumato.release.tokens import TOKEN
from sfumato.release.transitions import is_randomised

Ints = npt.NDArray[np.int64]

_TRACE = "trace"


@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """Whose each record of a release is, and to which crowd they belong: numbers from 0."""

    people: Ints
    crowds: Ints


def pseudonym_of(manifest: Manifest) -> str | None:
    """Return the column of tokens, None if there is none.

    Refuses (ReleaseDamaged) tokens in tables or layouts whose rows are not people's own, and
    several columns of them.
    """
    having = {table.name: table.pseudonyms for table in manifest.tables if table.pseudonyms}
    if not having:
        return None
    is_own = manifest.layout == "generalized" and not is_randomised(manifest)
    if not is_own or list(having) != ["records"]:
        raise ReleaseDamaged("pseudonyms have no place but in the records of generalized releases")
    if len(having["records"]) > 1:
        raise ReleaseDamaged("table 'records' has several columns of pseudonyms")
    return having["records"][0]


def traces(releases: Sequence[Release]) -> list[Traces]:
    """Return whose records are whose in each release; crowds are alike in all of them.

    Refuses (ReleaseDamaged) releases without tokens, and cells that are no tokens.
    """
    parts, before = [], 0
    for place, release in enumerate(releases):
        tokens, groups = _tokens(release), release.tables["records"]["group"].to_numpy()
        ids = np.asarray(groups, np.int64) + before
        before = int(ids.max(initial=before))
        parts.append(pl.DataFrame({"release": place, "token": tokens, "group": ids}))
    rows = pl.concat(parts)
    steps = rows.group_by("token", "group").agg(pl.len().alias("rows")).sort("token", "group")
    step = pl.format("{}x{}", "group", "rows")
    whole = steps.group_by("token", maintain_order=True).agg(step.str.join(",").alias(_TRACE))
    people = whole.with_row_index("person").with_columns(pl.col(_TRACE).rank("dense") - 1)
    told = rows.join(people, on="token", how="left", maintain_order="left")
    return [
        Traces(part["person"].to_numpy().astype(np.int64), part[_TRACE].to_numpy().astype(np.int64))
        for part in (told.filter(pl.col("release") == i) for i in range(len(releases)))
    ]


def people_in(places: Ints, people: Ints, count: int) -> Ints:
    """Return how many people have records in each place: a group, or a crowd.

    >>> people_in(np.array([0, 0, 1, 1]), np.array([7, 7, 7, 8]), 2).tolist()
    [1, 2]
    """
    width = int(people.max(initial=0)) + 1
    found: Ints = np.bincount(np.unique(places * width + people) // width, minlength=count)
    return found


def remarks(manifest: Manifest) -> tuple[str, ...]:
    """Return what must be said of a release with pseudonyms."""
    name = pseudonym_of(manifest)
    if name is None:
        return ()
    return (
        f"column '{name}' holds pseudonyms: whoever has their key can name everybody, and records "
        "can be linked with those of other tables; the release is pseudonymised, not anonymised",
    )


def _tokens(release: Release) -> pl.Series:
    """Return the token of every record."""
    name = pseudonym_of(release.manifest)
    if name is None:
        raise ReleaseDamaged("table 'records' has no pseudonyms")
    column = release.tables["records"][name]
    texts = column.combine_chunks().dictionary.to_pylist()
    if column.null_count or not all(TOKEN.fullmatch(text) for text in texts):
        raise ReleaseDamaged(f"column '{name}' has cells that are no pseudonyms")
    return pl.Series(column.cast("string").to_pylist(), dtype=pl.String)
