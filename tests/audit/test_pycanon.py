"""pycanon, a checker by other people, finds the same k, l and t in the same published tables.

Its conventions: a class is the rows with equal quasi-identifier cells, so tables come from strict
cuts without hierarchies, where no two groups have the same cells; rows with a missing cell are
dropped, so there are none; entropy's l is rounded down; t uses the ordered distance for columns of
numbers and the equal one for texts. Its recursive (c, l) sorts counts upwards and so divides the
smallest by the sum of the largest: where all counts of a class are equal that makes no difference,
elsewhere the definition is applied to pycanon's own classes.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pycanon import anonymity
from pycanon.anonymity.utils.aux_anonymity import get_equiv_class

from sfumato.audit import audit
from sfumato.methods import Mondrian
from sfumato.models import AlphaKAnonymity, BetaLikeness, KAnonymity, LDiversity, TCloseness
from sfumato.release import Release
from sfumato.schema import Schema

from .conftest import with_claims

ADULT_QI = ("age", "workclass", "education-num", "marital-status", "race", "sex")


def synthetic() -> pa.Table:
    rng = np.random.default_rng(11)
    rows = 600
    age = rng.integers(18, 90, rows)
    return pa.table(
        {
            "age": age,
            "sex": rng.choice(["f", "m"], rows),
            "town": rng.choice(["Bonn", "Essen", "Ulm", "Trier"], rows, p=[0.5, 0.3, 0.15, 0.05]),
            "illness": rng.choice(["Flu", "Ulcer", "Cold", "Gout"], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "salary": np.round(age * 10 + rng.integers(0, 30, rows) * 25, -2),
        }
    )


def published(release: Release) -> pd.DataFrame:
    """Return the records with plain numbers and texts."""
    return pd.DataFrame(release.tables["records"].drop_columns(["group"]).to_pydict())


def worst(release: Release, model) -> float:
    """Return the level that our audit finds for a model, claimed or not."""
    return audit(with_claims(release, model.claim())).guarantees[0].worst


def compare(release: Release, quasi: list[str], text: str, number: str) -> None:
    frame = published(release)
    k = anonymity.k_anonymity(frame, quasi)
    assert worst(release, KAnonymity(1)) == k
    for name in (text, number):
        l = anonymity.l_diversity(frame, quasi, [name])  # noqa: E741
        assert worst(release, LDiversity(name, 1, "distinct")) == l
        entropy = worst(release, LDiversity(name, 1, "entropy"))
        # an entropy of exactly ln l may be rounded down to l - 1
        rounded = anonymity.entropy_l_diversity(frame, quasi, [name])
        assert rounded in (math.floor(entropy + 1e-9), math.floor(entropy - 1e-9))
        ratio = recursive_ratio(frame, quasi, name, l)
        assert worst(release, LDiversity(name, l, "recursive", c=1.0)) == pytest.approx(ratio)
    alpha = anonymity.alpha_k_anonymity(frame, quasi, [text])
    assert worst(release, AlphaKAnonymity(text, 1.0, 1)) == pytest.approx(alpha[0])
    beta = anonymity.basic_beta_likeness(frame, quasi, [text])
    assert worst(release, BetaLikeness(text, 1.0)) == pytest.approx(beta)
    t = anonymity.t_closeness(frame, quasi, [text])
    assert worst(release, TCloseness(text, 1.0, "equal")) == pytest.approx(t)
    t = anonymity.t_closeness(frame, quasi, [number])
    assert worst(release, TCloseness(number, 1.0, "ordered")) == pytest.approx(t)


def recursive_ratio(frame: pd.DataFrame, quasi: list[str], name: str, l: int) -> float:  # noqa: E741
    """Return the largest r_1 / (r_l + ... + r_m) of pycanon's classes, counts descending."""
    ratios = []
    for rows in get_equiv_class(frame, quasi):
        counts = frame[name].iloc[rows].value_counts().sort_values(ascending=False).to_numpy()
        ratios.append(counts[0] / counts[l - 1 :].sum())
    return float(max(ratios))


@pytest.mark.parametrize("k", [3, 10])
def test_a_synthetic_table(k):
    quasi = ["age", "sex", "town"]
    roles = dict.fromkeys(quasi, "quasi-identifier") | dict.fromkeys(
        ["illness", "salary"], "sensitive"
    )
    release = Mondrian(k=k).publish(synthetic(), Schema.of(roles))
    compare(release, quasi, "illness", "salary")


def test_claimed_models_hold_by_pycanon_too():
    quasi = ["age", "sex", "town"]
    roles = dict.fromkeys(quasi, "quasi-identifier") | {
        "illness": "sensitive",
        "salary": "sensitive",
    }
    models = (
        LDiversity("illness", 3, "distinct"),
        TCloseness("illness", 0.3),
        TCloseness("salary", 0.3, "ordered"),
    )
    release = Mondrian(k=5, models=models).publish(synthetic(), Schema.of(roles))
    assert audit(release).ok
    frame = published(release)
    assert anonymity.k_anonymity(frame, quasi) >= 5
    assert anonymity.l_diversity(frame, quasi, ["illness"]) >= 3
    assert anonymity.t_closeness(frame, quasi, ["illness"]) <= 0.3
    assert anonymity.t_closeness(frame, quasi, ["salary"]) <= 0.3


def test_recursive_diversity_where_counts_are_equal():
    """Each class has two values, once each: r_1 / r_2 = 1, which pycanon rounds up to c = 2."""
    table = pa.table({"age": [20, 20, 30, 30], "illness": ["a", "b", "b", "c"]})
    release = Mondrian(k=2).publish(table, Schema.of(age="quasi-identifier", illness="sensitive"))
    c, l = anonymity.recursive_c_l_diversity(published(release), ["age"], ["illness"])  # noqa: E741
    ratio = worst(release, LDiversity("illness", l, "recursive", c=float(c)))
    assert (l, c) == (2, math.floor(ratio + 1))
    claim = LDiversity("illness", l, "recursive", c=float(c)).claim()
    assert audit(with_claims(release, claim)).ok


def test_adult(shared):
    columns = [*ADULT_QI, "occupation", "hours-per-week"]
    table = pq.read_table(shared / "data" / "adult.parquet", columns=columns).drop_null()
    roles = dict.fromkeys(ADULT_QI, "quasi-identifier") | dict.fromkeys(columns[-2:], "sensitive")
    release = Mondrian(k=200).publish(table, Schema.of(roles))
    compare(release, list(ADULT_QI), "occupation", "hours-per-week")
