"""Sensitive quasi-identifiers: every protected cell becomes a random set of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.columns.association import coarse_codes
from sfumato.errors import Infeasible, ParameterError
from sfumato.measures.association import phi_squared
from sfumato.measures.set_randomization import Randomization, choose, mass_interval
from sfumato.methods.method import Method
from sfumato.methods.splitting import Splitting, refuse_unsplittable
from sfumato.models import SetAnonymity, SetCloseness, SetDiversity
from sfumato.models.model import positive_integer
from sfumato.models.sets import SetModel
from sfumato.publish.assemble import assemble
from sfumato.publish.set_domains import joined, joint_name, over_domain, stated_types
from sfumato.publish.set_records import domain_size, set_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Kind, Role, Schema
from sfumato.table import Column, Table
from sfumato.table.whole import Joint

PROTECTED = (Role.SENSITIVE_QUASI_IDENTIFIER, Role.SENSITIVE)
# Attributes that go together more than this tell of each other's sets.
STRONG = 0.1
# Rows enough to see such an association.
_SAMPLE = 50_000
_NAMED = 5  # pairs in a warning


@dataclass(frozen=True, slots=True)
class SetProtection:
    """What the sets of one attribute must keep: l, t or k, and how they may be chosen."""

    l: float | None = None  # noqa: E741 -- the parameter's name in every paper
    t: float | None = None
    k: int | None = None
    max_eta: int | None = None
    prior: Literal["free", "data"] = "free"
    distance: Literal["equal", "ordered"] = "equal"
    variant: Literal["frequency", "entropy"] = "frequency"

    def __post_init__(self) -> None:
        self.models("")
        SetCloseness("", 1, self.distance, self.prior)
        SetDiversity("", 1, self.variant)
        if self.max_eta is not None:
            positive_integer(self.max_eta, "max_eta", "sensitive-qid")

    @property
    def asks(self) -> bool:
        """Whether it asks for anything."""
        return (self.l, self.t, self.k) != (None, None, None)

    def models(self, name: str) -> list[SetModel]:
        """Return the models that it asks for."""
        found: list[SetModel] = []
        if self.l is not None:
            found.append(SetDiversity(name, self.l, self.variant))
        if self.t is not None:
            found.append(SetCloseness(name, self.t, self.distance, self.prior))
        if self.k is not None:
            found.append(SetAnonymity(name, self.k))
        return found

    def stricter(self, other: SetProtection) -> SetProtection:
        """Return the protection that keeps what both ask for."""
        by_data = self.prior == other.prior == "data"
        # of two l the larger counts, in its own variant
        larger = self if (self.l or 0) >= (other.l or 0) else other
        return replace(
            self,
            l=larger.l,
            t=min((each for each in (self.t, other.t) if each is not None), default=None),
            k=max((each for each in (self.k, other.k) if each is not None), default=None),
            max_eta=min(
                (each for each in (self.max_eta, other.max_eta) if each is not None), default=None
            ),
            prior="data" if by_data else "free",
            distance="equal",  # combinations have no order, and it is the stricter one
            variant=larger.variant,
        )

    @property
    def is_idle(self) -> bool:
        """Whether it is met by publishing cells as they are."""
        sizes = (self.l or 1, self.k or 1)
        return max(sizes) <= 1 and (self.t is None or self.t >= 1)


@dataclass(frozen=True, slots=True)
class SensitiveQID(Method):
    """Random sets for attributes that are both known to some and secret from others.

    Every cell of a sensitive quasi-identifier and of a sensitive attribute becomes a set of eta
    values of its domain: with probability p its own value and others at random, else any. `l`
    (with its `variant`) asks for sets of at least l values, `t` (with `distance` and `prior`) for
    a posterior that close to the prior, `k` for sets of at least k; together if asked. p and eta
    are those of least expected error, eta being `max_eta` at most. `protection` says so of single
    attributes. Quasi-identifiers and kept columns stay exact; missing values are values.

    A numeric attribute with more than `bins` values in its domain is cut into as many equally wide
    ranges. `joint` lists attributes that are randomised as one, whose values are combinations; it
    is protected by what `protection` says of `a & b`, or else by the stricter of what its parts
    ask for.

    *Guarantee*: set-diversity, set-closeness and set-anonymity of each attribute that asks.
    *Refuses*: attributes that ask for nothing; an l that leaves no value out (two values: give t).
    *Source*: Sei, Okumura, Takenouchi, Ohsuga, "Anonymization of Sensitive Quasi-Identifiers for
    l-Diversity and t-Closeness". Departs from the paper: p is safe for the worst set; an l that is
    too large for a domain is refused instead of lowered.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [33, 41, 51], "disease": ["Cold", "Flu", "HIV"]})
    >>> schema = Schema.of(age="sensitive-quasi-identifier", disease="sensitive")
    >>> SensitiveQID(l=2).publish(people, schema).manifest.parameters["sets"]
    {'age': {'p': 1.0, 'eta': 2}, 'disease': {'p': 1.0, 'eta': 2}}
    """

    name: ClassVar[str] = "sensitive-qid"
    handles: ClassVar[frozenset[Role]] = frozenset(set(Role) - {Role.SEMI_SENSITIVE})
    counts_missing: ClassVar[bool] = True
    l: float | None = None  # noqa: E741 -- the parameter's name in every paper
    t: float | None = None
    k: int | None = None
    max_eta: int | None = None
    prior: Literal["free", "data"] = "free"
    distance: Literal["equal", "ordered"] = "equal"
    variant: Literal["frequency", "entropy"] = "frequency"
    bins: int = 50
    joint: Sequence[Sequence[str]] = ()
    protection: Mapping[str, SetProtection] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._for_all()
        for name, own in self.protection.items():
            if not own.asks:
                raise ParameterError(
                    f"{self.name}: the protection of '{name}' asks for nothing; give it `l`, `t` "
                    "or `k`, or leave it out"
                )
        check_bins(self.bins, self.name)
        self._check_joint()

    def doubts(self, table: Table) -> tuple[str, ...]:
        """Return which protected attributes other published ones tell of, and idle joints."""
        found = [
            f"what is asked for '{column.name}' is met by publishing it as it is; ask for more"
            for column in table.with_role(*PROTECTED)
            if not any(column.name in names for names in self.joint)
            and self._protection(column.name).is_idle
        ]
        found += associated(
            table,
            self.joint,
            "list them under `joint` (where one is a plain quasi-identifier, make it a sensitive "
            "one first), or leave one out",
        )
        for names in self.joint:
            if all(name in table.schema.names for name in names):
                asked = self.protection_of_joint(names)
                if asked.asks and asked.t is None:
                    found.append(
                        f"`l` of '{joint_name(names)}' counts combinations: all of a set may share "
                        "one part; `t` protects the parts too"
                    )
        return tuple(found)

    def joints(self, frame: Table) -> tuple[tuple[str, ...], ...]:
        """Return the attributes that are randomised as one."""
        return tuple(tuple(names) for names in self.joint)

    def splitting(self, frame: Table) -> Splitting:
        """Return any deal: every cell is drawn by itself."""
        refuse_unsplittable(frame, self.name)
        refuse_unsuited(frame, self.name)
        return Splitting("any")

    def _release(self, table: Table, randomness: Randomness) -> Release:
        refuse_unsuited(table, self.name)
        self._refuse_unknown(table)
        whole, bins = over_domains(table, self.bins)
        whole = self._joined(whole)
        asked = {c.name: self._protection(c.name) for c in whole.with_role(*PROTECTED)}
        sets: dict[str, dict[str, Any]] = {}
        hows: dict[str, Randomization] = {}
        for name, protection in asked.items():
            column = whole[name]
            if protection.t is not None and protection.distance == "ordered":
                _refuse_unordered(column)
            counts = self._counts(table, column)
            rows = table.rows if table.whole is None else table.whole.rows
            how = hows[name] = _chosen(name, protection, rows, counts)
            sets[name] = {"p": how.p, "eta": how.eta}
            if protection.t is not None and protection.prior == "data":
                sets[name]["masses"] = list(mass_interval(counts, how.eta))
        parameters: dict[str, Any] = {"sets": sets}
        if bins:
            parameters["bins"] = bins
        if self.joint:
            parameters["joint"] = {joint_name(names): list(names) for names in self.joint}
        labelled = {*bins, *(name for names in self.joint for name in names)}
        if labelled:
            parameters["types"] = stated_types([c for c in table.columns if c.name in labelled])
        return assemble(
            set_records(whole, hows, rng=randomness.generator("sets")),
            method=self.name,
            rows=table.rows,
            models=[model for name, each in asked.items() for model in each.models(name)],
            parameters=parameters,
            is_test=randomness.is_test,
        )

    def _counts(self, table: Table, column: Column) -> list[int]:
        """Return how many rows of the whole table have each value of a protected column."""
        if table.whole is None:
            counts = np.bincount(column.codes, minlength=domain_size(column))
            return [int(count) for count in counts]
        joints = {joint_name(names): tuple(names) for names in self.joint}
        names = joints.get(column.name, (column.name,))
        if len(names) > 1:
            joint = table.whole.joint(*names)
        else:
            own_counts = table.whole.counts[column.name]
            joint = Joint((np.flatnonzero(own_counts),), own_counts[own_counts > 0])
        # the same column once more, of one row a combination that occurs
        parts = [
            over_domain(replace(table[name], codes=codes.astype(np.int32)), self.bins).column
            for name, codes in zip(names, joint.codes, strict=True)
        ]
        own = parts[0] if len(parts) == 1 else joined(parts)
        counted = np.bincount(own.codes, joint.counts, minlength=domain_size(own))
        return [int(count) for count in counted]

    def _for_all(self) -> SetProtection:
        return SetProtection(
            **{each.name: getattr(self, each.name) for each in fields(SetProtection)}
        )

    def _protection(self, name: str) -> SetProtection:
        given = self.protection.get(name)
        if given is None:
            for names in self.joint:
                if joint_name(names) == name:
                    given = self.protection_of_joint(names)
        asked = self._for_all() if given is None else given
        if not asked.asks:
            raise ParameterError(f"{self.name}: say `l` or `t` for '{name}', or for all attributes")
        return asked

    def protection_of_joint(self, names: Sequence[str]) -> SetProtection:
        """Return what protects attributes that are randomised as one."""
        given = self.protection.get(joint_name(names))
        if given is not None:
            return given
        first, *rest = (self.protection.get(name, self._for_all()) for name in names)
        for other in rest:
            first = first.stricter(other)
        return first

    def _check_joint(self) -> None:
        lists = isinstance(self.joint, list | tuple) and all(
            isinstance(names, list | tuple)
            and len(names) > 1
            and all(isinstance(name, str) for name in names)
            for names in self.joint
        )
        if not lists:
            raise ParameterError(
                f"{self.name}: `joint` lists lists of attributes, two or more each"
            )
        together = [name for names in self.joint for name in names]
        if len(set(together)) < len(together):
            raise ParameterError(f"{self.name}: `joint` lists an attribute twice")

    def _refuse_unknown(self, table: Table) -> None:
        protected = [column.name for column in table.with_role(*PROTECTED)]
        joint = [joint_name(names) for names in self.joint]
        for name in (name for names in self.joint for name in names):
            if name not in protected:
                raise ParameterError(f"{self.name}: `joint` names '{name}', which is not sensitive")
        for name in joint:
            if name in table.schema.names:
                raise ParameterError(f"{self.name}: there is an attribute '{name}' already")
        for name in self.protection:
            if name not in protected and name not in joint:
                raise ParameterError(
                    f"{self.name}: `protection` names '{name}', which is not sensitive"
                )

    def _joined(self, table: Table) -> Table:
        """Return the table with joint attributes in the place of their first parts."""
        if not self.joint:
            return table
        first = {names[0]: joined([table[name] for name in names]) for names in self.joint}
        later = {name for names in self.joint for name in names[1:]}
        return with_columns(
            table, [first.get(c.name, c) for c in table.columns if c.name not in later]
        )


def associated(table: Table, joint: Sequence[Sequence[str]], advice: str) -> list[str]:
    """Return a warning of protected attributes that others tell of, and are not joint with."""
    apart = [set(names) for names in joint]
    parts = [_sampled(column) for column in table.columns]
    pairs = [
        f"'{one.name}' and '{other.name}'"
        for (one, ones), (other, others) in combinations(parts, 2)
        if {one.attribute.role, other.attribute.role}.intersection(PROTECTED)
        and not any({one.name, other.name} <= names for names in apart)
        and phi_squared(ones, others) > STRONG
    ]
    if not pairs:
        return []
    more = f" and {len(pairs) - _NAMED} more pairs" if len(pairs) > _NAMED else ""
    return [
        f"{', '.join(pairs[:_NAMED])}{more} go together (phi squared above {STRONG:g}): who knows "
        f"one narrows the other's sets down; {advice}"
    ]


def refuse_unsuited(table: Table, method: str) -> None:
    """Refuse several rows a person, a table without anything to protect, and kept widths."""
    if table.units is not None:
        raise ParameterError(
            f"{method} needs one row a person, and some people have several; keep one row each"
        )
    protected = table.with_role(*PROTECTED)
    if not protected:
        raise ParameterError(f"{method} needs a sensitive or sensitive-quasi-identifier attribute")
    for column in protected:
        if column.attribute.min_width is not None:
            raise ParameterError(
                f"{method} cannot keep a `min_width` for '{column.name}'; use mondrian"
            )


def check_bins(bins: object, method: str) -> None:
    """Refuse anything but a whole number from 2 on."""
    if not isinstance(bins, int) or isinstance(bins, bool) or bins < 2:
        raise ParameterError(f"{method}: `bins` must be a whole number, 2 or more")


def over_domains(table: Table, bins: int) -> tuple[Table, dict[str, list[Any]]]:
    """Return the table with protected columns over their whole domains, and edges of ranges."""
    columns, edges = [], {}
    for column in table.columns:
        if column.attribute.role not in PROTECTED:
            columns.append(column)
            continue
        found = over_domain(column, bins)
        columns.append(found.column)
        if found.edges is not None:
            edges[column.name] = list(found.edges)
    return with_columns(table, columns), edges


def with_columns(table: Table, columns: Sequence[Column]) -> Table:
    """Return a table of these columns alone; its schema has no others."""
    schema = Schema(tuple(column.attribute for column in columns))
    return Table(schema, tuple(columns), table.rows)


def _refuse_unordered(column: Column) -> None:
    if column.kind is Kind.CATEGORICAL:
        raise ParameterError(
            f"`distance: ordered` needs an order, and '{column.name}' has none; state its `order`"
        )


def _chosen(name: str, asked: SetProtection, rows: int, counts: Sequence[int]) -> Randomization:
    sizes = [size for size in (asked.l, asked.k) if size is not None]
    try:
        return choose(
            rows,
            len(counts),
            l=max(sizes, default=None),
            t=asked.t,
            max_eta=asked.max_eta,
            shares=counts if asked.prior == "data" else None,
        )
    except (ParameterError, Infeasible) as error:
        raise type(error)(f"'{name}': {error}") from None


def _sampled(column: Column) -> tuple[Column, Any]:
    step = max(1, -(-len(column.codes) // _SAMPLE))
    return column, coarse_codes(replace(column, codes=column.codes[::step]))
