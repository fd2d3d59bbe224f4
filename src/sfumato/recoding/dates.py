"""Dates and moments cut off at a unit of the calendar, or moved by secret numbers of days."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import ParameterError
from sfumato.recoding.step import misfit, unfit_type

UNITS: Final = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
_WITHIN_A_DAY: Final = UNITS[:3]
_MOST_DAYS: Final = 36_525  # a hundred years


@dataclass(frozen=True, slots=True)
class TruncateTo:
    """Dates and times become the first instant of their month, year and so on: `truncate: month`.

    Weeks start on Mondays. Moments with a zone are cut by the clock of that zone.

    >>> import datetime
    >>> TruncateTo("quarter").recode(pa.array([datetime.date(2026, 8, 9)]), "seen").to_pylist()
    [datetime.date(2026, 7, 1)]
    """

    unit: str
    key: ClassVar[str] = "truncate"

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ParameterError(f"`truncate` takes one of {', '.join(UNITS)}")

    def to_json(self) -> dict[str, Any]:
        """Return the step in the words of a policy."""
        return {self.key: self.unit}

    def recode(self, values: pa.Array, name: str) -> pa.Array:
        """Return the truncated values; the type stays.

        Refuses (SchemaError) columns that hold no dates or times, `hour` and finer units of dates,
        and days and coarser units of times of day.
        """
        dtype = values.type
        if pa.types.is_date(dtype) or pa.types.is_time(dtype):
            if (self.unit in _WITHIN_A_DAY) != pa.types.is_time(dtype):
                raise misfit(self, name, f"cannot be `{self.unit}`, since the column holds {dtype}")
            return pc.floor_temporal(values, unit=self.unit).cast(dtype)
        if not pa.types.is_timestamp(dtype):
            raise unfit_type(self, name, dtype, "dates and times")
        if dtype.tz is None:
            return pc.floor_temporal(values, unit=self.unit)
        local = pc.local_timestamp(values)
        start = pc.floor_temporal(local, unit=self.unit)
        if self.unit in _WITHIN_A_DAY:  # the hour that a clock shows twice a year stays two hours
            return pc.subtract(values, pc.subtract(local, start))
        return _in_zone(start, dtype.tz)


@dataclass(frozen=True, slots=True)
class ShiftDates:
    """Dates move by a secret number of days, one for each person: `shift: {days: 30}`.

    The number is uniform on the whole numbers from -days to days, 0 among them, and the same in
    all columns that are shifted: times between a person's dates stay what they are. The numbers
    are drawn and forgotten.
    """

    days: int
    key: ClassVar[str] = "shift"

    def __post_init__(self) -> None:
        whole = isinstance(self.days, int) and not isinstance(self.days, bool)
        if not whole or not 1 <= self.days <= _MOST_DAYS:
            raise ParameterError(f"`shift` needs `days`, a whole number from 1 to {_MOST_DAYS}")

    def to_json(self) -> dict[str, Any]:
        """Return the step in the words of a policy; no number that was drawn."""
        return {self.key: {"days": self.days}}

    def recode(self, values: pa.Array, name: str) -> pa.Array:
        """Refuse: values cannot be shifted apart from the rows that they stand in."""
        raise misfit(self, name, "moves rows and not values; nobody can apply it twice alike")

    def moved(self, cells: pa.Array, days: npt.NDArray[np.int64], name: str) -> pa.Array:
        """Return the cells, each moved by its number of days at the same time of day.

        Refuses (SchemaError) columns that hold no dates, and dates too far off for their type.
        """
        dtype = cells.type
        if not (pa.types.is_date(dtype) or pa.types.is_timestamp(dtype)):
            raise unfit_type(self, name, dtype, "dates and timestamps")
        if pa.types.is_date(dtype):
            start = cells.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
            moved = pc.add(start, pa.array(days)).cast(pa.int32()).cast(pa.date32())
            return moved.cast(dtype)
        local = cells if dtype.tz is None else pc.local_timestamp(cells)
        try:
            ticks = pc.multiply_checked(pa.array(days), _TICKS[dtype.unit])
            moved = pc.add_checked(local.cast(pa.int64()), ticks).cast(local.type)
        except pa.ArrowInvalid:
            raise misfit(
                self, name, f"leads beyond what the column, of {dtype}, can hold"
            ) from None
        return moved if dtype.tz is None else _in_zone(moved, dtype.tz)


_TICKS = {"s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


def _in_zone(local: pa.Array, zone: str) -> pa.Array:
    """Return moments that a zone's clock shows; one that it skips is the next that it shows."""
    return pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="latest")
