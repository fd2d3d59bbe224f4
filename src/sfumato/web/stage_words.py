"""What the stages of a run are called on pages: what happens, in words of the reader."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sfumato.web.status import Status

WORDS: Final[Mapping[str, str]] = {
    "starting": "Starting",
    "reading the data": "Reading the data",
    "looking at the columns": "Looking at the columns",
    "drafting a policy": "Drafting a first policy",
    "taking a sample": "Taking a sample of the rows",
    "publishing the sample": "Protecting the sample",
    "showing the sample": "Showing what became of it",
    "publish: reading the policy": "Reading the policy",
    "publish: reading the data": "Reading the data",
    "publish: encoding": "Preparing the columns",
    "publish: choosing rows to withhold": "Choosing rows that are left out",
    "publish: auditing": "Checking that every promise holds",
    "publish: measuring": "Measuring what was lost",
    "publish: writing": "Writing the release",
    "judge: reading the release": "Reading the release, as anybody could",
    "judge: auditing": "Checking the promises again, on the files alone",
    "judge: reading the data": "Reading the data to compare with",
    "judge: measuring utility": "Measuring how useful the release is",
    "judge: attacking": "Attacking the release, as an adversary would",
    "judge: drawing": "Drawing the report",
    "packing": "Packing the download",
    "report: reading the release": "Reading the release, as anybody could",
    "report: auditing": "Checking the promises, on the files alone",
    "report: estimating": "Estimating what the release tells",
    "report: drawing": "Drawing the report",
    "recommend: reading the data": "Reading the data",
    "recommend: encoding": "Preparing the columns",
    "recommend: drawing queries": "Choosing questions to judge by",
    "recommend: measuring the choice": "Measuring the best choice",
    "recommend: looking for what would help": "Nothing fits yet; looking for what would help",
}
_PREPARING: Final = "Preparing (compiling, only the first time)."
_OTHERS: Final = (
    (re.compile(r"publish: partitioning by (\S+)"), "Protecting the rows ({0})"),
    (re.compile(r"recommend: trying (.+)"), "Trying {0}"),
    (re.compile(r"recommend: attacking (\S+)"), "Attacking the best so far ({0})"),
)


def stage_words(status: Status) -> str:
    """Return what a run does now, with its place among all stages where that is known.

    >>> stage_words(Status(stage="judge: attacking", expected={"a": 1, "judge: attacking": 2}))
    'Step 2 of 2: Attacking the release, as an adversary would'
    >>> stage_words(Status(stage="recommend: trying lgb (2 of 9, 100 rows)"))
    'Trying lgb (2 of 9, 100 rows)'
    >>> stage_words(Status(stage="judge: attacking", preparing=1.0))
    'Preparing (compiling, only the first time). Attacking the release, as an adversary would'
    """
    words = _words(status.stage)
    if words and status.stage in status.expected:
        place = list(status.expected).index(status.stage) + 1
        words = f"Step {place} of {len(status.expected)}: {words}"
    return f"{_PREPARING} {words}".strip() if status.preparing else words


def _words(stage: str) -> str:
    if stage in WORDS:
        return WORDS[stage]
    for pattern, words in _OTHERS:
        found = pattern.fullmatch(stage)
        if found:
            return words.format(*found.groups())
    plain = stage.rpartition(": ")[2]
    return plain[:1].upper() + plain[1:]
