"""Initial partitions: any way of cutting the rows into groups that can be split l-uniquely."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.errors import ParameterError
from sfumato.models import LDiversity
from sfumato.rows.anatomy import anatomy
from sfumato.rows.correlation import correlation_partition
from sfumato.rows.mondrian import mondrian
from sfumato.rows.refine import join_ineligible
from sfumato.rows.top_down import top_down
from sfumato.table import Groups, Table

INITIAL = ("correlation", "correlation-literal", "mondrian", "top-down", "anatomy")

# One of `INITIAL`, names of columns whose equal rows stay together, or groups of the caller's own.
Initial = str | Sequence[str] | Groups


def check_initial(initial: object, method: str) -> None:
    """Refuse (ParameterError) what is no initial partition, as far as can be told without data."""
    if isinstance(initial, Groups) or (isinstance(initial, str) and initial in INITIAL):
        return
    if isinstance(initial, list | tuple) and initial and all(isinstance(n, str) for n in initial):
        if len(set(initial)) < len(initial):
            raise ParameterError(f"{method}: `initial` names a column twice")
        return
    raise ParameterError(
        f"{method}: `initial` must be one of {', '.join(INITIAL)}, or a list of columns"
    )


def initial_partition(
    table: Table,
    sensitive: Sequence[str],
    l: int,  # noqa: E741
    initial: Initial,
    *,
    rng: np.random.Generator,
) -> Groups:
    """Return groups that are l-eligible on every named attribute.

    `correlation` cuts on the attributes most associated with the sensitive ones, and
    `correlation-literal` does so to the letter of the paper; `mondrian` cuts under l-diversity;
    `top-down` makes groups of at least 2l rows; `anatomy` deals the rows (one sensitive
    attribute). A list of columns keeps rows together that agree in all of them. Groups that are
    not eligible are joined with their neighbours.
    """
    if isinstance(initial, Groups):
        if len(initial.ids) != table.rows:
            raise ParameterError(
                f"the initial partition has {len(initial.ids)} rows, and the table {table.rows}"
            )
        return join_ineligible(table, initial, sensitive, l, rng=rng)
    if not isinstance(initial, str):
        columns = {column.name: column for column in (*table.quasi_identifiers, *table.kept)}
        for name in initial:
            if name not in columns:
                raise ParameterError(
                    f"`initial` names '{name}', which is neither a quasi-identifier nor kept"
                )
        alike = Groups.of_equal([columns[name].codes for name in initial])
        return join_ineligible(table, alike, sensitive, l, rng=rng)
    if initial == "correlation":
        return correlation_partition(table, sensitive, l, rng=rng)
    if initial == "correlation-literal":
        return correlation_partition(table, sensitive, l, rng=rng, merged="final")
    if initial == "mondrian":
        groups = mondrian(table, [LDiversity(name, l) for name in sensitive], rng=rng)
        # l-diversity also holds where every value is missing, and eligibility does not
        return join_ineligible(table, groups, sensitive, l, rng=rng)
    if initial == "top-down":
        groups = top_down(table, min(2 * l, table.rows), rng=rng)
        return join_ineligible(table, groups, sensitive, l, rng=rng)
    if len(sensitive) != 1:
        raise ParameterError("`initial: anatomy` needs exactly one sensitive attribute")
    return anatomy(table, sensitive[0], l, rng=rng)
