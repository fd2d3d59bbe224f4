"""What an adversary sees of a secret of some people, in the few numbers that attacks count by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.guesses import guessed_prior, guessed_value
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.attacks.stage import Secret
from sfumato.attacks.values import Comparison
from sfumato.release import AttributeEntry, Bounds, Release
from sfumato.schema.attribute import Kind
from sfumato.schema.hierarchy import ROOT
from sfumato.schema.kinds import is_number

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Eyes = Adversary | SetAdversary

NEGATED: Final = 3  # values that an adversary can rule out, at most
WIDTH: Final = 0.1  # of the domain: numbers that lie within it are close
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Glimpse:
    """A line a person; `told` says whether anything that tells of the secret fits them.

    `chance` is what the release gives their own value, and `prior` what the whole of it does
    before; both are the same of people whom nothing fits. `guess` is the chance that the likeliest
    value is theirs (equally likely ones share it; none is a missing one), `blind` that the most
    frequent one is.
    `candidates` are the values left. `wrong` has the sums of the 1, 2, 3 largest chances of values
    that are not theirs, `prior_wrong` the same beforehand. `close` says that their candidates,
    several of them, are all close; `within` that theirs is among those; `by_window` that it lies
    where close values are most frequent.
    """

    told: Bools
    chance: Reals
    prior: Reals
    guess: Reals
    blind: Reals
    candidates: Ints
    wrong: Reals
    prior_wrong: Reals
    close: Bools
    within: Bools
    by_window: Bools

    @property
    def people(self) -> int:
        """How many people there are."""
        return len(self.told)

    def of(self, chosen: Bools) -> Glimpse:
        """Return what is seen of some of the people."""
        return Glimpse(*(getattr(self, each.name)[chosen] for each in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Ruler:
    """A way to tell close values: those of which `place` differs by at most `apart`."""

    place: Reals
    apart: float

    def window(self, shares: Reals) -> Bools:
        """Return the close values that are most frequent together."""
        order = np.argsort(self.place, kind="stable")
        ordered = self.place[order]
        sums = np.concatenate(([0.0], np.cumsum(shares[order])))
        last = np.searchsorted(ordered, ordered + self.apart * (1 + _TOLERANCE), "right")
        best = int(np.argmax(sums[last] - sums[:-1])) if len(ordered) else 0
        found = np.zeros(len(self.place), np.bool_)
        found[order[best : last[best]]] = True
        return found


def glimpse(eyes: Eyes, secret: Secret, rows: Ints, rulers: Sequence[Ruler]) -> Glimpse:
    """Return what an adversary sees of a secret of some people."""
    prior, truth = eyes.prior(secret), eyes.truth(rows, secret)
    blind, prior_wrong = _beforehand(prior)
    window = _best_window(rulers, prior)
    found = []
    for part, told in eyes.posterior_in_parts(rows, secret):
        own = truth[part]
        line = np.arange(len(own))
        fits = told.any(axis=1)
        # of somebody whom no record fits, nobody knows more than the whole release says
        told[~fits] = prior
        candidate = told > 0
        close, within = _close(candidate, own, rulers)
        found.append(
            Glimpse(
                told=fits,
                chance=told[line, own],
                prior=prior[own],
                guess=guessed_value(told, own),
                blind=blind[own],
                candidates=candidate.sum(axis=1),
                wrong=_wrong(told, own),
                prior_wrong=prior_wrong[own],
                close=close,
                within=within,
                by_window=window[own],
            )
        )
    return Glimpse(*(np.concatenate([getattr(g, f.name) for g in found]) for f in fields(Glimpse)))


def rulers_of(release: Release, secret: Secret) -> list[Ruler]:
    """Return the ways in which values of a secret are close: numbers within a tenth of the width
    of the domain, categories below one label of a published hierarchy other than the root."""
    entry = release.manifest.attribute(secret.name)
    if entry.kind is Kind.NUMERIC and is_number(entry.dtype):
        place, width = _numbers(entry, secret.texts)
        return [Ruler(np.append(place, np.inf), WIDTH * width)] if width > 0 else []
    hierarchy = release.hierarchies.get(secret.name)
    if hierarchy is None:
        return []
    rows = {row[0]: row for row in hierarchy.rows()}
    depth = max((len(row) for row in rows.values()), default=0)
    rulers = []
    for level in range(1, depth):
        labels: dict[str, int] = {}
        place = np.empty(secret.count)
        for at, text in enumerate([*secret.texts, None]):
            row = rows.get(text or "")
            alone = row is None or level >= len(row) or row[level] == ROOT
            # a value that stands under no label is close to itself alone
            label = f"\0{at}" if row is None or alone else row[level]
            place[at] = labels.setdefault(label, len(labels))
        if len(labels) < secret.count:
            rulers.append(Ruler(place, 0.0))
    return rulers


def _numbers(entry: AttributeEntry, texts: Sequence[str]) -> tuple[Reals, float]:
    keys = Comparison.of([entry.dtype]).keys(texts, entry.dtype)
    place = np.array([float("inf") if isinstance(key, str) else float(key) for key in keys])
    ends = place[np.isfinite(place)]
    if isinstance(entry.domain, Bounds):
        stated = Comparison.of([entry.dtype]).keys(
            [str(entry.domain.min), str(entry.domain.max)], entry.dtype
        )
        ends = np.array([float(key) for key in stated if not isinstance(key, str)])
    return place, float(np.ptp(ends)) if len(ends) else 0.0


def _close(candidate: Bools, own: Ints, rulers: Sequence[Ruler]) -> tuple[Bools, Bools]:
    several = candidate.sum(axis=1) > 1
    close = np.zeros(len(candidate), np.bool_)
    within = np.zeros(len(candidate), np.bool_)
    for ruler in rulers:
        low = np.where(candidate, ruler.place, np.inf).min(axis=1)
        high = np.where(candidate, ruler.place, -np.inf).max(axis=1)
        mine = ruler.place[own]
        with np.errstate(invalid="ignore"):
            short = several & (high - low <= ruler.apart * (1 + _TOLERANCE))
        within |= short & (low <= mine) & (mine <= high)
        close |= short
    return close, within


def _best_window(rulers: Sequence[Ruler], prior: Reals) -> Bools:
    windows = [ruler.window(prior) for ruler in rulers]
    if not windows:
        return np.zeros(len(prior), np.bool_)
    return max(windows, key=lambda window: float(prior[window].sum()))


def _wrong(chances: Reals, own: Ints) -> Reals:
    """Return the sums of the 1, 2, 3 largest chances of values that people do not have."""
    others, line = chances.copy(), np.arange(len(own))
    others[line, own] = 0
    top = np.zeros((len(own), NEGATED))
    for place in range(min(NEGATED, others.shape[1])):
        best = others.argmax(axis=1)
        top[:, place] = others[line, best]
        others[line, best] = 0
    return np.asarray(np.cumsum(top, axis=1))


def _beforehand(prior: Reals) -> tuple[Reals, Reals]:
    """Return `blind` and `prior_wrong` of people who have each of the values."""
    top = np.argsort(-prior, kind="stable")[: NEGATED + 1]
    wrong = np.zeros((len(prior), NEGATED))
    wrong[:, : len(top[:NEGATED])] = prior[top[:NEGATED]]
    for value in top:
        others = prior[top[top != value][:NEGATED]]
        wrong[value] = [*others, *[0.0] * (NEGATED - len(others))]
    return guessed_prior(prior), np.cumsum(wrong, axis=1)
