"""Publish: a table and a policy in, a release out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np

from sfumato.errors import ParameterError
from sfumato.io.read import open_table, read_table
from sfumato.jobs.against import kept_apart
from sfumato.jobs.doubts import about_pseudonyms, look_alike, narrow_groups, wrong_intervals
from sfumato.jobs.ledger import earlier_releases, enter, refuse_unusable
from sfumato.jobs.peak_memory import give_back_much
from sfumato.jobs.policy import Policy
from sfumato.jobs.progress import Progress, Stages
from sfumato.jobs.publication import (
    Publication,
    about_loss,
    group_count,
    place_of,
    refuse_occupied,
    refuse_own_fault,
    saving,
    with_declared,
    withheld_cells,
)
from sfumato.jobs.recode import about_recoding, recoded, with_recoding
from sfumato.jobs.record import RecordPlace, RunRecord
from sfumato.jobs.suppress import withheld_rows, without
from sfumato.methods import Method
from sfumato.predicates.flags import flagged
from sfumato.randomness import Randomness
from sfumato.recoding.pseudonyms import with_tokens
from sfumato.release import Manifest, Release
from sfumato.release.release import FileFormat
from sfumato.schema import Columns
from sfumato.schema.headers import about_header
from sfumato.table import encode
from sfumato.table.whole import frame_of
from sfumato.utility import ncp
from sfumato.utility.ncp import has_ncp


def anonymize(
    data: str | os.PathLike[str],
    policy: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    randomness: Randomness | None = None,
    format: FileFormat | None = None,
    formula_guard: bool | None = None,
    force: bool = False,
    record: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None,
    against: Sequence[str | os.PathLike[str]] = (),
    repartition: bool = False,
    key: bytes | None = None,
    warnings: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Publication:
    """Publish the table of a file under a policy file, as a release folder.

    `format` and `formula_guard` win over the policy's `output`. `ledger` is a file that gets a
    line about the release. `against` are earlier releases, or ledgers that list them: nothing is
    published that breaks a stated l beside one of them; `repartition` tries coarser partitions
    first (see `jobs/against.py`). `key` is the secret of pseudonyms. `warnings` are those that
    arose before the run; they go into its record. Refuses (SfumatoError) whatever stands in the
    way; the folder and the record then do not appear.
    """
    path, record_path = place_of(out, format), None if record is None else Path(record)
    randomness = randomness or Randomness.fresh()
    stages = Stages(progress)
    refuse_occupied(path, force)
    ledger_path = None if ledger is None else Path(ledger)
    if ledger_path is not None:
        refuse_unusable(ledger_path, path, record_path)
    if repartition and not against:
        raise ParameterError("--repartition is for releases that are held --against others")
    with RecordPlace.at(record_path, path, force=force) as place:
        with stages.stage("reading the policy"):
            rules = Policy.load(Path(policy))
            method, schema = rules.method(), rules.schema()
        earlier: dict[str, Release] = {}
        if against:
            with stages.stage("reading earlier releases"):
                earlier = earlier_releases(against, ledger_path)
        with stages.stage("reading the data"):
            # earlier releases are held against whole rows; all else takes one column at a time
            raw: Columns = read_table(data) if against else open_table(data)
        warnings += about_header(raw)
        with stages.stage("encoding"):
            rows, schema, steps = recoded(raw, rules, schema, randomness)
            table = with_tokens(flagged(encode(rows, schema), rows), rows, key)
        warnings += about_recoding(raw, rows, steps, schema)
        if not against:
            del raw
        give_back_much()  # what reading took
        withheld = np.zeros(0, dtype=np.int64)
        if rules.content.on_infeasible == "suppress":
            with stages.stage("choosing rows to withhold"):
                withheld = withheld_rows(table, method, randomness)
                if len(withheld):
                    rows = without(rows, withheld)
                    raw = without(raw, withheld) if against else rows
                    table = with_tokens(flagged(encode(rows, schema), rows), rows, key)
        warnings += method.doubts(table)

        made_by = [method]

        def publish(asked: Method) -> Release:
            with stages.stage(f"partitioning by {asked.name}"):
                made = with_recoding(asked.release(table, randomness), steps, schema)
                made_by[:] = [asked]
                return with_declared(made, rules, len(withheld))

        if against:
            release, doubts = kept_apart(
                publish,
                method,
                earlier,
                rows,
                before_recoding=raw,
                secret=table.flags,
                repartition=repartition,
            )
            warnings += doubts
        del rows
        if not against:
            release = publish(method)
        suppressed_rows: list[int] = (withheld + 1).tolist()
        if record_path is not None and release.manifest.suppressed > len(withheld):
            suppressed_rows = (made_by[0].withheld(table) + 1).tolist()
        # from here on it counts what columns mean; the memory of their rows serves the audit
        table = frame_of(replace(table, units=None, weights=None, tokens={}))
        give_back_much()  # what the method worked on
        written = saving(
            release, path, rules, format=format, formula_guard=formula_guard, force=force
        )
        # whatever fails from here on, nothing of the release appears
        with ExitStack() as open_release, ThreadPoolExecutor(1) as beside:
            open_release.enter_context(written)
            narrow = beside.submit(narrow_groups, release, table)  # parts of the audit use one core
            with stages.stage("auditing"):
                refuse_own_fault(release)
            with stages.stage("measuring"):
                loss = ncp(release, table) if has_ncp(release) else None
                warnings += (
                    *rules.warnings(is_test=randomness.is_test),
                    *wrong_intervals(table),
                    *look_alike(table),
                    *narrow.result(),
                    *about_pseudonyms(schema),
                    *about_loss(release.manifest, loss),
                    *_about_withheld(len(withheld)),
                    *_about_outliers(release.manifest, len(withheld)),
                )

            def told() -> RunRecord:
                return RunRecord(
                    data=os.fspath(data),
                    policy=os.fspath(policy),
                    release=os.fspath(out),
                    seed=randomness.key,
                    test=randomness.is_test,
                    timings=stages.timings,
                    warnings=warnings,
                    suppressed_rows=suppressed_rows,
                    withheld_cells=withheld_cells(release.manifest),
                )

            with stages.stage("writing"):
                place.draft(told())
                open_release.close()
        place.fill(told())
    if ledger_path is not None:
        enter(ledger_path, path, release.manifest)
    return Publication(path, release.manifest, group_count(release), loss, warnings, stages.timings)


def _about_withheld(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    return (
        f"{count} rows were withheld because their sensitive value is too common; their absence "
        "tells their value, so those people are not protected",
    )


def _about_outliers(manifest: Manifest, others: int) -> tuple[str, ...]:
    """Return a warning of what the method itself withheld, beside `others`."""
    count = manifest.suppressed - others
    if not count:
        return ()
    said = f"{count} records were withheld as outliers (`suppression`)"
    if not manifest.suppressed_by_value:
        return (said,)
    return (
        f"{said}, some of them because of their sensitive values; that they are absent tells "
        "something of these values, so those people are not protected",
    )
