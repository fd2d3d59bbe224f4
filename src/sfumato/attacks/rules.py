"""What everybody knows: which sensitive values nobody with certain quasi-identifiers has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.sheet import Sheet
from sfumato.answers.verdict import SURELY, judge
from sfumato.attacks.stage import Secret, Side
from sfumato.errors import ParameterError
from sfumato.predicates.evaluate import evaluate_frame
from sfumato.predicates.expression import Predicate, negation_normal_form
from sfumato.predicates.incompatible import Incompatible
from sfumato.release import AttributeEntry, Release
from sfumato.schema.attribute import Attribute, Kind, Role
from sfumato.schema.schema import Schema
from sfumato.schema.text import from_texts

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Exclusion:
    """Values that people who meet a condition on a quasi-identifier cannot have."""

    attribute: str
    condition: Predicate
    values: Bools

    def subjects(self, side: Side, rows: Ints) -> Bools:
        """Return which people (rows of a release's original) the rule is about."""
        assert side.original is not None
        if self.attribute not in side.view.known:
            return np.zeros(len(rows), np.bool_)
        cells = side.original[self.attribute]
        entry = side.view.published[self.attribute].entry
        return _evaluate(self.condition, cells, entry)[rows]

    def classes(self, release: Release, side: Side) -> Bools:
        """Return the groups whose cells show that the rule is about all of their people."""
        if self.attribute not in side.view.known:
            return np.zeros(side.view.groups, np.bool_)
        tables = release.manifest.tables
        table = next(each.name for each in tables if self.attribute in each.attributes)
        sheet = Sheet(release, table)
        slots = sheet.read(self.attribute)
        surely = judge(slots, negation_normal_form(self.condition)).status == SURELY
        return np.logical_and.reduceat(surely[slots.of_row], sheet.starts[:-1])


def read_rules(knows: Iterable[Incompatible | str]) -> list[Incompatible]:
    """Return rules, given as such or as texts."""
    return [Incompatible.parse(rule) if isinstance(rule, str) else rule for rule in knows]


def exclusions(
    rules: Sequence[Incompatible], secret: Secret, sides: Sequence[Side]
) -> list[Exclusion]:
    """Return what the rules about a sensitive attribute exclude.

    Refuses (ParameterError) conditions that do not compare with the values of their attribute.
    """
    found = []
    for rule in rules:
        if secret.name not in rule.attributes:
            continue
        (other,) = rule.attributes - {secret.name}
        try:
            values = from_texts(pa.array([*secret.texts, None], pa.string()), secret.dtype)
        except (ValueError, pa.ArrowException):
            raise ParameterError(
                f"'{secret.name}' has other types in other releases, so no rule can be about it"
            ) from None
        entry = sides[0].view.published[secret.name].entry
        held = _evaluate(rule.conditions[secret.name], pa.chunked_array([values]), entry)
        found.append(Exclusion(other, rule.conditions[other], held))
    return found


def check_rules(
    rules: Iterable[Incompatible], secrets: Iterable[str], sides: Iterable[Side]
) -> None:
    """Refuse (ParameterError) a rule that is not about a sensitive attribute and a known one."""
    secrets, known = set(secrets), {name for side in sides for name in side.view.known}
    for rule in rules:
        if not any(
            name in secrets and rule.attributes - {name} <= known for name in rule.attributes
        ):
            names = " and ".join(f"'{name}'" for name in sorted(rule.attributes))
            raise ParameterError(
                f"a rule on {names} tells nothing: it needs a sensitive attribute and a "
                "quasi-identifier of the releases"
            )


def _evaluate(condition: Predicate, cells: pa.ChunkedArray, entry: AttributeEntry) -> Bools:
    order = None
    if entry.kind is Kind.ORDINAL and isinstance(entry.domain, tuple):
        order = entry.domain
    attribute = Attribute(entry.name, Role.INSENSITIVE, kind=entry.kind, order=order)
    return evaluate_frame(condition, pa.table({entry.name: cells}), Schema((attribute,)))
