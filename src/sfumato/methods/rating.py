"""Rating: sets of values that other records have, a comparator of random sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato.errors import Infeasible, ParameterError
from sfumato.methods.method import Method
from sfumato.methods.sensitive_qid import (
    PROTECTED,
    SetProtection,
    associated,
    check_bins,
    over_domains,
    refuse_unsuited,
)
from sfumato.models import SetAnonymity, SetDiversity
from sfumato.models.model import one_of
from sfumato.models.sets import SetModel
from sfumato.publish.assemble import assemble
from sfumato.publish.set_domains import stated_types
from sfumato.publish.set_records import domain_size, records_of_sets
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.shared_sets import left_over, shared_sets
from sfumato.schema import Role
from sfumato.table import Column, Table


@dataclass(frozen=True, slots=True)
class Rating(Method):
    """Sets of l values that records share: each is of the values of a group of l records or more.

    For every protected attribute on its own, records are dealt into groups whose values all differ
    (the tuples of one ID in the published ID table), and each record publishes l of its group's
    values, its own among them. A value that more than 1/l of the records have is refused; with
    `left_over: repeat` its records that no group has room for repeat other records' sets.
    Attributes' own l stands in `protection`. All else is as for `SensitiveQID`: roles, domains,
    bins, missing values.

    *Guarantee*: set-diversity of each protected attribute; to those who know how common values are
    as well. Of an attribute with records left over, set-anonymity alone: their value is likelier.
    *Refuses*: an l that leaves no value out, and a value that more than 1/l of the records have.
    *Source*: Liu et al., as Sei et al. describe it in section III: "adds values based on other
    records' sensitive QID values". How groups are found and what becomes of records left over is
    not told there, and is assumed. The p = 1 of `parameters.sets` is true of the own value; that
    the others were uniform is not.
    """

    name: ClassVar[str] = "rating"
    handles: ClassVar[frozenset[Role]] = frozenset(set(Role) - {Role.SEMI_SENSITIVE})
    counts_missing: ClassVar[bool] = True
    l: int | None = None  # noqa: E741 -- the parameter's name in every paper
    bins: int = 50
    left_over: Literal["refuse", "repeat"] = "refuse"
    protection: Mapping[str, SetProtection] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.l is not None:
            SetDiversity("", self.l)
        check_bins(self.bins, self.name)
        one_of(self.left_over, ("refuse", "repeat"), "left_over", self.name)
        for name, each in self.protection.items():
            if each.l is None or each != SetProtection(l=each.l):
                raise ParameterError(f"{self.name}: '{name}' can be asked for `l` only")

    def doubts(self, table: Table) -> tuple[str, ...]:
        """Return which attributes tell of each other, and how many records are left over."""
        found = associated(table, (), "leave one out, or use sensitive-qid with `joint`")
        if self.left_over == "refuse":
            return tuple(found)
        whole, _ = over_domains(table, self.bins)
        for column in whole.with_role(*PROTECTED):
            l = self._asked(column)  # noqa: E741
            outside = left_over(_counts(column), l)
            if outside:
                found.append(
                    f"{outside} of {table.rows} records of '{column.name}' are left over, since "
                    f"their value is too common for groups of {l}: they repeat other records' "
                    f"sets, and their value is guessed with a chance above 1/{l}; sensitive-qid "
                    "with `t` protects them"
                )
        return tuple(found)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        refuse_unsuited(table, self.name)
        whole, bins = over_domains(table, self.bins)
        columns = whole.with_role(*PROTECTED)
        for name in self.protection:
            if name not in (column.name for column in columns):
                raise ParameterError(
                    f"{self.name}: `protection` names '{name}', which is not sensitive"
                )
        models = [self._model(column) for column in columns]
        order = randomness.generator("records").permutation(table.rows)
        sets, stated = {}, {}
        for column in columns:
            name, l = column.name, self._asked(column)  # noqa: E741
            rng = randomness.generator(f"groups of {name}")
            found = shared_sets(column.codes, l, domain_size(column), rng=rng)
            assert found is not None, "l values occur, or else there is no model"
            sets[name] = found[order]
            stated[name] = {"p": 1.0, "eta": l}
        parameters: dict[str, Any] = {"sets": stated}
        if bins:
            parameters["bins"] = bins
            parameters["types"] = stated_types([c for c in table.columns if c.name in bins])
        return assemble(
            records_of_sets(whole, sets, order),
            method=self.name,
            rows=table.rows,
            models=models,
            parameters=parameters,
            is_test=randomness.is_test,
        )

    def _asked(self, column: Column) -> int:
        own = self.protection.get(column.name)
        asked = self.l if own is None else own.l
        if asked is None:
            raise ParameterError(f"{self.name}: say `l` for '{column.name}', or for all attributes")
        return int(asked)

    def _model(self, column: Column) -> SetModel:
        """Return what the sets of an attribute keep; refuse an l that they cannot have."""
        name, l, size = column.name, self._asked(column), domain_size(column)  # noqa: E741
        if l >= size:
            raise Infeasible(
                f"'{name}': sets of {l} from a domain of {size} values would tell "
                + (
                    f"nothing; the largest useful `l` is {size - 1}"
                    if size > 2
                    else "nothing; use sensitive-qid with `t`"
                )
            )
        counts = _counts(column)
        if np.count_nonzero(counts) < l:
            raise Infeasible(f"'{name}': fewer than l = {l} of its values occur")
        outside = left_over(counts, l)
        if outside and self.left_over == "refuse":
            most = int(counts.sum() // counts.max())
            advice = f"l <= {most}, " if most > 1 else ""
            raise Infeasible(
                f"l = {l} is infeasible for '{name}': {outside} records have a value too common "
                f"for groups of {l}; use {advice}sensitive-qid with `t`, or `left_over: repeat`, "
                "which claims less"
            )
        return SetAnonymity(name, l) if outside else SetDiversity(name, l)


def _counts(column: Column) -> npt.NDArray[np.int64]:
    return np.bincount(column.codes, minlength=domain_size(column))
