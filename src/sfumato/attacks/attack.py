"""The way in: all attacks on one release, run on people of the data and on others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike
from typing import Any, Final

import numpy as np
import pyarrow as pa

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.background import corruption, negation
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
from sfumato.attacks.outcome import Outcome
from sfumato.attacks.probabilistic import probabilistic
from sfumato.attacks.republication import republication
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.errors import ParameterError
from sfumato.randomness import Randomness, split
from sfumato.release import Release
from sfumato.schema.frames import as_arrow

SAMPLE: Final = 2_000
# The chance that any attack of a run is called a risk although it does no better than chance.
ERROR: Final = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What an attack is run with: the adversary that all share, the original, the folder of the
    release if it is in one, randomness of the attack's own, and an earlier release of the table
    with its original if there is one."""

    eyes: Eyes
    original: pa.Table
    path: str | PathLike[str] | None
    rng: np.random.Generator
    earlier: tuple[Release, pa.Table] | None = None


def _again(scene: Scene) -> list[Outcome]:
    """Return what an earlier release of the table adds: nothing where there is none."""
    if scene.earlier is None:
        return []
    earlier, table = scene.earlier
    releases, tables = (earlier, scene.eyes.release), (table, scene.original)
    return republication(*releases, *tables, sample=len(scene.eyes.targets), rng=scene.rng)


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
    "joint-bayes": lambda scene: (
        joint_bayes(scene.eyes, rng=scene.rng) if isinstance(scene.eyes, SetAdversary) else []
    ),
    "minimality": lambda scene: _in_groups(scene, lambda eyes: minimality(eyes, rng=scene.rng)),
    "downcoding": lambda scene: _in_groups(
        scene,
        lambda eyes: downcoding(eyes, scene.original, sample=len(eyes.targets), rng=scene.rng),
    ),
    "leaks": lambda scene: leaks(
        scene.eyes.release,
        scene.original,
        path=scene.path,
        adversary=scene.eyes,
        rng=scene.rng,
    ),
    "republication": _again,
}


def _in_groups(scene: Scene, run: Callable[[Adversary], list[Outcome]]) -> list[Outcome]:
    """Return what an attack on groups finds: nothing where there are none."""
    return run(scene.eyes) if isinstance(scene.eyes, Adversary) else []


@dataclass(frozen=True, slots=True)
class AttackReport:
    """What came of all attacks on a release.

    `outcomes` come with the names of their attacks in the registry. `controls_are` says who the
    people outside the data are. Verdicts are such that no attack at all is called a risk by
    mistake with a probability of at least 1 - `error`.
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

    def sentence(self) -> str:
        """Return all of it in one sentence."""
        return (
            f"{len(self.risks)} of {len(self.outcomes)} simulated attacks do better than chance on "
            f"{self.sample} of {self.population} people, compared with {self.controls} others "
            f"({self.controls_are})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values that JSON can hold."""
        return {
            "method": self.method,
            "layout": self.layout,
            "rows": self.rows,
            "population": self.population,
            "sample": self.sample,
            "controls": self.controls,
            "controls_are": self.controls_are,
            "family_wise_error": self.error,
            "attacks": list(self.attacks),
            "risks": len(self.risks),
            "outcomes": [{"name": name, **outcome.to_dict()} for name, outcome in self.named],
            "gdpr": [each.to_dict() for each in self.gdpr],
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
    before it grew, with what the table was then.

    A verdict of risk takes intervals of the confidence 1 - 0.05/m, for m outcomes: so that a
    release that tells nothing is called a risk in any of them at most once in twenty runs.

    Refuses (ParameterError) unknown attacks, a sample below 1, tables that do not fit the release,
    and releases without records or without anything that an adversary could know.
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
    table = as_arrow(original)
    others = None if controls is None else as_arrow(controls)
    before = None if earlier is None else (earlier[0], as_arrow(earlier[1]))
    # every attack draws on its own, so that it finds the same whichever others are run
    mine, *theirs = split(rng, 1 + len(ATTACKS))
    eyes = adversary_of(release, table, others, sample=sample, rng=mine)
    own = dict(zip(ATTACKS, theirs, strict=True))
    found = [
        (name, outcome)
        for name in chosen
        for outcome in ATTACKS[name](Scene(eyes, table, path, own[name], before))
    ]
    confidence = 1 - ERROR / max(len(found), 1)
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
    )


def adversary_of(
    release: Release, original: Any, controls: Any = None, *, sample: int, rng: np.random.Generator
) -> Eyes:
    """Return the adversary of a release of any layout."""
    kind = SetAdversary if release.manifest.layout == "sets" else Adversary
    return kind.of(release, original, controls, sample=sample, rng=rng)
