"""The deFinetti attack: a classifier learned from the release sharpens the guess in each bucket.

A bucket of l values promises that nobody's value is guessed better than by one over l. That holds
for who looks at one bucket alone. All buckets together tell which values go with which cells.

*Source*: Kifer, "Attacks on Privacy and deFinetti's Theorem" (2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.bucket_classifier import ITERATIONS, MOST_ROWS, Classifier, learn
from sfumato.attacks.buckets_shown import LAYOUTS, Lessons
from sfumato.attacks.controls import GIVEN
from sfumato.attacks.guesses import guessed_prior, guessed_value
from sfumato.attacks.outcome import Outcome, Rate, worst_decile
from sfumato.attacks.secrets_seen import with_secret
from sfumato.attacks.stage import Secret, parts

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_HOW = (
    "Naive Bayes is learned from buckets of the release ({rows} people are in them; they are drawn "
    "at random where there are more than {most} different rows) in {iterations} rounds of "
    "expectation and maximisation, and orders the values of the buckets that a person may be in. "
    "The blind guess is the best that the same buckets allow without the classifier. There is no "
    "control: what is learned holds of people outside the data as well, and a bucket of l values "
    "promises all the same that none of them is guessed more often than its share; how often the "
    "classifier alone is right, without any bucket, is among the figures."
)


def definetti(eyes: Adversary, *, rng: np.random.Generator) -> list[Outcome]:
    """Return an outcome for each secret that the release hides in buckets.

    Nothing for layouts that have none: in a group of equal cells nobody can be told from another.
    """
    if eyes.release.manifest.layout not in LAYOUTS:
        return []
    return [found for name in eyes.secrets for found in _of_secret(eyes, name, rng)]


def _of_secret(eyes: Adversary, name: str, rng: np.random.Generator) -> list[Outcome]:
    own = eyes.ignorant_of(name)
    if not own.view.blocks or not len(own.view.held[name].group):
        return []
    secret = own.secret(name)
    classifier = learn(Lessons.of(own, secret), secret, rng)
    seen = _seen(own, secret, classifier, own.targets)
    if name in eyes.known:
        seen = seen.of(seen.told)  # who fits no bucket does not hide it
    figures = {
        "without_classifier": _mean(seen.shares),
        "most_frequent_value": _mean(seen.margin),
        "classifier_alone": _mean(seen.alone),
        "mean_chance_of_own_value": _mean(seen.chance),
        "learned_from": float(classifier.rows),
    }
    # made-up strangers would say little: what they keep secret is not theirs by any association
    if own.controls_are == GIVEN and name not in own.untold and len(own.controls):
        strangers = _seen(own, secret, classifier, own.controls)
        figures["people_outside_the_data"] = _mean(strangers.guess)
    # what is most frequent everywhere may do better than a bucket that happens to fit
    blind = max((seen.shares, seen.margin), key=lambda chances: float(chances.sum()))
    return [
        Outcome(
            attack="deFinetti",
            attribute=name,
            knows="all quasi-identifiers of a person, and that the person is in the data",
            how=_HOW.format(rows=classifier.rows, most=MOST_ROWS, iterations=ITERATIONS),
            success=Rate.of(seen.guess),
            blind=Rate.of(blind),
            blind_is="the shares of buckets or of all values",
            control=None,
            worst=worst_decile(seen.chance),
            sample=len(seen.guess),
            population=own.population,
            figures=figures,
        )
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """The chances to be right of each person: of the attack, of their buckets' shares, of the most
    frequent value, and of the classifier alone; `chance` is what the attack gives their value."""

    told: Bools
    guess: Reals
    shares: Reals
    margin: Reals
    alone: Reals
    chance: Reals

    def of(self, chosen: Bools) -> _Seen:
        return _Seen(*(getattr(self, each)[chosen] for each in self.__slots__))


def _seen(eyes: Adversary, secret: Secret, classifier: Classifier, rows: Ints) -> _Seen:
    """Return how people who have a secret fare; who fits no bucket is guessed by the classifier
    alone."""
    rows = with_secret(eyes, secret, rows)
    prior, truth = eyes.prior(secret), eyes.truth(rows, secret)
    columns: dict[str, list[npt.NDArray[np.generic]]] = {each: [] for each in _Seen.__slots__}
    by_cells, by_prior = classifier.alone(eyes, rows), guessed_prior(prior)
    classifier.balance(eyes, rows)
    for part in parts(len(rows), secret.count):
        own = truth[part]
        sharp = classifier.sharpened(eyes, rows[part])
        alone = by_cells.of(part)
        told = sharp.any(axis=1)
        sharp = np.where(told[:, None], sharp, alone)
        shares = eyes.posterior(rows[part], secret)
        shares = np.where(shares.any(axis=1)[:, None], shares, prior)
        line = {
            "told": told,
            "guess": guessed_value(sharp, own),
            "shares": guessed_value(shares, own),
            "margin": by_prior[own],
            "alone": guessed_value(alone, own),
            "chance": sharp[np.arange(len(own)), own],
        }
        for each, values in line.items():
            columns[each].append(values)
    return _Seen(**{each: np.concatenate(found) for each, found in columns.items()})  # type: ignore


def _mean(chances: Reals) -> float:
    return float(chances.mean()) if len(chances) else 0.0
