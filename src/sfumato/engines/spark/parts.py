"""The parts of a release: judged against the totals of all of them, measured, and put in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.audit.parts import ShownValues, judge_part
from sfumato.engines.spark.exchange import each_task
from sfumato.engines.spark.shards import put_part, shard_file, tables_of
from sfumato.jobs.doubts import NarrowPlaces, narrow_places
from sfumato.jobs.publication import refuse_broken
from sfumato.release import Release
from sfumato.release.union import PartSummary, Union
from sfumato.table import Table
from sfumato.utility.ncp import Losses, has_ncp, losses

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Measured:
    """What a part has lost, and in how many of its groups numbers are nearly exact."""

    losses: Losses | None
    narrow: NarrowPlaces


def finish_parts(
    session: SparkSession,
    union: Union,
    shards: Sequence[tuple[int, PartSummary]],
    whole: ShownValues,
    frame: Table,
    staging: str,
    folder: Path,
) -> list[Measured]:
    """Return what was measured of each part; all are then in their tables' folders, judged.

    Refuses (ClaimBroken) to finish a release that its own audit would not stand by.
    """
    names = [entry.name for entry in union.manifest.tables]
    for name in names:
        (folder / f"{name}.parquet").mkdir()
    plain = replace(frame, whole=None)

    def finish(place: int) -> Measured:
        number, summary = shards[place]
        tables = tables_of(staging, number, names)
        part = _alone(union, place, summary, tables)
        refuse_broken(partial(judge_part, part, whole))
        for name in names:
            final = folder / f"{name}.parquet" / f"part-{place:06}.parquet"
            made = shard_file(staging, number, f"united-{name}")
            put_part(union.table(place, name, tables[name]), name, part, made)
            made.replace(final)
        return Measured(losses(part, plain) if has_ncp(part) else None, narrow_places(part, plain))

    return each_task(session, len(shards), finish)


def _alone(union: Union, place: int, summary: PartSummary, tables: object) -> Release:
    """Return a part as a release of its own, under the manifest of all of them."""
    own = summary.manifest
    manifest = union.manifest.model_copy(
        update={
            "rows": own.rows,
            "suppressed": own.suppressed,
            "suppressed_by_value": own.suppressed_by_value,
            "parameters": own.parameters,
        }
    )
    unmoved = {table: dict.fromkeys(columns, 0) for table, columns in union.offsets[place].items()}
    still = replace(union, offsets=[unmoved])
    assert isinstance(tables, dict)
    return Release(
        manifest,
        {name: still.table(0, name, table) for name, table in tables.items()},
        union.hierarchies,
    )
