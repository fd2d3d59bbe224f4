"""Among whom a secret is shuffled: the people of a group, or of a bucket in the layout `local`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.glimpse import Eyes
from sfumato.attacks.stage import Secret
from sfumato.attacks.view import buckets_of, paired
from sfumato.release.cells import Exact, parse
from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.schema.kinds import is_text
from sfumato.schema.text import to_texts
from sfumato.table.groups import starts_of

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Cohorts:
    """Cohort j has `sizes[j]` people with `distinct[j]` different values of the secret.

    A person of group g is in one of the cohorts from `start[g]` to before `start[g + 1]` of
    `cohort`, with the chances in `share`. Entry i says that `count[i]` people of the cohort `of[i]`
    have the value `value[i]`, in the order of cohorts and values.
    """

    sizes: Ints
    start: Ints
    cohort: Ints
    share: Reals
    of: Ints
    value: Ints
    count: Reals

    def one_valued(self, missing: int) -> int:
        """Return how many cohorts have one value alone, if `missing` is none."""
        alone = np.bincount(self.of, minlength=len(self.sizes)) == 1
        return int((alone[self.of] & (self.value != missing)).sum())


def cohorts_of(eyes: Eyes, secret: Secret) -> Cohorts:
    """Return the cohorts of a secret; of random sets every record is one, and holds eta values."""
    none = np.zeros(0, np.int64)
    if not isinstance(eyes, Adversary):
        axis = eyes.axes[secret.name]
        if axis.eta > 1 or axis.own < 1:
            return Cohorts(none, none, none, np.zeros(0), none, none, np.zeros(0))
        value = axis.members[:, 0].astype(np.int64)
        rows, one = np.arange(len(value)), np.ones(len(value))
        start = np.arange(len(value) + 1)
        return Cohorts(np.ones_like(value), start, rows, one, rows, value, one)
    told = secret.sides[0]
    group = np.repeat(np.arange(len(told.start) - 1), np.diff(told.start))
    bucket = _buckets(eyes, secret.name)
    if bucket is None:
        sizes = np.bincount(group, told.weight, minlength=len(told.start) - 1)
        every = np.arange(len(sizes))
        start, share = np.append(every, len(every)), np.ones(len(every))
        whole = np.rint(sizes).astype(np.int64)
        return Cohorts(whole, start, every, share, group, told.value, told.weight)
    groups, buckets, codes = bucket
    of, values, count = paired(buckets, codes)
    in_group, cohorts, rows_ = paired(groups, buckets)
    start = starts_of(in_group, len(told.start) - 1)
    share = rows_ / np.bincount(in_group, rows_)[in_group]
    sizes = np.bincount(buckets)
    value, cohort = (each.astype(np.int64) for each in (values, cohorts))
    return Cohorts(sizes, start, cohort, share, of, value, count)


def _buckets(eyes: Adversary, name: str) -> tuple[Ints, Ints, Ints] | None:
    """Return group, bucket and value of every row in a bucket, None where there are no buckets.

    Values that are not exact cannot be told apart from here and count as one each.
    """
    tables = eyes.release.manifest.tables
    entry = next(each for each in tables if name in each.attributes)
    table = eyes.release.tables[entry.name]
    if name + RESERVED_SUFFIX not in table.column_names:
        return None
    hidden, bucket = buckets_of(table, name)
    found = eyes.columns[entry.name][name]
    texts = {text: at for at, text in enumerate(eyes.secret(name).texts)}
    cells = to_texts(found.values).to_pylist()
    if is_text(found.values.type):
        parsed = [parse(cell) for cell in cells]
        cells = [cell.text if isinstance(cell, Exact) else None for cell in parsed]
    last = len(texts)
    place = np.array([*(texts.get(cell, last) for cell in cells), last], np.int64)
    group = table["group"].to_numpy().astype(np.int64)
    return group[hidden] - 1, bucket - 1, place[found.codes[hidden]]
