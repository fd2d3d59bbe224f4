"""What is known of people before any release: the sensitive values that their kind cannot have.

Who knows that drops these values from a group, and what is left must still satisfy the models: a
group of Gastritis and Ovarian Cancer is diverse, and tells a man's disease. It also tells that of
the only woman among men, so a value needs enough people who may have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.columns.incompatible import Pairs
from sfumato.errors import Infeasible
from sfumato.models import GroupStatistics, Histogram, LDiversity, Model
from sfumato.rows.eligibility import bind_to_table
from sfumato.table import Groups, Table


@dataclass(frozen=True, slots=True, eq=False)
class Exclusions:
    """The kind of each row's person, and what is impossible for each kind.

    `impossible[a, kind, code]`: whether the a-th sensitive attribute cannot have the code. Kind 0
    need not be free of exclusions.
    """

    kinds: npt.NDArray[np.int32]
    impossible: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, table: Table, pairs: Pairs) -> Exclusions | None:
        """Return the exclusions that pairs of incompatible values imply; None without any pair.

        A kind is a set of excluded values: people of different quasi-identifiers may be of one.
        """
        if not pairs:
            return None
        sensitive = table.sensitive
        width = max(column.null_code for column in sensitive) + 1
        classes, excluded = [], []
        for column in table.quasi_identifiers:
            by_code = np.zeros((column.null_code + 1, len(sensitive), width), np.bool_)
            for a, hidden in enumerate(sensitive):
                found = pairs.get((column.name, hidden.name))
                if found is not None:
                    by_code[:, a, : found.shape[1]] = found
            rows = by_code.reshape(len(by_code), -1)
            different, inverse = np.unique(rows, axis=0, return_inverse=True)
            if len(different) > 1 or different.any():
                classes.append(inverse.reshape(-1)[column.codes])
                excluded.append(different)
        combined = Groups.of_equal(classes)
        some = combined.order[combined.offsets[:-1]]  # a row of every combination
        union = np.zeros((combined.count, len(sensitive) * width), np.bool_)
        for ids, different in zip(classes, excluded, strict=True):
            union |= different[ids[some]]
        kinds, kind_of = np.unique(union, axis=0, return_inverse=True)
        impossible = kinds.reshape(len(kinds), len(sensitive), width).transpose(1, 0, 2)
        return cls(
            kind_of.reshape(-1)[combined.ids].astype(np.int32), np.ascontiguousarray(impossible)
        )


def refuse_excluded(table: Table, models: Sequence[Model], exclusions: Exclusions) -> None:
    """Raise Infeasible unless the whole table satisfies the models for every kind of person.

    A partition may exist where the whole table fails, since others of the group can be chosen; it
    is not searched for.
    """
    names = [column.name for column in table.sensitive]
    people = np.bincount(exclusions.kinds, minlength=exclusions.impossible.shape[1])
    for bound in bind_to_table(table, models):
        if not bound.model.needs:
            continue
        name = bound.model.needs[0]
        column = table[name]
        counts = np.bincount(column.codes, minlength=column.null_code + 1)
        possible = ~exclusions.impossible[names.index(name)][:, : len(counts)]
        kind, code = np.nonzero(possible & (counts > 0))
        histogram = Histogram.count(
            kind.astype(np.int64), code, counts[code], len(people), column.null_code
        )
        statistics = GroupStatistics(np.full(len(people), table.rows), {name: histogram})
        failing = ~bound.holds(statistics)
        if failing.any():
            raise Infeasible(_advice(bound.model, int(people[failing].sum()), table.rows))
        if isinstance(bound.model, LDiversity):
            _refuse_exclusive(bound.model, counts[:-1], people @ possible[:, :-1], table.rows)


def _refuse_exclusive(
    model: LDiversity, counts: npt.NDArray[np.int64], may_have: npt.NDArray[np.int64], rows: int
) -> None:
    """Refuse values that too few people may have: one of them would have it for sure."""
    needed = counts * int(model.l) if model.variant == "frequency" else int(model.l)
    crowded = (counts > 0) & (may_have < rows) & (may_have < needed)
    if crowded.any():
        raise Infeasible(
            f"l = {model.l} is infeasible: {int(crowded.sum())} of the values of "
            f"`{model.attribute}` are possible for too few people to hide among, the others' "
            "quasi-identifiers being incompatible with them; use a smaller l, fewer rules, or a "
            "larger `expected`"
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
