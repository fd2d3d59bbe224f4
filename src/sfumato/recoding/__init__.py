"""Recoding steps that a policy asks for before any method: bounds, rounding, bins, dates, codes."""

from sfumato.recoding.bins import BinInto
from sfumato.recoding.bounds import BottomCode, TopCode
from sfumato.recoding.dates import ShiftDates, TruncateTo
from sfumato.recoding.recode import idle_keys, recode, with_orders
from sfumato.recoding.rounding import RoundTo
from sfumato.recoding.step import Step
from sfumato.recoding.texts import KeepPrefix, MapValues
from sfumato.recoding.words import (
    PARAMETER,
    Steps,
    days_of_shift,
    recorded_steps,
    recording,
    shifted_columns,
    steps_from_policy,
)

__all__ = [
    "PARAMETER",
    "BinInto",
    "BottomCode",
    "KeepPrefix",
    "MapValues",
    "RoundTo",
    "ShiftDates",
    "Step",
    "Steps",
    "TopCode",
    "TruncateTo",
    "days_of_shift",
    "idle_keys",
    "recode",
    "recorded_steps",
    "recording",
    "shifted_columns",
    "steps_from_policy",
    "with_orders",
]
