"""What is known of people before any release: the sensitive values that their kind cannot have.

Who knows that drops these values from a group, and what is left must still satisfy the models: a
group of Gastritis and Ovarian Cancer is diverse, and tells a man's disease. It also tells that of
the only woman among men, so a value needs enough people who may have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sfumato.columns.incompatible import Pairs
from sfumato.errors import Infeasible
from sfumato.models import BoundModel, LDiversity, Model
from sfumato.models.model import rule_book
from sfumato.rows.eligibility import bind_to_table
from sfumato.rows.exclusion_kernels import (
    Excluded,
    Held,
    enough_may_have,
    new_dropping,
    people_failing,
)
from sfumato.table import Column, Groups, Table
from sfumato.table.whole import Joint

Codes = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Exclusions:
    """The kind of each row's person, and what is impossible for each kind.

    Quasi-identifier values that exclude the same are a class, and people of the same classes a
    kind.
    """

    kinds: Codes
    excluded: Excluded

    @classmethod
    def of(cls, table: Table, pairs: Pairs) -> Exclusions | None:
        """Return the exclusions that pairs of incompatible values imply; None without any pair."""
        if not pairs:
            return None
        names = [column.name for column in table.sensitive]
        lists: list[list[Ints]] = [[] for _ in names]
        of_rows = []
        for column in table.quasi_identifiers:
            own = [pairs.get((column.name, name)) for name in names]
            if all(found is None for found in own):
                continue
            some, class_of_code = _classes(column, own)
            of_rows.append(class_of_code[column.codes] + len(lists[0]))
            for a, found in enumerate(own):
                lists[a] += [
                    np.zeros(0, np.int64) if found is None else np.flatnonzero(found[code])
                    for code in some
                ]
        kinds = Groups.of_equal(of_rows)
        a_row = kinds.order[kinds.offsets[:-1]]
        sizes = np.array([[len(each) for each in own] for own in lists])
        ends = np.cumsum(sizes).reshape(sizes.shape)
        starts = np.concatenate([(ends - sizes)[:, :1], ends], axis=1)
        codes = np.concatenate([each for own in lists for each in own])
        classes = np.stack([ids[a_row] for ids in of_rows], axis=1)
        return cls(kinds.ids, Excluded(classes.astype(np.int32), starts, codes.astype(np.int32)))

    def of_kind(self, attribute: int, kind: int) -> Ints:
        """Return the codes of a sensitive attribute that a kind of person cannot have."""
        starts, codes = self.excluded.starts[attribute], self.excluded.codes
        own = self.excluded.classes[kind]
        return np.asarray(
            np.unique(np.concatenate([codes[starts[c] : starts[c + 1]] for c in own])), np.int64
        )


def _classes(
    column: Column, pairs: Sequence[npt.NDArray[np.bool_] | None]
) -> tuple[list[int], Codes]:
    """Return a code of each class, and the class of every code; class 0 excludes nothing."""
    shown = [found for found in pairs if found is not None]
    some = np.flatnonzero(np.logical_or.reduce([found.any(axis=1) for found in shown]))
    lines = np.concatenate([found[some] for found in shown], axis=1)
    _, first, inverse = np.unique(lines, axis=0, return_index=True, return_inverse=True)
    class_of_code = np.zeros(column.null_code + 1, np.int32)
    class_of_code[some] = inverse.reshape(-1) + 1
    # a missing value excludes nothing, unless a rule says so
    free = np.flatnonzero(class_of_code == 0)
    anyone = int(free[0]) if len(free) else int(some[0])
    return [anyone, *some[first].tolist()], class_of_code


@dataclass(frozen=True, slots=True, eq=False)
class KeepsExcluded:
    """Each shard satisfies a model for all people, as far as one quasi-identifier tells of them.

    What several of them exclude together, only the rows of a shard can tell. It is one of the
    conditions of `shard_conditions.py`.
    """

    bound: BoundModel
    known: str
    kinds: Codes = field(repr=False)  # by code of the quasi-identifier
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
            people = np.zeros(len(self.excluded.classes), np.int64)
            np.add.at(people, self.kinds[joint.codes[1][own]], weights)
            dropping = new_dropping(len(counts), self.excluded)
            held = _held(counts)
            failing = people_failing(self.excluded, self.place, people, held, book, dropping)
            found[number] = failing == 0 and enough_may_have(held, dropping)
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
        # one row a code: the kind of each code alone
        codes = np.arange(column.null_code + 1, dtype=np.int32)
        sensitive = (replace(each, codes=np.zeros_like(codes)) for each in frame.sensitive)
        columns = (replace(column, codes=codes), *sensitive)
        alone = replace(frame, columns=columns, rows=len(codes), flags={}, whole=None)
        exclusions = Exclusions.of(alone, of_column)
        if exclusions is None:
            continue
        for each in bound:
            place = names.index(each.model.needs[0])
            found.append(
                KeepsExcluded(
                    each,
                    column.name,
                    exclusions.kinds,
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
    people = np.bincount(exclusions.kinds).astype(np.int64)
    for bound in bind_to_table(table, models):
        if not bound.model.needs:
            continue
        place = names.index(bound.model.needs[0])
        held = _whole(table.sensitive[place])
        book = rule_book((bound,), names)
        dropping = new_dropping(len(held.by_code), exclusions.excluded)
        failing = people_failing(exclusions.excluded, place, people, held, book, dropping)
        if failing:
            raise Infeasible(_advice(bound.model, int(failing), table.rows))
        if not enough_may_have(held, dropping):
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
