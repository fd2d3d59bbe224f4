"""Codes cut to a prefix, and values replaced by others from a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar, Final

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.recoding.step import Scalar, is_finite, is_scalar, misfit, plain, text_of, unfit_type
from sfumato.schema.kinds import is_text, stated_values
from sfumato.schema.text import from_texts, readable_texts, to_texts

MASKED: Final = "*"


@dataclass(frozen=True, slots=True)
class KeepPrefix:
    """Codes keep so many first characters, and one `*` stands for the rest: `mask: 3`.

    There is one `*` however many characters it hides, and one where it hides none: the length of a
    code would tell of it. An empty text stays empty.

    >>> KeepPrefix(3).recode(pa.array(["13021", "130", "9"]), "zipcode").to_pylist()
    ['130*', '130*', '9*']
    """

    length: int
    key: ClassVar[str] = "mask"

    def __post_init__(self) -> None:
        whole = isinstance(self.length, int) and not isinstance(self.length, bool)
        if not whole or self.length < 1:
            raise ParameterError(
                "`mask` needs the number of characters to keep, 1 or more; to keep none, leave "
                "the column out"
            )

    def to_json(self) -> dict[str, Any]:
        """Return the step in the words of a policy."""
        return {self.key: self.length}

    def recode(self, values: pa.Array, name: str) -> pa.Array:
        """Return the masked texts; whole numbers are masked as they are written.

        Refuses (SchemaError) columns of other types, and negative numbers.
        """
        dtype = values.type
        if not (is_text(dtype) or pa.types.is_integer(dtype)):
            raise unfit_type(self, name, dtype, "text and whole numbers")
        texts = to_texts(values).cast(pa.string())
        if pa.types.is_integer(dtype):
            negative = pc.sum(pc.starts_with(texts, "-")).as_py()
            if negative:
                raise misfit(self, name, f"is for codes, and {negative} values are negative")
        kept = pc.utf8_slice_codeunits(texts, 0, self.length)
        masked = pc.binary_join_element_wise(kept, MASKED, "")
        return pc.if_else(pc.equal(texts, ""), texts, masked)


class Keep(Enum):
    """That values which a map does not name stay as they are."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP


@dataclass(frozen=True, slots=True)
class MapValues:
    """Named values are replaced by others, or made missing: `map: {Flu: Infection, n/a: null}`.

    Values go by their text form. Those that are not named stay, or become `otherwise`. The column
    keeps its type where all new values are of it, and else becomes text.

    >>> MapValues({"Flu": "Infection"}, otherwise="Other").recode(
    ...     pa.array(["Flu", "Ulcer"]), "disease").to_pylist()
    ['Infection', 'Other']
    >>> MapValues({99: None}).recode(pa.array([7, 99]), "children").to_pylist()
    [7, None]
    """

    values: Mapping[Any, Scalar | None]
    otherwise: Scalar | Keep | None = KEEP
    key: ClassVar[str] = "map"

    def __post_init__(self) -> None:
        if not isinstance(self.values, Mapping) or not self.values:
            raise ParameterError(
                "`map` needs values and what they become, such as {Flu: Infection}"
            )
        keys = [plain(key) for key in self.values]
        new = [plain(value) for value in self.values.values()]
        if not all(map(is_scalar, keys)):
            raise ParameterError("`map` goes from texts, numbers or truth values")
        otherwise = plain(self.otherwise)
        told = [*new, *([] if otherwise is KEEP else [otherwise])]
        if not all(value is None or is_scalar(value) for value in told):
            raise ParameterError("`map` leads to texts, numbers, truth values or null")
        texts = [text_of(key) for key in keys]
        if max(Counter(texts).values()) > 1:
            raise ParameterError("`map` names a value twice")
        object.__setattr__(self, "values", dict(zip(texts, new, strict=True)))
        object.__setattr__(self, "otherwise", otherwise)

    def to_json(self) -> dict[str, Any]:
        """Return the step in the words of a policy."""
        found: dict[str, Any] = {self.key: dict(self.values)}
        return found if self.otherwise is KEEP else found | {"otherwise": self.otherwise}

    def recode(self, values: pa.Array, name: str) -> pa.Array:
        """Return what the values become.

        Refuses (SchemaError) types without a text form, and two keys that are one value there.
        """
        told = [new for new in self._news() if new is not None]
        texts = to_texts(values).cast(pa.string())
        keys = self._keys(values.type, name)
        new = pa.array(
            [None if v is None else text_of(v) for v in self.values.values()], pa.string()
        )
        places = pc.index_in(texts, value_set=pa.array(keys, pa.string()))
        otherwise = texts
        if self.otherwise is not KEEP:
            other = None if self.otherwise is None else text_of(self.otherwise)
            otherwise = pa.array([other] * len(texts), pa.string())
        found = pc.if_else(places.is_valid(), new.take(places), otherwise)
        if is_text(values.type) or not _reads_as(told, values.type):
            return found
        return from_texts(found, values.type)

    def idle(self, values: pa.Array, name: str) -> int:
        """Return how many keys are none of the values."""
        texts = to_texts(values).cast(pa.string())
        keys = pa.array(self._keys(values.type, name), pa.string())
        return int(pc.sum(pc.invert(pc.is_in(keys, value_set=texts))).as_py() or 0)

    @property
    def only_removes(self) -> bool:
        """Whether named values become missing, and all others stay."""
        return self.otherwise is KEEP and all(new is None for new in self.values.values())

    def _news(self) -> list[Scalar | None]:
        more = [] if isinstance(self.otherwise, Keep) else [self.otherwise]
        return [*self.values.values(), *more]

    def _keys(self, dtype: pa.DataType, name: str) -> list[str]:
        """Return the keys as values of the type are written: `1.0` is 1 among numbers."""
        keys = [_canonical(key, dtype) for key in self.values]
        if max(Counter(keys).values()) > 1:
            raise misfit(self, name, "names one value of the column twice")
        return keys


def _canonical(key: str, dtype: pa.DataType) -> str:
    if is_text(dtype) or readable_texts((key,), dtype):
        return key
    try:
        text: str = to_texts(stated_values((key,), dtype))[0].as_py()
    except (ValueError, pa.ArrowException):
        return key
    return text


def _reads_as(told: list[Scalar], dtype: pa.DataType) -> bool:
    """Return whether all values are written as those of the type are; a number may be shorter."""
    numeric = pa.types.is_floating(dtype) or pa.types.is_decimal(dtype)
    for value in told:
        text = text_of(value)
        own = _canonical(text, dtype)
        if text != own and not (numeric and is_finite(value) and Decimal(text) == Decimal(own)):
            return False
    return all(readable_texts((_canonical(text_of(value), dtype),), dtype) for value in told)
