"""What an adversary who knows every quasi-identifier cell can learn from an LGB release, exactly.

The adversary knows everybody in the table, all their cells that are not sensitive, which of their
cells are, how the release was made, and (at worst) the order of the input. Sensitive values are
equally likely beforehand. Two enumerations:

- *by Bayes*: all originals over a small domain, and for each the exact probability of a release
  under all random choices of the bucketing. It shows that, given a release, all ways to give the
  values of a bucket back to its rows are equally likely, and nothing else is possible.
- *by matching*: so, for whole releases, all ways to match people with rows whose cells fit, and for
  each all ways to give bucket values back that agree with what is known.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations, product
from math import factorial, prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.cells import Exact, Star, covers
from oracles.points import Point, point_of_value
from oracles.release import Published, Row, read_release

from sfumato.errors import Infeasible
from sfumato.methods import LGB
from sfumato.predicates.flags import flagged
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.bucket_rounds import rounds_of_largest
from sfumato.rows.local_buckets import unique_buckets
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import Table, encode

STANDARD_DEVIATIONS = 4.5

# --- by Bayes: the bucketing of a few cells -------------------------------------------------------

Parts = frozenset[frozenset[int]]  # a partition of rows into buckets
Cells = tuple[int | None, ...]  # the value of each row, None if it is missing


def ranges(values: Sequence[int], ell: int) -> list[list[int]]:
    """Return the sorted values that Algorithm 2 of the paper deals into buckets together."""
    median = sorted(values)[(len(values) - 1) // 2]
    halves = [v for v in values if v <= median], [v for v in values if v > median]
    if all(half and max(Counter(half).values()) * ell <= len(half) for half in halves):
        return [part for half in halves for part in ranges(half, ell)]
    return [sorted(values)]


def dealt(values: Sequence[int], ell: int) -> Iterator[list[int]]:
    """Return all equally likely buckets of sorted values: those left over join any that lacks them.

    A value stands for whichever of its cells; who is who is for the caller to permute.
    """
    counts = Counter(values)
    rounds, count = rounds_of_largest(np.array([counts[v] for v in sorted(counts)]), ell)
    fixed = rounds.tolist()
    over = [i for i, bucket in enumerate(fixed) if bucket < 0]
    free = [
        [b for b in range(count) if all(fixed[j] != b for j in range(len(values))
                                        if values[j] == values[i])]
        for i in over
    ]  # fmt: skip
    for choice in product(*free):
        joined = dict(zip(over, choice, strict=True))
        yield [joined.get(i, bucket) for i, bucket in enumerate(fixed)]


def bucketings(cells: Cells, ell: int) -> dict[Parts, Fraction]:
    """Return the probability of every way in which the algorithm can part the rows."""
    known = [value for value in cells if value is not None]
    if not known or max(Counter(known).values()) * ell > len(known):
        return {}  # refused
    parts = ranges(known, ell)
    chances: Counter[Parts] = Counter()
    for ways in product(*(list(dealt(part, ell)) for part in parts)):
        start, bucket_of = 0, []
        for way in ways:
            bucket_of += [start + bucket for bucket in way]
            start += max(way) + 1
        ordered = [value for part in parts for value in part]
        slots = {
            v: [b for b, value in zip(bucket_of, ordered, strict=True) if value == v]
            for v in set(ordered)
        }
        rows = {v: [i for i, value in enumerate(cells) if value == v] for v in slots}
        missing = [i for i, value in enumerate(cells) if value is None]
        for orders in product(*(permutations(rows[v]) for v in slots)):
            for queue, turns in product(permutations(missing), permutations(range(start))):
                placed = {
                    row: bucket
                    for v, order in zip(slots, orders, strict=True)
                    for row, bucket in zip(order, slots[v], strict=True)
                }
                placed |= {row: turns[j % start] for j, row in enumerate(queue)}
                members = (frozenset(r for r in placed if placed[r] == b) for b in range(start))
                chances[frozenset(members)] += 1
    whole = sum(chances.values())
    return {way: Fraction(n, whole) for way, n in chances.items()}


@pytest.mark.parametrize(
    ("cells", "ell"),
    [
        ((0, 1, 0, 1, 2), 2),
        ((0, 1, 2, 2, 1, 0), 2),
        ((0, 1, 2, 3, 0, 1, 2), 3),
        ((0, None, 1, None, None), 2),
        ((0, None, 1, 1, None, 0), 2),
    ],
)
def test_the_bucketing_has_just_the_enumerated_chances(cells, ell):
    expected = bucketings(cells, ell)
    codes = np.array([4 if cell is None else cell for cell in cells], np.int32)
    tries = 3000
    seen: Counter[Parts] = Counter()
    for seed in range(tries):
        rng = Randomness.test(seed).generator("buckets")
        groups = unique_buckets(codes, 4, ell, rng=rng)
        seen[frozenset(frozenset(groups.members(b).tolist()) for b in range(groups.count))] += 1
    assert seen.keys() <= expected.keys()
    for way, chance in expected.items():
        spread = (tries * float(chance * (1 - chance))) ** 0.5
        assert abs(seen[way] - tries * float(chance)) <= STANDARD_DEVIATIONS * max(spread, 1e-9)


@pytest.mark.parametrize(
    ("count", "domain", "ell"),
    [
        (4, (0, 1, 2), 2),
        (5, (0, 1, 2), 2),
        (4, (0, 1, 2, None), 2),
        (4, (0, 1, 2, 3), 3),
        (3, (0, 1, None), 1),
    ],
)
def test_the_posterior_of_every_cell_by_bayes(count, domain, ell):
    """Over all originals: given a release no value has more than 1/l, and bucket mates are equal.

    A release says who is in which bucket and, by row, a permutation of its values; that it is
    uniform adds the same factor for all originals with those values, so it is left out.
    """
    told: dict[Any, dict[Cells, Fraction]] = {}  # release -> original -> probability
    for cells in product(domain, repeat=count):
        for way, chance in bucketings(cells, ell).items():
            values = frozenset((part, tuple(sorted(str(cells[i]) for i in part))) for part in way)
            told.setdefault(values, {})[cells] = chance
    assert told
    for release, originals in told.items():
        # all ways to give values back are there, and equally likely
        ways = prod(
            factorial(len(part)) // prod(map(factorial, Counter(values).values()))
            for part, values in release
        )
        assert len(originals) == ways
        assert len(set(originals.values())) == 1
        for row in range(count):
            chances = Counter(cells[row] for cells in originals)
            assert all(n * ell <= ways for value, n in chances.items() if value is not None)


# --- by matching: whole releases ------------------------------------------------------------------


@dataclass(frozen=True)
class Person:
    """What is true of somebody, and which cells of theirs an adversary does not know."""

    cells: dict[str, Point | None]
    secret: frozenset[str]


@dataclass(frozen=True)
class Adversary:
    """Somebody who knows all people but their secrets, with a release to look at.

    Who knows the method knows too that only secrets are in buckets; a naive way of making the
    release may have put known cells there (`only_secrets` is then False).
    """

    people: list[Person]
    release: Published
    only_secrets: bool = True

    @property
    def rows(self) -> Sequence[Row]:
        return self.release.tables["records"]

    @property
    def protected(self) -> list[str]:
        roles = ("sensitive", "semi-sensitive")
        return [name for role in roles for name in self.release.with_role(role)]

    def may_be(self, person: Person, row: Row) -> bool:
        """Whether the row may be the person's, by all that is known of them."""
        for name in self.release.attributes:
            cell, bucket = row[name], row.get(f"{name}.bucket")
            if name in person.secret:
                # a secret is in a bucket or withheld: that much is known of the method
                if bucket is None and cell != Star():
                    return False
            elif bucket is None:
                if not covers(cell, person.cells[name], self.release.readings[name]):
                    return False
            elif self.only_secrets or person.cells[name] not in self.values(name, bucket):
                return False
        return True

    def values(self, name: str, bucket: int) -> list[Point | None]:
        """Return the values of a bucket."""
        return [row[name].point for row in self.rows if row[f"{name}.bucket"] == bucket]

    def matchings(self) -> Iterator[tuple[int, ...]]:
        """Return all ways to give each person a row of their own that fits."""
        fits = [
            [i for i, row in enumerate(self.rows) if self.may_be(person, row)]
            for person in self.people
        ]

        def extend(taken: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
            if len(taken) == len(self.people):
                yield taken
                return
            for row in fits[len(taken)]:
                if row not in taken:
                    yield from extend((*taken, row))

        return extend(())

    def given_back(
        self, name: str, matching: tuple[int, ...]
    ) -> tuple[int, dict[int, Counter[Point | None]]]:
        """Return in how many ways bucket values may be given back, and who then has what.

        Only ways that agree with the known cells count; buckets are independent of each other.
        """
        buckets: dict[int, list[int]] = {}
        for person, row in enumerate(matching):
            bucket = self.rows[row][f"{name}.bucket"]
            if bucket is not None:
                buckets.setdefault(bucket, []).append(person)
        found = {}
        for bucket, members in buckets.items():
            ways = [
                way
                for way in permutations(self.values(name, bucket))
                if all(
                    name in self.people[person].secret or self.people[person].cells[name] == value
                    for person, value in zip(members, way, strict=True)
                )
            ]
            found[bucket] = (members, ways)
        total = prod(len(ways) for _, ways in found.values())
        having: dict[int, Counter[Point | None]] = {}
        for members, ways in found.values():
            for place, person in enumerate(members):
                counts = Counter(way[place] for way in ways)
                share = total // len(ways) if ways else 0
                having[person] = Counter({value: n * share for value, n in counts.items()})
        return total, having

    def worst(self) -> Fraction:
        """Return the largest posterior of any secret value of anybody.

        The larger of two: of an adversary who only knows which rows fit whom, and of one who knows
        in addition which row is whose (whichever matching is the true one).
        """
        worst = Fraction(0)
        weight_of_all = 0
        chances: dict[tuple[str, int], Counter[Point | None]] = {}
        for matching in self.matchings():
            told = {name: self.given_back(name, matching) for name in self.protected}
            weight = prod(total for total, _ in told.values())
            weight_of_all += weight
            if not weight:
                continue
            for name, (total, having) in told.items():
                for person, counts in having.items():
                    if name not in self.people[person].secret:
                        continue
                    known = {v: n for v, n in counts.items() if v is not None}
                    worst = max(worst, *(Fraction(n, total) for n in known.values()), 0)
                    chance = chances.setdefault((name, person), Counter())
                    for value, n in known.items():
                        chance[value] += n * weight // total
        assert weight_of_all, "the truth itself must fit"
        shares = [Fraction(n, weight_of_all) for c in chances.values() for n in c.values()]
        return max([worst, *shares])


SCHEMA = Schema(
    (
        Attribute("zip", Role.QUASI_IDENTIFIER),
        Attribute("age", Role.SEMI_SENSITIVE, flag="age is secret"),
        Attribute("job", Role.SEMI_SENSITIVE, flag="job is secret"),
        Attribute("illness", Role.SENSITIVE),
    )
)


def table_of(
    zips: Sequence[int],
    ages: Sequence[int | None],
    jobs: Sequence[str | None],
    illnesses: Sequence[str | None],
    secret_ages: Sequence[bool],
    secret_jobs: Sequence[bool],
) -> Table:
    data = pa.table(
        {
            "zip": zips,
            "age": pa.array(ages, pa.int64()),
            "job": pa.array(jobs, pa.string()),
            "illness": pa.array(illnesses, pa.string()),
            "age is secret": list(secret_ages),
            "job is secret": list(secret_jobs),
        }
    )
    return flagged(encode(data, SCHEMA), data)


def people_of(table: Table) -> list[Person]:
    people = []
    for i in range(table.rows):
        cells = {}
        for column in table.columns:
            code = int(column.codes[i])
            missing = code == column.null_code
            cells[column.name] = None if missing else point_of_value(column.values[code].as_py())
        secret = {name for name, flags in table.flags.items() if flags[i]} | {"illness"}
        people.append(Person(cells, frozenset(secret)))
    return people


def adversary(people: list[Person], release: Release, only_secrets: bool = True) -> Adversary:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "release")
        release.save(folder, format="csv")
        return Adversary(people, read_release(folder), only_secrets)


def check(table: Table, k: int, ell: int, way: str, seed: int = 0) -> int | None:
    """Assert that no secret is told; return how many cells were withheld, None if refused."""
    try:
        release = LGB(k=k, l=ell, generalize=way).release(table, Randomness.test(seed))
    except Infeasible:
        return None
    people = people_of(table)
    knowing = adversary(people, release)
    assert knowing.worst() <= Fraction(1, ell)
    rows = knowing.rows
    stars = sum(row[name] == Star() for row in rows for name in ("age", "job"))
    assert stars == release.manifest.parameters["withheld_cells"]
    for name in ("age", "job"):
        cells = [row for row in rows if row[name] == Star()]
        assert all(row[f"{name}.bucket"] is None for row in cells)
        # of the secret cells just those that are not withheld are in buckets, as they were
        kept = Counter(row[name].point for row in rows if row[f"{name}.bucket"] is not None)
        secret = Counter(person.cells[name] for person in people if name in person.secret)
        assert kept <= secret
        assert secret.total() - kept.total() <= len(cells)
    return stars


@pytest.mark.parametrize(("k", "way"), [(2, "mdp"), (3, "ncp")])
def test_no_secret_is_told_whatever_is_flagged(k, way):
    """All flags of four people, most of which make undersized patterns."""
    outcomes: Counter[Any] = Counter()
    for flags in product(product([False, True], repeat=2), repeat=4):
        ages, jobs = zip(*flags, strict=True)
        table = table_of([1, 1, 2, 3], [20, 20, 30, 40], [*"abcd"], [*"vwxy"], ages, jobs)
        outcomes[check(table, k, 2, way)] += 1
    assert outcomes[None] < 240
    assert sum(n for stars, n in outcomes.items() if stars) > 100


@st.composite
def small_tables(draw) -> Table:
    rows = draw(st.integers(4, 6))

    def column(cells):
        return draw(st.lists(cells, min_size=rows, max_size=rows))

    flags = st.sampled_from([False, True, True])
    return table_of(
        column(st.integers(1, 3)),
        column(st.sampled_from([20, 25, 30, 35, 40, 45, None])),
        column(st.sampled_from([*"abcde", None])),
        draw(st.permutations([*"uvwxyz"]))[:rows],
        column(flags),
        column(flags),
    )


@settings(max_examples=120)
@given(small_tables(), st.sampled_from([1, 2, 3]), st.sampled_from([2, 2, 3]), st.data())
def test_no_secret_is_told_of_small_tables(table, k, ell, data):
    check(table, k, ell, data.draw(st.sampled_from(["mdp", "ncp"])), data.draw(st.integers(0, 5)))


# --- what the paper's adversary would have done to the naive way ----------------------------------


def naively_flagged(table: Table, k: int) -> Table:
    """Return the table with more cells flagged, so that no flag pattern has fewer than k rows.

    The tempting way to deal with an undersized pattern: let its rows join the smallest large
    pattern that flags what they do and more.
    """
    rows = list(zip(*(table.flags[name].tolist() for name in ("age", "job")), strict=True))
    sizes = Counter(rows)
    large = [pattern for pattern, n in sizes.items() if n >= k]
    new = []
    for row in rows:
        above = [p for p in large if all(b or not a for a, b in zip(row, p, strict=True))]
        new.append(row if sizes[row] >= k else min(above, key=sum))
    flags = [np.array(column) for column in zip(*new, strict=True)]
    return replace(table, flags=dict(zip(("age", "job"), flags, strict=True)))


@pytest.mark.parametrize(
    ("ages", "ell"), [([20, 25, 30, 35], 2), ([20, 25, 30, 35, 40, 45], 3)], ids=["l=2", "l=3"]
)
def test_flagging_more_cells_instead_would_tell_secrets(ages, ell):
    """One person's age is known, and would be a known element of a bucket."""
    rows = len(ages)
    table = table_of(
        [1] * rows,
        ages,
        ["a", "b"] * (rows // 2),
        [*"uvwxyz"][:rows],
        [True] * (rows - 1) + [False],
        [False] * rows,
    )
    people = people_of(table)
    for way, seed in product(["mdp", "ncp"], range(3)):
        method = LGB(k=2, l=ell, generalize=way)
        naive = method.release(naively_flagged(table, 2), Randomness.test(seed))
        assert naive.manifest.parameters["withheld_cells"] == 0
        assert adversary(people, naive, only_secrets=False).worst() == Fraction(1, ell - 1)


def test_a_bucket_with_a_value_twice_would_tell_secrets():
    """The enumeration is not blind to what makes buckets l-unique either."""
    table = table_of([1] * 4, [20, 25, 30, 35], [*"abab"], [*"wxyz"], [True] * 4, [False] * 4)
    knowing = adversary(people_of(table), LGB(k=4, l=4).release(table, Randomness.test(0)))
    assert knowing.worst() == Fraction(1, 4)
    spoilt = [row | {"age": Exact(Fraction(20))} for row in knowing.rows[:2]]
    tables = {"records": [*spoilt, *knowing.rows[2:]]}
    people = [
        replace(p, cells=p.cells | {"age": row["age"].point})
        for p, row in zip(knowing.people, tables["records"], strict=True)
    ]
    assert Adversary(people, replace(knowing.release, tables=tables)).worst() > Fraction(1, 4)


def test_a_known_cell_in_reach_of_a_bucket_tells_nothing():
    """Somebody whose known age is among a bucket's values, and whose row is withheld."""
    table = table_of(
        [1] * 6,
        [20, 20, 25, 20, 20, 20],
        ["a"] * 6,
        [*"uvwxyz"],
        [False, True, True, False, False, True],
        [False, False, False, True, True, True],
    )
    assert check(table, 2, 2, "mdp") == 8
