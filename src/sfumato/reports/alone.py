"""What a release says of its attributes by itself: shares with bounds, and how they go together.

Everything here follows from the published files: shares are answers (`answers/`), with bounds that
hold for every original; associations are those of one plausible table, drawn with a fixed public
seed, so that the same files always give the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.answers import Answerer, to_microdata
from sfumato.answers.estimate import Count, Estimate
from sfumato.answers.grouped import literals
from sfumato.errors import SfumatoError
from sfumato.predicates.expression import And, Comparison, IsMissing, Predicate
from sfumato.randomness import repeatable
from sfumato.release import Release
from sfumato.release.weights import weight_of
from sfumato.schema import Attribute, Role, Schema
from sfumato.schema.kinds import is_number, kind_of, value_type
from sfumato.schema.text import from_texts, to_texts
from sfumato.table import Table, encode
from sfumato.utility.margins import BETWEEN, INTERVALS, Rows, margin

MOST_VALUES = 12
MOST_PAIRS = 105
MISSING = "missing"
_SEED = 10


@dataclass(frozen=True, slots=True)
class Answered:
    """How many rows have each value of an attribute, by the release alone; `total` is all rows."""

    attribute: str
    labels: tuple[str, ...]
    estimates: tuple[Estimate, ...]
    total: float
    is_line: bool
    left_out: int


@dataclass(frozen=True, slots=True)
class Pair:
    """How strongly two attributes go together: the mean-square contingency, in the original (None
    where it is not at hand) and in the release."""

    attributes: tuple[str, str]
    original: float | None
    release: float


@dataclass(frozen=True, slots=True)
class Alone:
    """What a release says by itself; `undefined` says of attributes why nothing was asked."""

    answers: tuple[Answered, ...]
    pairs: tuple[Pair, ...]
    undefined: tuple[tuple[str, str], ...]


def alone(release: Release) -> Alone:
    """Return the shares and associations of a release's attributes."""
    table = to_microdata(release, repeatable(_SEED))
    weight = weight_of(release.manifest)
    names = [name for name in table.column_names if name != weight]
    answers, undefined = [], []
    try:
        answerer: Answerer | None = Answerer(release)
    except SfumatoError as error:
        answerer = None
        undefined += [(name, str(error)) for name in names]
    for name in names if answerer is not None else ():
        assert answerer is not None
        try:
            answers.append(_answered(answerer, name, table[name]))
        except SfumatoError as error:
            undefined.append((name, str(error)))
    return Alone(tuple(answers), _pairs(table, names, weight), tuple(undefined))


def _answered(answerer: Answerer, name: str, column: pa.ChunkedArray) -> Answered:
    total = answerer.answer(Count())
    values = column.drop_null()
    is_line = is_number(column.type)
    left_out = 0
    if is_line and pc.count_distinct(values).as_py() > MOST_VALUES:
        asked = _intervals(name, values)
    else:
        asked, left_out = _commonest(name, values)
    if column.null_count:
        asked.append((MISSING, IsMissing(name)))
    estimates = tuple(answerer.answer(Count(), predicate) for _, predicate in asked)
    labels = tuple(label for label, _ in asked)
    return Answered(name, labels, estimates, total.value, is_line, left_out)


def _commonest(name: str, values: pa.ChunkedArray) -> tuple[list[tuple[str, Predicate]], int]:
    """Return the commonest values of the plausible table as questions, and how many others."""
    texts = pa.chunked_array([to_texts(chunk) for chunk in values.chunks], pa.string())
    counts = pc.value_counts(texts)
    found = sorted(
        ((entry["counts"].as_py(), entry["values"].as_py()) for entry in counts),
        key=lambda each: (-each[0], each[1]),
    )
    kept = [text for _, text in found[:MOST_VALUES]]
    known_values = from_texts(pa.array(kept, pa.string()), value_type(values.type))
    if is_number(values.type):
        known_values = known_values.take(pc.sort_indices(known_values))
        kept = to_texts(known_values).to_pylist()
    known = literals(known_values)
    asked: list[tuple[str, Predicate]] = [
        (text, Comparison(name, "=", literal))
        for text, (_, literal) in zip(kept, known, strict=True)
    ]
    return asked, max(len(found) - MOST_VALUES, 0)


def _intervals(name: str, values: pa.ChunkedArray) -> list[tuple[str, Predicate]]:
    """Return equally wide intervals of a plausible table's span as questions."""
    edges = _edges(values)
    texts = to_texts(edges).to_pylist()
    ends = [literal for _, literal in literals(edges)]
    asked: list[tuple[str, Predicate]] = []
    for place, (low, high) in enumerate(pairwise(ends)):
        parts: list[Predicate] = []
        if place:  # the first and the last interval have no end: bounds must add up to all rows
            parts.append(Comparison(name, ">=", low))
        if place < len(ends) - 2:
            parts.append(Comparison(name, "<", high))
        label = f"{texts[place]}{BETWEEN}{texts[place + 1]}"
        asked.append((label, parts[0] if len(parts) == 1 else And(tuple(parts))))
    return asked


def _edges(values: pa.ChunkedArray) -> pa.Array:
    ends = pc.min_max(values)
    dtype = values.type
    low, high = (_number(ends[key], dtype) for key in ("min", "max"))
    edges = np.linspace(low, high, INTERVALS + 1)
    if pa.types.is_integer(dtype) or pa.types.is_temporal(dtype):
        whole = pa.array(np.unique(np.floor(edges)).astype(np.int64))
        narrow = pa.types.is_temporal(dtype) and dtype.bit_width == 32
        return (whole.cast(pa.int32()) if narrow else whole).cast(dtype)
    # to few digits: an end of a plausible table is nothing to read closely
    texts = list(dict.fromkeys(f"{Decimal(f'{edge:.4g}'):f}" for edge in edges.tolist()))
    return from_texts(pa.array(texts, pa.string()), pa.float64())


def _number(scalar: pa.Scalar, dtype: pa.DataType) -> float:
    if pa.types.is_temporal(dtype):
        return float(scalar.cast(pa.int32() if dtype.bit_width == 32 else pa.int64()).as_py())
    return float(scalar.as_py())


def _pairs(table: pa.Table, names: Sequence[str], weight: str | None) -> tuple[Pair, ...]:
    """Return how attributes of a plausible table go together; of very many, the first pairs."""
    usable = [name for name in names if kind_of(table[name].type) is not None]
    usable = [name for name in usable if table[name].null_count < len(table)]
    if len(usable) < 2 or not table.num_rows:
        return ()
    sides = Rows(_coded(table.select(usable)), table, None)
    found = []
    for one, other in list(combinations(usable, 2))[:MOST_PAIRS]:
        both = margin(sides, [one, other]).association
        assert both is not None
        found.append(Pair((one, other), None, both[1]))
    return tuple(found)


def _coded(table: pa.Table) -> Table:
    """Return a plausible table as coded columns that have no role in privacy."""
    return encode(
        table, Schema(tuple(Attribute(n, Role.QUASI_IDENTIFIER) for n in table.column_names))
    )
