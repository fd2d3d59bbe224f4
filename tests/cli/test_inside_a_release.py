"""No command writes into the folder of a release: a stray file spoils it, and all is public."""

from __future__ import annotations

import shutil

import pytest

from sfumato.audit import audit
from sfumato.errors import InputError
from sfumato.release.enclosing import refuse_inside_release

RUN = ("anonymize", "data.csv", "--policy", "policy.yaml")
WRITING = {
    "report": ("report", "release", "--audience", "public", "--out", "release/report.html"),
    "report by force": ("report", "release", "--out", "release/deep/report.html", "--force"),
    "reconstruct": ("reconstruct", "release", "--attributes", "sex", "--out", "release/sex.csv"),
    "risk": ("risk", "data.csv", "--policy", "policy.yaml", "--chart", "release/risk.svg"),
    "init": ("init", "data.csv", "--out", "release/policy.yaml"),
    "recommend": (
        *("recommend", "data.csv", "--policy", "policy.yaml", "--max-inference", "1"),
        *("--minutes", "0.01", "--out", "release/better.yaml"),
    ),
    "compare": ("compare", "data.csv", "--policy", "policy.yaml", "--out", "release/compared"),
    "a release": (*RUN, "--out", "release/inner"),
    "a database": (*RUN, "--out", "release/x.duckdb/may"),
    "a record": (*RUN, "--out", "other", "--record", "release/record.json"),
    "a ledger": (*RUN, "--out", "other", "--ledger", "release/ledger.jsonl"),
    "demo": ("demo", "--out", "release/demo"),
    "reproduce": ("reproduce", "lgb", "--quick", "--out", "release/papers"),
    "reproduce over it": ("reproduce", "lgb", "--quick", "--out", "release"),
}


@pytest.fixture
def released(place, sfumato):
    assert sfumato(*RUN, "--out", "release")[0] == 0
    return place


@pytest.mark.parametrize("writer", WRITING)
def test_nothing_is_written_into_a_release(released, sfumato, writer):
    before = sorted(path.name for path in (released / "release").rglob("*"))
    code, out, err = sfumato(*WRITING[writer])
    assert (code, out) == (2, "")
    assert len(err) == 1
    assert "inside the release" in err[0]
    assert sorted(path.name for path in (released / "release").rglob("*")) == before
    assert not (released / "other").exists()
    assert audit(released / "release").ok


def test_a_workbench_is_no_release(released):
    from sfumato.web.projects import Workspace

    with (
        pytest.raises(InputError, match="inside the release"),
        Workspace(released / "release").opened(),
    ):
        raise AssertionError


def test_only_the_folder_of_a_release_is_closed(released, sfumato):
    (released / "manifest.json").write_text('{"format": "another/1"}')
    assert sfumato("init", "data.csv", "--out", "draft.yaml")[0] == 0
    (released / "manifest.json").write_text("no JSON")
    refuse_inside_release(released / "new.yaml")
    shutil.copytree(released / "release", released / "linked" / "release")
    refuse_inside_release(released / "linked" / "beside.html")
    (released / "way").symlink_to(released / "release")
    with pytest.raises(InputError):
        refuse_inside_release(released / "way" / "page.html")
