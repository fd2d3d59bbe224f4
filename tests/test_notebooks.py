"""The example notebooks run from first cell to last, and show what they are said to show."""

from __future__ import annotations

from pathlib import Path

import nbformat
import notebooks
import pytest

KINDS = ("analyst", "engineer", "researcher", "steward")


def test_there_is_one_for_every_kind_of_user():
    assert tuple(path.stem for path in notebooks.paths()) == KINDS


@pytest.mark.parametrize("path", notebooks.paths(), ids=lambda path: path.stem)
def test_it_is_light_and_tells_of_no_machine(path: Path):
    text = path.read_text("utf-8")
    assert len(text) < 300_000
    for word in ("/home/", "/root", "/tmp", "site-packages", "Traceback"):
        assert word not in text
    written = nbformat.read(path, as_version=4)
    nbformat.validate(written)
    assert notebooks.lean(nbformat.read(path, as_version=4)) == written
    assert all(cell.outputs for cell in written.cells if _shows(cell))


@pytest.mark.parametrize("path", notebooks.paths(), ids=lambda path: path.stem)
def test_it_runs_and_shows_the_same(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", notebooks.path_with_commands())
    written = nbformat.read(path, as_version=4)
    again = notebooks.executed(path)
    assert notebooks.outputs(again) == notebooks.outputs(written)


def _shows(cell) -> bool:
    """Whether the last line of a cell is something to show."""
    if cell.cell_type != "code":
        return False
    last = cell.source.splitlines()[-1]
    return not last.startswith((" ", ")", "release.save", "release =", "}", "import")) and (
        " = " not in last
    )
