"""The rarer settings of an attribute: which of them its role has, what fields show, and back.

A field that is sent as it was shown leaves its key as the policy has it, so that nothing is lost
by saving; so does one that is not sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from sfumato.errors import InputError
from sfumato.schema import Role
from sfumato.web import recode_form
from sfumato.web.forms import Form
from sfumato.web.typed_values import lines_of, same_text, text_of, value_of, values_of

BLANK_STEPS: Final = 2
MOST_STEPS: Final = 20
_QI, _SECRET, _SEMI = Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.SEMI_SENSITIVE
_BOTH, _ID, _OUT = Role.SENSITIVE_QUASI_IDENTIFIER, Role.IDENTIFIER, Role.INSENSITIVE
CODED: Final = (_QI, _SECRET, _SEMI, _BOTH, _OUT)
_ASKING: Final = (_SECRET, _SEMI)
_SETS: Final = (_SECRET, _BOTH)


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of an attribute: how it is asked for, and which roles have it."""

    key: str
    kind: Literal["number", "whole", "choice", "lines"]
    label: str
    hint: str
    roles: tuple[Role, ...]
    options: Mapping[str, str] | None = None


SETTINGS: Final = (
    Setting(
        "order", "lines", "Values from low to high",
        "all of them, a line each; makes the column ordered", CODED,
    ),
    Setting(
        "missing", "choice", "A missing value", "", _SETS,
        {"": "As the method usually has it", "excluded": "is no secret, and not counted",
         "value": "is a secret like any other"},
    ),
    Setting(
        "min_width", "number", "Least span of a group",
        "what the values of a group must span: a share of the range below 1, else a width",
        (_SECRET,),
    ),
    Setting(
        "variant", "choice", "How different secrets are counted", "", (*_ASKING, _BOTH),
        {"": "As usual", "frequency": "l: none is more common than 1/l (frequency)",
         "distinct": "l: l different ones (distinct)",
         "entropy": "l: by entropy", "recursive": "l: the commonest against the rare (recursive)",
         "basic": "beta: basic", "enhanced": "beta: enhanced"},
    ),
    Setting("c", "number", "Factor c", "of recursive diversity, which needs it", _ASKING),
    Setting(
        "distance", "choice", "How distance (t) is measured", "", (*_ASKING, _BOTH),
        {"": "As usual", "equal": "all values equally far apart (equal)",
         "ordered": "by their order (ordered)", "hierarchical": "by the hierarchy (hierarchical)"},
    ),
    Setting(
        "alpha", "number", "Largest share of a value (alpha)",
        "in a group; above 0, at most 1", _ASKING,
    ),
    Setting(
        "beta", "number", "Largest growth of a share (beta)",
        "of a value in a group, relative to all rows", _ASKING,
    ),
    Setting("k", "whole", "Fewest values in a set (k)", "of random sets", _SETS),
    Setting("max_eta", "whole", "Most values in a set", "of random sets", _SETS),
    Setting(
        "prior", "choice", "Whose guess t bounds", "", _SETS,
        {"": "As usual", "free": "anybody's, whatever they expect (free)",
         "data": "that of who knows the shares of values (data)"},
    ),
    Setting(
        "density", "number", "Share of cells that are secret",
        "drawn at random: for experiments only, nobody's wish is kept", (_SEMI,),
    ),
    Setting(
        "loss_weight", "number", "How much its detail matters",
        "1 as others, 2 twice as much; steers what is generalised", (_QI,),
    ),
    Setting(
        "max_level", "whole", "Highest level of its hierarchy",
        "0 is the value itself; no published cell stands higher", (_QI,),
    ),
    Setting(
        "max_width", "number", "Widest range",
        "of published ranges, without a hierarchy; days for dates, steps for an order", (_QI,),
    ),
)  # fmt: skip


def settings_of(role: Role) -> list[Setting]:
    """Return the settings that an attribute with the role can have."""
    return [each for each in SETTINGS if role in each.roles]


def shown_of(setting: Setting, keys: Mapping[str, Any]) -> str:
    """Return what the field of a setting shows of the policy."""
    value = keys.get(setting.key)
    if value is None:
        return ""
    if setting.kind == "lines":
        return lines_of(value) if isinstance(value, list) else text_of(value)
    return str(value)


def domain_fields(keys: Mapping[str, Any]) -> dict[str, str]:
    """Return what the three fields of a stated domain show: two ends, or the values."""
    given = keys.get("domain")
    if isinstance(given, Mapping):
        ends = {"low": text_of(given.get("min")), "high": text_of(given.get("max"))}
        return {**ends, "domain": ""}
    return {"low": "", "high": "", "domain": lines_of(given) if isinstance(given, list) else ""}


def word_of(keys: Mapping[str, Any]) -> str:
    """Return the word of a pseudonym, empty where it is the column's own name."""
    given = keys.get("pseudonym")
    return given if isinstance(given, str) else ""


class MoreForm:
    """What was sent of an attribute's rarer settings; `wrong` is told what is no value."""

    def __init__(
        self,
        form: Form,
        place: int,
        column: str,
        now: Mapping[str, Any],
        wrong: Callable[[str, str], None],
    ) -> None:
        self.form, self.place, self.column, self.now = form, place, column, now
        self.wrong = wrong

    def keys(self, role: Role) -> dict[str, Any]:
        """Return the keys that were changed; None for one that was emptied."""
        found: dict[str, Any] = {}
        for setting in settings_of(role):
            typed = self._typed(setting.key)
            if typed is not None and not same_text(typed, shown_of(setting, self.now)):
                found[setting.key] = self._value(setting, typed)
        if role in CODED:
            found |= self._domain() | self._recode()
        if role is Role.IDENTIFIER:
            found |= self._pseudonym()
        return found

    def _typed(self, field: str) -> str | None:
        """Return what was typed, None if the field was not sent."""
        return self.form.fields.get(f"{field}-{self.place}")

    def _value(self, setting: Setting, typed: str) -> Any:
        typed = typed.strip()
        if not typed:
            return None
        if setting.kind == "lines":
            return values_of(typed)
        if setting.kind == "choice":
            if typed not in (setting.options or {}):
                self.wrong(setting.key, "choose one of the list")
            return typed
        try:
            value = self.form.number(f"{setting.key}-{self.place}")
        except InputError:
            self.wrong(setting.key, "this is no number")
            return None
        if setting.kind == "whole" and not isinstance(value, int):
            self.wrong(setting.key, "this must be a whole number")
        return value

    def _domain(self) -> dict[str, Any]:
        typed = {field: self._typed(field) for field in ("low", "high", "domain")}
        if None in typed.values():
            return {}
        given = {field: (text or "").strip() for field, text in typed.items()}
        shown = domain_fields(self.now)
        if all(same_text(given[field], shown[field]) for field in given):
            return {}
        if given["domain"] and (given["low"] or given["high"]):
            self.wrong("domain", "a column has a lowest and highest value, or a list: not both")
        elif given["domain"]:
            return {"domain": values_of(given["domain"])}
        elif given["low"] and given["high"]:
            return {"domain": {"min": value_of(given["low"]), "max": value_of(given["high"])}}
        elif given["low"] or given["high"]:
            self.wrong("high" if given["low"] else "low", "say the lowest and the highest value")
        return {"domain": None}

    def rows(self) -> recode_form.Rows:
        """Return the rows of steps that were sent."""
        return sent_rows(self.form.fields, self.place)

    def _recode(self) -> dict[str, Any]:
        if self._typed("step-0") is None:
            return {}
        rows = self.rows()
        if recode_form.is_same(rows, self.now.get("recode")):
            return {}
        steps, is_wrong = [], False
        for number, (kind, text) in enumerate(rows):
            if not kind and not text.strip():
                continue
            try:
                steps.append(recode_form.step_of(kind, text, self.column))
            except InputError as error:
                self.wrong(f"given-{number}", str(error))
                is_wrong = True
        return {"recode": steps or None} if not is_wrong else {}

    def _pseudonym(self) -> dict[str, Any]:
        word = self._typed("word")
        if word is None:
            return {}
        is_on, word = self.form.text(f"pseudonym-{self.place}") == "yes", word.strip()
        was_on = bool(self.now.get("pseudonym"))
        if is_on == was_on and (not is_on or word == word_of(self.now)):
            return {}
        return {"pseudonym": (word or True) if is_on else None}


def sent_rows(fields: Mapping[str, str], place: int) -> recode_form.Rows:
    """Return the rows of steps among the fields of a form."""
    return [
        (fields[f"step-{number}-{place}"].strip(), fields.get(f"given-{number}-{place}", ""))
        for number in range(MOST_STEPS)
        if f"step-{number}-{place}" in fields
    ]
