"""Publish by Spark: Parquet files and a policy in, a release in parts out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.audit.parts import added
from sfumato.databases.address import Address
from sfumato.engines.spark.coding import (
    TableCoding,
    counted_columns,
    refuse_unknown_orders,
    table_coding,
)
from sfumato.engines.spark.dictionaries import raw_values
from sfumato.engines.spark.exchange import each_task
from sfumato.engines.spark.gaps import refuse_gaps, refuse_options
from sfumato.engines.spark.identifiers import refuse_repeated_people
from sfumato.engines.spark.parts import Measured, finish_parts
from sfumato.engines.spark.pieces import Source, listed
from sfumato.engines.spark.session import spark_session
from sfumato.engines.spark.sharded import ShardedTable, framed
from sfumato.engines.spark.shards import Outcome
from sfumato.engines.spark.staged import Staged, as_codes, from_codes
from sfumato.errors import ClaimBroken, ParameterError
from sfumato.jobs.doubts import about_narrow, wrong_intervals
from sfumato.jobs.ledger import enter, refuse_unusable
from sfumato.jobs.policy import Policy
from sfumato.jobs.progress import Progress, Stages
from sfumato.jobs.publication import (
    Publication,
    about_loss,
    refuse_occupied,
    with_declared,
    withheld_cells,
)
from sfumato.jobs.recode import with_recoding
from sfumato.jobs.record import RecordPlace, RunRecord
from sfumato.methods import Method
from sfumato.randomness import Randomness
from sfumato.recoding import Steps
from sfumato.release import Manifest, Release
from sfumato.release.atomic import beside, replacing
from sfumato.release.files import is_release, write_manifest
from sfumato.release.release import FileFormat
from sfumato.release.union import unite
from sfumato.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Rows of a shard, if nothing else is asked: small enough for a worker of a gigabyte.
SHARD_ROWS = 1_000_000
_LEAST_SHARD_ROWS = 1_000


def anonymize(
    data: str | os.PathLike[str],
    policy: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
    shard_rows: int = SHARD_ROWS,
    randomness: Randomness | None = None,
    format: FileFormat | None = None,
    force: bool = False,
    record: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    warnings: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Publication:
    """Publish Parquet files under a policy file, as a release folder whose tables are in parts.

    `master` is where Spark runs; the data and the release lie on storage that its workers see.
    `settings` are further ones of a session of its own. The table is published in shards of about
    `shard_rows` rows. With the same seed and shard rows the release is the same, however the input
    is cut into files and wherever Spark runs.

    Refuses (SfumatoError) whatever stands in the way; the folder and the record then do not appear.
    EngineUnavailable for what this engine does not know.
    """
    path, record_path = Path(out), None if record is None else Path(record)
    randomness = randomness or Randomness.fresh()
    stages = Stages(progress)
    refuse_options(
        against=False,
        repartition=False,
        key_file=False,
        csv=format == "csv",
        database=any(Address.of(place) is not None for place in (data, out)),
    )
    if shard_rows < _LEAST_SHARD_ROWS:
        raise ParameterError(f"a shard has at least {_LEAST_SHARD_ROWS} rows (--shard-rows)")
    refuse_occupied(path, force)
    ledger_path = None if ledger is None else Path(ledger)
    if ledger_path is not None:
        refuse_unusable(ledger_path, path, record_path)
    with RecordPlace.at(record_path, path, force=force) as place:
        with stages.stage("reading the policy"):
            rules = Policy.load(Path(policy))
            method, schema = rules.method(), rules.schema()
            refuse_gaps(rules, schema, as_parquet=format is not None)
        with stages.stage("listing the data"):
            source = listed(data)
            schema = schema.aligned(source.schema.names)
            refuse_unknown_orders(source, schema, rules.recoding())
        with ExitStack() as ends:
            with stages.stage("starting Spark"):
                session = ends.enter_context(spark_session(master, settings))
            run = _Run(session, source, rules, schema, method, randomness, stages)

            def told(made: Publication) -> RunRecord:
                return RunRecord(
                    data=os.fspath(data),
                    policy=os.fspath(policy),
                    release=os.fspath(out),
                    seed=randomness.key,
                    test=randomness.is_test,
                    timings=stages.timings,
                    warnings=made.warnings,
                    suppressed_rows=[],
                    withheld_cells=withheld_cells(made.manifest),
                )

            made = run.publish(
                path, shard_rows, force, warnings, lambda ready: place.draft(told(ready))
            )
        place.fill(told(made))
    if ledger_path is not None:
        enter(ledger_path, path, made.manifest)
    return made


@dataclass(frozen=True, slots=True)
class _Written:
    """A release that was written: its manifest, and what was measured of its parts."""

    manifest: Manifest
    measured: Sequence[Measured]
    groups: int


class _Run:
    """One run in a session."""

    def __init__(
        self,
        session: SparkSession,
        source: Source,
        rules: Policy,
        schema: Schema,
        method: Method,
        randomness: Randomness,
        stages: Stages,
    ) -> None:
        self._session, self._source, self._rules = session, source, rules
        self._schema, self._method, self._randomness = schema, method, randomness
        self._stages = stages

    def publish(
        self,
        path: Path,
        shard_rows: int,
        force: bool,
        warnings: tuple[str, ...],
        before: Callable[[Publication], None],
    ) -> Publication:
        """Return what was published; `before` is called when all is ready and nothing to be seen.

        Where it refuses, nothing appears.
        """
        stages, rules, steps = self._stages, self._rules, self._rules.recoding()
        with stages.stage("collecting dictionaries"):
            refuse_repeated_people(self._session, self._source, self._schema)
            columns = counted_columns(self._source, self._schema, steps)
            raw = raw_values(self._session, self._source, columns)
            coding, schema, doubts = table_coding(self._source, self._schema, raw, steps)
            del raw
            self._method.refuse_roles(coding.frame)
        with beside(path) as staging:
            with stages.stage("encoding"):
                staged = self._staged(coding, staging)
            with stages.stage("planning shards"):
                counts = dict(coding.counts)
                frame, splitting = framed(self._session, staged, coding.frame, counts, self._method)
                doubts += self._doubts(staged, coding)
            sharded = ShardedTable(
                self._session,
                staged,
                frame,
                splitting,
                self._method,
                self._randomness,
                staging,
                partial(_finished, rules=rules, steps=steps, schema=schema),
            )

            def publication(made: _Written) -> Publication:
                manifest = made.manifest
                lost = [part.losses for part in made.measured if part.losses is not None]
                loss = sum(lost[1:], lost[0]).ncp if lost else None
                said = (
                    *warnings,
                    *doubts,
                    *rules.warnings(is_test=self._randomness.is_test),
                    *wrong_intervals(frame),
                    *about_narrow([part.narrow for part in made.measured]),
                    *about_loss(manifest, loss),
                )
                return Publication(path, manifest, made.groups, loss, said, stages.timings)

            written = self._united(
                sharded, path, shard_rows, force, lambda made: before(publication(made))
            )
        return publication(written)

    def _united(
        self,
        sharded: ShardedTable,
        path: Path,
        shard_rows: int,
        force: bool,
        before: Callable[[_Written], None],
    ) -> _Written:
        """Return what was written of the first shards that can be united.

        How many cells one withholds, no other shard knows, so that closeness to the whole may
        suffer: then fewer shards are tried.
        """
        stages, attempts = self._stages, sharded.attempts(shard_rows)
        while True:
            with stages.stage(f"partitioning by {self._method.name}"):
                outcomes = next(attempts)
            order = self._randomness.generator("order of shards").permutation(len(outcomes))
            try:
                with stages.stage("uniting and auditing"):
                    parts = [outcomes[i] for i in order.tolist()]
                    return self._write(parts, sharded, path, force, before)
            except ClaimBroken:
                if len(outcomes) == 1:
                    raise

    def _write(
        self,
        parts: Sequence[Outcome],
        sharded: ShardedTable,
        path: Path,
        force: bool,
        before: Callable[[_Written], None],
    ) -> _Written:
        summaries = [(part.number, part.summary) for part in parts if part.summary is not None]
        union = unite([summary for _, summary in summaries], sharded.frame)
        whole = added(part.shown for part in parts if part.shown is not None)
        staging = str(sharded.staging / "shards")
        with replacing(path, force=force, is_ours=is_release) as folder:
            measured = finish_parts(
                self._session, union, summaries, whole, sharded.frame, staging, folder
            )
            manifest = write_manifest(union.manifest, union.hierarchies, folder)
            grouped = next((entry.name for entry in manifest.tables if entry.group), None)
            groups = sum(
                0 if grouped is None else summary.numbers[grouped]["group"]
                for _, summary in summaries
            )
            written = _Written(manifest, measured, groups)
            before(written)
        return written

    def _staged(self, coding: TableCoding, staging: Path) -> Staged:
        folder = staging / "codes"
        folder.mkdir()
        source = self._source
        staged = Staged(str(folder), len(source.tasks))

        def stage(task: int) -> int:
            return staged.write(task, (as_codes(rows) for rows in coding.coded(source, task)))

        if sum(each_task(self._session, staged.files, stage)) != source.rows:
            raise AssertionError("rows were lost or doubled while they were coded")
        return staged

    def _doubts(self, staged: Staged, coding: TableCoding) -> tuple[str, ...]:
        """Return what is probably not meant about the table, as far as its first rows show."""
        method, frame = self._method, coding.frame

        def doubt(_: int) -> tuple[str, ...]:
            first = next(staged.read(0))
            found = method.doubts(from_codes(first, frame))
            return tuple(f"of the first {first.num_rows} rows: {each}" for each in found)

        if type(method).doubts is Method.doubts:
            return ()
        return each_task(self._session, 1, doubt)[0]


def _finished(release: Release, rules: Policy, steps: Steps, schema: Schema) -> Release:
    return with_declared(with_recoding(release, steps, schema), rules, 0)
