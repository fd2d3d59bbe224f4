"""The three questions of European data protection, each with the outcomes that answer it.

They are those of the Article 29 Working Party's opinion on anonymisation techniques (WP 216): can
a person be singled out, can records about a person be linked, can something be inferred about a
person? No attack that fails shows that none can succeed: so nothing here says that data are
anonymous.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sfumato.attacks.outcome import Outcome, Verdict

SINGLING_OUT: Final = "singling out"
LINKABILITY: Final = "linkability"
INFERENCE: Final = "inference"

_ASKS: Final = {
    SINGLING_OUT: "whether a record, or somebody's presence, can be picked out",
    LINKABILITY: "whether records of the release can be linked to people or to other releases",
    INFERENCE: "whether somebody's secret can be told better than without the release",
}
# Which attacks (by their names in the registry) are evidence of what.
EVIDENCE: Final[Mapping[str, tuple[str, ...]]] = {
    "record-linkage": (SINGLING_OUT, LINKABILITY),
    "attribute-linkage": (INFERENCE,),
    "membership": (SINGLING_OUT,),
    "probabilistic": (INFERENCE,),
    "negation": (INFERENCE,),
    "corruption": (INFERENCE,),
    "fakes": (SINGLING_OUT,),
    "definetti": (INFERENCE,),
    "joint-bayes": (INFERENCE,),
    "leaks": (SINGLING_OUT, LINKABILITY),
    "minimality": (INFERENCE,),
    "downcoding": (SINGLING_OUT, INFERENCE),
    "republication": (LINKABILITY, INFERENCE),
}


@dataclass(frozen=True, slots=True)
class Criterion:
    """One of the three questions, with its evidence; `verdict` is that of the worst outcome."""

    name: str
    outcomes: tuple[Outcome, ...]

    @property
    def verdict(self) -> Verdict | None:
        """The worst verdict of the evidence, None without any."""
        verdicts = {outcome.verdict for outcome in self.outcomes}
        order: tuple[Verdict, ...] = ("risk", "inconclusive", "at chance")
        return next((verdict for verdict in order if verdict in verdicts), None)

    def sentence(self) -> str:
        """Return the answer in plain words."""
        asked = f"{self.name} ({_ASKS[self.name]})"
        if not self.outcomes:
            return f"{asked}: no attack that was run tells"
        risks = [outcome for outcome in self.outcomes if outcome.verdict == "risk"]
        if risks:
            share = f"{len(risks)} of {len(self.outcomes)} attacks found a risk"
            return f"{asked}: {share}, {_named(risks)}"
        doubts = [outcome for outcome in self.outcomes if outcome.verdict == "inconclusive"]
        doubt = f", {len(doubts)} of them looked at too few people to tell" if doubts else ""
        return (
            f"{asked}: none of {len(self.outcomes)} attacks did better than chance{doubt}; others "
            "may exist"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values that JSON can hold."""
        return {
            "criterion": self.name,
            "verdict": self.verdict,
            "evidence": [[each.attack, each.attribute, each.verdict] for each in self.outcomes],
            "sentence": self.sentence(),
        }


def criteria(outcomes: Iterable[tuple[str, Outcome]]) -> tuple[Criterion, ...]:
    """Return the three questions with their evidence; outcomes come with their attacks' names."""
    pairs = list(outcomes)
    return tuple(
        Criterion(name, tuple(o for attack, o in pairs if name in EVIDENCE.get(attack, ())))
        for name in _ASKS
    )


def _named(risks: Iterable[Outcome]) -> str:
    names = (
        each.attack if each.attribute is None else f"{each.attack} of '{each.attribute}'"
        for each in risks
    )
    return "; ".join(dict.fromkeys(names))
