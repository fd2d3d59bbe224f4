"""Somebody who has a release of random sets: which record may be whose, and what it tells.

Every record is a group of its own. A set holds the own value with the probability x, and so is
x d/η times as likely as any set if it holds the person's value, and 1 − p times if it does not, p
being what the manifest states; exact cells must agree. The product over all that is known of a
person weighs the record. What a record says of a secret follows by Bayes from its set, and from how
common each value is, which the sets of all records tell.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.set_axes import Axis, read_axis, records_of_sets
from sfumato.attacks.adversary import asked, gather, refuse_strangers, refuse_unfit
from sfumato.attacks.fits import kinds_of
from sfumato.attacks.memory import Memory
from sfumato.attacks.set_kernels import Weights, add_sets, norm_sets, sums_of
from sfumato.attacks.set_people import columns_of, places
from sfumato.attacks.set_weights import Held, factors, in_shares, room
from sfumato.attacks.stage import ByCode, Candidates, Secret, parts
from sfumato.attacks.targets import draw
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.release import Release
from sfumato.schema.attribute import Role
from sfumato.schema.text import to_texts

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

PROTECTED = (Role.SENSITIVE_QUASI_IDENTIFIER, Role.SENSITIVE)
KNOWN = (Role.SENSITIVE_QUASI_IDENTIFIER, Role.QUASI_IDENTIFIER)
# People times records that an attack goes through: seconds. Fewer people are drawn where there are
# more records.
MOST_PAIRS = 5 * 10**8
_SHARED = "shared"  # by adversaries who know more or less
_NEVER = 1e299


@dataclass(frozen=True, eq=False)
class SetAdversary:
    """An adversary of a release of random sets; fields and methods as those of `Adversary`.

    `places` has for all people where their values stand on each axis, -1 outside of it.
    """

    release: Release
    axes: Mapping[str, Axis]
    places: Mapping[str, Ints]
    known: tuple[str, ...]
    secrets: tuple[str, ...]
    targets: Ints
    controls: Ints
    controls_are: str
    population: int
    untold: frozenset[str] = frozenset()
    memory: Memory = field(default_factory=Memory)

    @classmethod
    def of(
        cls,
        release: Release,
        original: pa.Table,
        controls: pa.Table | None = None,
        *,
        sample: int,
        rng: np.random.Generator,
    ) -> SetAdversary:
        """Return the adversary of a release of sets; at most `sample` people of each sort are
        looked at, and fewer where the release is large.

        Refuses (ParameterError) originals and controls that lack what is known of people, and
        releases or originals without rows; (ReleaseDamaged) one that lacks some of its records.
        """
        refuse_unfit(release, original)
        if records_of_sets(release).num_rows != release.manifest.rows:
            raise ReleaseDamaged("the release does not have as many records as its manifest says")
        entries = [e for e in release.manifest.attributes if e.role in (*PROTECTED, *KNOWN)]
        known = tuple(entry.name for entry in entries if entry.role in KNOWN)
        secrets = tuple(entry.name for entry in entries if entry.role in PROTECTED)
        made_of = {entry.name: columns_of(release, entry.name) for entry in entries}
        columns = tuple(dict.fromkeys(c for name in known for c in made_of[name]))
        hidden = [c for name in secrets for c in made_of[name]]
        sample = max(1, min(sample, MOST_PAIRS // release.manifest.rows))
        people, who = gather(original, controls, columns, hidden, sample, rng)
        axes = {entry.name: read_axis(release, entry.name) for entry in entries}
        standing = {
            name: places(release, name, to_texts(axis.values).to_pylist(), people)
            for name, axis in axes.items()
        }
        targets = draw(original.num_rows, sample, rng)
        strangers = draw(people.num_rows - original.num_rows, sample, rng) + original.num_rows
        untold = frozenset(
            name
            for name in secrets
            if controls is not None and not set(made_of[name]) <= set(controls.column_names)
        )
        found = cls(
            *(release, axes, standing, known, secrets),
            *(targets, strangers, who, original.num_rows, untold),
        )
        if any(np.mean(standing[name][targets] < 0) > 0.5 for name in secrets):
            raise ParameterError(
                "most people of the original have secrets outside of the domains of the release; "
                "give the table that the release was made from"
            )
        if all(axis.own >= 1 for axis in axes.values()):
            refuse_strangers(release, found.expected(asked(targets)))
        return found

    @property
    def rows(self) -> int:
        """The number of records of the release."""
        return self.release.manifest.rows

    def ignorant_of(self, name: str) -> SetAdversary:
        """Return the adversary who does not know the attribute, since it is what they want."""
        if name not in self.known:
            return self
        known = tuple(known for known in self.known if known != name)
        own, shared = Memory(), self._shared
        own.of(_SHARED, lambda: shared)
        return replace(self, known=known, memory=own)

    @property
    def _shared(self) -> Memory:
        """What adversaries find who know more or less."""
        found: Memory = self.remembered(_SHARED, Memory)
        return found

    def remembered(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what was made before under the key, or make it: attacks share what they see."""
        return self.memory.of(key, make)

    def secret(self, name: str) -> Secret:
        """Return a secret; its one side's `truth` has the values of all people."""
        found: Secret = self.remembered(("secret", name), lambda: self._secret(name))
        return found

    def _secret(self, name: str) -> Secret:
        texts = to_texts(self.axes[name].values).to_pylist()
        named = [text for text in texts if text is not None]
        empty = np.zeros(0, np.int64)
        # a value outside of the domain counts as missing
        truth = ByCode(np.append(self._order(name), len(named)), self.places[name])
        told = Candidates(empty, empty, np.zeros(0), truth)
        return Secret(name, named, self.axes[name].values.type, [told])

    def _order(self, name: str) -> Ints:
        """Return where each value of an axis stands in its secret: a missing one comes last."""
        missing = self.axes[name].values.is_null().to_numpy(zero_copy_only=False)
        place = np.cumsum(~missing) - 1
        place[missing] = (~missing).sum()
        return np.asarray(place, np.int64)

    def kinds(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return one row of each kind of people, and everybody's kind: one kind is known alike."""
        if not self.known:
            return rows[:1], np.zeros(len(rows), np.int64)
        first, kind = kinds_of([self.places[name][rows] for name in self.known])
        return rows[first], kind

    def expected(self, rows: Ints) -> Reals:
        """Return how many records fit each person as well as the best of them does."""
        return self._sums(rows)[:, 0]

    def believed(self, rows: Ints) -> Reals:
        """Return the chance that an adversary sees in a record drawn by its weight.

        If the person's own record is as likely as the weights say, it is the sum of their squares.
        """
        return self._sums(rows)[:, 1]

    def linked(self, rows: Ints) -> Reals:
        """Return the chance that a record drawn by its weight is the person's own.

        Which one is their own only the owner of the data can guess: by all values they have.
        """
        all_values = tuple(self.axes)
        knows_all = self.known == all_values
        sums = self._weighed_by_known(rows) if knows_all else self._weighed(rows, all_values)
        pair = sums[:, 0] * sums[:, 2]
        return np.where(sums[:, 3] > 0, sums[:, 3] / np.where(pair > 0, pair, 1.0), 0.0)

    def _sums(self, rows: Ints) -> Reals:
        """Return how many records fit as well as the best, and the sum of squared chances."""
        sums = self._weighed_by_known(rows)
        some = sums[:, 1] > 0
        whole, largest = np.where(some, sums[:, 0], 1.0), np.where(some, sums[:, 1], 1.0)
        found = np.stack([whole / largest, sums[:, 3] / whole**2], axis=1)
        return np.asarray(found * some[:, None])

    def _weighed_by_known(self, rows: Ints) -> Reals:
        """Return what `_weighed` finds by what is known alone, once for each kind of people."""

        def all_of_them() -> Reals:
            kinds, of = self.kinds(rows)
            return np.asarray(self._weighed(kinds, None)[of])

        found: Reals = self.remembered(("weighed", rows.tobytes()), all_of_them)
        return found

    def _weighed(self, rows: Ints, others: Sequence[str] | None) -> Reals:
        """Return for each person the sum and the largest of the weights of all records by what is
        known, the sum by others (None: the same), and that of the products."""
        weights = self._weights(rows, self.known)
        beside = weights if others is None else self._weights(rows, others)
        out = np.zeros((len(rows), 4))
        in_shares(
            len(rows),
            lambda first, last: sums_of(
                *(first, last, weights, beside, others is None),
                *(room(), room(), out),
            ),
        )
        return out

    def _weights(self, rows: Ints, names: Sequence[str]) -> Weights:
        """Return what weighs all records for each person, by some attributes."""

        def of_all() -> Held:
            return Held.by(self.axes, self.places, np.union1d(self.targets, self.controls))

        held: Held = self._shared.of("held", of_all)
        if not np.isin(rows, held.people).all():
            held = Held.by(self.axes, self.places, np.unique(rows))
        return held.weights(rows, names)

    def posterior(self, rows: Ints, secret: Secret) -> Reals:
        """Return how likely each person has each value, given the release."""
        own = self.ignorant_of(secret.name)
        kinds, of = own.kinds(rows)
        axis, prior = self.axes[secret.name], self._margin(secret.name)
        inside, outside = factors(axis)
        gain = inside - outside
        norms = np.empty(self.rows)
        norm_sets(axis.members, prior, gain, outside, norms)
        norms[norms >= _NEVER] = 0  # a set of values that nobody seems to have tells of none
        weights = own._weights(kinds, own.known)
        held, total = np.zeros((len(kinds), axis.size)), np.zeros(len(kinds))
        in_shares(
            len(kinds),
            lambda first, last: add_sets(
                *(first, last, weights, axis.members, norms, room(), held, total)
            ),
        )
        found = np.zeros((len(kinds), secret.count))
        found[:, self._order(secret.name)] = prior * (gain * held + outside * total[:, None])
        found /= np.maximum(found.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return found[of]

    def posterior_in_parts(self, rows: Ints, secret: Secret) -> Iterator[tuple[slice, Reals]]:
        """Return the posteriors of people, so many people at a time as fit into memory."""
        for part in parts(len(rows), secret.count):
            yield part, self.posterior(rows[part], secret)

    def prior(self, secret: Secret) -> Reals:
        """Return the share that each value is estimated to have among all records."""
        found = np.zeros(secret.count)
        found[self._order(secret.name)] = self._margin(secret.name)
        return found

    def truth(self, rows: Ints, secret: Secret) -> Ints:
        """Return the values that people have."""
        return secret.sides[0].truth[rows]

    def _margin(self, name: str) -> Reals:
        """Return the estimated shares of values."""
        found: Reals = self._shared.of(("margin", name), lambda: margin_of(self.axes[name]))
        return found


def margin_of(axis: Axis) -> Reals:
    """Return the estimated shares of values: what sets hold beyond chance, none below 0."""
    if not axis.is_telling:
        return np.full(axis.size, 1 / axis.size)
    counts = np.bincount(axis.members.ravel(), minlength=axis.size) / max(len(axis.members), 1)
    shares = np.maximum((counts - axis.other) / axis.telling, 0)
    total = shares.sum()
    return np.asarray(shares / total if total > 0 else np.full(axis.size, 1 / axis.size))
