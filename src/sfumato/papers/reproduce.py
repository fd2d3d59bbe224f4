"""The run of a paper's experiments: what is left of the grid, then verdicts, charts and page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, ParameterError
from sfumato.jobs.private_file import new_file
from sfumato.jobs.progress import Progress
from sfumato.papers import figures
from sfumato.papers.claims import Judged, judged
from sfumato.papers.data import REAL, Data, real, synthetic
from sfumato.papers.grid import Results
from sfumato.papers.page import MADE, page
from sfumato.papers.paper import Measure, Paper
from sfumato.papers.store import Store, key_of
from sfumato.release.enclosing import refuse_inside_release

# A module is loaded when its paper is asked for: each takes all makers with it.
PAPERS: Mapping[str, str] = {
    "lgb": "sfumato.papers.lgb",
    "refining-partition": "sfumato.papers.refining_partition",
    "merging": "sfumato.papers.merging",
    "slppa": "sfumato.papers.slppa",
    "sensitive-qid": "sfumato.papers.sensitive_qid",
}
ALL = "all"


@dataclass(frozen=True, slots=True)
class Reproduction:
    """What came of a paper: how many points were computed and kept, the verdicts, the files."""

    paper: Paper
    results: tuple[Results, ...]
    judged: tuple[Judged, ...]
    computed: int
    kept: int
    page: Path
    charts: tuple[Path, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "paper": self.paper.key,
            "title": self.paper.title,
            "quick": self.results[0].is_quick,
            "data": [
                {
                    "key": each.about.key,
                    "title": each.about.title,
                    "real": each.about.is_real,
                    "rows": each.about.rows,
                    "fingerprint": each.about.fingerprint,
                }
                for each in self.results
            ],
            "points": {"computed": self.computed, "kept": self.kept},
            "claims": [
                {
                    "claim": each.claim.text,
                    "where": each.claim.where,
                    "data": each.data,
                    "verdict": str(each.judgement.verdict),
                    "measured": each.judgement.measured,
                    "numbers": dict(each.judgement.numbers),
                    "why": each.judgement.why,
                    "timed": each.claim.timed,
                }
                for each in self.judged
            ],
            "page": str(self.page),
            "charts": [str(each) for each in self.charts],
        }


def paper_of(key: str) -> Paper:
    """Return the paper of that key; refuses (ParameterError) one that is unknown."""
    if key not in PAPERS:
        raise ParameterError(f"there is no paper '{key}'; there are {', '.join(PAPERS)}, and all")
    found: Paper = import_module(PAPERS[key]).PAPER
    return found


def papers_of(key: str) -> list[Paper]:
    """Return the paper of that key, or all."""
    return [paper_of(each) for each in (PAPERS if key == ALL else [key])]


def reproduce(
    paper: str,
    files: Sequence[str | os.PathLike[str]] = (),
    *,
    quick: bool = False,
    out: str | os.PathLike[str] = "sfumato-papers",
    progress: Progress | None = None,
) -> list[Reproduction]:
    """Return what came of a paper's experiments, or of `all`; the pages lie in the folder `out`.

    Without files, the experiments run on synthetic look-alikes. Points that `out` has the numbers
    of, from a run that was interrupted, are not computed again.

    Refuses (InputError) files that are none of the data sets that the papers used, before
    anything is computed.
    """
    chosen = papers_of(paper)
    data = _data_of(chosen, files, quick)
    folder = Path(out)
    refuse_inside_release(folder / "results")
    try:
        (folder / "results").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make '{folder}': {error.strerror}") from None
    return [_run(each, data[each.key], folder, quick, progress) for each in chosen]


def _data_of(
    papers: Sequence[Paper], files: Sequence[str | os.PathLike[str]], quick: bool
) -> dict[str, list[Data]]:
    """Return the data of every paper: the files that fit it, or its look-alikes."""
    if not files:
        return {
            paper.key: [
                synthetic(key, rows[1 if quick else 0]) for key, rows in paper.synthetic.items()
            ]
            for paper in papers
        }
    given = {each.about.key: each for each in map(real, files)}
    found = {}
    for paper in papers:
        fitting = [given[key] for key in paper.real if key in given]
        if not fitting:
            titles = " and ".join(each.about.title for each in given.values())
            wanted = " or ".join(f"{REAL[key].title} ({REAL[key].files})" for key in paper.real)
            raise InputError(
                f"the experiments of {paper.key} do not run on {titles}; give {wanted}, or no "
                "--data for the synthetic look-alike"
            )
        found[paper.key] = fitting
    return found


def _run(
    paper: Paper, data: Sequence[Data], folder: Path, quick: bool, progress: Progress | None
) -> Reproduction:
    with Store(folder / "results" / f"{paper.key}.jsonl") as store:
        results, computed = _measured(paper, data, store, quick, progress)
    verdicts = [each for one in results for each in judged(paper.claims, one)]
    charts = _draw(paper, results, folder) if figures.can_draw() else None
    links = None
    if charts is not None:
        links = {key: file.relative_to(folder).as_posix() for key, file in charts.items()}
    place = folder / f"{paper.key}.md"
    _write(place, page(paper, results, verdicts, links).encode(), _is_page)
    points = sum(len(each.measured) for each in results)
    return Reproduction(
        paper,
        tuple(results),
        tuple(verdicts),
        computed,
        points - computed,
        place,
        tuple((charts or {}).values()),
    )


def _measured(
    paper: Paper, data: Sequence[Data], store: Store, quick: bool, progress: Progress | None
) -> tuple[list[Results], int]:
    """Return the numbers of all points, and how many of them had to be computed."""
    grids = [(each, paper.grid(each.about.key, quick)) for each in data]
    total = sum(len(grid) for _, grid in grids)
    done = computed = 0
    results = []
    for each, grid in grids:
        store.tell(each.about)
        measure: Measure | None = None
        measured = []
        for point in grid:
            key = key_of(paper.key, paper.version, each.about, point)
            if key not in store:
                if progress is not None:
                    progress.stage(f"{paper.key}: {done} of {total} points done, now {point}")
                measure = measure or paper.bench(each)
                store.add(key, each.about, point, measure(point))
                computed += 1
            done += 1
            measured.append((point, store[key]))
        results.append(Results(each.about, measured, quick))
    return results, computed


def kept(paper: Paper, path: Path, *, quick: bool = False) -> list[Results]:
    """Return the results that a folder's file has for the paper, without its data at hand.

    Refuses (InputError) a file that lacks points of the grid.
    """
    from sfumato.papers.store import only_read

    with only_read(path) as store:
        results = []
        for about in store.data:
            measured = []
            for point in paper.grid(about.key, quick):
                key = key_of(paper.key, paper.version, about, point)
                if key not in store:
                    raise InputError(f"{path}: has no numbers of {point}")
                measured.append((point, store[key]))
            results.append(Results(about, measured, quick))
        return results


def _draw(paper: Paper, results: Sequence[Results], folder: Path) -> dict[tuple[str, str], Path]:
    place = folder / "figures" / paper.key
    found = {}
    for figure in paper.figures:
        for each in results:
            content = figures.drawn(figure, each)
            if content is not None:
                place.mkdir(parents=True, exist_ok=True)
                file = place / f"{figure.key}-{each.about.key}.svg"
                _write(file, content, _is_chart)
                found[figure.key, each.about.key] = file
    return found


def _write(path: Path, content: bytes, is_ours: Callable[[Path], bool]) -> None:
    with new_file(path, force=True, is_ours=is_ours, private=False) as file:
        file.write(content)


def _is_page(path: Path) -> bool:
    return path.read_bytes().startswith(MADE.encode())


def _is_chart(path: Path) -> bool:
    return path.read_bytes().startswith(b"<svg")
