"""The demonstration: inputs and releases that its own commands accept."""

from __future__ import annotations

import pytest

from sfumato.audit import audit
from sfumato.errors import InputError
from sfumato.jobs.check import check
from sfumato.jobs.demo import demo


def test_the_demonstration_is_complete_and_can_be_repeated(tmp_path):
    out = tmp_path / "demo"
    made = demo(out, rows=300)
    methods = [each.publication.manifest.method for each in made.shown]
    assert methods == ["mondrian", "anatomy", "lgb"]
    assert all(each.report.ok for each in made.shown)
    assert all(audit(each.publication.path).ok for each in made.shown)
    assert check(out / "hospital.parquet", out / "mondrian.yaml").fits
    assert made.before.num_rows == 3
    assert [each.sample is not None for each in made.shown] == [True, False, True]
    with pytest.raises(InputError, match="exists"):
        demo(out, rows=300)
    assert demo(out, rows=200, force=True).rows == 200
    assert sorted(p.name for p in tmp_path.iterdir()) == ["demo"]


def test_it_replaces_nothing_but_a_demonstration(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="not replaced"):
        demo(tmp_path, rows=300, force=True)
    with pytest.raises(InputError, match="at least 100"):
        demo(tmp_path / "new", rows=3)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]
