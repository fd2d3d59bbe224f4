"""A first proposal for a schema: roles, kinds and hierarchies, each with its reason.

A proposal errs on the side of privacy: what nothing speaks for is a quasi-identifier, and what may
name a person is an identifier. Reasons hold names of columns and numbers, never values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import SchemaError
from sfumato.schema.attribute import Attribute, Kind, Role
from sfumato.schema.builders import Dates, HierarchyBuilder, Mask
from sfumato.schema.distinct import DistinctColumns
from sfumato.schema.kinds import is_text, kind_of
from sfumato.schema.names import flagged_column, is_category, is_label, is_postal, role_by_name

# Below this many rows, values that differ from row to row mean nothing.
_TELLING_ROWS = 20
# Labels of something shared by fewer than ten rows on average are taken for labels of people.
_LABEL_SHARE = 0.1
# Texts that are nearly all different are free text, which may name people.
_FREE_TEXT_SHARE = 0.9
# Whole numbers with so few values, each in many rows, are codes rather than quantities.
_FEW_CODES = 4
_ROWS_PER_CODE = 25
# A hierarchy over more dates than this would be larger than what it explains.
_MOST_DATES = 100_000

_PATTERNS = {
    "e-mail addresses": r"^[^@\s]+@[^@\s]+\.[^@\s.]+$",
    "web addresses": r"^https?://",
    "social security numbers": r"^\d{3}-\d{2}-\d{4}$",
    "telephone numbers": r"^\+\d[\d ()/-]{6,}$",
    "UUIDs": r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
    "bank accounts": r"^[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){3,7}( ?[A-Z0-9]{1,3})?$",
}
_SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("very small", "small", "medium", "large", "very large"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("none", "mild", "moderate", "severe", "critical"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed attribute, and why: the name, or numbers about the column."""

    attribute: Attribute
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class _Facts:
    """What is known about a column: its distinct values and how many rows hold each."""

    name: str
    dtype: pa.DataType
    rows: int
    values: pa.Array
    counts: npt.NDArray[np.int64]

    @property
    def distinct(self) -> int:
        return len(self.values)

    @property
    def present(self) -> int:
        return int(self.counts.sum())

    @property
    def share(self) -> float:
        """Distinct values per row that has one."""
        return self.distinct / max(self.present, 1)

    @property
    def summary(self) -> str:
        shares = self.counts / max(self.present, 1)
        entropy = abs(float(-(shares * np.log2(shares)).sum()))
        values = "value" if self.distinct == 1 else "values"
        text = (
            f"{self.distinct} distinct {values} in {self.rows} rows, entropy {entropy:.1f} bits, "
            f"largest share {shares.max(initial=0):.1%}"
        )
        missing = self.rows - self.present
        return f"{text}, {missing} missing" if missing else text


def propose(data: pa.Table, found: DistinctColumns | None = None) -> tuple[Proposal, ...]:
    """Return a proposal for every column of the table, in order.

    `found` has what was counted of its columns already.

    >>> people = pa.table({"sex": ["F", "M", "M"], "salary": [2000, 2500, 1800]})
    >>> for proposal in propose(people):  # doctest: +ELLIPSIS
    ...     print(proposal.attribute.name, "->", proposal.attribute.role, "|", proposal.reason)
    sex -> quasi-identifier | the name suggests it; 2 distinct values in 3 rows, ...
    salary -> sensitive | the name suggests it; 3 distinct values in 3 rows, ...
    """
    found = found or DistinctColumns(data)
    names = data.column_names  # made anew at every look
    return tuple(_propose(data[name], name, names, found) for name in names)


def propose_unit(
    data: pa.Table, attributes: Iterable[Attribute], found: DistinctColumns | None = None
) -> str | None:
    """Return the column that tells people apart, None where every row is a person of its own.

    Rows are people if no identifier repeats. Otherwise the label with the fewest values is taken:
    it counts the fewest people, the careful side. One with missing values cannot be the unit.
    """
    columns = found or DistinctColumns(data)
    labels: list[tuple[int, str]] = []
    rows_are_people = True
    for attribute in attributes:
        if attribute.role is Role.IDENTIFIER:
            own = columns[attribute.name]
            rows_are_people &= len(own.values) == data.num_rows
            if own.counts[-1] == 0 and is_label(attribute.name):
                labels.append((len(own.values), attribute.name))
    if rows_are_people or not labels:
        return None
    return min(labels, key=lambda label: label[0])[1]


def _propose(
    column: pa.ChunkedArray, name: str, columns: list[str], counted: DistinctColumns
) -> Proposal:
    if kind_of(column.type) is None:
        role = Role.IDENTIFIER if _is_identifier_by_name(counted, name) else Role.INSENSITIVE
        reason = f"values of type {column.type} cannot be published"
        return Proposal(Attribute(name, role), reason)
    found = counted[name]
    facts = _Facts(name, column.type, len(column), found.values, found.counts[:-1])
    role, why_role = _role(facts, columns)
    reasons = [why_role, facts.summary]
    if role in (Role.IDENTIFIER, Role.INSENSITIVE):
        return Proposal(Attribute(name, role), "; ".join(reasons))
    kind, order, why_kind = _kind(facts)
    hierarchy, why_hierarchy = None, ""
    if role is Role.QUASI_IDENTIFIER and order is None:
        hierarchy, why_hierarchy = _hierarchy(facts)
    if isinstance(hierarchy, Mask):
        kind, why_kind = Kind.CATEGORICAL, ""
    reasons += [why for why in (why_kind, why_hierarchy) if why]
    attribute = Attribute(name, role, kind=kind, order=order, hierarchy=hierarchy)
    return Proposal(attribute, "; ".join(reasons))


def _is_identifier_by_name(counted: DistinctColumns, name: str) -> bool:
    """Return whether the name says so and a table with it can be encoded."""
    if role_by_name(name) is not Role.IDENTIFIER:
        return False
    try:
        counted[name]
    except SchemaError:
        return False
    return True


def _role(facts: _Facts, columns: list[str]) -> tuple[Role, str]:
    flagged = flagged_column(facts.name, columns)
    if flagged is not None and facts.distinct <= 2:
        return Role.INSENSITIVE, f"it flags the cells of column '{flagged}'"
    if facts.rows > 1 and facts.distinct + (facts.present < facts.rows) == 1:
        return Role.INSENSITIVE, "all rows are alike, so it tells nothing"
    by_name = role_by_name(facts.name)
    if by_name is Role.IDENTIFIER:
        return Role.IDENTIFIER, "the name suggests a label of a person"
    by_value = _identifier_by_value(facts)
    if by_value:
        return Role.IDENTIFIER, by_value
    if pa.types.is_temporal(facts.values.type) and not pa.types.is_duration(facts.values.type):
        return Role.QUASI_IDENTIFIER, "dates and times of events are known to others"
    if by_name is not None:
        return by_name, "the name suggests it"
    return Role.QUASI_IDENTIFIER, "nothing speaks against others knowing it (the careful choice)"


def _identifier_by_value(facts: _Facts) -> str:
    """Return why the values look like labels of people, empty if they do not."""
    kind = facts.values.type
    if is_text(kind) and facts.distinct:
        for what, pattern in _PATTERNS.items():
            matches = pc.sum(pc.match_substring_regex(facts.values, pattern)).as_py()
            if matches > facts.distinct / 2:
                return f"{matches} of {facts.distinct} distinct values read as {what}"
    if facts.present < _TELLING_ROWS or not (is_text(kind) or pa.types.is_integer(kind)):
        return ""
    if is_label(facts.name) and role_by_name(facts.name) is None and facts.share >= _LABEL_SHARE:
        return f"the name suggests a label, with {facts.share:.2f} values a row"
    if is_text(kind) and facts.share >= _FREE_TEXT_SHARE and not is_postal(facts.name):
        return f"text that differs in {facts.share:.0%} of the rows may name people"
    if pa.types.is_integer(kind) and _is_row_number(facts):
        return "whole numbers without gap or repeat number the rows"
    return ""


def _is_row_number(facts: _Facts) -> bool:
    if facts.distinct != facts.rows:
        return False
    ends = pc.min_max(facts.values)
    return bool(ends["max"].as_py() - ends["min"].as_py() == facts.rows - 1)


def _kind(facts: _Facts) -> tuple[Kind | None, tuple[str, ...] | None, str]:
    """Return the kind, the order of an ordinal one, and the reason if the type does not say it."""
    kind = kind_of(facts.dtype)
    if kind is Kind.NUMERIC and pa.types.is_integer(facts.dtype):
        if is_category(facts.name):
            return Kind.CATEGORICAL, None, "the name suggests codes, not quantities"
        if facts.distinct <= _FEW_CODES and facts.present >= _ROWS_PER_CODE * facts.distinct:
            return Kind.CATEGORICAL, None, "so few whole numbers are codes, not quantities"
    if kind is Kind.CATEGORICAL and is_text(facts.values.type) and facts.distinct > 1:
        order = _scale(facts.values.to_pylist()) if facts.distinct <= max(map(len, _SCALES)) else ()
        if order:
            return Kind.ORDINAL, order, f"its {facts.distinct} values form a scale"
    return kind, None, ""


def _scale(values: list[str]) -> tuple[str, ...]:
    """Return the values from low to high if they are steps of a known scale."""
    steps = {value.strip().lower().replace("-", " ").replace("_", " "): value for value in values}
    for scale in _SCALES:
        if len(steps) == len(values) and steps.keys() <= set(scale):
            return tuple(steps[step] for step in scale if step in steps)
    return ()


def _hierarchy(facts: _Facts) -> tuple[HierarchyBuilder | None, str]:
    kind = facts.values.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        levels = ("month", "quarter", "year")
        if 0 < facts.distinct <= _MOST_DATES:
            finest = () if pa.types.is_date(kind) else ("day",)
            return Dates((*finest, *levels)), "dates widen to months, quarters and years"
    if is_text(kind) and facts.distinct > 1:
        lengths = pc.min_max(pc.utf8_length(facts.values))
        shortest, longest = lengths["min"].as_py(), lengths["max"].as_py()
        digits = pc.all(pc.match_substring_regex(facts.values, r"^\d+$")).as_py()
        masked = pc.any(pc.match_substring(facts.values, "*")).as_py()
        is_code = digits and 3 <= shortest == longest <= 12
        if not masked and (is_code or (is_postal(facts.name) and shortest >= 3)):
            return Mask("right"), f"codes of {longest} characters widen digit by digit"
    if pa.types.is_integer(kind) and is_postal(facts.name) and facts.distinct > 1:
        ends = pc.min_max(facts.values)
        if ends["min"].as_py() >= 0:
            digits = len(str(ends["max"].as_py()))
            return Mask("right"), f"codes of {digits} digits widen digit by digit"
    return None, ""
