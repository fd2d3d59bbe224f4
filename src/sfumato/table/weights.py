"""How many people a row stands for, and who lives together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import SchemaError
from sfumato.schema.distinct import distinct
from sfumato.schema.lazy_table import Columns
from sfumato.schema.schema import Schema


def encode_weights(data: Columns, schema: Schema) -> npt.NDArray[np.float64] | None:
    """Return the weight of every row, None if the schema names no column of weights.

    Refuses (SchemaError) weights that are no numbers, missing, infinite, or not above 0.

    >>> schema = Schema(Schema.of(age="quasi-identifier").attributes, weight="w")
    >>> encode_weights(pa.table({"age": [1, 2], "w": [10, 2.5]}), schema).tolist()
    [10.0, 2.5]
    """
    name = schema.weight
    if name is None:
        return None
    cells = data[name]
    kind = cells.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise SchemaError(f"the weights are column '{name}', which holds {kind} and no numbers")
    if cells.null_count:
        raise SchemaError(
            f"the weights of column '{name}' are missing in {cells.null_count} of {len(cells)} "
            "rows: fill them in, or drop those rows"
        )
    weights = np.array(cells.cast(pa.float64(), safe=False).to_numpy(), np.float64)
    wrong = int(np.count_nonzero(~((weights > 0) & (weights < np.inf))))
    if wrong:
        raise SchemaError(
            f"the weights of column '{name}' are not above 0 (or not finite) in {wrong} of "
            f"{len(weights)} rows: a weight says how many people a row stands for"
        )
    return weights


def encode_households(data: Columns, schema: Schema) -> npt.NDArray[np.int32] | None:
    """Return the household of every row by codes 0, 1, ...; None if the schema names no column.

    Refuses (SchemaError) missing ones.

    >>> schema = Schema(Schema.of(age="quasi-identifier").attributes, household="h")
    >>> encode_households(pa.table({"age": [1, 2, 3], "h": [7, 7, 9]}), schema).tolist()
    [0, 0, 1]
    """
    name = schema.household
    if name is None:
        return None
    found = distinct(data[name], name)
    missing = int(np.count_nonzero(found.codes == len(found.values)))
    if missing:
        raise SchemaError(
            f"the households of column '{name}' are missing in {missing} of {len(found.codes)} "
            "rows: fill them in (one who lives alone is a household), or drop those rows"
        )
    return found.codes
