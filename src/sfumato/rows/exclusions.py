"""What is known of people before any release: the sensitive values that their kind cannot have.

Who knows that drops these values from a group, and what is left must still satisfy the models: a
group of Gastritis and Ovarian Cancer is diverse, and tells a man's disease. It also tells that of
the only woman among men, so a value needs enough people who may have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.columns.incompatible import Pairs
from sfumato.errors import Infeasible
from sfumato.models import BoundModel, LDiversity, Model
from sfumato.models.model import rule_book
from sfumato.rows.eligibility import bind_to_table
from sfumato.rows.exclusion_bits import Excluded, new_dropping
from sfumato.rows.exclusion_kernels import (
    Held,
    people_failing,
)
from sfumato.table import Column, Table
from sfumato.table.whole import Joint

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Exclusions:
    """The quasi-identifiers that exclude something, and what each of their values does.

    Values of a quasi-identifier that exclude the same are a class.
    """

    names: tuple[str, ...]
    excluded: Excluded

    @classmethod
    def of(cls, table: Table, pairs: Pairs) -> Exclusions | None:
        """Return the exclusions that pairs of incompatible values imply; None without any pair."""
        if not pairs:
            return None
        widths = [column.null_code + 1 for column in table.sensitive]
        known = [c for c in table.quasi_identifiers if any(c.name == name for name, _ in pairs)]
        class_of = np.zeros((len(known), max(c.null_code for c in known) + 1), np.int32)
        nothing = np.zeros(sum(widths), np.bool_)
        owner: list[int] = []
        lines: list[npt.NDArray[np.bool_]] = []
        for q, column in enumerate(known):
            own = [pairs.get((column.name, each.name)) for each in table.sensitive]
            excludes = np.concatenate(
                [
                    np.zeros((column.null_code + 1, width), np.bool_) if found is None else found
                    for width, found in zip(widths, own, strict=True)
                ],
                axis=1,
            )
            class_of[q] = len(lines)  # the first class excludes nothing
            owner.append(q)
            lines.append(nothing)
            classes: dict[bytes, int] = {}
            for value in np.flatnonzero(excludes.any(axis=1)).tolist():  # a loop over values
                line = excludes[value]
                number = classes.setdefault(line.tobytes(), len(lines))
                class_of[q, value] = number
                if number == len(lines):
                    lines.append(line)
                    owner.append(q)
        starts, listed = _by_code(np.array(lines), widths)
        return cls(
            tuple(column.name for column in known),
            Excluded(class_of, np.array(owner, np.int64), starts, listed),
        )

    def values(self, table: Table, rows: Ints | slice = slice(None)) -> Codes:
        """Return, a line a row, the values that tell what is impossible."""
        return np.stack([table[name].codes[rows] for name in self.names], axis=1)


def _by_code(lines: npt.NDArray[np.bool_], widths: Sequence[int]) -> tuple[Ints, Codes]:
    """Return by attribute and code where its classes start, and the classes that exclude it."""
    starts = np.zeros((len(widths), max(widths) + 1), np.int64)
    listed: list[Ints] = []
    first = total = 0
    for a, width in enumerate(widths):
        codes, classes = np.nonzero(lines[:, first : first + width].T)
        counts = np.bincount(codes, minlength=max(widths))
        starts[a] = total + np.concatenate([[0], np.cumsum(counts)])
        listed.append(classes)
        total += len(classes)
        first += width
    return starts, np.concatenate(listed).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class KeepsExcluded:
    """Each shard satisfies a model for all people, as far as one quasi-identifier tells of them.

    What several of them exclude together, only the rows of a shard can tell. It is one of the
    conditions of `shard_conditions.py`.
    """

    bound: BoundModel
    known: str
    excluded: Excluded = field(repr=False)
    place: int  # of the attribute among the sensitive ones
    names: tuple[str, ...]
    null_code: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The attribute that the model looks at, and the quasi-identifier."""
        return (*self.bound.model.needs, self.known)

    def holds(self, shard: Ints, joint: Joint, shards: int) -> npt.NDArray[np.bool_]:
        """Return for every shard whether the model holds, what is impossible left out."""
        book = rule_book((self.bound,), self.names)
        found = np.zeros(shards, np.bool_)
        for number in range(shards):
            own = shard == number
            counts, weights = np.zeros(self.null_code + 1, np.int64), joint.counts[own]
            np.add.at(counts, joint.codes[0][own], weights)
            people = np.zeros(self.excluded.class_of.shape[1], np.int64)
            np.add.at(people, joint.codes[1][own], weights)
            values = np.flatnonzero(people)
            failing = people_failing(
                self.excluded,
                self.place,
                values.astype(np.int32).reshape(-1, 1),
                people[values],
                _held(counts),
                book,
                new_dropping(len(counts), self.excluded),
            )
            found[number] = failing == 0
        return found


def excluded_conditions(
    frame: Table, models: Sequence[Model], pairs: Pairs
) -> tuple[KeepsExcluded, ...]:
    """Return what the models ask of shards once pairs of values are known to be incompatible."""
    names = tuple(column.name for column in frame.sensitive)
    bound = [each for each in bind_to_table(frame, models) if each.model.needs]
    found = []
    for column in frame.quasi_identifiers:
        of_column = {key: matrix for key, matrix in pairs.items() if key[0] == column.name}
        exclusions = Exclusions.of(frame, of_column)
        if exclusions is None:
            continue
        for each in bound:
            place = names.index(each.model.needs[0])
            found.append(
                KeepsExcluded(
                    each,
                    column.name,
                    exclusions.excluded,
                    place,
                    names,
                    frame.sensitive[place].null_code,
                )
            )
    return tuple(found)


def refuse_excluded(table: Table, models: Sequence[Model], exclusions: Exclusions) -> None:
    """Raise Infeasible unless the whole table satisfies the models for every kind of person.

    A partition may exist where the whole table fails, since others of the group can be chosen; it
    is not searched for.
    """
    names = tuple(column.name for column in table.sensitive)
    values = exclusions.values(table)
    people = np.ones(table.rows, np.int64)
    for bound in bind_to_table(table, models):
        if not bound.model.needs:
            continue
        place = names.index(bound.model.needs[0])
        held = _whole(table.sensitive[place])
        book = rule_book((bound,), names)
        dropping = new_dropping(len(held.by_code), exclusions.excluded)
        failing = people_failing(exclusions.excluded, place, values, people, held, book, dropping)
        if failing > 0:
            raise Infeasible(_advice(bound.model, int(failing), table.rows))
        if failing < 0:
            raise Infeasible(
                f"l = {getattr(bound.model, 'l', '?')} is infeasible: some values of "
                f"`{names[place]}` are possible for too few people to hide among, the others' "
                "quasi-identifiers being incompatible with them; use a smaller l, fewer rules, or "
                "a larger `expected`"
            )


def _whole(column: Column) -> Held:
    """Return a sensitive attribute in the whole table as one group."""
    return _held(np.bincount(column.codes, minlength=column.null_code + 1).astype(np.int64))


def _held(counts: Ints) -> Held:
    """Return an attribute in a group, so many of whose people have each code."""
    codes = np.flatnonzero(counts)
    known = counts[:-1]
    return Held(
        codes,
        counts[codes],
        counts,
        int(counts.sum()),
        int(known.sum()),
        int(np.count_nonzero(known)),
        int(known.max(initial=0)),
    )


def _advice(model: Model, people: int, rows: int) -> str:
    asked, relaxed = model.name, "ask for less (`alpha`, or a larger `collapse`)"
    if isinstance(model, LDiversity):
        asked, relaxed = f"l = {model.l}", "use a smaller l"
    return (
        f"{asked} is infeasible for {people} of {rows} people: after the values of "
        f"`{model.needs[0]}` that are incompatible with their quasi-identifiers, too few are left "
        f"in the whole table; {relaxed}, fewer rules, or a larger `expected`"
    )
