"""Full-domain recoding: the levels of all quasi-identifiers, and the records that are withheld."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.errors import Infeasible, ParameterError
from sfumato.models import Model
from sfumato.rows.eligibility import bind_to_table, refuse_infeasible
from sfumato.rows.ladders import Ladder, at_level, ladder_of, ladders_of
from sfumato.rows.lattice import Lattice
from sfumato.rows.lattice_search import BUDGET, MOST_NODES, search
from sfumato.table import Column, Table

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Recoding:
    """A recoding of a table: levels by attribute, the group of every row, and who is withheld.

    `kept` are the rows that are published, ascending. `loss` is the weighted mean NCP with withheld
    records counted as 1; `optimal` says that no other levels lose less. `by_value` says that
    records were withheld because of their sensitive values.
    """

    levels: dict[str, int]
    group: npt.NDArray[np.int32]
    kept: Ints
    loss: float
    optimal: bool
    by_value: bool


def full_domain(
    table: Table,
    models: Sequence[Model],
    *,
    limit: int = 0,
    levels: Mapping[str, int] | None = None,
    most_nodes: int = MOST_NODES,
    budget: int = BUDGET,
) -> Recoding:
    """Return the recoding of least loss whose groups satisfy every model, and few are withheld.

    Each quasi-identifier is recoded to one level of its hierarchy, the same for all records. Groups
    that break a model are withheld, all their records, at most `limit` in all. The search is
    `rows/lattice_search.py`'s; of attributes whose `levels` are given it has no choice.

    *Guarantee*: the groups of the rows that are kept satisfy every model, by their own totals.
    *Refuses*: models that are not monotone, as Mondrian does; numbers without a hierarchy; and
    (Infeasible) tables that no levels, within their caps, protect.
    *Source*: Samarati, "Protecting Respondents' Identities in Microdata Release" (2001); pruning as
    in Kohlmayer et al., "Flash" (2012). *Departs from them*: the loss is NCP, suppression included,
    and nodes are looked at in the order of a lower bound of it, so that the best is found without a
    monotone loss.
    """
    for model in models:
        if not model.monotone:
            raise ParameterError(
                f"full-domain: {model.name} is not preserved when groups are united"
            )
    columns = table.quasi_identifiers
    ladders = [at_level(each, (levels or {}).get(each.name)) for each in ladders_of(columns)]
    bind_to_table(table, models)  # called for its refusals
    if table.rows <= limit:
        refuse_infeasible(table, models)
    lattice = Lattice(table, columns, ladders, models, limit)
    found = search(lattice, most_nodes=most_nodes, budget=budget)
    if found is None:
        raise Infeasible(_advice(table, columns, ladders, models, limit))
    group, judged = lattice.parted(found.node)
    return Recoding(
        {
            ladder.name: ladder.rungs[rung].level
            for ladder, rung in zip(ladders, found.node, strict=True)
        },
        group,
        np.flatnonzero(~judged.withheld[group]),
        found.outcome.loss,
        found.optimal,
        judged.by_value,
    )


def _advice(
    table: Table,
    columns: Sequence[Column],
    ladders: Sequence[Ladder],
    models: Sequence[Model],
    limit: int,
) -> str:
    """Return why no node will do: the table itself, or the caps, and what would help."""
    refuse_infeasible(table, models)  # says more, where the table as a whole is to blame
    coarsest = Lattice(table, columns, ladders, models, table.rows)
    withheld = coarsest.outcome(coarsest.top).withheld
    capped = [a for a, ladder in enumerate(ladders) if ladder.capped]
    allowed = f"`suppression` allows {limit} of {table.rows}"
    if not capped:
        return (
            f"no levels satisfy the models: the coarsest would withhold {withheld} records, and "
            f"{allowed}; relax the models, or allow more"
        )
    relief = {}
    for a in capped:
        free = replace(columns[a].attribute, max_level=None, max_width=None)
        freed = [*ladders]
        freed[a] = ladder_of(replace(columns[a], attribute=free))
        lattice = Lattice(table, columns, freed, models, table.rows)
        relief[ladders[a].name] = lattice.outcome(lattice.top).withheld
    return binding_cap(withheld, relief, allowed)


def binding_cap(withheld: int, relief: dict[str, int], allowed: str) -> str:
    """Return advice on caps: `relief` has how many would be withheld without each of them."""
    name = min(relief, key=lambda each: relief[each])
    return (
        f"the caps on generalisation (`max_level`, `max_width`) leave {withheld} records in groups "
        f"that break the models, and {allowed}; '{name}' binds most: without its cap "
        f"{relief[name]} would have to be withheld; loosen it, or allow more"
    )
