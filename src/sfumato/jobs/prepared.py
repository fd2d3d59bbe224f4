"""Data made ready to be published several ways: read, recoded and coded once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import ParameterError
from sfumato.jobs.policy import Policy
from sfumato.jobs.recode import recoded
from sfumato.jobs.suppress import without
from sfumato.predicates.flags import flagged
from sfumato.randomness import Randomness
from sfumato.recoding import Steps
from sfumato.recoding.pseudonyms import with_tokens
from sfumato.schema import Schema
from sfumato.table import Table, encode
from sfumato.table.units import encode_counted

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A table as it came (`raw`), as the policy's steps leave it (`rows`), and coded (`table`).

    Policies that differ in their methods and models alone have the same one. `key` is that of
    pseudonyms, drawn at random: what is tried out is not published.
    """

    raw: pa.Table
    rows: pa.Table
    table: Table
    schema: Schema
    steps: Steps
    key: bytes | None

    def coded_without(self, withheld: Ints) -> Table:
        """Return the coded table of the other rows."""
        if not len(withheld):
            return self.table
        return _coded(without(self.rows, withheld), self.schema, self.key)


def prepare(
    raw: pa.Table, policy: Policy, randomness: Randomness, *, sample: int | None = None
) -> Prepared:
    """Return the table made ready under a policy, or a random `sample` of so many rows.

    Of people (or households) with several rows, all are drawn or none, so that a sample may have a
    few rows less.

    Refuses (SfumatoError) columns that do not fit the policy, and a sample below 1.
    """
    schema = policy.schema()
    schema.aligned(raw.column_names)
    if sample is not None:
        raw = _sampled(raw, schema, sample, randomness)
    rows, schema, steps = recoded(raw, policy, schema, randomness)
    key = randomness.generator("key of pseudonyms").bytes(32) if schema.pseudonyms else None
    return Prepared(raw, rows, _coded(rows, schema, key), schema, steps, key)


def _coded(rows: pa.Table, schema: Schema, key: bytes | None) -> Table:
    return with_tokens(flagged(encode(rows, schema), rows), rows, key)


def _sampled(raw: pa.Table, schema: Schema, size: int, randomness: Randomness) -> pa.Table:
    if size < 1:
        raise ParameterError("a sample has 1 row or more")
    if raw.num_rows <= size:
        return raw
    rng = randomness.generator("sample of rows")
    units = encode_counted(raw, schema)
    if units is None:
        rows = np.sort(rng.choice(raw.num_rows, size, replace=False))
    else:
        order = rng.permutation(int(units.max()) + 1)
        many = np.cumsum(np.bincount(units)[order])
        drawn = np.zeros(len(order), np.bool_)
        drawn[order[: max(1, int(np.searchsorted(many, size, side="right")))]] = True
        rows = np.flatnonzero(drawn[units])
    return raw.take(pa.array(rows))
