"""Builders make a hierarchy for the values of a column where nobody wrote one down."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import HierarchyError, ParameterError, SchemaError
from sfumato.schema.binning import Bins, EqualWidth, Quantiles, rooted
from sfumato.schema.hierarchy import ROOT, Hierarchy
from sfumato.schema.text import to_texts

__all__ = [
    "Bins",
    "Dates",
    "EqualWidth",
    "HierarchyBuilder",
    "Mask",
    "Quantiles",
    "builder_from_policy",
]


class HierarchyBuilder(Protocol):
    """Anything that makes a hierarchy for the distinct non-missing values of a column."""

    def build(self, values: pa.Array, name: str) -> Hierarchy:
        """Return a hierarchy over the values; `name` is the column, for messages."""
        ...


@dataclass(frozen=True, slots=True)
class Mask:
    """Codes with one more character masked on each level, from the right or the left.

    Whole numbers are filled up with zeros to equal length. Shorter texts stay as they are until
    the mask reaches them.

    Refuses (HierarchyError) negative numbers, and values that contain the mask character.

    >>> Mask().build(pa.array(["130", "148"]), "zipcode").rows()
    [('130', '13*', '1**', '*'), ('148', '14*', '1**', '*')]
    """

    side: Literal["right", "left"] = "right"
    char: str = "*"

    def __post_init__(self) -> None:
        if self.side not in ("right", "left"):
            raise ParameterError("`mask` must be `right` or `left`")
        if not isinstance(self.char, str) or len(self.char) != 1:
            raise ParameterError("`char` must be a single character")

    def build(self, values: pa.Array, name: str) -> Hierarchy:
        """Return the hierarchy over the values."""
        texts = sorted(pc.unique(to_texts(values).drop_null()).to_pylist())
        codes = texts
        width = max(map(len, texts), default=0)
        if pa.types.is_integer(values.type):
            self._refuse(sum(text.startswith("-") for text in texts), name, "are negative")
            texts.sort(key=int)
            codes = [text.zfill(width) for text in texts]
        self._refuse(sum(self.char in code for code in codes), name, "contain the mask character")
        self._refuse(sum(text == ROOT for text in texts), name, f"are `{ROOT}`, the top's name")
        masked = [
            [
                self._masked(text, code, width, hidden)
                for text, code in zip(texts, codes, strict=True)
            ]
            for hidden in range(1, width)
        ]
        return rooted(texts, masked, name)

    def _masked(self, text: str, code: str, width: int, hidden: int) -> str:
        shown = width - hidden
        if shown >= len(code):
            return text
        if self.side == "right":
            return code[:shown] + self.char * hidden
        return self.char * hidden + code[len(code) - shown :]

    def _refuse(self, count: int, name: str, what: str) -> None:
        if count:
            raise HierarchyError(
                f"column '{name}': {count} values {what}, so they cannot be masked; "
                "choose another `char` or give a hierarchy file"
            )


# How the parts of a date are written, fine to coarse.
_DATE_LEVELS: dict[str, Callable[[str, str, str], str]] = {
    "day": lambda year, month, day: f"{year}-{month}-{day}",
    "month": lambda year, month, day: f"{year}-{month}",
    "quarter": lambda year, month, day: f"{year}-Q{(int(month) + 2) // 3}",
    "year": lambda year, month, day: year,
}


@dataclass(frozen=True, slots=True)
class Dates:
    """Dates or timestamps by day, month, quarter and year, or some of these.

    >>> import datetime
    >>> Dates(("month", "year")).build(pa.array([datetime.date(2026, 1, 31)]), "seen").rows()
    [('2026-01-31', '2026-01', '2026', '*')]
    """

    levels: Sequence[str] = ("day", "month", "quarter", "year")

    def __post_init__(self) -> None:
        levels = list(self.levels) if isinstance(self.levels, (list, tuple)) else []
        if not levels or levels != [level for level in _DATE_LEVELS if level in levels]:
            raise ParameterError("`dates` takes some of day, month, quarter, year, in this order")
        object.__setattr__(self, "levels", tuple(levels))

    def build(self, values: pa.Array, name: str) -> Hierarchy:
        """Return the hierarchy over the values; timestamps count by the day in their text."""
        if not (pa.types.is_date(values.type) or pa.types.is_timestamp(values.type)):
            raise HierarchyError(
                f"column '{name}': `dates` needs dates or timestamps, and the column is "
                f"{values.type}; convert it, or use another builder"
            )
        texts = to_texts(pc.unique(values.drop_null()).sort()).to_pylist()
        # From the right, since a year before 0 starts with a minus itself.
        parts = [text.partition("T")[0].rsplit("-", 2) for text in texts]
        labels = [[_DATE_LEVELS[level](*part) for part in parts] for level in self.levels]
        return rooted(texts, labels, name)


_MAKERS: dict[str, Callable[..., HierarchyBuilder]] = {
    "mask": Mask,
    "bins": Bins,
    "width": lambda width, **options: EqualWidth(width=width, **options),
    "intervals": lambda count, **options: EqualWidth(count=count, **options),
    "quantiles": Quantiles,
    "dates": lambda levels: Dates((levels,) if isinstance(levels, str) else levels),
}
_OPTIONS = {
    "char": ("mask",),
    "levels": ("width", "intervals", "quantiles"),
}


def builder_from_policy(spec: Mapping[str, Any], column: str) -> HierarchyBuilder:
    """Return the builder that a policy's `hierarchy: {...}` asks for.

    Refuses (SchemaError) unknown keys, more or less than one builder, and impossible values.

    >>> builder_from_policy({"width": 10, "levels": 3}, "age")
    EqualWidth(width=10, count=None, levels=3)
    """
    where = f"column '{column}', `hierarchy`"
    if not isinstance(spec, Mapping):
        raise SchemaError(f"{where}: give a hierarchy file or one of {', '.join(_MAKERS)}")
    for key in spec:
        if key not in _MAKERS and key not in _OPTIONS:
            known = [*_MAKERS, *_OPTIONS]
            nearest = difflib.get_close_matches(str(key), known, n=1, cutoff=0)[0]
            raise SchemaError(f"{where}: unknown key '{key}'; did you mean '{nearest}'?")
    asked = [key for key in spec if key in _MAKERS]
    if len(asked) != 1:
        raise SchemaError(f"{where}: give exactly one of {', '.join(_MAKERS)}")
    options = {key: spec[key] for key in spec if key in _OPTIONS}
    for key in options:
        if asked[0] not in _OPTIONS[key]:
            raise SchemaError(
                f"{where}: '{key}' does not go with '{asked[0]}', only with "
                f"{', '.join(_OPTIONS[key])}"
            )
    try:
        return _MAKERS[asked[0]](spec[asked[0]], **options)
    except ParameterError as error:
        raise SchemaError(f"{where}: {error}") from None
