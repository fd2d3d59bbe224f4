"""Thousands of random questions to releases of the synthetic census: the truth lies within."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sfumato.answers import Answerer, Count, Sum
from sfumato.datasets import census, census_schema
from sfumato.methods import LGB, Anatomy, Mondrian
from sfumato.models import TCloseBuckets
from sfumato.predicates import (
    And,
    Between,
    Comparison,
    IsMissing,
    Not,
    OneOf,
    Or,
    Predicate,
    Prefix,
    evaluate,
)
from sfumato.publish.assemble import assemble
from sfumato.publish.slice import block_names, sliced_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Kind, Mask, Role, Schema
from sfumato.table import Groups, Table, encode

QUESTIONS = 2_000
FLAGGED = ("age", "sex", "occupation", "zipcode")


def schema() -> Schema:
    """Return the census with semi-sensitive attributes, and one hierarchy built from the data."""
    return Schema(
        tuple(
            replace(attribute, role=Role.SEMI_SENSITIVE, density=0.2)
            if attribute.name in FLAGGED
            else replace(attribute, hierarchy=Mask())
            if attribute.name == "birthplace"
            else attribute
            for attribute in census_schema()
        )
    )


@pytest.fixture(scope="module")
def table() -> Table:
    return encode(census(3_000, seed=3), schema())


class Asker:
    """Random predicates on the values of a table."""

    def __init__(self, table: Table, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.columns = {column.name: column for column in table.columns}
        self.values = {name: c.values.to_pylist() for name, c in self.columns.items()}

    def leaf(self) -> Predicate:
        name = str(self.rng.choice(list(self.columns)))
        values = self.values[name]
        some = [values[i] for i in self.rng.integers(0, len(values), 4)]
        match int(self.rng.integers(0, 5)):
            case 0:
                return IsMissing(name)
            case 1:
                return OneOf(name, tuple(some))
            case 2 if isinstance(some[0], str):
                return Prefix(name, some[0][:2])
            case 3 if self.columns[name].kind is not Kind.CATEGORICAL:
                return Between(name, some[0], some[1])
        ordered = self.columns[name].kind is not Kind.CATEGORICAL
        operators = ["=", "!=", "<", "<=", ">", ">="] if ordered else ["=", "!="]
        return Comparison(name, str(self.rng.choice(operators)), some[0])

    def predicate(self, depth: int = 2) -> Predicate:
        shape = int(self.rng.integers(0, 5))
        if depth == 0 or shape == 0:
            return self.leaf()
        if shape == 1:
            return Not(self.predicate(depth - 1))
        parts = tuple(self.predicate(depth - 1) for _ in range(int(self.rng.integers(2, 4))))
        return And(parts) if shape < 4 else Or(parts)


def numbers(table: Table, name: str) -> np.ndarray:
    column = table[name]
    known = np.append(np.asarray(column.values.cast(pa.float64())), 0.0)
    return known[column.codes]


@pytest.mark.parametrize("generalize", ["mdp", "ncp"])
def test_the_truth_lies_within(table, generalize):
    method = LGB(k=4, l=3, protection={"sex": TCloseBuckets("sex", 0.2)}, generalize=generalize)
    ask(method.release(table, Randomness.test(1)), table, QUESTIONS // 2)


@pytest.fixture(scope="module")
def plain() -> Table:
    return encode(census(3_000, seed=3), census_schema())


@pytest.mark.parametrize("method", [Mondrian(k=4), Anatomy(l=3)], ids=["mondrian", "anatomy"])
def test_the_truth_lies_within_releases_without_buckets(plain, method):
    ask(method.release(plain, Randomness.test(1)), plain, QUESTIONS // 4)


def test_the_truth_lies_within_blocks(plain):
    rng = np.random.default_rng(4)
    groups = Groups(rng.permutation(plain.rows).astype(np.int32) % 500, 500)
    quasi = plain.quasi_identifiers
    blocks = [quasi[:3], quasi[3:5], quasi[5:]]
    release = assemble(
        sliced_records(plain, groups, blocks, rng=rng),
        method="slicing",
        rows=plain.rows,
        models=[],
        parameters={"columns": block_names(plain, blocks)},
        is_test=True,
    )
    ask(release, plain, QUESTIONS // 4)


def ask(release: Release, table: Table, questions: int) -> None:
    answerer = Answerer(release)
    asker = Asker(table, seed=5)
    summed = {name: numbers(table, name) for name in ("salary", "hours_per_week")}
    trivial = 0
    for number in range(questions):
        predicate = asker.predicate()
        rows = evaluate(predicate, table)
        count = answerer.answer(Count(), predicate)
        assert count.low <= rows.sum() <= count.high
        assert count.low <= count.value <= count.high
        trivial += (count.low, count.high) == (0, table.rows)
        name = ("salary", "hours_per_week")[number % 2]
        total = answerer.answer(Sum(name), predicate)
        assert total.low <= summed[name][rows].sum() <= total.high
    assert trivial < questions // 10
