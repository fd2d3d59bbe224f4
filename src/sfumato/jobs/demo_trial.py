"""One method of the demonstration: published, judged, saved, and reported on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sfumato.answers import Answerer
from sfumato.jobs.compare import count_queries
from sfumato.jobs.demo_policies import ROLES, SECRET, STATED, policy_name
from sfumato.jobs.doubts import narrow_groups
from sfumato.jobs.policy import Policy
from sfumato.jobs.prepared import Prepared, prepare
from sfumato.jobs.protection import ABOUT
from sfumato.jobs.report import of_findings
from sfumato.jobs.stated import Stated, stated_by
from sfumato.jobs.trial import Evidence, Trial, try_out
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.utility.overview import DIMENSIONS
from sfumato.utility.query_errors import query_errors
from sfumato.utility.workload import Probe

DATA: Final = "hospital.parquet"
PEOPLE: Final = 300
# COUNT queries of each number of conditions: of the comparison, and those that a report shows.
QUERIES, REPORTED = 50, 20
SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """What came of one method: its trial, its audit, and some rows of each published table.

    `audit` is the report as plain data, None where nothing was published. `has_report` says that
    a report on the release lies beside it.
    """

    trial: Trial
    audit: Mapping[str, Any] | None
    rows: Mapping[str, pa.Table]
    has_report: bool

    @property
    def is_saved(self) -> bool:
        """Whether the folder holds the release: its audit stands by it."""
        return self.audit is not None


@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """The data of the demonstration and what all methods are asked, in the folder that is made."""

    folder: Path
    raw: pa.Table
    stated: Stated
    probes: list[Probe]
    randomness: Randomness
    with_reports: bool

    @classmethod
    def at(cls, folder: Path, randomness: Randomness, with_reports: bool) -> Bench:
        """Return the bench of a folder that has the data and the policies."""
        raw = pq.read_table(folder / DATA)
        rules = Policy.load(folder / policy_name(STATED))
        probes = count_queries(prepare(raw, rules, randomness), QUERIES, randomness)
        return cls(folder, raw, stated_by(rules), probes, randomness, with_reports)

    def show(self, method: str) -> Shown:
        """Return what comes of a method; its release and its report are written."""
        rules = Policy.load(self.folder / policy_name(method))
        prepared = prepare(self.raw, rules, self.randomness)
        seen: list[Evidence] = []
        trial = try_out(
            prepared,
            rules,
            stated=self.stated,
            probes=self.probes,
            randomness=self.randomness,
            people=PEOPLE,
            notes=tuple(each[method] for each in (ROLES, ABOUT) if method in each),
            witness=seen.append,
        )
        # All methods are compared by the one secret that they share.
        secret = tuple(each for each in trial.inference if each.attribute == SECRET)
        trial = replace(trial, inference=secret)
        if trial.audit == "broken" or not seen:
            return Shown(trial, None, {}, False)
        evidence = seen[0]
        evidence.release.save(self.folder / method)
        if self.with_reports:
            self._report(method, evidence, prepared)
        return Shown(
            trial, evidence.audit.to_json(), first_rows(evidence.release), self.with_reports
        )

    def _report(self, method: str, evidence: Evidence, prepared: Prepared) -> None:
        answerer = Answerer(evidence.plain)
        for dimension in range(len(DIMENSIONS)):
            asked = self.probes[dimension * QUERIES :][:REPORTED]
            evidence.measured.queries.append(query_errors(answerer, prepared.table, asked))
        made = of_findings(
            evidence.release,
            evidence.audit,
            compared=evidence.measured,
            attacked=evidence.attacked,
            warnings=tuple(narrow_groups(evidence.plain, prepared.table)),
            title=f"Synthetic hospital stays, published by {method}",
        )
        made.save(self.folder / report_name(method))


def report_name(method: str) -> str:
    """Return the name of the report on a method's release."""
    return f"{method}.html"


def first_rows(release: Release) -> dict[str, pa.Table]:
    """Return some rows of each published table: of one group, where there are groups."""
    found = {}
    group = None
    for entry in release.manifest.tables:
        rows = release.tables[entry.name]
        if entry.group and rows.num_rows:
            group = rows["group"][0] if group is None else group
            rows = rows.filter(pc.equal(rows["group"], group))
        found[entry.name] = rows.slice(0, SHOWN)
    return found


# In processes of their own

_bench: Bench | None = None


def take_place(folder: Path, randomness: Randomness, with_reports: bool) -> None:
    """Make this process ready to show methods."""
    global _bench  # noqa: PLW0603 -- a process of the pool has one bench, made once
    _bench = Bench.at(folder, randomness, with_reports)


def show_here(method: str) -> Shown:
    """Return what comes of a method, in a process that has taken its place."""
    assert _bench is not None
    return _bench.show(method)
