"""Recoding steps in the words of policies and manifests: mappings of one key, `{top: 90}`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from sfumato.errors import ParameterError, ReleaseDamaged, SchemaError
from sfumato.recoding.bins import BinInto
from sfumato.recoding.bounds import BottomCode, TopCode
from sfumato.recoding.dates import ShiftDates, TruncateTo
from sfumato.recoding.rounding import RoundTo
from sfumato.recoding.step import Step
from sfumato.recoding.texts import KeepPrefix, MapValues

Steps = Mapping[str, tuple[Step, ...]]
PARAMETER: Final = "recoding"  # of a manifest

_OTHERWISE = "otherwise"


def _shift(given: Any) -> ShiftDates:
    if not isinstance(given, Mapping) or list(given) != ["days"]:
        raise ParameterError("`shift` needs the days, such as {days: 30}")
    return ShiftDates(given["days"])


_MAKERS: Final[dict[str, Callable[[Any], Step]]] = {
    "top": TopCode,
    "bottom": BottomCode,
    "round": RoundTo,
    "bins": BinInto,
    "truncate": TruncateTo,
    "shift": _shift,
    "mask": KeepPrefix,
    "map": MapValues,
}


def steps_from_policy(given: Any, column: str) -> tuple[Step, ...]:
    """Return the steps that a policy's `recode: [...]` asks for, in order.

    `given` is a list of mappings with one step each, or one such mapping; steps that are made
    already may stand among them.

    Refuses (SchemaError) unknown steps, with the nearest one, mappings with no or several steps,
    impossible values, and steps before a `shift` that would give it away.

    >>> steps_from_policy([{"top": 90}, {"round": 5}], "age")
    (TopCode(value=90), RoundTo(step=5))
    """
    where = f"column '{column}', `recode`"
    listed = list(given) if isinstance(given, list | tuple) else [given]
    if not listed:
        raise SchemaError(f"{where}: the list is empty; give steps such as {{top: 90}}")
    steps = tuple(_step(each, where) for each in listed)
    if sum(isinstance(step, ShiftDates) for step in steps) > 1:
        raise SchemaError(f"{where}: `shift` stands there twice; once is enough")
    _refuse_before_shift(steps, where)
    return steps


def _refuse_before_shift(steps: Sequence[Step], where: str) -> None:
    """Refuse (SchemaError) steps that give many people one date, which a shift then moves.

    Who knows that date reads the shift off it, and undoes it in all other columns of that person. A
    date that is made missing is not moved.
    """
    place = next((at for at, step in enumerate(steps) if isinstance(step, ShiftDates)), 0)
    for step in steps[:place]:
        if not (isinstance(step, MapValues) and step.only_removes):
            raise SchemaError(
                f"{where}: `{step.key}` stands before `shift`, and makes dates equal: from what "
                "they were moved to, people's secret shifts could be read off. Shift first, then "
                f"`{step.key}`"
            )


def _step(given: Any, where: str) -> Step:
    if isinstance(given, _CLASSES):
        return given
    if not isinstance(given, Mapping):
        raise SchemaError(f"{where}: a step is a mapping such as {{top: 90}}")
    for key in given:
        if key not in _MAKERS and key != _OTHERWISE:
            known = [*_MAKERS, _OTHERWISE]
            near = get_close_matches(str(key), known, n=1, cutoff=0)[0]
            raise SchemaError(f"{where}: unknown step '{key}'; did you mean '{near}'?")
    keys = [key for key in given if key in _MAKERS]
    if len(keys) != 1:
        raise SchemaError(
            f"{where}: a mapping has one step of {', '.join(_MAKERS)}; give several as a list"
        )
    if _OTHERWISE in given and keys[0] != MapValues.key:
        raise SchemaError(f"{where}: `{_OTHERWISE}` goes with `map` alone")
    try:
        if _OTHERWISE in given:
            return MapValues(given[MapValues.key], given[_OTHERWISE])
        return _MAKERS[keys[0]](given[keys[0]])
    except ParameterError as error:
        raise SchemaError(f"{where}: {error}") from None


_CLASSES = (
    *(TopCode, BottomCode, RoundTo, BinInto),
    *(TruncateTo, ShiftDates, KeepPrefix, MapValues),
)


def days_of_shift(steps: Steps) -> int | None:
    """Return by how many days dates may move, None where none does.

    Refuses (SchemaError) columns that are to move by different numbers: a person has one shift.
    """
    days = {step.days for own in steps.values() for step in own if isinstance(step, ShiftDates)}
    if len(days) > 1:
        raise SchemaError(
            "`recode`: the columns that are shifted state different `days`; a person has one "
            "shift for all columns, so state one number"
        )
    return next(iter(days), None)


def shifted_columns(steps: Steps) -> tuple[str, ...]:
    """Return the columns whose values moved by secret numbers of days."""
    return tuple(
        name for name, own in steps.items() if any(isinstance(step, ShiftDates) for step in own)
    )


def recording(steps: Steps, published: Iterable[str]) -> dict[str, Any]:
    """Return what a manifest says of the steps of published attributes; it holds no secret."""
    names = set(published)
    return {name: [step.to_json() for step in own] for name, own in steps.items() if name in names}


def recorded_steps(parameters: Mapping[str, Any]) -> Steps:
    """Return the steps that a manifest's parameters record, none where they record none.

    Refuses (ReleaseDamaged) what no policy could have asked for.
    """
    stated = parameters.get(PARAMETER, {})
    if not isinstance(stated, Mapping):
        raise ReleaseDamaged(f"the parameter `{PARAMETER}` does not list attributes")
    found = {}
    for name, given in stated.items():
        try:
            if not isinstance(given, list):
                raise SchemaError("no list")
            found[name] = steps_from_policy(given, name)
        except SchemaError:
            raise ReleaseDamaged(
                f"the parameter `{PARAMETER}` does not say how '{name}' was recoded"
            ) from None
    return found
