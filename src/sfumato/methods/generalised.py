"""What the comparators against composition attacks share: Mondrian under their own rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.errors import ParameterError
from sfumato.models import KAnonymity, Model
from sfumato.publish.assemble import assemble
from sfumato.publish.records import generalized_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.release.origin import LEAST_SAMPLE
from sfumato.rows.mondrian import mondrian
from sfumato.table import Table


def refuse_unsuited(table: Table, method: str) -> None:
    """Refuse (ParameterError) tables without what is generalised, and widths that are not kept."""
    if not table.quasi_identifiers:
        raise ParameterError(f"{method} needs at least one quasi-identifier")
    for column in table.sensitive:
        if column.attribute.min_width is not None:
            raise ParameterError(
                f"{method} cannot keep a `min_width` for '{column.name}'; use mondrian"
            )


def generalised_release(
    table: Table,
    k: int,
    models: Sequence[Model],
    *,
    method: str,
    parameters: Mapping[str, Any],
    randomness: Randomness,
) -> Release:
    """Return the release of Mondrian's groups under k-anonymity, the only claim, and `models`."""
    groups = mondrian(table, [KAnonymity(k), *models], rng=randomness.generator("mondrian ties"))
    return assemble(
        generalized_records(table, groups, rng=randomness.generator("records")),
        method=method,
        rows=table.rows,
        models=[KAnonymity(k)],
        parameters=parameters,
        is_test=randomness.is_test,
    )


def check_share(value: Any, key: str, method: str, *, zero: bool = False) -> None:
    """Refuse (ParameterError) anything but a share; 0 itself only if `zero` says so."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not (0 < value <= 1 or (zero and value == 0)):
        lower = "of at least 0" if zero else "above 0"
        raise ParameterError(f"{method}: `{key}` must be a number {lower} and at most 1")


def check_sample(value: Any, method: str) -> None:
    """Refuse (ParameterError) a `sample` that is no share, or one that is nobody of any table."""
    check_share(value, "sample", method)
    if value < LEAST_SAMPLE:
        raise ParameterError(f"{method}: `sample` must be at least {LEAST_SAMPLE:g}")
