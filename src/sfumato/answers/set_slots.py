"""What the values of a domain mean that sets are drawn from: as values, numbers or ranges.

A random set holds values of a domain, which the manifest lists. Each is read here once, as cells of
other layouts are (`reading.py`), so that a predicate is judged value by value. Numbers that were
cut into ranges (`parameters.bins`) are ranges of numbers again; and of attributes that were
randomised as one (`parameters.joint`) every part is an attribute that can be asked about.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.answers.joint_parts import joints, parts_of_values
from sfumato.answers.reading import read_slots
from sfumato.answers.slots import Slots
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.predicates.expression import unknown_column
from sfumato.release import AttributeEntry, Manifest
from sfumato.release.cells import quote
from sfumato.release.dtypes import dtype_from_name, dtype_name
from sfumato.schema.attribute import Kind, Role
from sfumato.schema.kinds import is_number, is_text
from sfumato.schema.text import from_texts, to_texts


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
        self._slots: dict[str, Slots] = {}

    def check(self, name: str) -> None:
        """Refuse (ParameterError) an attribute that is not published, with the nearest that is."""
        if name not in self.column_of:
            raise ParameterError(
                f"this release does not answer: {unknown_column(name, self.column_of)}"
            )

    def is_binned(self, name: str) -> bool:
        """Return whether an attribute's numbers were cut into ranges."""
        return name in self._bins

    def read(self, name: str, values: pa.Array) -> Slots:
        """Return the slots of an attribute: `of_row` has that of each value of its column.

        Refuses (ReleaseDamaged) values that do not read as what the manifest says they are.
        """
        if name not in self._slots:
            if self.is_binned(name):
                entry, texts = self.ranges(name, values)
                self._slots[name] = read_slots(pa.table({name: texts}), entry, None)
            elif self.column_of[name] != name:
                self._slots[name] = self._read_part(name, values)
            else:
                self._slots[name] = self._read_whole(self._manifest.attribute(name), values)
        return self._slots[name]

    def _read_whole(self, entry: AttributeEntry, values: pa.Array) -> Slots:
        kind = entry.kind
        if is_number(entry.dtype) and kind is Kind.ORDINAL and _ascends(values):
            kind = Kind.NUMERIC  # sets know numbers as a list, and questions name any number
        listed = None if kind is Kind.NUMERIC else tuple(_known(to_texts(values)))
        entry = entry.model_copy(update={"kind": kind, "domain": listed})
        return _read(entry, values)

    def values(self, name: str, values: pa.Array) -> pa.Array:
        """Return an attribute's value for each value of its column; not of ranges.

        Refuses (ReleaseDamaged) parts that are not of the type that the manifest says.
        """
        if self.column_of[name] == name:
            return values
        texts = pa.array(self._texts_of_part(name), pa.string())
        try:
            return from_texts(texts, self._form(name)[0])
        except (ValueError, pa.ArrowException):
            raise ReleaseDamaged(f"'{name}' has values that are not of its type") from None

    def ranges(self, name: str, values: pa.Array) -> tuple[AttributeEntry, pa.Array]:
        """Return what a binned attribute is, and its range for each value of its column."""
        is_whole = self.column_of[name] == name
        texts = to_texts(values) if is_whole else pa.array(self._texts_of_part(name), pa.string())
        return _entry(name, Kind.NUMERIC, self._form(name)[0], None), texts

    def _texts_of_part(self, name: str) -> list[str | None]:
        joint = self._joints[name]
        place = joint.parts.index(name)
        return [
            each[place] for each in parts_of_values(self._manifest.attribute(joint.name), joint)
        ]

    def _read_part(self, name: str, values: pa.Array) -> Slots:
        kind, own = self._form(name)[1], self.values(name, values)
        # the values of an ordinal part stand in their order
        known = tuple(dict.fromkeys(_known(to_texts(own))))
        return _read(_entry(name, kind, own.type, None if kind is Kind.NUMERIC else known), own)

    def _form(self, name: str) -> tuple[pa.DataType, Kind]:
        """Return the type and kind of an attribute that the release shows as labels."""
        types = self._manifest.parameters.get("types")
        stated = types.get(name) if isinstance(types, Mapping) else None
        if not isinstance(stated, Mapping):
            stated = {}
        try:
            return dtype_from_name(str(stated.get("type"))), Kind(str(stated.get("kind")))
        except (ReleaseDamaged, ValueError):
            raise ReleaseDamaged(
                f"the parameter `types` does not say what '{name}' holds"
            ) from None


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


def _known(texts: pa.Array) -> list[str]:
    return [text for text in texts.to_pylist() if text is not None]


def _ascends(values: pa.Array) -> bool:
    known = values.drop_null()
    return bool(known.equals(known.take(pc.sort_indices(known))))
