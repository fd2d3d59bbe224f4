"""Methods side by side: the same data, the same stated protection, the same attacks and queries."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.errors import EngineUnavailable, InputError, ParameterError, SfumatoError
from sfumato.io.read import read_table
from sfumato.jobs.policy import Policy
from sfumato.jobs.policy_errors import nearest
from sfumato.jobs.prepared import Prepared, prepare
from sfumato.jobs.progress import Progress, Stages
from sfumato.jobs.protection import at_protection
from sfumato.jobs.stated import Stated, stated_by
from sfumato.jobs.trial import PEOPLE, Trial, refusal, try_out
from sfumato.methods import METHODS
from sfumato.randomness import Randomness
from sfumato.release.atomic import refuse_occupied, replacing
from sfumato.reports.charts import refuse_missing
from sfumato.schema.frames import as_arrow
from sfumato.utility.overview import DIMENSIONS, SELECTIVITY
from sfumato.utility.workload import Probe, can_be_asked, workload

ALL = "all"
QUERIES = 100
RESULTS, ROWS, CHART, PAGE = "results.json", "results.parquet", "chart.svg", "compare.html"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Trials of several methods on the same data, at the protection that one policy states.

    `people` were looked at by attacks at most; `queries` COUNT queries were asked of each release.
    """

    rows: int
    of_rows: int
    stated: Stated
    trials: tuple[Trial, ...]
    people: int
    queries: int
    is_test: bool = False

    @property
    def ok(self) -> bool:
        """Whether the audit stands by every release, and no method failed by a fault."""
        return not any(trial.audit == "broken" or trial.fault for trial in self.trials)

    def __getitem__(self, method: str) -> Trial:
        """Return the trial of a method; KeyError if it was not tried."""
        for trial in self.trials:
            if trial.method == method:
                return trial
        raise KeyError(method)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values that JSON can hold."""
        return {
            "ok": self.ok,
            "rows": self.rows,
            "of_rows": self.of_rows,
            "stated": self.stated.claims(),
            "people": self.people,
            "queries": self.queries,
            "selectivity": SELECTIVITY,
            "test": self.is_test,
            "trials": [trial.to_dict() for trial in self.trials],
        }

    def table(self) -> pa.Table:
        """Return a row for every method: what the trials have in single numbers and texts."""
        lines = [_flat(trial) for trial in self.trials]
        return pa.Table.from_pylist(lines, schema=_COLUMNS)

    def _repr_html_(self) -> str:
        from sfumato.reports.comparison import as_fragment

        return as_fragment(self.to_dict())


def compare(
    data: Any,
    policy: Policy | str | os.PathLike[str],
    *,
    methods: str | Iterable[str] = ALL,
    queries: int = QUERIES,
    sample: int | None = None,
    people: int = PEOPLE,
    randomness: Randomness | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Return what comes of publishing a frame by each method, at what the policy states.

    `methods` are names, or "all". `queries` COUNT queries are drawn for each number of conditions,
    one to three, and asked of every release. `sample` rows are drawn from larger data. A method
    that refuses is a trial that says why. Nothing is written, and no release is kept.

    Refuses (SfumatoError) a method that is none, a policy that is wrong or does not fit the data,
    and numbers below 1.
    """
    rules = policy if isinstance(policy, Policy) else Policy.load(Path(policy))
    names = method_names(methods)
    if queries < 1 or people < 1:
        raise ParameterError("ask for 1 query or more, and look at 1 person or more")
    stages, randomness = Stages(progress), randomness or Randomness.fresh()
    raw = as_arrow(data)
    with stages.stage("encoding"):
        stated = stated_by(rules)
        prepared = prepare(raw, rules, randomness, sample=sample)
    with stages.stage("drawing queries"):
        probes = count_queries(prepared, queries, randomness)
    trials = []
    for number, name in enumerate(names, start=1):
        with stages.stage(f"trying {name} ({number} of {len(names)})"):
            trials.append(_tried(name, rules, prepared, stated, probes, people, randomness))
    return Comparison(
        prepared.table.rows,
        raw.num_rows,
        stated,
        tuple(trials),
        min(people, prepared.table.rows),
        len(probes),
        randomness.is_test,
    )


def compare_files(
    data: str | os.PathLike[str],
    policy: str | os.PathLike[str],
    *,
    methods: str | Iterable[str] = ALL,
    queries: int = QUERIES,
    sample: int | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    randomness: Randomness | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Return the comparison for the table of a file; with `out`, also write it into a new folder.

    Refuses (SfumatoError) what `compare` refuses, what cannot be read, and a folder that exists,
    unless `force` is given and it is a comparison.
    """
    target = None if out is None else Path(out)
    if target is not None:  # before a long run, not after it
        if not target.absolute().parent.is_dir():
            raise InputError(f"'{target.parent}' is not a folder; create it first")
        refuse_occupied(target, force, _is_ours)
    rules, names = Policy.load(Path(policy)), method_names(methods)
    stages = Stages(progress)
    with stages.stage("reading the data"):
        raw = read_table(data)
    found = compare(
        raw,
        rules,
        methods=names,
        queries=queries,
        sample=sample,
        randomness=randomness,
        progress=progress,
    )
    if target is not None:
        with stages.stage("writing"):
            write(found, target, force=force)
    return found


def method_names(methods: str | Iterable[str]) -> list[str]:
    """Return the methods that are named, each once; a text has them between commas.

    Refuses (ParameterError) names of no method, with the nearest that is one.

    >>> method_names("anatomy, mondrian,anatomy")
    ['anatomy', 'mondrian']
    """
    given = methods.split(",") if isinstance(methods, str) else methods
    names = list(dict.fromkeys(name.strip() for name in given if name.strip()))
    if names == [ALL]:
        return list(METHODS)
    if not names:
        raise ParameterError("name the methods to compare, or `all`")
    for name in names:
        if name not in METHODS:
            raise ParameterError(f"there is no method `{name}`; {nearest(name, [ALL, *METHODS])}")
    return names


def count_queries(prepared: Prepared, queries: int, randomness: Randomness) -> list[Probe]:
    """Return random COUNT queries with one to three conditions, so many of each: for all trials."""
    table = prepared.table
    names = [
        column.name
        for column in table.columns
        if column.attribute.is_published and can_be_asked(column)
    ]
    rng = randomness.generator("queries")
    return [
        probe
        for dimension in DIMENSIONS
        if dimension <= len(names)
        for probe in workload(
            table, names, queries=queries, dimension=dimension, selectivity=SELECTIVITY, rng=rng
        )
    ]


def missing_chart() -> str | None:
    """Return what is missing for the chart; None where it can be drawn."""
    try:
        refuse_missing(Path(CHART).suffix)
    except EngineUnavailable as error:
        return str(error)
    return None


def write(found: Comparison, target: Path, *, force: bool = False) -> None:
    """Write a comparison into a new folder: as JSON, Parquet and HTML, and its chart as SVG.

    The chart needs the extra `reports`; without it the folder has none.
    """
    from sfumato.reports.comparison import as_page, as_picture

    plain = found.to_dict()
    with replacing(target, force=force, is_ours=_is_ours) as folder:
        text = json.dumps(plain, indent=1, allow_nan=False, ensure_ascii=False)
        (folder / RESULTS).write_text(text + "\n", "utf-8")
        pq.write_table(found.table(), folder / ROWS)
        (folder / PAGE).write_text(as_page(plain), "utf-8")
        if missing_chart() is None:
            (folder / CHART).write_bytes(as_picture(plain, ".svg"))


def _is_ours(folder: Path) -> bool:
    """Return whether a folder is a comparison and holds nothing else."""
    names = {entry.name for entry in folder.iterdir()}
    return RESULTS in names and names <= {RESULTS, ROWS, CHART, PAGE}


def _tried(
    name: str,
    rules: Policy,
    prepared: Prepared,
    stated: Stated,
    probes: Sequence[Probe],
    people: int,
    randomness: Randomness,
) -> Trial:
    try:
        choice = at_protection(rules, name)
    except SfumatoError as error:
        return refusal(name, str(error))
    return try_out(
        prepared,
        choice.policy,
        stated=stated,
        probes=probes,
        people=people,
        randomness=randomness,
        notes=choice.notes,
    )


_COLUMNS = pa.schema(
    [
        ("method", pa.string()),
        ("parameters", pa.string()),
        ("asked", pa.string()),
        ("refused", pa.string()),
        ("audit", pa.string()),
        ("guarantees", pa.string()),
        ("kept", pa.string()),
        ("not_promised", pa.string()),
        ("layout", pa.string()),
        ("rows", pa.int64()),
        ("groups", pa.int64()),
        ("suppressed", pa.int64()),
        ("reidentification_highest", pa.float64()),
        ("reidentification_mean", pa.float64()),
        ("inference_attribute", pa.string()),
        ("inference_attack", pa.string()),
        ("inference_success", pa.float64()),
        ("inference_blind", pa.float64()),
        ("inference_highest", pa.float64()),
        ("membership", pa.float64()),
        ("ncp", pa.float64()),
        ("count_error_mean", pa.float64()),
        ("count_error_median", pa.float64()),
        ("count_error_90", pa.float64()),
        ("margin_distance", pa.float64()),
        ("pair_distance", pa.float64()),
        ("association_change", pa.float64()),
        ("seconds", pa.float64()),
        ("megabytes", pa.float64()),
    ]
)


def _flat(trial: Trial) -> dict[str, Any]:
    plain = trial.to_dict()
    found = {name: plain[name] for name in _COLUMNS.names if name in plain}
    for name in ("parameters", "asked", "guarantees", "kept", "not_promised"):
        found[name] = json.dumps(plain[name], ensure_ascii=False)
    if trial.linkage is not None:
        found["reidentification_highest"] = trial.linkage.highest
        found["reidentification_mean"] = trial.linkage.mean
    if trial.strongest is not None:
        for key, value in trial.strongest.to_dict().items():
            if f"inference_{key}" in _COLUMNS.names:
                found[f"inference_{key}"] = value
    found["membership"] = None if trial.membership is None else trial.membership.success
    worth = trial.utility
    if worth is not None:
        found |= {
            "ncp": worth.ncp,
            "count_error_mean": worth.count_mean,
            "count_error_median": worth.count_median,
            "count_error_90": worth.count_90,
            "margin_distance": worth.margin,
            "pair_distance": worth.pairs,
            "association_change": worth.association,
        }
    return found
