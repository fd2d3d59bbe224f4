"""Attributes randomised as one: their parts are read back, and can be asked for one by one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from answers.hand_made_sets import attribute
from hypothesis import given
from hypothesis import strategies as st

from sfumato.answers import reconstruct
from sfumato.answers.joint_parts import Joint, joint_of, joints, parts_of_values
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.methods import SensitiveQID
from sfumato.publish.set_domains import joined
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Schema
from sfumato.table import encode

ROWS = 3_000
HARD_TEXTS = st.lists(
    st.one_of(
        st.none(),
        st.sampled_from(["null", "*", "", " & ", '"', "&", "[1, 2]", " b ", '"null"', "a & b"]),
        st.text(max_size=5),
    ),
    min_size=2,
    max_size=5,
)


@given(HARD_TEXTS, HARD_TEXTS)
def test_any_texts_are_read_back(one, other):
    rows = pa.table({"a": pa.array(one * 5, pa.string())[:8], "b": pa.array(other * 5)[:8]})
    table = encode(rows, Schema.of(a="sensitive", b="sensitive"))
    column = joined([table["a"], table["b"]])
    entry = attribute(column.name, "string", column.values.to_pylist())
    found = parts_of_values(entry, Joint(column.name, ("a", "b")))
    said = [found[code] for code in column.codes]
    assert said == list(zip(*(rows[name].to_pylist() for name in "ab"), strict=True))


@pytest.fixture(scope="module")
def release() -> Release:
    rng = np.random.default_rng(4)
    age = rng.integers(0, 4, ROWS)
    rows = pa.table(
        {
            "age": age,
            "job": pa.array(
                [None if j == 3 else f"{j} & co" for j in (age + rng.integers(0, 2, ROWS)) % 4]
            ),
            "illness": pa.array(np.array(["Flu", "HIV", "Asthma"])[rng.integers(0, 3, ROWS)]),
        }
    )
    roles = dict.fromkeys(("age", "job"), "sensitive-quasi-identifier") | {"illness": "sensitive"}
    made = SensitiveQID(l=2, joint=(("age", "job"),))
    return made.publish(rows, Schema.of(roles), randomness=Randomness.test(1))


def test_the_manifest_names_the_parts(release):
    assert joints(release.manifest) == (Joint("age & job", ("age", "job")),)
    assert joint_of(release.manifest, "job") == Joint("age & job", ("age", "job"))
    assert joint_of(release.manifest, "illness") is None


@pytest.mark.parametrize("method", ["bayes", "inverse", "value-adding"])
def test_a_part_is_the_joint_axis_summed(release, method):
    whole = reconstruct(release, ["illness", "age & job"], method)
    part = reconstruct(release, ["job", "illness"], method)
    assert part.labels[0] == ("0 & co", "1 & co", "2 & co", None)
    parts = parts_of_values(
        release.manifest.attribute("age & job"), Joint("age & job", ("age", "job"))
    )
    for place, text in enumerate(part.labels[0]):
        own = [cell for cell, (_, job) in enumerate(parts) if job == text]
        assert part.counts[place] == pytest.approx(whole.counts[:, own].sum(axis=1))
    assert part.counts.sum() == pytest.approx(ROWS)
    assert part.se is None
    assert bool(part.warnings) is (method == "inverse")


def test_all_parts_keep_their_standard_errors(release):
    whole = reconstruct(release, ["age & job"], "inverse")
    parts = reconstruct(release, ["job", "age"], "inverse")
    assert parts.counts.shape == (4, 4)
    assert parts.counts.T.ravel() == pytest.approx(whole.counts)
    assert parts.se.T.ravel() == pytest.approx(whole.se)
    assert parts.warnings == ()


def test_a_part_beside_its_whole_is_refused(release):
    with pytest.raises(ParameterError, match="'age' is a part of 'age & job'"):
        reconstruct(release, ["age", "age & job"])
    with pytest.raises(ParameterError, match="did you mean 'job'"):
        reconstruct(release, ["jobs"])


@pytest.mark.parametrize(
    "stated", [["age"], {"age & job": "age"}, {"age & job": ["age"]}, {"age & job": ["age", 3]}]
)
def test_parameters_that_say_nothing_are_damage(release, stated):
    parameters = release.manifest.parameters | {"joint": stated}
    manifest = release.manifest.model_copy(update={"parameters": parameters})
    with pytest.raises(ReleaseDamaged, match="`joint`"):
        joints(manifest)


@pytest.mark.parametrize("text", ["a", "a & b & c", "a& b", '"a & b', 'x"y" & b', '"\\q" & b', ""])
def test_values_that_are_no_combinations_are_damage(text):
    entry = attribute("a & b", "string", [text])
    with pytest.raises(ReleaseDamaged, match="not combinations"):
        parts_of_values(entry, Joint("a & b", ("a", "b")))
