"""A release judged in parts is judged as it is in one piece."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sfumato.audit import audit
from sfumato.audit.parts import added, judge_part, shown_values
from sfumato.methods import Mondrian
from sfumato.models import LDiversity, TCloseness
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Attribute, Hierarchy, Role, Schema

ILLNESSES = tuple(f"illness-{n:02}" for n in range(12))
TREE = Hierarchy.from_rows([(each, f"kind-{n % 3}") for n, each in enumerate(ILLNESSES)], "illness")


def release(distance: str) -> Release:
    """Return a release whose groups near one end of the ages lack most illnesses."""
    rng = repeatable(5)
    age = np.sort(rng.integers(0, 90, 800))
    few = np.array([0, 4, 7, 11])[rng.integers(0, 4, 800)]
    illness = [ILLNESSES[i] for i in np.where(age < 45, few, rng.integers(0, 12, 800))]
    schema = Schema(
        (
            Attribute("age", Role.QUASI_IDENTIFIER),
            Attribute("illness", Role.SENSITIVE, hierarchy=TREE),
        )
    )
    models = (LDiversity("illness", 2), TCloseness("illness", 0.7, distance))
    method = Mondrian(k=5, models=models)
    data = pa.table({"age": age, "illness": illness})
    return method.publish(data, schema, randomness=Randomness.secret(b"x" * 16))


def in_parts(whole: Release) -> list[Release]:
    """Return the groups of low ages and of high ages as releases of their own."""
    records = whole.tables["records"]
    lows = [
        int(re.findall(r"\d+", text)[0]) for text in records["age"].cast(pa.string()).to_pylist()
    ]
    first = pa.array(np.array(lows) < 40)
    parts = []
    for chosen in (first, pc.invert(first)):
        rows = records.filter(chosen)
        ids = np.unique(rows["group"].to_numpy(), return_inverse=True)[1] + 1
        rows = rows.set_column(0, "group", pa.array(ids, pa.int32()))
        manifest = whole.manifest.model_copy(update={"rows": rows.num_rows})
        parts.append(Release(manifest, {"records": rows}, whole.hierarchies))
    return parts


@pytest.mark.parametrize("distance", ["equal", "hierarchical"])
def test_verdicts_of_parts_are_those_of_the_whole(distance):
    whole = release(distance)
    parts = in_parts(whole)
    totals = added(map(shown_values, parts))
    fewer = shown_values(parts[0]).values["illness", False][0]
    assert len(fewer) < len(totals.values["illness", False][0]), "no part lacks a value"
    verdicts = [judge_part(part, totals) for part in parts]
    for at, verdict in enumerate(audit(whole).guarantees):
        found = [each[at] for each in verdicts]
        assert all(each.holds for each in found) and verdict.holds
        worst = max if verdict.claim["model"] == "t-closeness" else min
        assert worst(each.worst for each in found) == pytest.approx(verdict.worst, rel=1e-12)


def test_a_part_that_breaks_a_claim_is_found():
    whole = release("equal")
    claims = tuple(
        {**claim, **({"t": 0.05} if "t" in claim else {})} for claim in whole.manifest.guarantees
    )
    parts = [
        Release(
            part.manifest.model_copy(update={"guarantees": claims}), part.tables, part.hierarchies
        )
        for part in in_parts(whole)
    ]
    totals = added(map(shown_values, parts))
    assert not all(verdict.holds for part in parts for verdict in judge_part(part, totals))
