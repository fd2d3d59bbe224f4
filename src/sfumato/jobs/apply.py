"""Apply: the cuts of an earlier release on a new delivery of the same kind of data.

Whoever publishes every month wants the months to compare: the same groups, in the same cells. A
record goes to the group whose cells cover it. Nothing is published that would break what the
earlier release claims: the groups that would are named, by their numbers in that release.
"""

from __future__ import annotations

import os
from pathlib import Path

from sfumato.errors import InputError
from sfumato.io.read import read_table
from sfumato.jobs.doubts import about_pseudonyms
from sfumato.jobs.policy import Policy
from sfumato.jobs.progress import Progress, Stages
from sfumato.jobs.publication import (
    Place,
    Publication,
    about_loss,
    group_count,
    place_of,
    refuse_occupied,
    refuse_own_fault,
    save,
)
from sfumato.jobs.recode import about_recoding, recoded, refuse_other_steps, with_recoding
from sfumato.jobs.record import RecordPlace, RunRecord
from sfumato.jobs.same_cuts import applied
from sfumato.jobs.same_policy import refuse_other_policy
from sfumato.jobs.same_types import in_same_types
from sfumato.jobs.suppress import without
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.release.release import FileFormat
from sfumato.table import encode
from sfumato.utility import ncp

_SAME_PEOPLE = (
    "people who are in both deliveries are in two releases: what both together give away is told "
    "by `sfumato compose`"
)


def apply(
    earlier: str | os.PathLike[str],
    data: str | os.PathLike[str],
    policy: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    randomness: Randomness | None = None,
    format: FileFormat | None = None,
    formula_guard: bool | None = None,
    force: bool = False,
    record: str | os.PathLike[str] | None = None,
    key: bytes | None = None,
    warnings: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Publication:
    """Publish the table of a file in the groups and cells of an earlier release.

    The policy says what the columns are, and with `suppression` under its `method` which share of
    the records may be withheld because no group covers them or theirs would be too small. `key` is
    the secret of pseudonyms.
    Refuses (SfumatoError) whatever stands in the way; the folder then does not appear.
    """
    warnings = (*warnings, _SAME_PEOPLE)
    path, record_path = place_of(out, format), None if record is None else Path(record)
    randomness = randomness or Randomness.fresh()
    stages = Stages(progress)
    refuse_occupied(path, force)
    _refuse_replacing(place_of(earlier), path)
    with RecordPlace.at(record_path, path, force=force) as place:
        with stages.stage("reading the policy"):
            rules = Policy.load(Path(policy))
            rules.method()  # called for its refusals
            schema = rules.schema()
        with stages.stage("reading the earlier release"):
            before = Release.load(earlier)
            warnings += refuse_other_policy(before.manifest, rules, schema)
        with stages.stage("reading the data"):
            raw = read_table(data)
            rows, schema, steps = recoded(raw, rules, schema, randomness)
            warnings += about_recoding(raw, rows, steps, schema)
            del raw
            refuse_other_steps(before, steps, schema)
            rows = in_same_types(rows, before)
        with stages.stage("finding everybody's group"):
            share = rules.content.method.parameters.get("suppression", 0)
            release, withheld = applied(before, rows, schema, share, randomness, key)
            release = with_recoding(release, steps, schema)
        with stages.stage("auditing"):
            refuse_own_fault(release)
        with stages.stage("measuring"):
            loss = ncp(release, encode(without(rows, withheld), schema))
            warnings += (*about_pseudonyms(schema), *about_loss(release.manifest, loss))

        def told() -> RunRecord:
            return RunRecord(
                data=os.fspath(data),
                policy=os.fspath(policy),
                release=os.fspath(out),
                seed=randomness.key,
                test=randomness.is_test,
                timings=stages.timings,
                warnings=warnings,
                suppressed_rows=(withheld + 1).tolist(),
            )

        with stages.stage("writing"):
            place.draft(told())
            save(release, path, rules, format=format, formula_guard=formula_guard, force=force)
        place.fill(told())
    return Publication(path, release.manifest, group_count(release), loss, warnings, stages.timings)


def _refuse_replacing(earlier: Place, out: Place) -> None:
    """Refuse (InputError) to write over the release that is read, or into or around it."""
    if isinstance(earlier, Path) and isinstance(out, Path):
        here, there = earlier.resolve(), out.resolve()
        is_lost = here == there or here in there.parents or there in here.parents
    else:
        is_lost = earlier == out
    if is_lost:
        raise InputError(
            f"'{out}' is, holds or lies in the earlier release, which would be lost; choose "
            "another name"
        )
