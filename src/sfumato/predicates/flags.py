"""Which cells of semi-sensitive attributes are sensitive, by a column of flags or by a rule.

Flags are visible in a release (a cell is in a bucket or it is not), so a rule may read only what
the release shows anyway or what tells nothing: quasi-identifiers and insensitive columns.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import ParameterError, SchemaError
from sfumato.predicates.evaluate import evaluate_frame
from sfumato.predicates.parse import parse
from sfumato.schema.attribute import Attribute, Role
from sfumato.schema.lazy_table import Columns
from sfumato.schema.schema import Schema
from sfumato.table import Table

Mask = npt.NDArray[np.bool_]
_READABLE = (Role.QUASI_IDENTIFIER, Role.INSENSITIVE)


def flagged(table: Table, data: Columns) -> Table:
    """Return the coded table with the flags of its semi-sensitive columns, read from its input.

    A missing flag counts as sensitive; a rule makes a cell sensitive where it is true. Columns
    with a `density` have no flags yet: the method draws them.

    >>> from sfumato.table import encode
    >>> data = pa.table({"age": [30, 40], "hide": [True, False]})
    >>> schema = Schema((Attribute("age", Role.SEMI_SENSITIVE, flag="hide"),))
    >>> flagged(encode(data, schema), data).flags["age"].tolist()
    [True, False]
    """
    flags = {
        attribute.name: _flags(attribute, data, table.schema)
        for attribute in table.schema.with_role(Role.SEMI_SENSITIVE)
        if attribute.density is None
    }
    return replace(table, flags=flags) if flags else table


def check_rule(attribute: Attribute, schema: Schema) -> None:
    """Refuse (SchemaError, ParameterError) a rule that does not parse or reads what it may not."""
    assert attribute.when is not None
    for name in sorted(parse(attribute.when).attributes):
        role = schema[name].role if name in schema.names else None
        if role not in _READABLE:
            readable = [each.name for each in schema.with_role(*_READABLE)]
            what = f"has no role{_meant(name, readable)}" if role is None else f"is {role}"
            raise SchemaError(
                f"column '{attribute.name}': its `when` reads '{name}', which {what}; whether a "
                "cell is sensitive shows in the release, so a rule may read only "
                "quasi-identifiers and insensitive columns"
            )


def _meant(name: str, readable: list[str]) -> str:
    by_folded = {column.casefold(): column for column in readable}
    near = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return f" (did you mean '{by_folded[near[0]]}'?)" if near else ""


def _flags(attribute: Attribute, data: Columns, schema: Schema) -> Mask:
    if attribute.when is not None:
        try:
            check_rule(attribute, schema)
            return evaluate_frame(parse(attribute.when), data, schema)
        except ParameterError as error:
            raise ParameterError(f"column '{attribute.name}', `when`: {error}") from None
    cells = data[attribute.flag]
    if not pa.types.is_boolean(cells.type):
        raise SchemaError(
            f"column '{attribute.flag}' holds the flags of '{attribute.name}' and is of type "
            f"{cells.type}; make it boolean"
        )
    filled = cells.fill_null(True).combine_chunks()
    return np.array(filled.to_numpy(zero_copy_only=False), dtype=np.bool_)
