"""Absence: what it tells of somebody that their row was withheld.

Rows of a sensitive value that is too common are withheld until the rest can be published
(`on_infeasible: suppress`), and the manifest says that rows were. Whoever knows that a person is in
the data, and finds no record that fits, knows that the person's row was withheld; and that it was
withheld for its value, which is then the one that the release has as often as it may. What it may
is reached by the most frequent value of the release: the files alone tell which one that is.

Who knows how many people are alike needs no person without any record: of five people whom two
records fit, three at least were withheld.

Rows that were withheld for their quasi-identifiers (outliers) are of any value: then the most
frequent one is no likelier for people without a record than for anybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.fits import kinds_of
from sfumato.attacks.glimpse import Eyes
from sfumato.attacks.guesses import guessed_value
from sfumato.attacks.linkage_records import KNOWS
from sfumato.attacks.outcome import Outcome, Rate, worst_decile
from sfumato.attacks.reach import NO_POINT, points
from sfumato.attacks.secrets_seen import with_secret
from sfumato.attacks.stage import Secret
from sfumato.attacks.targets import draw
from sfumato.release import Manifest
from sfumato.schema.attribute import Role
from sfumato.table.groups import packed

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# People times records that are gone through where cells are not exact: seconds. Few people are
# missing, so all are looked at where that can be.
MOST_PAIRS: Final = 4 * 10**9
# Methods whose groups may also have been withheld for their sizes, whatever else was.
_BY_SIZE: Final = ("mondrian", "top-down", "full-domain", "local-suppression")
_VALUE: Final = (
    "The most frequent value of the release is said to be theirs (the likeliest to have been cut "
    "down to what may be published; equally frequent ones are drawn from). The blind guess says "
    "the same of anybody: it is right as often as the value is in the release. The control are "
    "people who are not in the data, of whom the same is seen."
)
_BLIND: Final = "the same value said of anybody in the release"


def absence(eyes: Eyes, rng: np.random.Generator) -> list[Outcome]:
    """Return how often the value of people is told by the lack of their record, for every secret.

    Nothing where no rows were withheld, nor where people are linked by distance, so that a record
    fits everybody. Of a semi-sensitive attribute nobody knows whether the person hides it.
    """
    manifest = eyes.release.manifest
    if not manifest.suppressed or (isinstance(eyes, Adversary) and eyes.links_by_distance):
        return []
    rows = eyes.targets
    if isinstance(eyes, Adversary):
        most = max(MOST_PAIRS // max(eyes.rows, 1), len(eyes.targets))
        rows = draw(eyes.population, most if _cells(eyes) is None else eyes.population, rng)
    found: list[Outcome] = []
    for name in eyes.secrets:
        if manifest.attribute(name).role is not Role.SEMI_SENSITIVE:
            found += _of(_Missed.of(eyes.ignorant_of(name), name, rows))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Missed:
    """People of the data, and others, who have a value: the chance that the guess is right
    (`guess`), and how many records fit each (`fit`); `share` is that of the guess in the
    release."""

    eyes: Eyes
    secret: Secret
    rows: Ints
    others: Ints
    guess: Reals
    fit: Reals
    guess_of_others: Reals
    fit_of_others: Reals
    share: float

    @classmethod
    def of(cls, eyes: Eyes, name: str, rows: Ints) -> _Missed:
        secret = eyes.secret(name)
        rows = with_secret(eyes, secret, rows)
        others = with_secret(eyes, secret, eyes.controls)
        prior = eyes.prior(secret)
        # by value, the chance that it is the guess
        guess = guessed_value(np.tile(prior, (len(prior), 1)), np.arange(len(prior)))
        named = prior[:-1]
        return cls(
            *(eyes, secret, rows, others),
            *(guess[eyes.truth(rows, secret)], _fit(eyes, rows)),
            *(guess[eyes.truth(others, secret)], _fit(eyes, others)),
            share=float(named.max(initial=0) / max(named.sum(), np.finfo(float).tiny)),
        )

    def outcome(self, which: Bools, which_others: Bools, **more: Any) -> Outcome:
        """Return what comes of the guess about some people of the data, and some others."""
        right = self.guess[which]
        told = self.secret.name not in self.eyes.untold and len(self.eyes.controls) > 0
        return Outcome(
            attribute=self.secret.name,
            success=Rate.of(right),
            blind=Rate(self.share * right.size, right.size),
            control=Rate.of(self.guess_of_others[which_others]) if told else None,
            worst=worst_decile(np.where(which, self.guess, 0)),
            sample=len(self.rows),
            population=self.eyes.population,
            figures={
                "people_without_a_record": float(which.sum()),
                "share_of_people": float(which.mean()) if which.size else 0.0,
                "withheld_rows": float(self.eyes.release.manifest.suppressed),
            },
            blind_is=_BLIND,
            **more,
        )


def _of(missed: _Missed) -> list[Outcome]:
    none = missed.fit <= 0
    knows = f"{KNOWS}, and that the person is in the data"
    by_fit = missed.outcome(
        none,
        missed.fit_of_others <= 0,
        attack="absence (no record fits)",
        knows=knows,
        how=f"Only people are counted whom no record fits: their rows were withheld. {_VALUE}",
        certain=_certain(missed, none),
    )
    if not isinstance(missed.eyes, Adversary) or len(missed.eyes.view.blocks) != 1:
        return [by_fit]  # how many rows of several blocks fit together, nobody can tell
    alike, alike_others = _alike(missed.eyes, missed.rows, missed.others)
    by_number = missed.outcome(
        2 * missed.fit < alike,
        2 * missed.fit_of_others < alike_others,
        attack="absence (too few records fit)",
        knows="all quasi-identifiers of everybody in the data",
        how="Only people are counted of whom there are more than twice as many with the same "
        "quasi-identifiers as there are records that fit: most of them were withheld. " + _VALUE,
    )
    return [by_fit, by_number]


def _fit(eyes: Eyes, rows: Ints) -> Reals:
    """Return how many records fit each person; secrets that share what is known share it."""

    def count() -> Reals:
        exact = _by_equality(eyes, rows) if isinstance(eyes, Adversary) else None
        if exact is not None or not len(rows):
            return np.zeros(0) if exact is None else exact
        return eyes.expected(rows)

    found: Reals = eyes.remembered(("fit", rows.tobytes()), count)
    return found


def _cells(eyes: Adversary) -> Ints | None:
    """Return the ranks of all combinations, a line each; None where a cell may be several values,
    or where there are several blocks."""
    if len(eyes.view.blocks) != 1:
        return None
    (block,) = eyes.view.blocks
    reaches = [eyes.side.reaches[name] for name in block.names]
    cells = [points(reach)[block.cells[:, at]] for at, reach in enumerate(reaches)]
    found = np.stack(cells, axis=1)
    return None if (found == NO_POINT).any() else found


def _by_equality(eyes: Adversary, rows: Ints) -> Reals | None:
    """Return the same where all cells are exact, without going through all records for each."""
    cells = _cells(eyes)
    if cells is None:
        return None
    (block,) = eyes.view.blocks
    people = np.stack([eyes.side.people[name][rows] for name in block.names], axis=1)
    keys = packed(list((np.concatenate([people, cells]) - NO_POINT).T))
    _, own = np.unique(keys, return_inverse=True)
    shown = np.bincount(own[len(rows) :], block.count, minlength=int(own.max(initial=0)) + 1)
    return np.asarray(shown[own[: len(rows)]], np.float64)


def _alike(eyes: Adversary, rows: Ints, others: Ints) -> tuple[Ints, Ints]:
    """Return of how many people of the data the same is known as of each person of the data, and
    of each other, who is taken for one more."""
    everybody = np.concatenate([np.arange(eyes.population), others])
    _, kind = kinds_of([eyes.side.people[name][everybody] for name in eyes.known])
    inside = np.bincount(kind[: eyes.population], minlength=int(kind.max(initial=0)) + 1)
    return inside[kind[rows]], inside[kind[eyes.population :]] + 1


def _certain(missed: _Missed, none: Bools) -> int:
    """Return how many people's values are certain: the files say that all rows were withheld for
    too common a value, one value alone can be it, and nobody has another after all."""
    if missed.share >= 1 or not _only_by_value(missed.eyes.release.manifest):
        return 0
    # of several values that are equally frequent, none is guessed for sure
    return int(none.sum()) if (missed.guess[none] >= 1).all() else 0


def _only_by_value(manifest: Manifest) -> bool:
    """Return whether all withheld rows were so for their values, not for those of their groups."""
    others = "suppression" in manifest.parameters or manifest.method in _BY_SIZE
    fakes = bool(manifest.parameters.get("fakes"))  # which count among the values that are shown
    return manifest.suppressed_by_value and not others and not fakes
