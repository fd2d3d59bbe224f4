"""Rating: sets of values that other records have, a comparator of random sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sfumato.errors import Infeasible, ParameterError
from sfumato.methods.method import Method
from sfumato.methods.sensitive_qid import (
    PROTECTED,
    SetProtection,
    check_bins,
    over_domains,
    refuse_unsuited,
)
from sfumato.models import SetDiversity
from sfumato.publish.assemble import assemble
from sfumato.publish.set_records import domain_size, records_of_sets
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.shared_sets import shared_sets
from sfumato.schema import Role
from sfumato.table import Column, Table


@dataclass(frozen=True, slots=True)
class Rating(Method):
    """Sets of l values that records share: each is the values of a group of l records.

    For every protected attribute on its own, records are dealt into groups of l whose values all
    differ (the tuples of one ID in the published ID table), and each record publishes its group's
    values. Records that are left over, because their value is too common or their number does not
    divide, publish their own value and l - 1 values of a group drawn at random. Attributes' own l
    stands in `protection`. All else is as for `SensitiveQID`: roles, domains, bins, missing values.

    *Guarantee*: set-diversity of each protected attribute.
    *Refuses*: an l that leaves no value out, and fewer than l values that occur.
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
    protection: Mapping[str, SetProtection] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.l is not None:
            SetDiversity("", self.l)
        check_bins(self.bins, self.name)
        for name, each in self.protection.items():
            if each.l is None or each != SetProtection(l=each.l):
                raise ParameterError(f"{self.name}: '{name}' can be asked for `l` only")

    def _release(self, table: Table, randomness: Randomness) -> Release:
        refuse_unsuited(table, self.name)
        whole, bins = over_domains(table, self.bins)
        models = [self._model(column) for column in whole.with_role(*PROTECTED)]
        for name in self.protection:
            if name not in (model.attribute for model in models):
                raise ParameterError(
                    f"{self.name}: `protection` names '{name}', which is not sensitive"
                )
        order = randomness.generator("records").permutation(table.rows)
        sets = {}
        for model in models:
            name, l = model.attribute, int(model.l)  # noqa: E741
            found = shared_sets(
                whole[name].codes,
                l,
                domain_size(whole[name]),
                rng=randomness.generator(f"groups of {name}"),
            )
            if found is None:
                raise Infeasible(f"'{name}': fewer than l = {l} of its values occur")
            sets[name] = found[order]
        parameters: dict[str, Any] = {
            "sets": {model.attribute: {"p": 1.0, "eta": int(model.l)} for model in models}
        }
        if bins:
            parameters["bins"] = bins
        return assemble(
            records_of_sets(whole, sets, order),
            method=self.name,
            rows=table.rows,
            models=models,
            parameters=parameters,
            is_test=randomness.is_test,
        )

    def _model(self, column: Column) -> SetDiversity:
        own = self.protection.get(column.name)
        asked = self.l if own is None else own.l
        if asked is None:
            raise ParameterError(f"{self.name}: say `l` for '{column.name}', or for all attributes")
        size = domain_size(column)
        if asked >= size:
            raise Infeasible(
                f"'{column.name}': sets of {asked} from a domain of {size} values would tell "
                + (
                    f"nothing; the largest useful `l` is {size - 1}"
                    if size > 2
                    else "nothing; use sensitive-qid with `t`"
                )
            )
        return SetDiversity(column.name, asked)
