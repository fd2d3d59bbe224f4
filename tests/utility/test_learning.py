"""Learning from releases: what is there to be learnt is learnt, and no tested row is ever seen."""

from __future__ import annotations

import builtins
import sys

import numpy as np
import pyarrow as pa
import pytest
from sklearn.dummy import DummyClassifier

from sfumato.answers import to_microdata
from sfumato.errors import EngineUnavailable, ParameterError
from sfumato.methods import Anatomy, Mondrian
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Schema
from sfumato.utility import learning_accuracy

ROWS = 600
# Shares of 600 coin flips lie within this of 1/2 in all but one of 15,000 cases.
FOUR_DEVIATIONS = 4 * 0.5 / ROWS**0.5


def people(seed: int = 0) -> pa.Table:
    """Return rows in which the illness follows from the ward, and the mood from nothing."""
    rng = repeatable(seed)
    ward = rng.choice(["north", "east", "south"], ROWS, p=[0.3, 0.3, 0.4])
    return pa.table(
        {
            "person": np.arange(ROWS),
            "ward": ward,
            "age": rng.integers(20, 80, ROWS),
            "illness": np.where(ward == "south", "flu", "fever"),
            "mood": rng.choice(["good", "bad"], ROWS),
        }
    )


SCHEMA = Schema.of(
    person="identifier",
    ward="quasi-identifier",
    age="quasi-identifier",
    illness="sensitive",
    mood="sensitive",
)


def exact(data: pa.Table) -> Release:
    """Return a release that tells everything."""
    return Mondrian(k=1).publish(data, SCHEMA, randomness=Randomness.test(3))


def learn(publish=exact, target="illness", features=("ward", "age"), seed=5, **options):
    return learning_accuracy(
        options.pop("data", people()),
        publish,
        target,
        features=features,
        rows_of=options.pop("rows_of", to_microdata),
        rng=repeatable(seed),
        **options,
    )


def test_a_function_of_a_feature_is_learnt_from_an_exact_release():
    learned = learn()
    assert learned.mean == learned.original == 1.0
    assert learned.per_fold == (1.0,) * 10
    counts = people()["illness"].value_counts().field("counts").to_numpy()
    assert learned.baseline == pytest.approx(counts.max() / ROWS)


def test_a_target_of_chance_is_learnt_from_no_release():
    learned = learn(target="mood")
    for share in (learned.mean, learned.original, learned.baseline):
        assert abs(share - 0.5) < FOUR_DEVIATIONS
    assert learned.mean == pytest.approx(np.mean(learned.per_fold))


def test_a_target_that_was_permuted_before_publishing_is_not_learnt():
    def permuted(data: pa.Table) -> Release:
        order = pa.array(repeatable(8).permutation(data.num_rows))
        place = data.column_names.index("illness")
        return exact(data.set_column(place, "illness", data["illness"].take(order)))

    learned = learn(permuted)
    assert learned.original == 1.0
    assert abs(learned.mean - learned.baseline) < FOUR_DEVIATIONS


def test_a_group_of_all_people_teaches_no_more_than_the_baseline():
    def coarse(data: pa.Table) -> Release:
        return Mondrian(k=data.num_rows).publish(data, SCHEMA)

    learned = learn(coarse)
    assert learned.original == 1.0
    assert learned.mean < learned.baseline + FOUR_DEVIATIONS


def test_tables_that_share_only_a_group_are_learnt_from_too():
    """In groups of two wards each, a ward is joined to its own illness half of the time."""
    roles = {"illness": "quasi-identifier", "age": "quasi-identifier", "ward": "sensitive"}

    def apart(data: pa.Table) -> Release:
        return Anatomy(l=2).publish(data.select(list(roles)), Schema.of(roles))

    learned = learn(apart, target="ward", features=("illness", "age"), folds=4)
    assert learned.mean < learned.original - FOUR_DEVIATIONS


def test_a_quasi_identifier_as_the_target():
    learned = learn(target="ward", features=("illness",))
    # flu means south; north and east look alike, and are half of the others each
    assert learned.mean == pytest.approx(0.7, abs=FOUR_DEVIATIONS)
    assert learned.original == pytest.approx(learned.mean)


def test_no_tested_row_is_published_and_every_row_is_tested_once():
    seen: list[set[int]] = []
    tested: list[int] = []

    class Witness(DummyClassifier):
        """Notes the rows it is asked about, which their number as the only feature tells."""

        def fit(self, x, y):
            self.known_ = set(x[:, 0].tolist())
            return super().fit(x, y)

        def predict(self, x):
            asked = set(x[:, 0].tolist())
            assert not asked & self.known_
            tested.extend(asked)
            return super().predict(x)

    data = people().append_column("number", people()["person"])
    schema = Schema.of(number="quasi-identifier", illness="sensitive")

    def numbered(rows: pa.Table) -> Release:
        seen.append(set(rows["person"].to_pylist()))
        return Mondrian(k=1).publish(rows.select(["number", "illness"]), schema)

    learn(numbered, features=("number",), data=data, classifier=Witness(strategy="prior"), folds=5)
    # each fold is asked twice: after the release, and after the original rows
    assert sorted(tested) == sorted([*range(ROWS)] * 2)
    assert [len(rows) for rows in seen] == [ROWS * 4 // 5] * 5
    held_out = [set(range(ROWS)) - rows for rows in seen]
    assert sorted(person for fold in held_out for person in fold) == list(range(ROWS))


def test_classes_are_dealt_evenly():
    parts = []

    def publish(data: pa.Table) -> Release:
        parts.append(data.filter(pa.compute.equal(data["illness"], "flu")).num_rows)
        return exact(data)

    learn(publish, folds=5)
    assert max(parts) - min(parts) <= 1


def test_the_same_seed_gives_the_same_numbers():
    assert learn(target="mood") == learn(target="mood")
    assert learn(target="mood").per_fold != learn(target="mood", seed=6).per_fold


def test_missing_and_unheard_values():
    """Missing features are features; rows without target are no test; new values break nothing."""
    data = people()
    ward = pa.array([None if w == "south" else w for w in data["ward"].to_pylist()])
    illness = data["illness"].to_pylist()
    illness[:30] = [None] * 30
    data = data.set_column(1, "ward", ward).set_column(3, "illness", pa.array(illness))
    rare = pa.array([f"only {i}" for i in range(ROWS)])
    data = data.append_column("rare", rare)

    def publish(rows: pa.Table) -> Release:
        return exact(rows.select(list(SCHEMA.names)))

    assert learn(publish, data=data).mean == 1.0
    assert learn(publish, data=data, features=("ward",)).mean == 1.0
    with pytest.raises(ParameterError, match="release does not have the column 'rare'"):
        learn(publish, data=data, features=("ward", "rare"))


def test_a_release_without_rows_teaches_nothing():
    empty = people().select(["ward", "age", "illness"]).slice(0, 0)
    learned = learn(rows_of=lambda release, rng: empty, folds=3)
    assert learned.mean == 0.0 and learned.original == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "ilness"}, "no column 'ilness'"),
        ({"features": ("wards",)}, "no column 'wards'"),
        ({"features": ()}, "at least one"),
        ({"features": ("ward", "illness")}, "without the target"),
        ({"features": ("ward", "ward")}, "different columns"),
        ({"folds": 1}, "at least 2 folds"),
        ({"folds": ROWS + 1}, "fewer rows"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        learn(**options)


def test_without_scikit_learn_the_command_to_install_it_is_told(monkeypatch):
    imported = builtins.__import__

    def without(name, *rest, **more):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    for name in [name for name in sys.modules if name.split(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(EngineUnavailable, match=r"pip install 'sfumato\[learning\]'"):
        learn()
