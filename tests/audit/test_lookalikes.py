"""Secrets in several spellings are told of, by the maker and by the audit."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.audit import audit
from sfumato.jobs.anonymize import anonymize
from sfumato.randomness import Randomness

POLICY = """
attributes:
  age: {role: quasi-identifier}
  illness: {role: sensitive, l: 2}
method: {name: METHOD}
"""


@pytest.mark.parametrize("method", ["mondrian, k: 2", "anatomy, l: 2"])
@pytest.mark.parametrize("other", ["HIV\u200b", "hiv", "HIV\u0301", "\u202eHIV", "Flu"])
def test_values_that_look_alike(tmp_path, method, other):
    data, policy = tmp_path / "data.parquet", tmp_path / "policy.yaml"
    ages = list(range(20, 60))
    pq.write_table(pa.table({"age": ages, "illness": ["HIV", other] * 20}), data)
    policy.write_text(POLICY.replace("METHOD", method))
    made = anonymize(data, policy, tmp_path / "release", randomness=Randomness.test(1))
    told = [line for line in made.warnings if "look like another" in line]
    found = audit(tmp_path / "release")
    assert all(verdict.holds for verdict in found.guarantees)
    judged = [line for line in found.problems if "look like another" in line]
    assert len(told) == len(judged) == (other != "Flu")
    assert not any("HIV" in line for line in (*told, *judged))
