"""The way in: all attacks on one release, run on people of the data and on others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from difflib import get_close_matches
from os import PathLike
from typing import Any, Final

import numpy as np
import pyarrow as pa

from sfumato.attacks.absence import absence
from sfumato.attacks.adversary import Adversary
from sfumato.attacks.background import corruption, negation
from sfumato.attacks.controls import MADE
from sfumato.attacks.definetti import definetti
from sfumato.attacks.downcoding import downcoding
from sfumato.attacks.gdpr import Criterion, criteria
from sfumato.attacks.glimpse import Eyes
from sfumato.attacks.joint_bayes import joint_bayes
from sfumato.attacks.leaks import leaks
from sfumato.attacks.linkage_attributes import attribute_linkage
from sfumato.attacks.linkage_records import record_linkage
from sfumato.attacks.membership import membership
from sfumato.attacks.minimality import minimality
from sfumato.attacks.nobody import fits_nobody
from sfumato.attacks.outcome import OUTSIDE, Outcome, Rate, Verdict, percent
from sfumato.attacks.probabilistic import probabilistic
from sfumato.attacks.republication import republication
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.attacks.transition_adversary import TransitionAdversary
from sfumato.attacks.transition_bayes import transition_bayes
from sfumato.attacks.whose_rows import ABOUT_ROWS, Counted, counted, said_of_rows
from sfumato.errors import ParameterError
from sfumato.markup import table
from sfumato.randomness import Randomness, split
from sfumato.release import Release
from sfumato.release.beside import about_left_out, beside, controls_beside, recoded_otherwise
from sfumato.release.microaggregated import microaggregated
from sfumato.release.transitions import is_randomised
from sfumato.schema.frames import as_arrow

SAMPLE: Final = 2_000
# The chance that any attack of a run is called a risk although it does no better than chance.
ERROR: Final = 0.05
_MEANS: Final = "Means of groups exclude nothing, and are not compared between releases here."
_MADE_UP: Final = "the same attack on made-up people outside the data"


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What an attack is run with: the adversary that all share, the original, the folder of the
    release if it is in one, randomness of the attack's own, an earlier release of the table with
    its original if there is one, and the release as it was published, if that has more than can be
    compared with the original."""

    eyes: Eyes
    original: pa.Table
    path: str | PathLike[str] | None
    rng: np.random.Generator
    earlier: tuple[Release, pa.Table] | None = None
    published: Release | None = None


def _again(scene: Scene) -> list[Outcome]:
    """Return what an earlier release of the table adds: nothing where there is none."""
    if scene.earlier is None:
        return []
    earlier, table = scene.earlier
    if any(microaggregated(each.manifest) for each in (earlier, scene.eyes.release)):
        return [_not_judged("republication", _MEANS, scene.eyes.population)]
    if any(is_randomised(each.manifest) for each in (earlier, scene.eyes.release)):
        return []  # whose cells exclude nothing, so that there is nothing to intersect
    releases, tables = (earlier, scene.eyes.release), (table, scene.original)
    return republication(*releases, *tables, sample=len(scene.eyes.targets), rng=scene.rng)


def _not_judged(attack: str, why: str, population: int) -> Outcome:
    """Return that nobody looked: an attack may succeed for all that is known."""
    none = Rate(0, 0)
    knows = "what this version does not try"
    return Outcome(attack, None, knows, why, none, none, None, None, 0, population)


def _joint_bayes(scene: Scene) -> list[Outcome]:
    """Return what sets, or replaced cells, tell of a secret: nothing of other releases."""
    if isinstance(scene.eyes, TransitionAdversary):
        return transition_bayes(scene.eyes)
    if isinstance(scene.eyes, SetAdversary):
        return joint_bayes(scene.eyes, rng=scene.rng)
    return []


# Attacks by name; one that has no meaning for a release returns nothing.
ATTACKS: Final[dict[str, Callable[[Scene], list[Outcome]]]] = {
    "record-linkage": lambda scene: record_linkage(scene.eyes),
    "attribute-linkage": lambda scene: attribute_linkage(scene.eyes),
    "membership": lambda scene: membership(scene.eyes, scene.rng),
    "probabilistic": lambda scene: probabilistic(scene.eyes),
    "negation": lambda scene: negation(scene.eyes),
    "corruption": lambda scene: corruption(scene.eyes),
    "fakes": lambda scene: fits_nobody(scene.eyes),
    "definetti": lambda scene: _in_groups(scene, lambda eyes: definetti(eyes, rng=scene.rng)),
    "joint-bayes": _joint_bayes,
    "minimality": lambda scene: _in_groups(scene, lambda eyes: minimality(eyes, rng=scene.rng)),
    "downcoding": lambda scene: _in_groups(
        scene,
        lambda eyes: downcoding(eyes, scene.original, sample=len(eyes.targets), rng=scene.rng),
    ),
    "leaks": lambda scene: leaks(
        scene.eyes.release,
        scene.original,
        path=scene.path,
        published=scene.published,
        adversary=scene.eyes,
        rng=scene.rng,
    ),
    "republication": _again,
    "absence": lambda scene: absence(scene.eyes, scene.rng),
}

# Attacks side by side: two or three take most of the time, and each holds memory of its own.
AT_A_TIME = min(os.cpu_count() or 1, 4)

# Layouts that an attack is for, where it is not for all.
LAYOUTS: Final[dict[str, tuple[str, ...]]] = {
    "fakes": ("generalized", "anatomized", "sliced", "local"),
    "definetti": ("anatomized", "sliced", "local"),
    "joint-bayes": ("sets",),
    "minimality": ("generalized",),
    "downcoding": ("generalized",),
}


def _in_groups(scene: Scene, run: Callable[[Adversary], list[Outcome]]) -> list[Outcome]:
    """Return what an attack on groups finds: nothing where there are none."""
    return run(scene.eyes) if isinstance(scene.eyes, Adversary) else []


_COUNTED: Final[dict[Verdict, str]] = {
    "risk": "a risk",
    "as for strangers": "no better than about people outside the data",
    "at chance": "no better than chance",
    "inconclusive": "inconclusive",
    "not judged": "not judged",
}


@dataclass(frozen=True, slots=True)
class AttackReport:
    """What came of all attacks on a release.

    `outcomes` come with the names of their attacks in the registry. `controls_are` says who the
    people outside the data are, `notes` how the original was made comparable, and `counted` whether
    the population and sample are people, or rows of people who have several. Where no attack does
    better than its rivals, the verdicts call any of them a risk with a probability of at most
    `error`, but for what is certain.
    """

    method: str
    layout: str
    rows: int
    population: int
    sample: int
    controls: int
    controls_are: str
    error: float
    attacks: tuple[str, ...]
    named: tuple[tuple[str, Outcome], ...]
    notes: tuple[str, ...] = ()
    counted: Counted = "people"

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What came of each attack, in the order of the attacks."""
        return tuple(outcome for _, outcome in self.named)

    @property
    def risks(self) -> tuple[Outcome, ...]:
        """The outcomes that are risks."""
        return tuple(outcome for outcome in self.outcomes if outcome.verdict == "risk")

    @property
    def gdpr(self) -> tuple[Criterion, ...]:
        """Singling out, linkability and inference, each with its evidence."""
        return criteria(self.named)

    def of(self, attack: str, attribute: str | None = None) -> Outcome:
        """Return the outcome whose attack begins like this (and is on the attribute); KeyError."""
        for outcome in self.outcomes:
            if outcome.attack.startswith(attack) and attribute in (None, outcome.attribute):
                return outcome
        raise KeyError(attack)

    @property
    def without_outcome(self) -> tuple[str, ...]:
        """The attacks that have no meaning for the release, or for what was given with it."""
        run = {name for name, _ in self.named}
        return tuple(name for name in self.attacks if name not in run)

    def sentence(self) -> str:
        """Return all of it in one sentence."""
        counts = [(words, self._count(verdict)) for verdict, words in _COUNTED.items()]
        said = ", ".join(f"{count} {words}" for words, count in counts if count)
        found = f"{len(self.outcomes)} outcomes of simulated attacks: {said}"
        if not any(each.unit.startswith(self.counted) for each in self.outcomes):
            return found
        others = "and at nobody else"
        if self.controls:
            others = f"and at up to {self.controls} other{'s' * (self.controls != 1)}"
            others += f" ({self.controls_are})"
        a_row = "every row counts as one" if self.counted == "people" else "people have several"
        return (
            f"{found}; attacks on people looked at up to {self.sample} of {self.population} "
            f"{self.counted} ({a_row}) {others}"
        )

    def _count(self, verdict: Verdict) -> int:
        return sum(outcome.verdict == verdict for outcome in self.outcomes)

    def _repr_html_(self) -> str:
        """Return the outcomes as a table, for notebooks."""
        rows = [
            [
                each.attack,
                each.attribute or each.where or None,
                each.verdict,
                percent(each.success.share) if each.success.tried else None,
                percent(each.blind.share) if each.blind.tried else None,
                None if each.control is None else percent(each.control.share),
                None if each.worst is None else percent(each.worst),
            ]
            for each in self.outcomes
        ]
        headers = ["attack", "on", "verdict", "success", "blind guess", "control", "worst tenth"]
        return table(headers, rows, self.sentence())

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values that JSON can hold."""
        return {
            "method": self.method,
            "layout": self.layout,
            "rows": self.rows,
            "population": self.population,
            "counted": self.counted,
            "sample": self.sample,
            "controls": self.controls,
            "controls_are": self.controls_are,
            "family_wise_error": self.error,
            "attacks": list(self.attacks),
            "without_outcome": list(self.without_outcome),
            "risks": len(self.risks),
            "outcomes": [{"name": name, **outcome.to_dict()} for name, outcome in self.named],
            "gdpr": [each.to_dict() for each in self.gdpr],
            "notes": list(self.notes),
            "sentence": self.sentence(),
        }


def attack(
    release: Release,
    original: Any,
    *,
    controls: Any = None,
    attacks: Iterable[str] | None = None,
    sample: int = SAMPLE,
    path: str | PathLike[str] | None = None,
    earlier: tuple[Release, Any] | None = None,
    rng: np.random.Generator | None = None,
) -> AttackReport:
    """Return what came of all attacks on a release, or of some (names in `ATTACKS`).

    `original` is the table that the release was made from, `controls` one of people who are not in
    it, with the same columns (those that people keep secret may be lacking); without it such
    people are made up. At most `sample` people of each are looked at, drawn by `rng`. `path` is the
    folder of the release, for attacks on the files themselves. `earlier` is a release of the table
    before it grew, with what the table was then. All tables are as they were before a policy
    recoded them: they are recoded here as the manifest says. Attributes whose dates were shifted
    are left out.

    A verdict of risk takes intervals of the confidence 1 - 0.05/m, for m outcomes: so that where
    no attack does better than its rivals, any is called a risk at most once in twenty runs.

    Refuses (ParameterError) unknown attacks, attacks none of which has a meaning for the release, a
    sample below 1, tables that do not fit the release, and releases without records or without
    anything that an adversary could know.
    """
    chosen = list(ATTACKS) if attacks is None else list(dict.fromkeys(attacks))
    for name in chosen:
        if name not in ATTACKS:
            near = get_close_matches(name, ATTACKS, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(ATTACKS)}"
            raise ParameterError(f"there is no attack '{name}': {hint}")
    if sample < 1:
        raise ParameterError("`sample` must be 1 or more")
    rng = rng or Randomness.fresh().generator("attacks")
    before, notes = _earlier(release, earlier)
    pair = beside(release, as_arrow(original))
    others = None if controls is None else controls_beside(release, as_arrow(controls))
    published, release, table = release, pair.release, pair.original
    # every attack draws on its own, so that it finds the same whichever others are run
    mine, *theirs = split(rng, 1 + len(ATTACKS))
    eyes = adversary_of(release, table, others, sample=sample, rng=mine)
    own = dict(zip(ATTACKS, theirs, strict=True))

    def run(name: str) -> list[tuple[str, Outcome]]:
        scene = Scene(eyes, table, path, own[name], before, published)
        return [(name, outcome) for outcome in ATTACKS[name](scene)]

    threads = ThreadPoolExecutor(AT_A_TIME)
    try:
        found = [each for several in threads.map(run, chosen) for each in several]
    finally:  # who interrupts, or is refused by one attack, need not wait for the others
        threads.shutdown(wait=False, cancel_futures=True)
    if not found:
        raise ParameterError(_no_meaning(chosen, release, before is not None))
    if eyes.controls_are == MADE:
        found = [(name, _made_up(outcome)) for name, outcome in found]
    of = counted(release.manifest)
    if of == "rows":
        found = [(name, said_of_rows(outcome)) for name, outcome in found]
        notes = (*notes, ABOUT_ROWS)
    confidence = 1 - ERROR / len(found)
    return AttackReport(
        method=release.manifest.method,
        layout=release.manifest.layout,
        rows=release.manifest.rows,
        population=eyes.population,
        sample=len(eyes.targets),
        controls=len(eyes.controls),
        controls_are=eyes.controls_are,
        error=ERROR,
        attacks=tuple(chosen),
        named=tuple((name, outcome.judged(confidence)) for name, outcome in found),
        notes=(*pair.notes, *notes),
        counted=of,
    )


def _earlier(
    release: Release, earlier: tuple[Release, Any] | None
) -> tuple[tuple[Release, pa.Table] | None, tuple[str, ...]]:
    """Return an earlier release with its original, as far as both releases recode alike."""
    if earlier is None:
        return None, ()
    left_out = recoded_otherwise([release, earlier[0]])
    pair = beside(earlier[0], as_arrow(earlier[1]), left_out)
    return (pair.release, pair.original), about_left_out(left_out)


def _made_up(outcome: Outcome) -> Outcome:
    """Return the outcome, saying that the people of its control are made up."""
    return replace(outcome, control_is=_MADE_UP) if outcome.control_is == OUTSIDE else outcome


def _no_meaning(chosen: Iterable[str], release: Release, is_second: bool) -> str:
    """Return that nothing came of some attacks, and which others there are."""
    if list(chosen) == ["republication"] and not is_second:
        return "'republication' needs an earlier release of the table, and what the table was then"
    if list(chosen) == ["absence"] and not release.manifest.suppressed:
        return (
            "'absence' needs a release from which rows were withheld, and none were from this one"
        )
    layout = release.manifest.layout
    names = [name for name in ATTACKS if layout in LAYOUTS.get(name, (layout,))]
    if not is_second:
        names.remove("republication")
    if "fakes" in names and not release.manifest.parameters.get("fakes"):
        names.remove("fakes")
    if not release.manifest.suppressed:
        names.remove("absence")
    others = [name for name in names if name not in chosen]
    asked = ", ".join(f"'{name}'" for name in chosen)
    hint = f"; attacks that have one are {', '.join(others)}" if others else ""
    return f"{asked} has no meaning for this release, whose layout is '{layout}'{hint}"


def adversary_of(
    release: Release, original: Any, controls: Any = None, *, sample: int, rng: np.random.Generator
) -> Eyes:
    """Return the adversary of a release of any layout."""
    kind = SetAdversary if release.manifest.layout == "sets" else Adversary
    if is_randomised(release.manifest):
        return TransitionAdversary.of(release, original, controls, sample=sample, rng=rng)
    return kind.of(release, original, controls, sample=sample, rng=rng)
