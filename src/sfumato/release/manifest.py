"""The manifest: everything a release says about itself, as in `manifest.json`.

A field that says nothing (no domain, `test` false, a table not yet written to a file) is left out
of the JSON. Reading is strict: unknown keys, doubled keys, numbers in quotes and references to
attributes that are not there are all refused, since an audit rests on what the manifest says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from datetime import date, time
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, Self

import pyarrow as pa
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from sfumato.errors import ReleaseDamaged
from sfumato.release.dtypes import dtype_from_name
from sfumato.schema.attribute import RESERVED_NAMES, RESERVED_SUFFIX, Kind, Role
from sfumato.schema.text import to_texts

FORMAT: Final = "sfumato-release/1"
MANIFEST = "manifest.json"
# Far above any sensible manifest, far below what would exhaust a machine that only audits.
MAX_BYTES = 256 * 2**20
MOST_DIGITS = 40  # all whole numbers of a column have fewer

Layout = Literal["generalized", "anatomized", "sliced", "local", "sets"]
Name = Annotated[str, StringConstraints(min_length=1)]
# A table's name is the stem of a file, so it must be plain on every system.
TableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Guarantee = dict[str, JsonValue]
# No table has a million million records; a number that no file can contradict has an end, too.
Records = Annotated[int, Field(ge=0, le=10**12)]
_SILENCE = (None, False)  # by identity: a count of 0 does say something


class _Part(BaseModel):
    """A part of the manifest: unknown keys are refused, and what says nothing is not written."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, hide_input_in_errors=True, allow_inf_nan=False
    )

    @model_serializer(mode="wrap")
    def _without_silence(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = handler(self)
        return {key: fields[key] for key in fields if not any(fields[key] is x for x in _SILENCE)}


class Bounds(_Part):
    """The ends of a numeric domain: numbers, or texts (`schema/text.py`) for dates and decimals."""

    min: int | float | str
    max: int | float | str

    @field_validator("min", "max", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        if isinstance(value, date | time | Decimal):
            return to_texts(pa.array([value]))[0].as_py()
        return value


class AttributeEntry(_Part):
    """One published attribute; `domain` lists texts of values, in order where they have one.

    Among randomised sets a missing value is a value like others: null in the list.
    """

    name: Name
    role: Role
    kind: Kind
    type: str
    domain: Bounds | tuple[str | None, ...] | None = None

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if name in RESERVED_NAMES or name.endswith(RESERVED_SUFFIX):
            raise ValueError("the format uses this name itself")
        return name

    @field_validator("role")
    @classmethod
    def _is_publishable(cls, role: Role) -> Role:
        if role is Role.IDENTIFIER:
            raise ValueError("an identifier is never published")
        return role

    @field_validator("type")
    @classmethod
    def _is_known(cls, name: str) -> str:
        try:
            dtype_from_name(name)
        except ReleaseDamaged as error:
            raise ValueError(str(error)) from None
        return name

    @property
    def dtype(self) -> pa.DataType:
        """The data type of the attribute's exact values."""
        return dtype_from_name(self.type)

    @property
    def listed(self) -> tuple[str, ...]:
        """The texts of values that the domain lists, none if it lists none; without a null."""
        values = self.domain if isinstance(self.domain, tuple) else ()
        return tuple(text for text in values if text is not None)


class TableEntry(_Part):
    """One published table; `file` and `sha256` are known once it is saved.

    A table without attributes says how many there are of something in each group. `pseudonyms` are
    columns of tokens that stand for people: a table that has one is pseudonymised, not anonymous.
    `weight` is a column that says how many people each record stands for (`weights.py`).
    """

    name: TableName
    file: str | None = None
    sha256: Sha256 | None = None
    attributes: tuple[Name, ...]
    group: Literal["group"] | None = None
    count: Literal["count"] | None = None
    pseudonyms: tuple[Name, ...] | None = None
    weight: Name | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        others = (*(self.pseudonyms or ()), *([self.weight] if self.weight else []))
        _refuse_twice((*self.attributes, *others), "attribute")
        if any(n in RESERVED_NAMES or n.endswith(RESERVED_SUFFIX) for n in others):
            raise ValueError("the format uses the name of a pseudonym or weight itself")
        if not self.attributes and not (self.group and self.count):
            raise ValueError(f"table '{self.name}' has neither attributes nor counts of groups")
        # This also keeps `file` inside the folder and apart from every other table's.
        if self.file not in (None, f"{self.name}.parquet", f"{self.name}.csv"):
            raise ValueError(f"the file of table '{self.name}' must be named after the table")
        return self

    def columns(self, layout: Layout) -> tuple[str, ...]:
        """Return the columns in order; `local` tables may also lack some of the bucket columns."""
        columns: list[str] = [self.group] if self.group else []
        columns += self.pseudonyms or ()
        for name in self.attributes:
            columns += [name, name + RESERVED_SUFFIX] if layout == "local" else [name]
        columns += [self.weight] if self.weight else []
        return (*columns, self.count) if self.count else tuple(columns)


class Manifest(_Part):
    """What a release claims to be: its tables, attributes, guarantees and public parameters."""

    format: Literal["sfumato-release/1"] = FORMAT
    method: Name
    layout: Layout
    software: str
    created: date
    rows: Records
    suppressed: Records = 0
    suppressed_by_value: bool = False
    test: bool = False
    attributes: tuple[AttributeEntry, ...]
    tables: tuple[TableEntry, ...] = Field(min_length=1)
    guarantees: tuple[Guarantee, ...] = ()
    parameters: dict[str, JsonValue] = {}

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.suppressed_by_value and not self.suppressed:
            raise ValueError("records were withheld by value, and none were withheld")
        names = [entry.name for entry in self.attributes]
        _refuse_twice(names, "attribute")
        _refuse_twice((entry.name for entry in self.tables), "table")
        for entry in self.attributes:
            if self.layout != "sets" and isinstance(entry.domain, tuple) and None in entry.domain:
                raise ValueError(f"the domain of '{entry.name}' lists a missing value")
        for table in self.tables:
            if not set(table.attributes).issubset(names):
                raise ValueError(f"table '{table.name}' has an attribute that is not listed")
            if table.weight in names:
                raise ValueError("a column of weights has the name of an attribute")
        for guarantee in self.guarantees:
            if not isinstance(guarantee.get("model"), str):
                raise ValueError("a guarantee does not name its model")
            if "attribute" in guarantee and guarantee["attribute"] not in names:
                raise ValueError("a guarantee is about an attribute that is not listed")
        return self

    def attribute(self, name: str) -> AttributeEntry:
        """Return the entry of an attribute; ReleaseDamaged where there is none."""
        for entry in self.attributes:
            if entry.name == name:
                return entry
        raise ReleaseDamaged(f"the manifest has no attribute '{name}'")

    def table(self, name: str) -> TableEntry:
        """Return the entry of a table; ReleaseDamaged where there is none."""
        for entry in self.tables:
            if entry.name == name:
                return entry
        raise ReleaseDamaged(f"the manifest has no table '{name}'")

    def to_json(self) -> bytes:
        """Return the text of `manifest.json`; equal manifests give equal bytes."""
        fields = self.model_dump(mode="json")
        return (json.dumps(fields, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()

    @classmethod
    def from_json(cls, data: bytes) -> Manifest:
        """Return the manifest that the text holds; ReleaseDamaged where it does not hold one."""
        if len(data) > MAX_BYTES:
            raise ReleaseDamaged(f"{MANIFEST} is larger than {MAX_BYTES >> 20} MiB")
        try:
            text = data.decode("utf-8")
            fields = json.loads(
                text,
                object_pairs_hook=_unique,
                parse_float=_finite,
                parse_int=_whole,
                parse_constant=_finite,
            )
        except (ValueError, RecursionError):
            raise ReleaseDamaged(f"{MANIFEST} is not valid JSON") from None
        _check_format(fields)
        try:
            return cls.model_validate_json(text, strict=True)
        except ValidationError as error:
            raise ReleaseDamaged(f"{MANIFEST}: {_first_problem(error)}") from None


def _refuse_twice(names: Iterable[str], what: str) -> None:
    names = list(names)
    if len(set(names)) != len(names):
        raise ValueError(f"two {what}s have the same name")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse doubled keys: readers differ in which of them they believe."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("doubled key")
    return fields


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("not a finite number")
    return number


def _whole(text: str) -> int:
    """Refuse numbers that nothing counts: messages would repeat them, floats cannot hold them."""
    if len(text) > MOST_DIGITS:
        raise ReleaseDamaged(f"{MANIFEST} has a number of more than {MOST_DIGITS} digits")
    return int(text)


def _check_format(fields: object) -> None:
    if not isinstance(fields, dict) or not isinstance(stated := fields.get("format"), str):
        raise ReleaseDamaged(f"{MANIFEST} is not the manifest of a release")
    if stated != FORMAT:
        known = stated if re.fullmatch(r"sfumato-release/\d{1,6}", stated) else "an unknown one"
        raise ReleaseDamaged(
            f"{MANIFEST}: the format is {known}, and this version reads {FORMAT} only; "
            "a newer sfumato may read it"
        )


def _first_problem(error: ValidationError) -> str:
    """Return where and what the first problem is, on one line and without the value."""
    problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(step) for step in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    return " ".join(f"{place}: {message}".removeprefix(": ").split())[:300]
