"""What an adversary who knows everybody's quasi-identifiers learns from a release of Merging.

All ways to give the values of a class to its people are tried, each as likely as any other.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import Infeasible, ParameterError
from sfumato.methods.merging import Merging
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Schema

SCHEMA = Schema.of(number="quasi-identifier", sex="quasi-identifier", illness="sensitive")
People = list[tuple[str, str]]  # sexes and illnesses, by number


def publish(people: People, rules=(), *, ell: int = 2, seed: int = 0) -> Release:
    """Return a release whose records tell who is in which class: numbers are exact."""
    data = pa.table(
        {
            "number": range(len(people)),
            "sex": [sex for sex, _ in people],
            "illness": [illness for _, illness in people],
        }
    )
    method = Merging(
        l=ell, k=1, min_class=ell, fakes=0, expected=None, collapse=None, incompatible=rules
    )
    return method.publish(data, SCHEMA, randomness=Randomness.test(seed))


def posteriors(release: Release, people: People, impossible=frozenset()) -> dict[int, dict]:
    """Return the probability of every value, for each person."""
    classes: dict[int, list] = {}
    for row in release.tables["records"].to_pylist():
        classes.setdefault(row["group"], []).append(row)
    found = {}
    for rows in classes.values():
        members = [row["number"] for row in rows]
        deals = [
            deal
            for deal in set(permutations(row["illness"] for row in rows))
            if not any((people[m][0], s) in impossible for m, s in zip(members, deal, strict=True))
        ]
        for place, member in enumerate(members):
            counts = Counter(deal[place] for deal in deals)
            found[member] = {s: Fraction(n, len(deals)) for s, n in counts.items()}
    return found


PEOPLE = st.lists(
    st.tuples(st.sampled_from("fm"), st.sampled_from("abcde")), min_size=2, max_size=6
)


@settings(max_examples=100)
@given(PEOPLE, st.integers(1, 3), st.integers(0, 9))
def test_without_impossible_values_nobody_is_known_better_than_one_in_l(people, ell, seed):
    try:
        release = publish(people, ell=ell, seed=seed)
    except Infeasible:
        return
    found = posteriors(release, people)
    assert found.keys() == set(range(len(people)))
    assert all(share <= Fraction(1, ell) for each in found.values() for share in each.values())


@settings(max_examples=150)
@given(
    PEOPLE,
    st.sets(st.sampled_from("abcde"), min_size=1, max_size=2),
    st.integers(2, 3),
    st.integers(0, 9),
)
def test_who_drops_a_persons_own_impossible_values_is_left_with_one_in_l(people, womens, ell, seed):
    """A person's own knowledge of a class: each value left is as likely as its share."""
    people = [(("f" if illness in womens else sex), illness) for sex, illness in people]
    listed = ", ".join(f"'{s}'" for s in sorted(womens))
    try:
        release = publish(people, [f"sex = 'm' AND illness IN ({listed})"], ell=ell, seed=seed)
    except (Infeasible, ParameterError):
        return
    classes: dict[int, list] = {}
    for row in release.tables["records"].to_pylist():
        classes.setdefault(row["group"], []).append(row)
    for rows in classes.values():
        for member in (row["number"] for row in rows):
            is_man = people[member][0] == "m"
            left = [r["illness"] for r in rows if not (is_man and r["illness"] in womens)]
            assert max(Counter(left).values()) * ell <= len(left)
