"""What anonymisation loses of the link between a person and a sensitive value.

In a release whose groups tell nothing but which values their people have, a person has a value of
the group with the probability of its share.

*Source*: Zhu, Tian, Du, Xie, "Anonymization on Refining Partition": Properties 1 and 8 and
Definition 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.release import Release
from sfumato.schema.attribute import Role
from sfumato.schema.distinct import counted, distinct
from sfumato.table import Groups, Table
from sfumato.table.groups import packed, spread
from sfumato.utility.published_codes import published_codes

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_SLOTS = 4  # a table of what occurs has, for every key
_NONE, _SEVERAL = -1, -2  # keys in a slot
_KINDS = 1 << 16  # kinds of people in groups that are looked at at a time


class Counted(NamedTuple):
    """How many people of a group have a value: one entry a pair that occurs."""

    group: Ints
    value: Ints
    people: Ints


def mean_probability(release: Release, attribute: str | None = None) -> float:
    """Return how likely a person is assigned to their own sensitive value, on average.

    Refuses (ParameterError) releases in which values are not dealt by group.
    *Source*: Property 1. Missing values are values like any other here.
    """
    name = _attribute(release, attribute)
    if release.manifest.layout not in ("anatomized", "generalized", "sliced"):
        raise ParameterError(
            f"the mean probability is not defined for the layout {release.manifest.layout}"
        )
    if release.manifest.method == "ng":  # each record is a group, and no group the crowd
        raise ParameterError("the files of ng do not tell who may be behind a record")
    counted = _sensitive_counts(release, name)
    sizes = np.bincount(counted.group, counted.people)
    squares = counted.people.astype(np.float64) ** 2 / sizes[counted.group]
    return float(squares.sum() / sizes.sum())


def reconstruction_error(
    release: Release, attribute: str | None = None, *, probability: float | None = None
) -> float:
    """Return RE: the chances of being assigned to another value, summed over all people.

    `probability` is the mean probability, where it was found already.
    *Source*: Property 8. With blocks of l different values it is at least n (1 - 1/l).
    """
    rows = release.manifest.rows
    if probability is None:
        probability = mean_probability(release, attribute)
    return rows * (1.0 - probability)


def glp(release: Release, original: Table, attribute: str | None = None) -> float:
    """Return GLP: how likely a person is assigned to a value that nobody of their kind has.

    People of a kind agree in all quasi-identifiers. The mean over all people (their NLP) is 0
    where nothing is lost, at most 1.

    Refuses (ParameterError) releases that do not show exact quasi-identifiers in one table or
    block: which group a person is in could not be told.
    *Source*: Definition 3.
    """
    name = _attribute(release, attribute)
    if original.rows != release.manifest.rows:
        raise ParameterError(
            f"the release has {release.manifest.rows} records and the original {original.rows}: "
            "GLP compares the same people"
        )
    table, columns = _quasi_identifiers(release)
    codes = [published_codes(release.tables[table][each], original[each]) for each in columns]
    kinds = Groups.of_equal(
        [
            np.concatenate([original[each].codes, own])
            for each, own in zip(columns, codes, strict=True)
        ]
    )
    rows = original.rows
    counts = _counts(release, table)
    shown = _count_pairs(_group_codes(release, table), kinds.ids[rows:], counts)
    sensitive = original[name]
    occurs = _pair(kinds.ids[:rows], sensitive.codes, sensitive.cardinality)
    holder = _table_of(release, name)
    values = _count_pairs(
        _group_codes(release, holder),
        published_codes(release.tables[holder][name], sensitive),
        _counts(release, holder),
    )
    kept = _probability_kept(shown, values, occurs, sensitive.cardinality)
    return float(1.0 - kept / shown.people.sum())


def nlp_of_candidates(original: Table, attribute: str, candidates: npt.NDArray[np.int64]) -> Reals:
    """Return each row's NLP where it may have the value of any of some rows, equally likely.

    `candidates` has a line of row numbers for every row.
    """
    kinds = Groups.of_equal([column.codes for column in original.quasi_identifiers]).ids
    sensitive = original[attribute]
    occurs = _pair(kinds, sensitive.codes, sensitive.cardinality)
    keys = _pair(kinds[:, None], sensitive.codes[candidates], sensitive.cardinality)
    return np.asarray(1.0 - _Known(occurs).has(keys).mean(axis=1))


def _probability_kept(shown: Counted, values: Counted, occurs: Ints, cardinality: int) -> float:
    """Return how many people are expected to be assigned to a value that their kind has.

    `shown` counts people by group and kind, `values` by group and sensitive value.
    """
    sizes = np.bincount(values.group, values.people)
    share = values.people / sizes[values.group]  # in the order of groups
    held = np.bincount(values.group, minlength=len(sizes))
    first = np.cumsum(held) - held
    known = _Known(occurs)
    kept = 0.0
    # every kind in a group beside every value of the group, in blocks: they are many times the rows
    for start in range(0, len(shown.group), _KINDS):
        group, kind, people = (each[start : start + _KINDS] for each in shown)
        of, place = spread(first[group], first[group] + held[group])
        fits = known.has(_pair(kind[of], values.value[place], cardinality))
        kept += float((people[of] * share[place] * fits).sum())
    return kept


def _pair(
    kind: npt.NDArray[np.integer[Any]], value: npt.NDArray[np.integer[Any]], cardinality: int
) -> Ints:
    return np.asarray(kind.astype(np.int64) * (cardinality + 1) + value)


class _Known:
    """Keys, of which it is looked up whether others are among them."""

    def __init__(self, known: Ints) -> None:
        # a slot by the last bits of a key has the others, which is quicker than searching; only
        # the few keys that share a slot are searched
        largest = int(known.max(initial=0))
        self._bits = min(largest.bit_length(), (_SLOTS * known.size).bit_length())
        most = largest >> self._bits
        number = np.int16 if most < 1 << 15 else np.int32 if most < 1 << 31 else np.int64
        self._slots: npt.NDArray[np.signedinteger[Any]] = np.full(1 << self._bits, _NONE, number)
        slot, rest = self._taken_apart(known)
        self._slots[slot] = rest
        self._slots[slot[self._slots[slot] != rest]] = _SEVERAL
        self._several = np.unique(known[self._slots[slot] == _SEVERAL])

    def _taken_apart(self, keys: Ints) -> tuple[Ints, Ints]:
        return keys & ((1 << self._bits) - 1), keys >> self._bits

    def has(self, keys: Ints) -> npt.NDArray[np.bool_]:
        """Return which keys are among the known ones."""
        slot, rest = self._taken_apart(keys)
        held = self._slots[slot]
        found = held == rest
        if len(self._several):
            among = held == _SEVERAL
            left = keys[among]
            place = np.minimum(np.searchsorted(self._several, left), len(self._several) - 1)
            found[among] = self._several[place] == left
        return np.asarray(found)


def _count_pairs(
    group: npt.NDArray[np.integer[Any]], value: npt.NDArray[np.integer[Any]], counts: Ints
) -> Counted:
    width = int(value.max(initial=0)) + 1
    if (counts == 1).all():  # sorting pairs is quicker than finding which row has which
        keys, people = counted(packed([group, value]))
        return Counted(keys // width, keys % width, people)
    keys, pair_of = np.unique(packed([group, value]), return_inverse=True)
    return Counted(keys // width, keys % width, np.bincount(pair_of, counts).astype(np.int64))


def _sensitive_counts(release: Release, name: str) -> Counted:
    table = _table_of(release, name)
    values = distinct(release.tables[table][name], name).codes
    return _count_pairs(_group_codes(release, table), values, _counts(release, table))


def _attribute(release: Release, name: str | None) -> str:
    sensitive = [e.name for e in release.manifest.attributes if e.role is Role.SENSITIVE]
    if name is None and len(sensitive) == 1:
        return sensitive[0]
    if name not in sensitive:
        raise ParameterError(f"say which sensitive attribute: one of {', '.join(sensitive)}")
    return name


def _table_of(release: Release, name: str) -> str:
    for entry in release.manifest.tables:
        if name in entry.attributes and entry.group is not None:
            return entry.name
    raise ParameterError(f"the release has no groups in which '{name}' is shown")


def _quasi_identifiers(release: Release) -> tuple[str, Sequence[str]]:
    """Return the table that shows all quasi-identifiers of a person together, and their names."""
    manifest = release.manifest
    names = [e.name for e in manifest.attributes if e.role is Role.QUASI_IDENTIFIER]
    together = {table.name: table.attributes for table in manifest.tables}
    if manifest.layout == "sliced":
        blocks = cast(list[list[str]], manifest.parameters["columns"])
        together = {"records": tuple(blocks[0])}
    elif manifest.layout != "anatomized":
        raise ParameterError(f"GLP is not defined for the layout {manifest.layout}")
    for table, attributes in together.items():
        if set(names) <= set(attributes):
            return table, names
    raise ParameterError("GLP needs all quasi-identifiers in one table or block of columns")


def _group_codes(release: Release, table: str) -> npt.NDArray[np.int64]:
    groups = release.tables[table]["group"].to_numpy().astype(np.int64)
    return np.asarray(groups - 1)


def _counts(release: Release, table: str) -> Ints:
    content = release.tables[table]
    if "count" not in content.column_names or release.manifest.layout != "anatomized":
        return np.ones(content.num_rows, np.int64)
    return np.asarray(content["count"].to_numpy(), np.int64)
