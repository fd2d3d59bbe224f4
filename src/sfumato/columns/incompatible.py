"""Which values of a quasi-identifier and of a sensitive attribute never go together.

Such a pair is a fact that everybody may know: who sees a man in a group drops the diseases of women
from what he may have. Rules state pairs; the data show others, where a pair is missing although
chance alone would have brought it about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.predicates.expression import unknown_column
from sfumato.predicates.incompatible import Incompatible
from sfumato.table import Column, Table
from sfumato.table.whole import Whole

# By names of a quasi-identifier and a sensitive attribute: for each code of the one (missing last)
# and each of the other, whether they are incompatible. Pairs of attributes without any are absent.
Pairs: TypeAlias = Mapping[tuple[str, str], npt.NDArray[np.bool_]]


def incompatible_pairs(
    table: Table, rules: Iterable[Incompatible] = (), *, expected: float | None = 5.0
) -> Pairs:
    """Return the pairs of values that the rules exclude, and those that the data never show.

    The data never show a pair if no row has it although `expected` rows or more would by chance,
    were the two attributes independent; None asks for the rules alone. Missing values go with all.
    Of a part of a table, the whole tells what the data show.

    Refuses (ParameterError) rules that are not about a quasi-identifier and a sensitive attribute.
    """
    found: dict[tuple[str, str], npt.NDArray[np.bool_]] = {}
    if expected is not None:
        for known in table.quasi_identifiers:
            for hidden in table.sensitive:
                never = _never_together(known, hidden, table.whole, expected)
                found[known.name, hidden.name] = never
    for rule in rules:
        known, hidden = rule_columns(rule, table)
        pairs = rule.meets(known)[:, None] & rule.meets(hidden)[None, :]
        pairs[:, -1] = False  # a missing value may stand for any
        earlier = found.get((known.name, hidden.name))
        found[known.name, hidden.name] = pairs if earlier is None else pairs | earlier
    return {names: pairs for names, pairs in found.items() if pairs.any()}


def _never_together(
    known: Column, hidden: Column, whole: Whole | None, expected: float
) -> npt.NDArray[np.bool_]:
    pairs = np.zeros((known.null_code + 1, hidden.null_code + 1), np.bool_)
    if whole is None:
        rows = max(len(known.codes), 1)
        having = np.bincount(known.codes, minlength=known.null_code + 1)
        holding = np.bincount(hidden.codes, minlength=hidden.null_code + 1)
        together: tuple[npt.NDArray[Any], ...] = (known.codes, hidden.codes)
    else:
        rows = max(whole.rows, 1)
        having, holding = whole.counts[known.name].copy(), whole.counts[hidden.name].copy()
        together = whole.joint(known.name, hidden.name).codes
    having[-1] = holding[-1] = 0  # missing values go with all
    # only common values can be missed: few, however many there are
    some = np.flatnonzero(having * holding.max(initial=0) / rows >= expected)
    others = np.flatnonzero(holding * having.max(initial=0) / rows >= expected)
    pairs[np.ix_(some, others)] = np.outer(having[some], holding[others]) / rows >= expected
    pairs[together] = False
    return pairs


def rule_columns(rule: Incompatible, table: Table) -> tuple[Column, Column]:
    """Return the quasi-identifier and the sensitive column that a rule is about.

    Refuses (ParameterError) rules about other attributes.
    """
    for name in sorted(rule.attributes):
        if name not in table.schema.names:
            raise ParameterError(f"`incompatible`: {unknown_column(name, table.schema.names)}")
    known = [c for c in table.quasi_identifiers if c.name in rule.attributes]
    hidden = [c for c in table.sensitive if c.name in rule.attributes]
    if len(known) != 1 or len(hidden) != 1:
        raise ParameterError(
            "`incompatible`: a rule must be about a quasi-identifier and a sensitive attribute, "
            f"and one is about {' and '.join(repr(name) for name in sorted(rule.attributes))}"
        )
    return known[0], hidden[0]
