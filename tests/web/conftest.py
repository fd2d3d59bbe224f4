"""A workbench in a folder of the test, and a visitor who has come in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sfumato.web.app import application
from sfumato.web.bench import Bench
from sfumato.web.guard import Hosts, Keys
from sfumato.web.projects import Project, Workspace
from sfumato.web.questions import Questions
from sfumato.web.runs import Kind, Runner, runs_of
from web.visitor import PORT, Visitor

MOST = 200_000


@dataclass
class House:
    """All of one workbench."""

    bench: Bench
    app: object
    notes: list[str]

    def stranger(self) -> Visitor:
        return Visitor(self.app)

    def visitor(self) -> Visitor:
        """Return someone who has opened the printed address."""
        visitor = Visitor(self.app)
        assert visitor.get(f"/?token={self.bench.keys.token}").status == 200
        return visitor

    def opened(self, visitor: Visitor, content: bytes, name: str = "people.csv") -> Project:
        """Upload a table, wait until it was looked at, and return its project."""
        visitor.get("/")
        answer = visitor.upload("/new/upload", name, content)
        assert answer.status == 200, answer.words
        project = self.bench.workspace.project(answer.address.split("/")[2])
        (run,) = runs_of(project, Kind.INSPECT)
        status = self.bench.runner.wait(run, 60)
        assert status.state == "finished", status
        visitor.get(f"/p/{project.id}/data")  # which adopts the draft
        return project


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    data = tmp_path / "data"
    data.mkdir()
    workspace = Workspace(tmp_path / "space", [data])
    notes: list[str] = []
    with workspace.opened():
        runner = Runner(workspace)
        # tests wait for answers, however slow the machine is
        bench = Bench(workspace, runner, Keys(), MOST, questions=Questions(patience=60))
        yield House(bench, application(bench, Hosts.of("127.0.0.1", PORT), notes.append), notes)
        runner.stop()


@pytest.fixture
def people() -> bytes:
    """A small table of people, as CSV."""
    diseases = ("Flu", "Fever", "HIV", "Gout")
    rows = [f"Person {n},{20 + n % 10},{'FM'[n % 2]},{diseases[n % 4]}" for n in range(40)]
    return "\n".join(["name,age,sex,disease", *rows, ""]).encode()
