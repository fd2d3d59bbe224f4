"""Before any search: can the table as a whole meet the request, and if not, what could it meet?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sfumato.errors import Infeasible, ParameterError
from sfumato.models import (
    AlphaKAnonymity,
    BoundModel,
    GroupStatistics,
    KAnonymity,
    LDiversity,
    Linkable,
    Model,
)
from sfumato.models.counting import statistics_as_one, table_totals
from sfumato.table import Table


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
        if table.units is not None and model.compares_with_whole:
            by_household = table.schema.household is not None
            one, some = ("household", "households") if by_household else ("person", "people")
            raise ParameterError(
                f"{model.name} needs one row a {one}, and some {some} have several: a release "
                f"cannot show how the {some} of the whole table are distributed; "
                "keep one row each, or ask for l-diversity"
            )
    totals = table_totals(table, names)
    return tuple(model.bind(totals) for model in models)


def refuse_several_rows(table: Table, method: str) -> None:
    """Refuse (ParameterError) people with several rows, for a method that counts rows."""
    if table.units is not None:
        raise ParameterError(
            f"{method} needs one row a person, and some people have several; "
            "keep one row each, or use mondrian"
        )


def refuse_infeasible(table: Table, models: Sequence[Model]) -> None:
    """Raise Infeasible, with what would be feasible, unless the whole table satisfies the models.

    All models here survive the union of groups, so a table that fails as one group has no
    partition that holds. (Where people have several rows a union may count some of them once
    only; then a table may be refused that a partition would have protected.)
    """
    names = tuple(dict.fromkeys(name for model in models for name in model.needs))
    bound_models = bind_to_table(table, models)
    statistics = statistics_as_one(table, names)
    for bound in bound_models:
        if not bound.holds(statistics)[0]:
            raise Infeasible(_advice(bound, statistics, _counted(table)))


def _counted(table: Table) -> str:
    """Return what the models count."""
    if table.schema.household is not None:
        return "households"
    return "rows" if table.units is None else "people"


def _advice(bound: BoundModel, statistics: GroupStatistics, counted: str) -> str:
    model = bound.model
    many = int(statistics.sizes[0])
    if isinstance(model, KAnonymity) or (isinstance(model, AlphaKAnonymity) and model.k > many):
        who = "people" if counted == "rows" else counted
        return f"k = {model.k} is more than the {many} {who} in the table; use k <= {many}"
    reached = bound.worst(statistics)
    if isinstance(model, LDiversity):
        return _diversity_advice(model, reached, counted)
    if isinstance(model, Linkable):
        return (
            f"even with the whole table as one group, an independent release of like data shares "
            f"{model.d} more of the values of `{model.attribute}` with a chance of {reached:.4g} "
            f"only, and {model.alpha:.4g} is asked for; ask for less (`alpha`, or a larger "
            "`collapse`)"
        )
    return (
        f"{model.name} of `{model.needs[0]}` cannot hold: the whole table reaches {reached:.4g}; "
        "relax the parameter"
    )


def _diversity_advice(model: LDiversity, reached: float, counted: str) -> str:
    """Return why the whole table, which reaches so much, is not l-diverse, and what would be.

    What is reached is the largest feasible l: of the table as a whole, and so of any part.
    """
    attribute, problem = model.attribute, f"l = {model.l} is infeasible"
    if model.variant == "distinct":
        values = int(reached)
        return (
            f"{problem}: `{attribute}` has {values} different values; "
            f"the largest feasible l is {max(values, 1)}"
        )
    if model.variant == "frequency":
        return (
            f"{problem}: the commonest value of `{attribute}` has {1 / reached:.1%} of the "
            f"{counted}; the largest feasible l is {int(reached)}"
        )
    if model.variant == "entropy":
        feasible = max(math.floor(reached * 100) / 100, 1)
        return (
            f"entropy {problem}: the entropy of `{attribute}` is that of {reached:.4g} equally "
            f"common values; the largest feasible l is {feasible:g}"
        )
    if math.isinf(reached):
        return f"recursive {problem}: `{attribute}` has fewer different values; use a smaller l"
    return (
        f"recursive {problem}: with it `{attribute}` needs a c above {reached:.4g}; "
        "use a larger c or a smaller l"
    )
