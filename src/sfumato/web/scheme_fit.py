"""What the data and the roles allow of a scheme: feasible ranges, and what stands in its way.

All of it comes from the profile of the data and the policy, so that no page reads the table; but
for flagged cells of tables that are not large (`flagged_cells.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from sfumato.jobs.set_requests import SET_METHODS
from sfumato.methods import METHODS
from sfumato.methods.dp import LARGEST_EPSILON
from sfumato.schema import Role
from sfumato.web.flagged_cells import flagged_cells
from sfumato.web.knobs import Knob
from sfumato.web.schemes import Scheme

Attributes = Mapping[str, Mapping[str, Any]]

# What a column may become whose role a scheme does not know.
WAYS_OUT: Final[Mapping[Role, Mapping[str, str]]] = {
    Role.SEMI_SENSITIVE: {
        "sensitive": "Secret for everybody",
        "quasi-identifier": "Known to others: nobody's flags are heeded",
        "insensitive": "Leave the column out",
    },
    Role.SENSITIVE_QUASI_IDENTIFIER: {
        "sensitive": "Secret: nobody knows it beforehand",
        "quasi-identifier": "Known to others: it is no secret",
        "insensitive": "Leave the column out",
    },
}
_CONTROLS: Final = ("loss_weight", "max_level", "max_width")
_BINS: Final = 50  # into so many ranges methods of sets cut numbers
_SPANNED: Final = ("mondrian", "full-domain")  # what keeps a `min_width`


@dataclass(frozen=True, slots=True)
class Range:
    """What a number may be: None where the data do not say; `is_empty` where none will do.

    `is_below`: the high end is none of it.
    """

    low: int | float
    high: int | float | None = None
    why: str = ""
    is_empty: bool = False
    is_below: bool = False

    def words(self) -> str:
        """Return the range for people to read.

        >>> Range(2, 4, "one value is common").words()
        'from 2 to 4: one value is common'
        """
        if self.is_empty:
            return self.why
        ends = f"{self.low:g} or more"
        if self.high is not None:
            ends = f"from {self.low:g} {'and below' if self.is_below else 'to'} {self.high:g}"
        return f"{ends}: {self.why}" if self.why else ends

    def holds(self, value: int | float) -> bool:
        """Whether the value lies in the range, as far as the data say."""
        if value < self.low:
            return False
        return self.high is None or value < self.high or (value == self.high and not self.is_below)

    def nearest(self, value: int | float) -> int | float:
        """Return the value, or the end of the range that is nearest."""
        value = max(value, self.low)
        return value if self.high is None else min(value, self.high)


_TOLD_BY_PREVIEW: Final = Range(2, None, "the preview tells what the flagged cells allow")


class Fit:
    """A policy's attributes beside the profile of the data, and the file that it is of."""

    def __init__(
        self, content: Mapping[str, Any], profile: Mapping[str, Any], data: Path | None = None
    ) -> None:
        self.content, self.rows, self._data = content, int(profile["rows"]), data
        self.attributes: Attributes = content["attributes"]
        self._columns = {each["name"]: each for each in profile["columns"]}

    def names(self, *roles: Role) -> list[str]:
        """Return the attributes with one of the roles."""
        return [name for name, keys in self.attributes.items() if keys["role"] in roles]

    def conflicts(self, scheme: Scheme) -> dict[str, Mapping[str, str]]:
        """Return the columns whose role the scheme does not know, with what they may become."""
        handles = METHODS[scheme.name].handles
        return {
            name: WAYS_OUT[Role(keys["role"])]
            for name, keys in self.attributes.items()
            if Role(keys["role"]) not in handles
        }

    def obstacle(self, scheme: Scheme) -> str | None:
        """Return in plain words why a scheme cannot take these roles whatever is chosen for it."""
        method = METHODS[scheme.name]
        for key in ("unit", "household"):
            if self.content.get(key) and not method.counts_units:
                return (
                    f"It needs one row a person, and here '{self.content[key]}' says which rows "
                    "belong together. Use “Nobody stands alone”."
                )
        if self.content.get("weight") and not method.weighs:
            return f"It cannot publish the weights of '{self.content['weight']}'."
        for name, keys in self.attributes.items():
            found = [key for key in _CONTROLS if key in keys]
            if found and not method.controlled:
                return f"It does not know the limit `{found[0]}` of '{name}'; remove that first."
            if keys.get("pseudonym") and not method.tells_people_apart:
                return f"It cannot publish '{name}' as a pseudonym."
            if keys.get("missing") == "value" and not method.counts_missing:
                return f"It does not count missing values of '{name}' as a secret of their own."
            if "min_width" in keys and scheme.name not in _SPANNED:
                return f"It does not know the least span (`min_width`) of '{name}'."
        return self._too_few(scheme)

    def _too_few(self, scheme: Scheme) -> str | None:
        open_roles = bool(self.conflicts(scheme))
        known = self.names(Role.QUASI_IDENTIFIER)
        secret = self.names(Role.SENSITIVE)
        if scheme.name == "lgb":
            known += self.names(Role.SEMI_SENSITIVE)
        if scheme.name in SET_METHODS:
            secret += [*known, *self.names(Role.SENSITIVE_QUASI_IDENTIFIER)]
            if not secret:
                return "It needs a secret or known column; choose one under Roles."
            return None
        if not known and not open_roles:
            return (
                "It needs at least one column that others may know (a quasi-identifier); choose "
                "one under Roles."
            )
        if scheme.secrets != "none" and not secret and not open_roles:
            return "It needs at least one secret (sensitive) column; choose one under Roles."
        if scheme.secrets == "one" and len(secret) > 1:
            return f"It takes one secret (sensitive) column, and there are {len(secret)}."
        return self._unfit_columns(scheme, known, secret)

    def _unfit_columns(self, scheme: Scheme, known: list[str], secret: list[str]) -> str | None:
        if scheme.only_numbers:
            others = [name for name in known if not self._is_number(name)]
            if others:
                return f"It takes means, and '{others[0]}' does not hold numbers or dates."
        if scheme.needs_levels:
            for name in known:
                if self._is_number(name) and "hierarchy" not in self.attributes[name]:
                    return f"It needs a hierarchy of the numbers in '{name}'; add one under Roles."
        if scheme.most_values is not None:
            for name in [*known, *secret]:
                count = self._columns.get(name, {}).get("distinct") or 0
                if count > scheme.most_values and "recode" not in self.attributes[name]:
                    return (
                        f"It takes columns of at most {scheme.most_values} different values, and "
                        f"'{name}' has {count:,}."
                    )
        if scheme.needs_domains:
            return self._without_domain([*known, *secret])
        if scheme.name == "ng":
            for name in secret:
                if self._columns.get(name, {}).get("missing"):
                    return f"It needs a value in every row, and some of '{name}' are missing."
        return None

    def _without_domain(self, names: list[str]) -> str | None:
        """Return whose values are to be stated, since the data themselves may not tell them."""
        for name in names:
            keys = self.attributes[name]
            if not ("domain" in keys or "order" in keys or isinstance(keys.get("hierarchy"), str)):
                return (
                    f"It must know beforehand what '{name}' can be, since the data are not to "
                    "tell: under Roles, “More”, state its lowest and highest value, or all values."
                )
        kept = [name for name, keys in self.attributes.items() if keys.get("keep")]
        return f"It cannot publish '{kept[0]}' exactly." if kept else None

    def _is_number(self, name: str) -> bool:
        kind = self.attributes[name].get("kind")
        if kind is not None:
            return bool(kind == "numeric")
        found = self._columns.get(name, {}).get("type")
        return found in ("whole numbers", "numbers", "dates", "times")

    # Ranges

    def of_knob(self, knob: Knob, secret: list[str]) -> Range:
        """Return what a parameter of the method may be, for these sensitive attributes."""
        if knob.kind == "people":
            return Range(2, max(self.rows, 2))
        if knob.kind == "values":
            return self._narrowest(secret)
        if knob.kind == "tables":
            return Range(1, max(len(self.names(Role.QUASI_IDENTIFIER)), 1))
        if knob.kind == "count":
            return Range(1)
        if knob.key == "suppression":
            return Range(0, 0.9999)
        low = Fraction(1, 10_000)
        if knob.kind == "number":
            return Range(float(low), LARGEST_EPSILON if knob.key == "epsilon" else None)
        if knob.key == "beta":
            shares = {name: self._largest_share(name) for name in secret}
            known = {name: share for name, share in shares.items() if share is not None}
            if known:
                name = max(known, key=lambda each: known[each])
                low = max(low, known[name])
                return Range(_up(low), 1, f"so common is one value of '{name}'")
        return Range(float(low), 0.9999 if knob.key == "keep" else 1)

    def of_l(self, scheme: Scheme, name: str, *, may_be_flagged: bool = False) -> Range:
        """Return what `l` of a single attribute may be; of some, single cells may be flagged."""
        if scheme.name == "sensitive-qid":
            return self._of_sets(name)
        if scheme.name == "rating":
            return self._of_shared_sets(name)
        is_flagged = self.attributes[name]["role"] == Role.SEMI_SENSITIVE
        if scheme.name == "lgb" and is_flagged:
            return self._of_flagged(name)
        if scheme.name == "lgb" and may_be_flagged:
            return _TOLD_BY_PREVIEW
        return self._narrowest([name])

    def _of_flagged(self, name: str) -> Range:
        """Return the l of buckets of flagged cells, of which a missing one is none."""
        found = None
        if self._data is not None:
            found = flagged_cells(self.content, name, self._data, self.rows)
        if found is None:
            return _TOLD_BY_PREVIEW
        most = found.present // found.commonest
        if most < 2:
            why = f"impossible as it is, since over half of the flagged cells of '{name}' are alike"
            return Range(2, None, why, is_empty=True)
        why = f"more is impossible, so common is one value among the flagged cells of '{name}'"
        return Range(2, most, why)

    def _narrowest(self, names: list[str]) -> Range:
        found = {name: self._largest_l(name) for name in names}
        known = {name: most for name, most in found.items() if most is not None}
        if not known:
            return Range(2)
        name = min(known, key=lambda each: known[each])
        if known[name] < 2:
            why = f"impossible as it is, since over half of the rows share one value of '{name}'"
            return Range(2, None, why, is_empty=True)
        return Range(2, known[name], f"more is impossible, so common is one value of '{name}'")

    def _largest_share(self, name: str) -> Fraction | None:
        """Return the share of the commonest value among those that are not missing.

        None where the profile does not tell: values are recoded first, or people counted.
        """
        column = self._columns.get(name)
        if column is None or "recode" in self.attributes[name] or self.content.get("unit"):
            return None
        present = self.rows - int(column["missing"])
        commonest = column.get("commonest")
        if not commonest or present <= 0:
            return None
        return Fraction(int(commonest), present)

    def _largest_l(self, name: str) -> int | None:
        share = self._largest_share(name)
        return None if share is None else math.floor(1 / share)

    def _of_sets(self, name: str) -> Range:
        keys, column = self.attributes[name], self._columns.get(name)
        stated = any(key in keys for key in ("domain", "order", "recode", "hierarchy"))
        if column is None or stated or column.get("distinct") is None:
            return Range(2)
        values = int(column["distinct"])
        if self._is_number(name):
            values = min(values, _BINS)
        values += bool(column["missing"])
        if values < 3:
            return Range(2, None, f"'{name}' has too few values: use t", is_empty=True)
        return Range(2, values - 1, f"'{name}' has {values} values or ranges")

    def _of_shared_sets(self, name: str) -> Range:
        """Return the l of sets of other people's values: groups need room for the commonest."""
        span, share = self._of_sets(name), self._largest_share(name)
        if share is None or span.high is None or self._is_number(name):
            return span
        column = self._columns[name]
        commonest = max(int(column["commonest"]), int(column["missing"]))
        most = self.rows // commonest
        if most < 2:
            why = f"impossible, since over half of the rows share one value of '{name}'"
            return Range(2, None, why, is_empty=True)
        if most >= span.high:
            return span
        return Range(2, most, f"more is impossible, so common is one value of '{name}'")


def _up(share: Fraction) -> float:
    return math.ceil(share * 10_000) / 10_000
