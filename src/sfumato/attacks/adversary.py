"""Somebody who has a release and knows all quasi-identifiers of some people: what they can tell.

All attacks on one release look through the same eyes: `targets` are people of the data, `controls`
people who are not, and both are rows of one table, `side.original`, of which the first `population`
rows are the data. From the release alone follow the groups that each may be in (`fits`), and what
these say of a secret (`posterior`), against what the whole release says of it (`prior`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.controls import GIVEN, MADE, NONE, made_controls
from sfumato.attacks.fit_kernels import add_shares
from sfumato.attacks.fits import Fits, Fitter, joined, kinds_of
from sfumato.attacks.given import as_read, given_controls, plain
from sfumato.attacks.kept_fits import MOST_KEPT, KeptFits
from sfumato.attacks.memory import Memory
from sfumato.attacks.nearest import NearestFitter, refuse_other_means
from sfumato.attacks.specific import most_specific, withheld_cells
from sfumato.attacks.stage import Secret, Side, parts, read, set_stage
from sfumato.attacks.targets import draw
from sfumato.attacks.view import View, columns_of
from sfumato.errors import ParameterError
from sfumato.release import Release
from sfumato.release.microaggregated import microaggregated
from sfumato.release.origin import is_noisy, refuse_other
from sfumato.schema.distinct import DistinctColumns

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_ASKED = 200  # people who are asked whether the original is the release's


@dataclass(frozen=True, eq=False)
class Adversary:
    """An adversary of a release whose records are in groups: any layout but `sets`.

    `controls_are` says who the controls are, `untold` which of their secrets nobody has told.
    """

    release: Release
    view: View
    side: Side
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
    ) -> Adversary:
        """Return the adversary of a release; at most `sample` people of each sort are looked at.

        Refuses (ParameterError) originals and controls that lack a quasi-identifier of the
        release, an original that the release cannot be of, releases and originals without rows, and
        layouts that have no groups.
        """
        refuse_unfit(release, original)
        columns = columns_of(release)
        view = View.of(release, with_means=True, columns=columns)
        people, who = gather(original, controls, view.known, view.held, sample, rng)
        side = set_stage([view], [people])[0]
        targets = draw(original.num_rows, sample, rng)
        strangers = draw(people.num_rows - original.num_rows, sample, rng) + original.num_rows
        untold = frozenset(
            name for name in view.held if controls is not None and name not in controls.column_names
        )
        found = cls(release, view, side, targets, strangers, who, original.num_rows, untold)
        found.remembered("columns", lambda: columns)
        if found.links_by_distance:
            refuse_other_means(side, view, original.num_rows)
        elif not is_noisy(release.manifest):
            refuse_strangers(release, found.expected(asked(targets)))
            refuse_other_secrets(found)
        return found

    @property
    def columns(self) -> Mapping[str, DistinctColumns]:
        """The distinct cells of the columns of each table."""
        found: Mapping[str, DistinctColumns] = self.remembered(
            "columns", lambda: columns_of(self.release)
        )
        return found

    @property
    def rows(self) -> int:
        """The number of records of the release."""
        return int(self.fitter.size.sum())

    @property
    def known(self) -> tuple[str, ...]:
        """The attributes that are known of people."""
        return self.view.known

    @property
    def secrets(self) -> tuple[str, ...]:
        """The attributes that people keep secret."""
        return tuple(self.view.held)

    @property
    def links_by_distance(self) -> bool:
        """Whether people fit no cell, since cells are means, and are linked to the nearest."""
        return bool(microaggregated(self.release.manifest))

    @property
    def fitter(self) -> Fitter | NearestFitter:
        """What finds groups."""

        def make() -> Fitter | NearestFitter:
            if self.links_by_distance:
                return NearestFitter(self.release.manifest, self.view, self.side)
            return Fitter(self.view.blocks, self.view.groups, self.side.reaches)

        found: Fitter | NearestFitter = self.remembered("fitter", make)
        return found

    def distances(self, rows: Ints) -> Reals:
        """Return how far each person is from the nearest mean; only where cells are means."""
        assert isinstance(self.fitter, NearestFitter)
        return self.fitter.distances({name: self.side.people[name][rows] for name in self.known})

    @property
    def sizes(self) -> Ints:
        """The number of records in each group."""
        return self.fitter.size

    def ignorant_of(self, name: str) -> Adversary:
        """Return the adversary who does not know the attribute, since it is what they want."""
        if name not in self.view.known:
            return self

        def make() -> Adversary:
            view = self.view.of_one_who_knows([known for known in self.known if known != name])
            return replace(self, view=view, side=replace(self.side, view=view), memory=Memory())

        found: Adversary = self.remembered(("ignorant of", name), make)
        return found

    def remembered(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what was made before under the key, or make it: attacks share what they see."""
        return self.memory.of(key, make)

    def secret(self, name: str) -> Secret:
        """Return a secret; its one side's `truth` has the values of all people."""
        found: Secret = self.remembered(("secret", name), lambda: Secret.of(name, [self.side]))
        return found

    def kinds(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return one row of each kind of people, and everybody's kind: one kind is known alike."""
        if not self.known:  # nobody can be told from another
            return rows[:1], np.zeros(len(rows), np.int64)
        first, kind = kinds_of([self.side.people[name][rows] for name in self.known])
        return rows[first], kind

    def fits_in_parts(self, rows: Ints) -> Iterator[tuple[slice, Fits]]:
        """Return the groups of people, so many people at a time as fit into memory.

        Attacks ask for the same people over and over: their groups are found once, unless there
        are too many to be kept.
        """
        kept: KeptFits | None = self.remembered("fits", self._everybody)
        if kept is not None and kept.has(rows):
            yield slice(0, len(rows)), kept.of(rows)
        else:
            yield from self._found_in_parts(rows)

    def _everybody(self) -> KeptFits | None:
        """Return the groups of all targets and controls; None if there are too many."""
        people = np.union1d(self.targets, self.controls)
        kinds, of = self.kinds(people)
        fits = self._found_at_once(kinds)
        return None if fits is None else KeptFits(people, of, fits)

    def fits_of_kinds(self, rows: Ints) -> Iterator[tuple[slice, Fits, Ints]]:
        """Return the groups of people as `fits_in_parts` does, and whose of the fits each person
        has: people of one kind share theirs, and those that are kept are not found again, unless
        there are too many to be held at once."""
        kept: KeptFits | None = self.remembered("fits", self._everybody)
        own = np.zeros(0, np.int64) if kept is None else kept.people
        kinds, of = self.kinds(np.concatenate([own, rows]))
        place = np.full(len(kinds), -1)
        if kept is not None:
            place[of[: len(own)]] = kept.kind
        others = np.flatnonzero(place < 0)
        fits = self._found_at_once(kinds[others])
        if fits is None:
            for part, found in self._found_in_parts(rows):
                yield part, found, np.arange(found.people)
            return
        before = [] if kept is None else [kept.fits]
        place[others] = sum(each.people for each in before) + np.arange(len(others))
        yield slice(0, len(rows)), joined([*before, fits]), place[of[len(own) :]]

    def _found_at_once(self, rows: Ints) -> Fits | None:
        """Return the groups of all of these people; None if there are too many."""
        found: list[Fits] = []
        for _, fits in self._found_in_parts(rows):
            found.append(fits)
            if sum(len(each.group) for each in found) > MOST_KEPT:
                return None
        return joined(found)

    def _found_in_parts(self, rows: Ints) -> Iterator[tuple[slice, Fits]]:
        withheld: Ints | None = self.remembered(
            "withheld", lambda: withheld_cells(self.release.manifest, self.view)
        )
        people = {name: self.side.people[name][rows] for name in self.known}
        for part, fits in self.fitter.in_parts(people):
            yield part, fits if withheld is None else most_specific(fits, withheld)

    def by_kind(self, rows: Ints, measure: Callable[[Ints, Fits], Reals]) -> Reals:
        """Return a measure of each person that depends on what is known of them alone.

        `measure` gets rows and their fits; it is asked once for every kind of person where that
        saves anything.
        """
        kinds: Ints
        of: Ints | None
        kinds, of = self.kinds(rows)
        if len(kinds) > len(rows) // 2:  # copies for people of one kind would cost more
            kinds, of = rows, None
        found = [measure(kinds[part], fits) for part, fits in self.fits_in_parts(kinds)]
        whole = found[0] if len(found) == 1 else np.concatenate(found)
        return whole if of is None else whole[of]

    def expected(self, rows: Ints) -> Reals:
        """Return the expected number of records that fit each person."""
        return self.by_kind(rows, lambda _, fits: fits.total)

    def believed(self, rows: Ints) -> Reals:
        """Return the chance that an adversary sees in a record drawn among those that fit a person.

        The group is drawn by its fitting records, then a fitting row of every block: of c of them
        one is the right one. So it is one over the number of fitting records, where there is one
        block alone.
        """
        more = len(self.view.blocks) - 1

        def measure(_: Ints, fits: Fits) -> Reals:
            whole = np.maximum(fits.total, np.finfo(float).tiny)
            own = fits.weight / whole[fits.person] / self.sizes[fits.group].astype(float) ** more
            return np.asarray(np.bincount(fits.person, own, minlength=fits.people) / whole)

        return np.minimum(self.by_kind(rows, measure), 1.0)

    def linked(self, rows: Ints) -> Reals:
        """Return the chance that a record drawn among those that fit is the person's own.

        It can be only where the groups that fit hold all values that the person keeps secret.
        """
        chance = self.believed(rows)
        for name in self.secrets:
            if name in self.known:
                continue  # of those who do not hide it, nothing is to be found
            secret = self.secret(name)
            truth = self.truth(rows, secret)
            for part, told in self.posterior_in_parts(rows, secret):
                own = np.arange(part.stop - part.start), truth[part]
                chance[part] *= told[own] > 0
        return chance

    def posterior(self, rows: Ints, secret: Secret) -> Reals:
        """Return how likely each person has each value, given the release; zeros where they fit no
        group that tells.

        The chance of a group is in proportion to its records that fit; within it, each value is as
        likely as it is frequent there.
        """

        def measure(_: Ints, fits: Fits) -> Reals:
            found = np.zeros((fits.people, secret.count))
            told = secret.sides[0]
            add_shares(
                *(*fits.by_group, self.sizes),
                *(told.start, told.value, told.weight, found),
            )
            return found

        found = self.by_kind(rows, measure)
        found /= np.maximum(found.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return found

    def posterior_in_parts(self, rows: Ints, secret: Secret) -> Iterator[tuple[slice, Reals]]:
        """Return the posteriors of people, so many people at a time as fit into memory."""
        for part in parts(len(rows), secret.count):
            yield part, self.posterior(rows[part], secret)

    def prior(self, secret: Secret) -> Reals:
        """Return the share that each value has in the whole release."""
        told = secret.sides[0]
        found = np.bincount(told.value, told.weight, minlength=secret.count)
        return np.asarray(found / max(found.sum(), np.finfo(float).tiny))

    def truth(self, rows: Ints, secret: Secret) -> Ints:
        """Return the values that people have."""
        return secret.sides[0].truth[rows]


def refuse_unfit(release: Release, original: pa.Table) -> None:
    """Refuse (ParameterError) a release or original without rows, and one that is not of the
    other, as far as numbers of rows tell."""
    if release.manifest.rows == 0:
        raise ParameterError("a release without records cannot be attacked")
    if original.num_rows == 0:
        raise ParameterError("the original has no rows, so there is nobody to attack")
    refuse_other(release.manifest, original.num_rows)


def asked(targets: Ints) -> Ints:
    """Return some of the targets, evenly spread: enough to tell whether they are in a release."""
    return targets[:: max(1, len(targets) // _ASKED)]


def refuse_strangers(release: Release, expected: Reals) -> None:
    """Refuse (ParameterError) an original of whose people more than a tenth fit no record.

    Those who were suppressed are not missed; of a sample, only half are expected to fit.
    """
    manifest = release.manifest
    suppressed = manifest.suppressed / (manifest.rows + manifest.suppressed)
    is_whole = manifest.parameters.get("sample", 1) in (0, 1)
    if np.mean(expected > 0) < (1 - suppressed) * (0.9 if is_whole else 0.5):
        raise ParameterError(
            "too many people of the original fit no record of the release; give the table that "
            "the release was made from"
        )


def refuse_other_secrets(eyes: Adversary) -> None:
    """Refuse (ParameterError) an original most of whose secrets the release does not hold."""
    for name in eyes.secrets:
        if name in eyes.known:
            continue  # only some people keep it secret
        secret = eyes.secret(name)
        shares, truth = eyes.prior(secret), eyes.truth(eyes.targets, secret)
        has = truth[truth < secret.count - 1]
        missing = not len(has) and shares[-1] < 0.5
        if missing or (len(has) and np.mean(shares[has] > 0) < 0.5):
            raise ParameterError(
                f"most people of the original have values of '{name}' that are not in the release; "
                "give the table that the release was made from"
            )


def gather(
    original: pa.Table,
    controls: pa.Table | None,
    known: tuple[str, ...],
    secrets: Iterable[str],
    sample: int,
    rng: np.random.Generator,
) -> tuple[pa.Table, str]:
    """Return the people of the data and after them those who are not, and who the latter are."""
    names = list(dict.fromkeys([*known, *secrets]))
    for name in names:
        read(original.slice(0, 0), name)
    own = original.select(names)
    if controls is not None:
        own = plain(own)
        others, who = given_controls(controls, own, known, rng), GIVEN
    else:
        own = as_read(own)
        others, who = made_controls(own, known, sample, rng), MADE
    if not others.num_rows:
        who = NONE
    return pa.concat_tables([own, others]), who
