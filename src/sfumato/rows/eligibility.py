"""Before any search: can the table as a whole meet the request, and if not, what could it meet?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.errors import Infeasible, ParameterError
from sfumato.models import (
    AlphaKAnonymity,
    BoundModel,
    GroupStatistics,
    KAnonymity,
    LDiversity,
    LUniqueGroups,
    Model,
)
from sfumato.models.counting import group_statistics, table_totals
from sfumato.table import Groups, Table


def bind_to_table(table: Table, models: Sequence[Model]) -> tuple[BoundModel, ...]:
    """Return the models bound to the totals of the table."""
    names = tuple(dict.fromkeys(name for model in models for name in model.needs))
    sensitive = {column.name for column in table.sensitive}
    for model in models:
        for name in model.needs:
            if name not in sensitive:
                raise ParameterError(
                    f"{model.name} is asked for `{name}`, which is not a sensitive attribute"
                )
    totals = table_totals(table, names)
    return tuple(model.bind(totals) for model in models)


def refuse_infeasible(table: Table, models: Sequence[Model]) -> None:
    """Raise Infeasible, with what would be feasible, unless the whole table satisfies the models.

    All models here survive the union of groups, so a table that fails as one group has no
    partition that holds.
    """
    whole = Groups(np.zeros(table.rows, dtype=np.int32), 1)
    names = tuple(dict.fromkeys(name for model in models for name in model.needs))
    for bound in bind_to_table(table, models):
        statistics = group_statistics(table, whole, names)
        if not bound.holds(statistics)[0]:
            raise Infeasible(_advice(bound, statistics))


def _advice(bound: BoundModel, statistics: GroupStatistics) -> str:
    model = bound.model
    people = int(statistics.sizes[0])
    if isinstance(model, KAnonymity):
        return f"k = {model.k} is more than the {people} people in the table; use k <= {people}"
    if isinstance(model, AlphaKAnonymity) and model.k > people:
        return f"k = {model.k} is more than the {people} people in the table; use k <= {people}"
    attribute = model.needs[0]
    if isinstance(model, (LDiversity, LUniqueGroups)):
        return diversity_advice(attribute, model, statistics)
    reached = bound.worst(statistics)
    return (
        f"{model.name} of `{attribute}` cannot hold: the whole table reaches {reached:.4g}; "
        "relax the parameter"
    )


def diversity_advice(
    attribute: str, model: LDiversity | LUniqueGroups, statistics: GroupStatistics
) -> str:
    """Return why the whole table is not l-diverse, with the largest l that is feasible."""
    histogram = statistics.histograms[attribute]
    variant = model.variant if isinstance(model, LDiversity) else "frequency"
    present = int(histogram.present[0])
    distinct = len(histogram.codes)
    largest = int(histogram.counts.max(initial=0))
    share = f"the commonest value of `{attribute}` has {largest / max(present, 1):.1%} of the rows"
    if variant == "distinct":
        return f"l = {model.l:g} is infeasible: `{attribute}` has {distinct} different values"
    if variant == "frequency":
        feasible = present // largest if largest else 0
        return f"l = {model.l:g} is infeasible: {share}; the largest feasible l is {feasible}"
    return f"{variant} l = {model.l:g} is infeasible: {share}; use a smaller l"
