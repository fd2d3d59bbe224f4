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

from sfumato.attacks.outcome import FEWEST, Outcome, Verdict, percent

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
    "downcoding": (SINGLING_OUT, LINKABILITY),
    "republication": (LINKABILITY, INFERENCE),
    "absence": (INFERENCE,),
}

# The worst first.
_ORDER: Final[tuple[Verdict, ...]] = (
    "risk",
    "inconclusive",
    "as for strangers",
    "at chance",
    "not judged",
)
_SAID: Final[Mapping[Verdict, str]] = {
    "at chance": "no better than chance",
    "as for strangers": "no better than about people outside the data",
    "inconclusive": "that cannot be told",
    "not judged": "not judged",
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
        return next((verdict for verdict in _ORDER if verdict in verdicts), None)

    def sentence(self) -> str:
        """Return the answer in plain words."""
        asked = f"{self.name} ({_ASKS[self.name]})"
        if not self.outcomes:
            return f"{asked}: no attack that was run tells"
        total = len(self.outcomes)
        risks = [outcome for outcome in self.outcomes if outcome.verdict == "risk"]
        if risks:
            are = "is a risk" if len(risks) == 1 else "are risks"
            share = f"{len(risks)} of {total} outcomes {are}"
            return f"{asked}: {share}: {_named(risks)}{_furthest(risks)}"
        counts = [(said, self._count(verdict)) for verdict, said in _SAID.items()]
        rest = ", ".join(f"{count} {said}" for said, count in counts if count)
        return (
            f"{asked}: none of {total} outcomes is shown to be a risk ({rest})"
            f"{_furthest(self.outcomes)}; other attacks may exist"
        )

    def _count(self, verdict: Verdict) -> int:
        return sum(outcome.verdict == verdict for outcome in self.outcomes)

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


def _furthest(outcomes: Iterable[Outcome]) -> str:
    """Return the success that lies furthest above its blind guess, with what it is compared with;
    nothing where nothing was tried, or by too few to tell."""
    tried = [each for each in outcomes if each.success.tried >= FEWEST]
    if not tried:
        return ""
    found = max(tried, key=lambda each: each.success.share - each.blind.share)
    return (
        f"; furthest above chance: {found.title}, right for {percent(found.success.share)} of "
        f"{found.success.tried} {found.unit} (for comparison: {found.against})"
    )
