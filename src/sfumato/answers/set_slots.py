"""What the values of a domain mean that sets are drawn from: as values, numbers or ranges.

A random set holds values of a domain, which the manifest lists. Each is read here once, as cells of
other layouts are (`reading.py`), so that a predicate is judged value by value. Numbers that were
cut into ranges (`parameters.bins`) are ranges of numbers again; and of attributes that were
randomised as one (`parameters.joint`) every part is an attribute that can be asked about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.answers.joint_parts import Joint, joints, parts_of_values
from sfumato.answers.reading import read_slots
from sfumato.answers.slots import Slots
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.predicates.expression import (
    And,
    Between,
    Comparison,
    Not,
    OneOf,
    Or,
    Predicate,
    Prefix,
    unknown_column,
)
from sfumato.release import AttributeEntry, Manifest
from sfumato.release.cells import quote
from sfumato.release.dtypes import dtype_name
from sfumato.schema.attribute import Kind, Role
from sfumato.schema.kinds import is_number, is_text
from sfumato.schema.text import from_texts, readable_texts, to_texts

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
# Types of moments that texts may be of; the text of a moment tells its unit.
_MOMENTS = (
    pa.date32(),
    *(pa.timestamp(unit, zone) for zone in (None, "UTC") for unit in ("s", "ms", "us", "ns")),
    *(pa.time32(unit) for unit in ("s", "ms")),
    *(pa.time64(unit) for unit in ("us", "ns")),
)
# Types that the texts of a part of a joint attribute may be of; the manifest does not say.
_LIKELY = (pa.bool_(), pa.int64(), pa.float64(), *_MOMENTS)


class SetDomains:
    """The attributes of a release of sets, and for each the values of the column that has it.

    `column_of` names that column: the attribute itself, or the joint attribute it is a part of.
    """

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._joints = {part: joint for joint in joints(manifest) for part in joint.parts}
        self.column_of = {part: joint.name for part, joint in self._joints.items()}
        self.column_of |= {entry.name: entry.name for entry in manifest.attributes}
        bins = manifest.parameters.get("bins", {})
        if not isinstance(bins, Mapping):
            raise ReleaseDamaged("the parameter `bins` does not list attributes")
        self._bins = bins
        self._slots: dict[tuple[str, bool], Slots] = {}

    def check(self, name: str) -> None:
        """Refuse (ParameterError) an attribute that is not published, with the nearest that is."""
        if name not in self.column_of:
            raise ParameterError(
                f"this release does not answer: {unknown_column(name, self.column_of)}"
            )

    def read(self, name: str, values: pa.Array, predicate: Predicate | None = None) -> Slots:
        """Return the slots of an attribute: `of_row` has that of each value of its column.

        Of a part of a joint attribute the manifest does not tell the type. It is read as the
        narrowest type that all of its texts have, and as text where the predicate says so.

        Refuses (ReleaseDamaged) values that do not read as what the manifest says they are.
        """
        is_part = name in self._joints and self.column_of[name] != name
        as_text = is_part and name not in self._bins and _asks_for_text(predicate)
        if (name, as_text) not in self._slots:
            if is_part:
                found = self._read_part(self._joints[name], name, as_text)
            else:
                found = self._read_whole(self._manifest.attribute(name), values)
            self._slots[name, as_text] = found
        return self._slots[name, as_text]

    def _read_whole(self, entry: AttributeEntry, values: pa.Array) -> Slots:
        if entry.name in self._bins:
            return self._read_ranges(entry.name, to_texts(values))
        kind = entry.kind
        if is_number(entry.dtype) and kind is Kind.ORDINAL and _ascends(values):
            kind = Kind.NUMERIC  # sets know numbers as a list, and questions name any number
        listed = None if kind is Kind.NUMERIC else tuple(_known(to_texts(values)))
        entry = entry.model_copy(update={"kind": kind, "domain": listed})
        return _read(entry, values)

    def _read_part(self, joint: Joint, name: str, as_text: bool) -> Slots:
        entry = self._manifest.attribute(joint.name)
        place = joint.parts.index(name)
        texts = [parts[place] for parts in parts_of_values(entry, joint)]
        if name in self._bins:
            return self._read_ranges(name, pa.array(texts, pa.string()))
        known = tuple(dict.fromkeys(text for text in texts if text is not None))
        dtype = pa.string() if as_text else _type_of(known)
        values = from_texts(pa.array(texts, pa.string()), dtype)
        kind, listed = Kind.NUMERIC, None
        if not is_number(dtype):
            # the values of an ordinal attribute stand in their order, others in that of their texts
            kind = Kind.CATEGORICAL if list(known) == sorted(known) else Kind.ORDINAL
            listed = known
        return _read(_entry(name, kind, dtype, listed), values)

    def _read_ranges(self, name: str, texts: pa.Array) -> Slots:
        edges = self._bins[name]
        if not isinstance(edges, list) or len(edges) < 2:
            raise ReleaseDamaged(f"the parameter `bins` has no edges for '{name}'")
        entry = _entry(name, Kind.NUMERIC, _type_of_edges(edges), None)
        return read_slots(pa.table({name: texts}), entry, None)


@dataclass(frozen=True, slots=True)
class _Literals:
    """All literals of a predicate, and whether it asks how texts begin."""

    values: tuple[Any, ...]
    has_prefix: bool


def _asks_for_text(predicate: Predicate | None) -> bool:
    """Return whether a predicate only makes sense for texts."""
    found = _literals(predicate)
    dates = [isinstance(value, str) and _DATE.match(value) is not None for value in found.values]
    texts = [isinstance(value, str) for value in found.values]
    return found.has_prefix or (any(texts) and not all(dates))


def _literals(predicate: Predicate | None) -> _Literals:
    match predicate:
        case And(parts) | Or(parts):
            several = [_literals(part) for part in parts]
            values = tuple(value for each in several for value in each.values)
            return _Literals(values, any(each.has_prefix for each in several))
        case Not(part):
            return _literals(part)
        case Comparison(_, _, value):
            return _Literals((value,), False)
        case Between(_, low, high):
            return _Literals((low, high), False)
        case OneOf(_, values):
            return _Literals(values, False)
        case Prefix():
            return _Literals((), True)
    return _Literals((), False)


def _read(entry: AttributeEntry, values: pa.Array) -> Slots:
    if is_text(values.type):
        texts = [None if text is None else quote(text) for text in to_texts(values).to_pylist()]
        values = pa.array(texts, pa.string())
    return read_slots(pa.table({entry.name: values}), entry, None)


def _entry(
    name: str, kind: Kind, dtype: pa.DataType, listed: tuple[str, ...] | None
) -> AttributeEntry:
    role, type_ = Role.SENSITIVE_QUASI_IDENTIFIER, dtype_name(dtype)
    return AttributeEntry(name=name, role=role, kind=kind, type=type_, domain=listed)


def _type_of(texts: tuple[str, ...]) -> pa.DataType:
    """Return the first type that all of the texts are those of values of; else that of texts."""
    for dtype in _LIKELY:
        if texts and readable_texts(texts, dtype) == texts:
            return dtype
    return pa.string()


def _type_of_edges(edges: list[Any]) -> pa.DataType:
    """Return the type of numbers whose ranges have these edges, which JSON has as it can."""
    if all(isinstance(edge, int) and abs(edge) < 2**63 for edge in edges):
        return pa.int64()
    texts = tuple(str(edge) for edge in edges)
    return next(
        (dtype for dtype in _MOMENTS if readable_texts(texts, dtype) == texts), pa.float64()
    )


def _known(texts: pa.Array) -> list[str]:
    return [text for text in texts.to_pylist() if text is not None]


def _ascends(values: pa.Array) -> bool:
    known = values.drop_null()
    return bool(known.equals(known.take(pc.sort_indices(known))))
