"""Bounds where some records are fake, against all originals: any records of any deal may be."""

from __future__ import annotations

from itertools import combinations, product

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from answers.consistent import aggregate
from answers.every_average import every_average
from answers.every_deal import blocks_of, deals
from answers.questions import any_predicates
from answers.test_every_deal import TOGETHER, anatomized, asked, people, sliced
from hypothesis import given, settings

import sfumato as sf
from sfumato.answers import Answerer, Average, Count, Sum
from sfumato.errors import ReleaseDamaged
from sfumato.predicates import parse


def results(release, predicate, summed, fakes) -> set[int]:
    """Return what an aggregate may be; the fakes may be spread over the groups in any way."""
    names = set(predicate.attributes if predicate else ()) | ({summed} if summed else set())
    every = blocks_of(release)
    blocks = [block for block in every if set(block[1][0]) & names] or every[:1]
    entries = {entry.name: entry for entry in release.manifest.attributes}
    of_group = [
        {
            tuple(sorted(aggregate([row], predicate, summed) for row in rows))
            for rows in deals([block[group] for block in blocks], names, entries)
        }
        for group in every[0]
    ]
    found = set()
    for chosen in product(*of_group):
        added = [each for group in chosen for each in group]
        found |= {sum(kept) for kept in combinations(added, len(added) - fakes)}
    return found


@settings(max_examples=250)
@given(
    people(most=3),
    TOGETHER,
    any_predicates | st.none(),
    st.sampled_from([None, "age", "pay"]),
    st.integers(1, 4),
)
def test_bounds_are_those_of_all_originals(groups, together, predicate, summed, fakes):
    """`pay` has numbers of both signs, and all of `age` are above 0."""
    fakes = min(fakes, sum(map(len, groups)))
    release = sliced(groups, together, fakes=fakes)
    found = Answerer(release).answer(Sum(summed) if summed else Count(), predicate)
    true = results(release, predicate, summed, fakes)
    assert found.low <= min(true) <= max(true) <= found.high
    if predicate is None or asked(together, predicate, summed) <= 2:
        assert (found.low, found.high) == (min(true), max(true))


def test_what_no_record_can_be_adds_up_to_nothing():
    group = [{"age": 20 + n, "sex": "FM"[n % 2], "pay": n} for n in range(4)]
    answerer = Answerer(sliced([group, group], (("age",), ("sex", "pay")), fakes=3))
    nobody = answerer.answer(Sum("age"), "pay > 9")
    assert (nobody.low, nobody.value, nobody.high) == (0, 0, 0)
    # six pairs of an age with a pay below 3; the least of them may be fakes, or the greatest
    some = answerer.answer(Sum("age"), "pay < 3")
    assert (some.low, some.high) == (20 + 20 + 21, 2 * (23 + 22 + 21) - 21)


def test_averages_are_closer_than_any_record_being_fake_would_make_them():
    group = [{"age": 20 + n, "sex": "FM"[n % 2], "pay": n} for n in range(4)]
    release = sliced([group], (("age",), ("sex", "pay")), fakes=1)
    predicate = parse("pay < 3")
    found = Answerer(release).answer(Average("age"), predicate)
    every = every_average(release, "age", predicate, 1)
    low, high = float(min(every)), float(max(every))
    assert low - 0.1 <= found.low <= low <= high <= found.high <= high + 0.1


@pytest.mark.parametrize("fakes", [True, False, "1", 1.0, -1, 99])
def test_what_is_no_number_of_records_is_refused(fakes):
    group = [{"age": 20 + n, "sex": "F", "pay": n} for n in range(4)]
    release = sliced([group], (("age",), ("sex", "pay")), fakes=fakes)
    with pytest.raises(ReleaseDamaged, match="fake"):
        Answerer(release)
    with pytest.raises(ReleaseDamaged, match="fake"):
        sf.audit(release)


def test_fakes_have_no_place_in_other_layouts():
    group = [{"age": 20 + n, "sex": "F", "pay": n} for n in range(4)]
    release = anatomized([group], (("age", "sex"), ("pay",)))
    for fakes in (True, 1):
        manifest = release.manifest.model_copy(update={"parameters": {"fakes": fakes}})
        with pytest.raises(ReleaseDamaged, match="fake"):
            Answerer(sf.Release(manifest, release.tables))


def test_sums_of_many_groups_are_those_by_hand():
    """The fakes may all be those with the greatest numbers, or the least, whatever the group."""
    rows = 3_000
    data = pa.table(
        {
            "group": [1 + n // 100 for n in range(rows)],
            "age": [20 + n % 4 for n in range(rows)],
            "sex": ["F"] * rows,
            "pay": [n % 4 for n in range(rows)],
        }
    )
    made = sliced([[{"age": 20, "sex": "F", "pay": 0}] * 2], (("age",), ("sex", "pay")), fakes=1)
    parameters = made.manifest.parameters | {"fakes": 1_000}
    manifest = made.manifest.model_copy(update={"rows": rows, "parameters": parameters})
    answerer = Answerer(sf.Release(manifest, {"records": data}))
    total = answerer.answer(Sum("age"))
    assert total.low == 20 * 750 + 21 * 750 + 22 * 500
    assert total.high == 23 * 750 + 22 * 750 + 21 * 500
