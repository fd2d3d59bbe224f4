"""A report on a release: facts gathered from all judges, and written as one page."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import pyarrow as pa

from sfumato.attacks import AttackReport, attack
from sfumato.audit import AuditReport, audit
from sfumato.databases.address import Address
from sfumato.errors import ParameterError, ReleaseDamaged, SfumatoError
from sfumato.io.read import read_table
from sfumato.jobs.doubts import narrow_groups
from sfumato.jobs.policy import Policy
from sfumato.jobs.private_file import new_file, refuse_occupied
from sfumato.jobs.progress import Progress, Stages
from sfumato.randomness import repeatable
from sfumato.release import Release
from sfumato.release.beside import beside
from sfumato.release.weights import weight_of
from sfumato.reports.alone import Alone
from sfumato.reports.alone import alone as estimated_alone
from sfumato.reports.charts import refuse_missing
from sfumato.reports.facts import AUDIENCES, Audience, Facts
from sfumato.reports.report import Report, render
from sfumato.reports.statistics import columns_of, pseudonyms_of, sizes_of
from sfumato.schema.frames import as_arrow
from sfumato.utility.original import coded_original
from sfumato.utility.overview import Utility, overview

# People that attacks look at, and queries of each kind: fewer than the commands take, since a
# report does all of it at once; and fewer again where there are very many records.
SAMPLE, QUERIES = 1_000, 50
MANY_ROWS, SAMPLE_OF_MANY, QUERIES_OF_MANY = 200_000, 300, 20
_SEED = 10
_OURS = b"<!DOCTYPE html>"

T = TypeVar("T")


def report(
    release: Release | str | os.PathLike[str],
    original: Any = None,
    *,
    policy: Policy | str | os.PathLike[str] | None = None,
    audience: Audience | None = None,
    title: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Return a report on a release, given as such or as its folder.

    With the `original` (a frame, or the path of its data) it shows distributions before and after,
    attacks and utility; the `policy` tells of hierarchies that a release does not publish whole.
    For the audience `public` nothing is shown that the published files do not give. The same
    input gives the same page.

    Refuses (ParameterError) another audience, and an original or a policy for a public report;
    (EngineUnavailable) a missing extra `reports`; (SfumatoError) what cannot be read, and what the
    judges refuse as not of this release.
    """
    chosen: Audience = audience or "steward"
    _refuse_wrong(chosen, original, policy)
    refuse_missing(".svg")
    stages = Stages(progress)
    folder = None  # where there are files that could be attacked
    if not isinstance(release, Release) and Address.of(release) is None:
        folder = Path(release)
    with stages.stage("reading the release"):
        loaded = release if isinstance(release, Release) else Release.load(release)
    with stages.stage("auditing"):
        verdicts = audit(loaded)
    compared = attacked = own = None
    warnings: tuple[str, ...] = ()
    undone: list[str] = []
    if original is not None:
        with stages.stage("reading the data"):
            data = _data(original)
        with stages.stage("measuring utility"):
            compared, warnings = _measured(loaded, data, policy)
        with stages.stage("attacking"):
            attacked = _tried("attacks", undone, lambda: _attacked(loaded, data, folder))
    if compared is None or not compared.margins:
        with stages.stage("estimating"):
            own = _tried(
                "estimates from the release alone", undone, lambda: estimated_alone(loaded)
            )
    with stages.stage("drawing"):
        return of_findings(
            loaded,
            verdicts,
            audience=chosen,
            alone=own,
            compared=compared,
            attacked=attacked,
            warnings=warnings,
            undone=tuple(undone),
            title=title,
        )


def of_findings(
    release: Release,
    verdicts: AuditReport,
    *,
    audience: Audience = "steward",
    alone: Alone | None = None,
    compared: Utility | None = None,
    attacked: AttackReport | None = None,
    warnings: tuple[str, ...] = (),
    undone: tuple[str, ...] = (),
    title: str | None = None,
) -> Report:
    """Return the report on a release of which the judges have already been asked.

    Refuses (EngineUnavailable) a missing extra `reports`.
    """
    facts = Facts(
        audience=audience,
        manifest=release.manifest,
        audit=verdicts,
        sizes=sizes_of(release),
        columns=columns_of(release),
        pseudonyms=pseudonyms_of(release),
        weight=weight_of(release.manifest),
        alone=alone,
        compared=compared,
        attacked=attacked,
        warnings=warnings,
        undone=undone,
    )
    return render(facts, title)


def report_file(
    release: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    original: str | None = None,
    policy: str | os.PathLike[str] | None = None,
    audience: Audience | None = None,
    title: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Write a report on the release of a folder into a file; return it.

    A report that is not public is readable by its owner only.

    Refuses (InputError) a file that is there, unless `force` is given and it is an HTML page.
    """
    path = Path(out)
    refuse_occupied(path, force=force, is_ours=_is_page)
    made = report(
        release, original, policy=policy, audience=audience, title=title, progress=progress
    )
    is_private = made.facts.audience != "public"
    with new_file(path, force=force, is_ours=_is_page, private=is_private) as file:
        file.write(made.html.encode())
    return made


def _refuse_wrong(audience: str, original: Any, policy: Any) -> None:
    if audience not in get_args(Audience):
        raise ParameterError(f"there is no audience '{audience}'; there are {', '.join(AUDIENCES)}")
    if audience == "public" and (original is not None or policy is not None):
        what = "the original" if original is not None else "the policy"
        raise ParameterError(
            f"a public report shows nothing that is not in the release, so it takes neither "
            f"original nor policy: leave {what} out, or make the steward's report"
        )
    if policy is not None and original is None:
        raise ParameterError("the policy explains the original's values: give the original, too")


def _data(original: Any) -> pa.Table:
    if isinstance(original, str | os.PathLike):
        return read_table(original)
    return as_arrow(original)


def _measured(
    release: Release, data: pa.Table, policy: Policy | str | os.PathLike[str] | None
) -> tuple[Utility, tuple[str, ...]]:
    """Return the utility of the release, and doubts about it that its original brings up."""
    rules = policy
    if rules is not None and not isinstance(rules, Policy):
        rules = Policy.load(Path(rules))
    table = coded_original(data, release, None if rules is None else rules.schema())
    pair = beside(release, data)
    queries = QUERIES_OF_MANY if release.manifest.rows > MANY_ROWS else QUERIES
    found = overview(pair.release, table, queries=queries, rng=repeatable(_SEED, 1))
    found.notes[:0] = pair.notes
    return found, tuple(narrow_groups(pair.release, table))


def _attacked(release: Release, data: pa.Table, folder: Path | None) -> AttackReport:
    sample = SAMPLE_OF_MANY if release.manifest.rows > MANY_ROWS else SAMPLE
    return attack(release, data, sample=sample, path=folder, rng=repeatable(_SEED, 2))


def _tried(what: str, undone: list[str], make: Callable[[], T]) -> T | None:
    """Return what is made; where it has no meaning for the release, take down why."""
    try:
        return make()
    except ReleaseDamaged:
        raise
    except SfumatoError as error:
        undone.append(f"{what}: {error}")
        return None


def _is_page(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_OURS)) == _OURS
