"""Answers to queries from a release in a folder, which is read once for all of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sfumato.answers import Answerer, Result
from sfumato.errors import InputError, ParameterError
from sfumato.jobs.progress import Progress, Stages
from sfumato.predicates.places import of_query
from sfumato.release import Release

MAX_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Answered:
    """A query as it was asked, without blanks around it, and its answer."""

    query: str
    result: Result

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"query": self.query, **self.result.to_dict()}


def query(
    release: str | os.PathLike[str],
    text: str | None = None,
    *,
    file: str | os.PathLike[str] | None = None,
    weighted: bool = True,
    progress: Progress | None = None,
) -> list[Answered]:
    """Return the answer to one query, or to every line of a file.

    Empty lines of the file are passed over, and those that begin with `--`. All of them are read
    before the first is answered. Where records have weights, answers are weighted unless
    `weighted` is false.

    Refuses (SfumatoError) what cannot be read, and what `sfumato.answers.Answerer.query` refuses:
    in a file, with the number of the line.
    """
    if (text is None) == (file is None):
        raise ParameterError('give either one query, as in "SELECT COUNT(*)", or a file of queries')
    stages = Stages(progress)
    with stages.stage("reading the release"):
        texts = {"": text} if text is not None else read_lines(Path(file or ""))
        answerer = Answerer(Release.load(release))
    with stages.stage("answering"):
        asked = {place: _at(place, answerer.read, each) for place, each in texts.items()}
        ask = partial(answerer.query, weighted=weighted)
        return [
            Answered(each.strip(), _at(place, ask, asked[place])) for place, each in texts.items()
        ]


def _at(place: str, ask: Any, *arguments: Any) -> Any:
    """Return what a function returns, and say where the query stands if it is refused."""
    try:
        with of_query():
            return ask(*arguments)
    except ParameterError as error:
        raise ParameterError(f"{place}{error}") from None


def read_lines(path: Path) -> dict[str, str]:
    """Return the queries of a file by their places."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if len(raw) > MAX_BYTES:
        raise InputError(f"{path}: larger than {MAX_BYTES >> 20} MiB; is this the right file?")
    try:
        # at the ends of lines alone: a literal may hold other signs that some take for one
        lines = raw.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {line} is not UTF-8 text; save it as UTF-8") from None
    texts = {
        f"{path}, line {number}: ": line.rstrip()  # places count the blanks before it
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.lstrip().startswith("--")
    }
    if not texts:
        raise InputError(f"{path}: no line holds a query")
    return texts
