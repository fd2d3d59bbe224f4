"""What the judges said of a run, in the few words and numbers that several pages show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sfumato.markup import Html
from sfumato.reports.page import badge
from sfumato.web.runs import Run
from sfumato.web.status import State
from sfumato.web.work.names import JUDGED, SECTIONS


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a run: its text, and what it is; of those that compare, less is better."""

    name: str
    meaning: str
    value: float | None
    is_share: bool = True
    compares: bool = True

    @property
    def text(self) -> str | None:
        """The number as it is printed."""
        if self.value is None:
            return None
        if not self.is_share:
            return f"{self.value:,.0f}"
        return share_words(self.value)


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that is known of a finished run, as the work of publishing wrote it."""

    run: Run
    content: Mapping[str, Any]

    @classmethod
    def of(cls, run: Run) -> Judgement | None:
        """Return the judgement of a run; None before it has finished."""
        if run.status.state is not State.FINISHED:
            return None
        content = run.result(JUDGED)
        return None if content is None else cls(run, content)

    @property
    def verdict(self) -> tuple[str, str, str]:
        """The audit's verdict: a word, its colour, and what it means."""
        audit = self.content["audit"]
        if audit["ok"]:
            return _PASSED
        claims = audit["guarantees"]
        if claims and all(each["holds"] is None for each in claims):
            return _UNCONFIRMED
        return _BROKEN

    @property
    def badge(self) -> Html:
        """The verdict as a word with a colour."""
        word, kind, _ = self.verdict
        return badge(word, kind)

    @property
    def error(self) -> float | None:
        """The mean error of COUNT queries, relative to the truth."""
        return _float((self._findings("utility") or {}).get("count_mean"))

    @property
    def reidentified(self) -> float | None:
        """The mean chance that a person is found by all quasi-identifiers."""
        return _float((self._findings("linkage") or {}).get("mean"))

    @property
    def inferred(self) -> float | None:
        """How often the strongest attack guesses a secret rightly, of the secret it gains most."""
        best = self._strongest()
        return None if best is None else _float(best["success"])

    @property
    def numbers(self) -> list[Number]:
        """The numbers by which runs are compared."""
        found, worth = self._findings, self._findings("utility") or {}
        link, best = found("linkage") or {}, self._strongest() or {}
        member, content = found("membership") or {}, self.content
        plain = [
            Number("Records", "records that were published", content["rows"], False, False),
            Number("Groups", "groups of records", content["groups"], False, False),
            Number("Rows suppressed", "rows that were withheld", content["suppressed"], False),
            Number("Cells withheld", "cells of any value", content["withheld_cells"], False),
        ]  # fmt: skip
        return [
            *plain,
            Number("Re-identification, mean", _LINKAGE, _float(link.get("mean"))),
            Number("Re-identification, highest", _HIGHEST, _float(link.get("highest"))),
            Number("Inference", _INFERENCE, _float(best.get("success"))),
            Number("Blind guess", _BLIND, _float(best.get("blind")), compares=False),
            Number("Membership", _MEMBER, _float(member.get("success"))),
            Number("Loss of cells (NCP)", _LOSS, _float(content["ncp"])),
            Number("Query error, mean", _ERROR, _float(worth.get("count_mean"))),
            Number("Query error, median", _ERROR, _float(worth.get("count_median"))),
            Number("Distance of distributions", _MARGIN, _float(worth.get("margin"))),
            Number("Change of associations", _PAIRS, _float(worth.get("association"))),
        ]

    def sections(self) -> dict[str, tuple[str, list[Html]]]:
        """Return the parts of the report, by their ids: title and content.

        They are HTML already: the run made them by `reports/`, which escapes all data.
        """
        stored = (self.run.result(SECTIONS) or {}).get("sections", [])
        return {
            each["id"]: (str(each["title"]), [Html(piece) for piece in each["content"]])
            for each in stored
        }

    def _findings(self, name: str) -> Any:
        return (self.content.get("findings") or {}).get(name)

    def _strongest(self) -> Mapping[str, Any] | None:
        secrets = self._findings("inference") or []
        return max(secrets, key=lambda each: each["success"] - each["blind"], default=None)


def share_words(share: float) -> str:
    """Return a share as percents.

    >>> share_words(0.0001), share_words(0.25)
    ('<0.1%', '25.0%')
    """
    return "<0.1%" if 0 < share < 0.0005 else f"{share:.1%}"


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


_PASSED: Final = ("audit passed", "good", "Every claim that files can show holds.")
_UNCONFIRMED: Final = (
    "not confirmed",
    "warning",
    "Nothing was confirmed and nothing contradicted: files cannot show these guarantees.",
)
_BROKEN: Final = ("audit not passed", "bad", "Do not rely on this release; see the reasons below.")
_LINKAGE: Final = (
    "the chance that somebody who knows all quasi-identifiers of a person, and that the person is "
    "in the data, picks the right record"
)
_HIGHEST: Final = "the same, of the person who is easiest to find among those looked at"
_INFERENCE: Final = "how often the strongest attack guesses a sensitive value rightly"
_BLIND: Final = "how often the commonest value of all would be right"
_MEMBER: Final = "how often people in the data are told from others; a coin is right for 50%"
_LOSS: Final = "the mean loss of quasi-identifier cells: 0% exact, 100% withheld"
_ERROR: Final = (
    "the error of answers to random COUNT queries on several columns, relative to the truth"
)
_MARGIN: Final = "the mean Hellinger distance of single columns from the original's"
_PAIRS: Final = "the mean change of how much two columns go together"
