"""What a form asks of columns, held against the values that they have: before a run refuses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pyarrow as pa

from sfumato.errors import SfumatoError
from sfumato.recoding import shifted_columns, steps_from_policy
from sfumato.schema import Role, Schema
from sfumato.table import encode
from sfumato.web.column_values import ColumnValues
from sfumato.web.hierarchy_levels import attribute_of
from sfumato.web.policy_form import PolicyForm
from sfumato.web.recode_form import without_place

# What is said of the values themselves, in the order in which it holds.
OF_VALUES: Final = ("recode", "kind", "order", "domain")
Keys = Mapping[str, Any]
# The values of a column under keys of a policy; None where they are too many to be kept.
Read = Callable[[Keys], ColumnValues | None]


def misfit(name: str, keys: Keys, policy: PolicyForm, read: Read) -> tuple[str, str] | None:
    """Return the key that does not fit the values of a column, and why; None if all do.

    Of `recode`, the key is followed by the number of the step.
    """
    steps = keys.get("recode")
    if steps is not None:
        listed = steps if isinstance(steps, list) else [steps]
        if shifted_columns({name: steps_from_policy(steps, name)}):
            return None  # which values there will be is drawn when a run starts
        for count in range(1, len(listed) + 1):
            try:
                read({**keys, "recode": listed[:count]})
            except SfumatoError as error:
                return f"recode-{count - 1}", without_place(str(error))
    found = read(keys)
    if found is None:
        return None
    said: dict[str, Any] = {"role": str(Role.QUASI_IDENTIFIER)}
    for key in OF_VALUES[1:]:
        if keys.get(key) is None:
            continue
        said[key] = keys[key]
        try:
            attribute = attribute_of(name, said, policy.folder)
            encode(pa.table({name: found.cells}), Schema((attribute,)))
        except SfumatoError as error:
            return key, str(error).replace(" rows ", " different values ")
    return None
