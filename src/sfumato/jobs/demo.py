"""The whole job on made-up data: hospital stays, published by every scheme, judged and compared."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.datasets import hospital, hospital_schema
from sfumato.errors import InputError
from sfumato.jobs.compare import Comparison, missing_chart
from sfumato.jobs.demo_policies import HIERARCHIES, METHODS, STATED, policy_name, write_policies
from sfumato.jobs.demo_trial import (
    DATA,
    PEOPLE,
    QUERIES,
    SHOWN,
    Bench,
    Shown,
    report_name,
    show_here,
    take_place,
)
from sfumato.jobs.policy import Policy
from sfumato.jobs.progress import Progress, Stages
from sfumato.jobs.stated import stated_by
from sfumato.randomness import Randomness
from sfumato.release.atomic import replacing
from sfumato.reports.demo_page import Published, demo_page
from sfumato.utility.overview import DIMENSIONS

PAGE = "index.html"


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demonstration made: where it lies, what came out, some input to compare with.

    `missing` says why there are no charts and reports, None where there are.
    """

    path: Path
    rows: int
    shown: tuple[Shown, ...]
    comparison: Comparison
    before: pa.Table
    missing: str | None

    @property
    def ok(self) -> bool:
        """Whether every method published, and its audit stands by it."""
        return self.comparison.ok

    @property
    def page(self) -> str:
        """The name of the page that tells all of it."""
        return PAGE

    def to_dict(self) -> dict[str, Any]:
        """Return the demonstration as plain values that JSON can hold."""
        releases = [
            {
                "method": each.trial.method,
                "path": str(self.path / each.trial.method) if each.is_saved else None,
                "report": str(self.path / report_name(each.trial.method))
                if each.has_report
                else None,
                "audit": each.audit,
            }
            for each in self.shown
        ]
        return {
            "ok": self.ok,
            "path": str(self.path),
            "page": str(self.path / PAGE),
            "rows": self.rows,
            "releases": releases,
            "comparison": self.comparison.to_dict(),
        }


def demo(
    out: str | os.PathLike[str],
    *,
    rows: int = 10_000,
    force: bool = False,
    workers: int = 1,
    randomness: Randomness | None = None,
    progress: Progress | None = None,
) -> Demo:
    """Make a folder with synthetic data, policies, releases and reports; return what came out.

    With several `workers` methods run in processes of their own, so that compiling code for the
    first time takes less long. Then a script that calls this needs `if __name__ == "__main__"`.

    Refuses (InputError) a folder that exists, unless `force` is given and it is a demonstration.
    """
    if rows < 100:
        raise InputError("the demonstration needs at least 100 rows")
    target, stages = Path(out), Stages(progress)
    randomness, missing = randomness or Randomness.fresh(), missing_chart()
    with replacing(target, force=force, is_ours=_is_demo) as folder:
        with stages.stage(f"making {rows} synthetic hospital stays"):
            stays = hospital(rows)
            pq.write_table(stays, folder / DATA)
            write_policies(folder)
        made: dict[str, Shown] = {}
        for shown in _shown(folder, randomness, missing is None, workers):
            made[shown.trial.method] = shown
            with stages.stage(f"publishing, auditing, attacking: {len(made)} of {len(METHODS)}"):
                pass
        ordered = tuple(made[name] for name in METHODS)
        found = Comparison(
            rows,
            rows,
            stated_by(Policy.load(folder / policy_name(STATED))),
            tuple(each.trial for each in ordered),
            min(PEOPLE, rows),
            QUERIES * len(DIMENSIONS),
            randomness.is_test,
        )
        published = [attribute.name for attribute in hospital_schema() if attribute.is_published]
        before = stays.select(["name", *published]).slice(0, SHOWN)
        with stages.stage("writing"):
            pages = [
                Published(
                    each.trial.method,
                    each.rows,
                    report_name(each.trial.method) if each.has_report else None,
                )
                for each in ordered
            ]
            text = demo_page(found.to_dict(), pages, before, DATA)
            (folder / PAGE).write_text(text, "utf-8")
    return Demo(target, rows, ordered, found, before, missing)


def _shown(
    folder: Path, randomness: Randomness, with_reports: bool, workers: int
) -> Iterator[Shown]:
    """Yield what comes of each method, in the order in which they are done."""
    if workers < 2:
        bench = Bench.at(folder, randomness, with_reports)
        yield from map(bench.show, METHODS)
        return
    pool = ProcessPoolExecutor(
        min(workers, len(METHODS)),
        multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(folder, randomness, with_reports),
    )
    try:
        for each in as_completed([pool.submit(show_here, name) for name in METHODS]):
            yield each.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(folder: Path, randomness: Randomness, with_reports: bool) -> None:
    # Ctrl-C reaches all processes of a terminal: those of the pool have nothing to say to it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    take_place(folder, randomness, with_reports)


def _is_demo(folder: Path) -> bool:
    """Return whether a folder is a demonstration and holds nothing else."""
    files = {name for each in METHODS for name in (each, policy_name(each), report_name(each))}
    names = {entry.name for entry in folder.iterdir()}
    return DATA in names and names <= {DATA, HIERARCHIES, PAGE, *files}
