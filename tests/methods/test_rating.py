"""Rating: sets of values that other records have."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError
from sfumato.methods import Rating, SetProtection
from sfumato.randomness import Randomness
from sfumato.rows.shared_sets import shared_sets
from sfumato.schema import Schema


@settings(max_examples=80, deadline=None)
@given(
    codes=st.lists(st.integers(0, 6), min_size=1, max_size=40),
    l=st.integers(1, 5),
    seed=st.integers(0, 50),
)
def test_sets_hold_the_own_value_and_values_that_occur(codes, l, seed):  # noqa: E741
    array = np.array(codes, np.int32)
    sets = shared_sets(array, l, 7, rng=Randomness.test(seed).generator("groups"))
    if len(set(codes)) < l:
        assert sets is None
        return
    assert sets.shape == (len(codes), l)
    assert (np.diff(sets.astype(int), axis=1) > 0).all()
    assert set(sets.ravel().tolist()) <= set(codes)
    assert (sets == array[:, None]).any(axis=1).all()


def test_groups_of_l_records_share_their_values_where_values_are_rare_enough():
    codes = np.repeat(np.arange(4, dtype=np.int32), 30)
    sets = shared_sets(codes, 3, 4, rng=Randomness.test(1).generator("groups"))
    together = Counter(map(tuple, sets.tolist()))
    assert all(count % 3 == 0 for count in together.values())
    for members, count in together.items():
        held = Counter(codes[(sets == members).all(axis=1)].tolist())
        assert held == dict.fromkeys(members, count // 3)


def test_too_common_values_borrow_from_groups():
    data = pa.table({"a": ["x"] * 90 + ["y"] * 6 + ["z"] * 4, "b": ["p", "q", "r", None] * 25})
    method = Rating(l=2, protection={"b": SetProtection(l=3)})
    release = method.publish(data, Schema.of(a="sensitive", b="sensitive-quasi-identifier"))
    assert all("x" in each for each in release.tables["records"]["a"].to_pylist())
    assert release.manifest.attribute("b").domain == ("p", "q", "r", None)
    assert release.manifest.parameters["sets"] == {
        "a": {"p": 1.0, "eta": 2},
        "b": {"p": 1.0, "eta": 3},
    }
    assert audit(release).ok


@pytest.mark.parametrize(
    ("method", "error", "words"),
    [
        (Rating(), ParameterError, "say `l`"),
        (Rating(l=2), Infeasible, "'sex': .*sensitive-qid with `t`"),
        (Rating(l=2, protection={"age": SetProtection(l=2)}), (ParameterError, Infeasible), "sens"),
    ],
)
def test_refusals(method, error, words):
    data = pa.table({"age": [1, 2, 3], "sex": ["f", "m", "f"]})
    with pytest.raises(error, match=words):
        method.publish(data, Schema.of(age="quasi-identifier", sex="sensitive"))


@pytest.mark.parametrize(
    "parameters",
    [{"l": 0}, {"l": 2.5}, {"bins": True}, {"protection": {"a": SetProtection(t=0.5)}}],
)
def test_impossible_parameters_are_refused(parameters):
    with pytest.raises(ParameterError):
        Rating(**parameters)
