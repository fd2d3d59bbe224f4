"""What methods of l-eligible groups ask of a table."""

from __future__ import annotations

from sfumato.errors import ParameterError
from sfumato.rows.eligibility import refuse_several_rows
from sfumato.table import Table


def sensitive_names(table: Table, method: str) -> list[str]:
    """Return the sensitive attributes of a table that a method of l-eligible groups can protect."""
    refuse_several_rows(table, method)
    if not table.quasi_identifiers:
        raise ParameterError(f"{method} needs at least one quasi-identifier")
    if not table.sensitive:
        raise ParameterError(f"{method} needs at least one sensitive attribute")
    for column in table.sensitive:
        if column.attribute.min_width is not None:
            raise ParameterError(
                f"{method} cannot keep a `min_width` for '{column.name}'; use mondrian"
            )
        if not column.cardinality:
            raise ParameterError(f"{method}: every value of `{column.name}` is missing")
    return [column.name for column in table.sensitive]
