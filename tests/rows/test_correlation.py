"""The correlation-ordered partition: eligible groups, and none but those that Algorithm 1 makes."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import partition, samples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import refining as oracle

from sfumato.datasets import census, census_schema
from sfumato.errors import Infeasible, ParameterError
from sfumato.randomness import Randomness, repeatable
from sfumato.rows import correlation, words
from sfumato.rows.correlation import correlation_partition
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import Groups, Table, encode

MERGED = st.sampled_from(["split", "final"])


def of_columns(illness, **quasi) -> Table:
    """Return a table of numbers, `-` in the sensitive values being a missing one."""
    values = [None if letter == "-" else f"secret {letter}" for letter in illness]
    cells = {name: pa.array(numbers, pa.int64()) for name, numbers in quasi.items()}
    attributes = [Attribute(name, Role.QUASI_IDENTIFIER) for name in quasi]
    attributes.append(Attribute("illness", Role.SENSITIVE))
    return encode(
        pa.table(cells | {"illness": pa.array(values, pa.string())}), Schema(tuple(attributes))
    )


def part(table: Table, ell: int, seed: int = 0, sensitive=("illness",), **how) -> Groups:
    rng = Randomness.test(seed).generator("partition")
    return correlation_partition(table, list(sensitive), ell, rng=rng, **how)


def feasible(values) -> int:
    known = oracle.known_values(values)
    return len(known) // max(Counter(known).values()) if known else 0


# --- any table ------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(samples(people=False), st.integers(1, 4), MERGED, st.integers(0, 3))
def test_every_group_is_eligible_and_every_row_in_one(sample, ell, merged, seed):
    values = [row["illness"] for row in sample.rows]
    if not oracle.known_values(values):  # nothing to protect, in a group that is no smaller
        assert part(sample.table, ell, seed, merged=merged).count == 1
        return
    if not oracle.eligible(values, ell):
        with pytest.raises(Infeasible, match="`illness`"):
            part(sample.table, ell, seed, merged=merged)
        return
    groups = part(sample.table, ell, seed, merged=merged)
    assert len(groups.ids) == len(values)
    for rows in partition(groups):
        assert oracle.eligible([values[row] for row in rows], ell)


@settings(max_examples=60)
@given(samples(people=False), st.integers(1, 3), MERGED, st.integers(0, 3))
def test_two_sensitive_attributes_are_eligible_both(sample, ell, merged, seed):
    names = ("illness", "pay")
    columns = [[row[name] for row in sample.rows] for name in names]
    assume(all(oracle.known_values(column) for column in columns))
    if not all(oracle.eligible(column, ell) for column in columns):
        with pytest.raises(Infeasible):
            part(sample.table, ell, seed, names, merged=merged)
        return
    groups = part(sample.table, ell, seed, names, merged=merged)
    for rows in partition(groups):
        for name in names:
            assert oracle.eligible([sample.rows[row][name] for row in rows], ell)


# --- Algorithm 1 ----------------------------------------------------------------------------------

SMALL = st.lists(
    st.tuples(
        st.none() | st.integers(0, 2),
        st.integers(0, 2),
        st.sampled_from("abcd") | st.sampled_from("abcd-"),
    ),
    min_size=1,
    max_size=9,
)


@settings(max_examples=200)
@given(SMALL, st.integers(1, 3), st.booleans(), st.booleans(), st.integers(0, 5))
def test_groups_are_some_outcome_of_the_algorithm(rows, ell, merged_are_final, single, seed):
    """Which of them depends on the neighbours that are picked; all ways are enumerated."""
    one, two, letters = (list(each) for each in zip(*rows, strict=True))
    values = [None if letter == "-" else letter for letter in letters]
    ell = min(ell, feasible(values))
    assume(ell)
    quasi = {"one": one} if single else {"one": one, "two": two}
    possible = oracle.partitions_by_correlation(
        list(quasi.values()), [values], ell, merged_are_final=merged_are_final
    )
    merged = "final" if merged_are_final else "split"
    groups = part(of_columns(letters, **quasi), ell, seed, merged=merged)
    assert frozenset(partition(groups)) in possible


@settings(max_examples=60)
@given(SMALL, st.booleans(), st.integers(0, 5))
def test_with_two_sensitive_attributes_too(rows, merged_are_final, seed):
    one, two, letters = (list(each) for each in zip(*rows, strict=True))
    numbers = [number or 0 for number in one]
    values = [None if letter == "-" else letter for letter in letters]
    table = encode(
        pa.table({"two": two, "illness": pa.array(values, pa.string()), "pay": numbers}),
        Schema.of(two="quasi-identifier", illness="sensitive", pay="sensitive"),
    )
    ell = min(feasible(values), feasible(numbers), 2)
    assume(ell)
    possible = oracle.partitions_by_correlation(
        [two], [values, numbers], ell, merged_are_final=merged_are_final
    )
    merged = "final" if merged_are_final else "split"
    assert (
        frozenset(partition(part(table, ell, seed, ("illness", "pay"), merged=merged))) in possible
    )


def test_every_outcome_is_made_by_some_seed():
    """The middle value cannot stand alone and joins either neighbour."""
    numbers, letters = [0, 0, 1, 2, 2], "abcde"
    possible = oracle.partitions_by_correlation(
        [numbers], [list(letters)], 2, merged_are_final=True
    )
    assert len(possible) == 2
    table = of_columns(letters, one=numbers)
    assert {frozenset(partition(part(table, 2, seed))) for seed in range(40)} == possible


@settings(max_examples=60)
@given(samples(people=False, max_rows=12), MERGED, st.integers(0, 3))
def test_where_nothing_is_joined_groups_are_rows_that_agree_in_all_attributes(sample, merged, seed):
    """Each row three times with three illnesses: eligible however finely it is cut."""
    rows = [
        row | {"illness": illness, "person": 3 * i + j}
        for i, row in enumerate(sample.rows)
        for j, illness in enumerate(("flu", "cold", "cough"))
    ]
    thrice = type(sample)(rows, sample.quasi, sample.paths, False)
    alike: dict[tuple, set[int]] = {}
    for row in range(len(rows)):
        alike.setdefault(thrice.key(row), set()).add(row)
    groups = part(thrice.table, 3, seed, merged=merged)
    assert partition(groups) == {frozenset(each) for each in alike.values()}


@settings(max_examples=150)
@given(SMALL, st.integers(1, 3), st.integers(0, 5))
def test_final_groups_agree_in_all_attributes_before_the_one_they_mix(rows, ell, seed):
    one, two, letters = (list(each) for each in zip(*rows, strict=True))
    values = [None if letter == "-" else letter for letter in letters]
    ell = min(ell, feasible(values))
    assume(ell)
    strength = [oracle.phi_squared(column, values) for column in (one, two)]
    assume(strength[0] != strength[1])
    ordered = [one, two] if strength[0] > strength[1] else [two, one]
    groups = part(of_columns(letters, one=one, two=two), ell, seed, merged="final")
    for group in partition(groups):
        mixes = [len({column[row] for row in group}) > 1 for column in ordered]
        if mixes[0]:  # made by joining, so whole values of the first attribute, not cut further
            firsts = {ordered[0][row] for row in group}
            assert group == {row for row in range(len(values)) if ordered[0][row] in firsts}


def test_the_attribute_that_tells_most_is_cut_first():
    """Either could be cut first, and then not the other: its parts would have too few rows."""
    letters = "abcdef" * 2 + "ghijkl" * 2
    tells, tells_less = [0] * 12 + [1] * 12, ([0] * 4 + [1] * 4 + [2] * 4) * 2
    for names in (("one", "two"), ("two", "one")):
        quasi = {name: tells if name == "one" else tells_less for name in names}
        groups = part(of_columns(letters, **quasi), 6, merged="final")
        assert partition(groups) == {frozenset(range(12)), frozenset(range(12, 24))}
    alone = part(of_columns(letters, two=tells_less), 6, merged="final")
    assert sorted(alone.sizes.tolist()) == [8, 8, 8]


def test_joined_groups_are_cut_further_unless_they_are_final():
    """No value of the first attribute is eligible, so all are joined; the second can cut them."""
    letters = "abcabcabcdefdefdef"
    first = [ord(letter) for letter in letters]
    second = [0] * 9 + [1] * 9
    table = of_columns(letters, first=first, second=second)
    assert partition(part(table, 3, merged="final")) == {frozenset(range(18))}
    assert partition(part(table, 3)) == {frozenset(range(9)), frozenset(range(9, 18))}


@settings(max_examples=60)
@given(st.lists(st.tuples(st.none() | st.integers(0, 9), st.sampled_from("abcd")), min_size=1))
def test_groups_are_numbered_in_the_order_of_the_sort(rows):
    numbers, letters = (list(each) for each in zip(*rows, strict=True))
    ell = min(feasible(letters), 2)
    groups = part(of_columns(letters, one=numbers), ell)
    keys = [
        [10 if numbers[i] is None else numbers[i] for i in groups.members(g)]
        for g in range(groups.count)
    ]
    for here, there in pairwise(keys):
        assert max(here) < min(there)


# --- edges ----------------------------------------------------------------------------------------


def test_a_single_row_and_a_table_of_one_kind():
    assert part(of_columns("a", one=[5]), 1).count == 1
    assert part(of_columns("abab", one=[5, 5, 5, 5]), 2).count == 1
    assert part(of_columns("abab", one=[None] * 4), 2).count == 1


def test_with_l_of_one_every_value_stands_alone():
    assert part(of_columns("aaaa", one=[1, 2, 2, 3], two=[0, 1, 2, 0]), 1).count == 4


def test_rows_that_miss_the_value_count_for_nothing():
    """Two rows with a value and eight without are 2-eligible, and none without is on its own."""
    table = of_columns("ab--------", one=[0, 0, *range(1, 9)])
    groups = part(table, 2)
    assert groups.count == 1
    table = of_columns("ab----ab", one=[0, 0, 1, 1, 1, 1, 2, 2])
    for seed in range(8):
        sizes = sorted(part(table, 2, seed).sizes.tolist())
        assert sizes == [2, 6]


def test_an_l_above_the_feasible_is_refused_with_advice_and_without_a_value():
    with pytest.raises(Infeasible) as refusal:
        part(of_columns("aaabbc----", one=range(10)), 3)
    message = str(refusal.value)
    assert "l = 3" in message and "`illness`" in message and "50.0%" in message
    assert message.endswith("largest feasible l is 2")
    assert "secret" not in message


def test_a_table_without_quasi_identifiers_is_refused():
    table = encode(pa.table({"illness": ["a", "b"]}), Schema.of(illness="sensitive"))
    with pytest.raises(ParameterError, match="quasi-identifier"):
        part(table, 1)


def test_the_same_seed_parts_alike_and_others_do_not():
    table = of_columns("abcdefgh" * 20, one=list(range(160)))
    assert partition(part(table, 3, 5)) == partition(part(table, 3, 5))
    assert partition(part(table, 3, 5)) != partition(part(table, 3, 6))


# --- large tables, which a partition in quadratic time would not come to an end with --------------


def check_large(numbers: np.ndarray, codes: np.ndarray, ell: int) -> Groups:
    table = encode(
        pa.table({"one": numbers, "illness": codes}),
        Schema.of(one="quasi-identifier", illness="sensitive"),
    )
    groups = part(table, ell)
    pairs, counts = np.unique(
        groups.ids.astype(np.int64) * (int(codes.max()) + 1) + codes, return_counts=True
    )
    largest = np.zeros(groups.count, np.int64)
    np.maximum.at(largest, pairs // (int(codes.max()) + 1), counts)
    assert (largest * ell <= groups.sizes).all()
    return groups


@pytest.mark.parametrize(("rows", "values"), [(200_000, 12), (200_000, 150_000)])
def test_a_huge_run_before_many_tiny_ones_that_must_join_it(rows, values):
    """Tiny runs of one value alone: each must find its way back to the huge one."""
    tiny = rows // 4
    numbers = np.concatenate([np.zeros(rows - tiny, np.int64), np.arange(1, tiny + 1)])
    codes = np.concatenate([1 + np.arange(rows - tiny) % values, np.zeros(tiny, np.int64)])
    assert check_large(numbers, codes, 3).count == 1


def test_many_tiny_runs_before_a_huge_one():
    rows, tiny = 200_000, 50_000
    numbers = np.concatenate([np.arange(tiny), np.full(rows - tiny, tiny)])
    codes = np.concatenate([np.zeros(tiny, np.int64), 1 + np.arange(rows - tiny) % 12])
    assert check_large(numbers, codes, 3).count == 1


def test_tiny_runs_of_different_values_join_each_other():
    rows = 200_000
    numbers = np.arange(rows) // 2
    groups = check_large(numbers, np.arange(rows) % 11, 3)
    assert groups.count > rows / 20


def test_an_attribute_that_never_repeats():
    rows = 200_000
    numbers = np.random.Generator(np.random.PCG64(3)).permutation(rows)
    assert check_large(numbers, np.arange(rows) % 11, 3).count > rows / 40


# --- however rows are sorted and words are drawn --------------------------------------------------


@pytest.fixture(scope="module")
def people() -> Table:
    return encode(census(4_000), census_schema())


@pytest.mark.parametrize("merged", ["split", "final"])
@pytest.mark.parametrize("ell", [2, 7])
@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (correlation, "_BITS", 16),  # several words a line, and few columns sorted ahead
        (correlation, "_FEW", 0),  # joined parts are sorted by merging runs
        (words, "_AT_A_TIME", 1),  # no more words than may be needed
    ],
)
def test_groups_do_not_depend_on_how_they_are_found(
    people, ell, merged, module, name, value, monkeypatch
):
    wanted = part(people, ell, sensitive=["salary"], merged=merged)
    monkeypatch.setattr(module, name, value)
    found = part(people, ell, sensitive=["salary"], merged=merged)
    assert found.count == wanted.count
    assert np.array_equal(found.ids, wanted.ids)


def test_no_more_is_drawn_than_tosses(people):
    ours, theirs = (Randomness.test(4).generator("partition") for _ in range(2))
    correlation_partition(people, ["salary"], 3, rng=ours)
    drawn = ours.integers(0, 1 << 32, 4, np.uint32)
    # what comes next in the stream comes after some toss
    stream = theirs.integers(0, 1 << 32, 20_000, np.uint32)
    places = np.flatnonzero(stream == drawn[0])
    assert any(np.array_equal(stream[place : place + 4], drawn) for place in places)


# --- tables of few values -------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(1, 400), st.integers(1, 4), st.integers(1, 3), MERGED, st.booleans())
def test_kinds_of_rows_are_cut_as_rows_are(rows, values, ell, merged, several):
    rng = repeatable(rows, values)
    cells = {name: rng.integers(0, values, rows).tolist() for name in ("one", "two")}
    secrets = {name: rng.integers(0, 5, rows).tolist() for name in ("a", "b")[: 1 + several]}
    attributes = [Attribute(name, Role.QUASI_IDENTIFIER) for name in cells]
    attributes += [Attribute(name, Role.SENSITIVE) for name in secrets]
    table = encode(pa.table(cells | secrets), Schema(tuple(attributes)))
    ell = min(ell, *(feasible(each) for each in secrets.values()))
    found = part(table, ell, values, tuple(secrets), merged=merged)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(correlation.Kinds, "of", lambda columns: None)
        one_by_one = part(table, ell, values, tuple(secrets), merged=merged)
    assert found.count == one_by_one.count
    assert found.ids.tolist() == one_by_one.ids.tolist()
