"""Cells over many windows are made some at a time: the release is the same."""

from __future__ import annotations

import pytest

from sfumato.datasets import hospital, hospital_schema
from sfumato.methods import Merging
from sfumato.randomness import Randomness


@pytest.mark.parametrize("columns", [("age", "sex", "zipcode"), ("sex", "occupation", "age")])
def test_shares_of_windows_do_not_show(monkeypatch, columns):
    stays = hospital(1500, seed=2)
    method = Merging(l=2, k=5, collapse=None, expected=3.0)

    def release():
        return method.publish(stays, hospital_schema(columns), randomness=Randomness.test(8))

    whole = release()
    monkeypatch.setattr("sfumato.publish.plausible._WINDOWS", 3)
    shared = release()
    assert whole.tables["records"].equals(shared.tables["records"])
    assert whole.manifest == shared.manifest
    general = [text for name in columns for text in set(whole.tables["records"][name].to_pylist())]
    assert any(str(text).startswith(("[", "{")) or text == "*" for text in general)
