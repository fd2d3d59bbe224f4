"""What is interrupted: publishing, replacing a release, reproducing a paper, the workbench's work.

Each task works in a folder of its own. `prepare` sets the old state up, `work` is what may fail,
`check` says which state it finds: every file whole, and old or new; `litter` what does not belong.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from papers import toy

from faults import workbench_run
from sfumato.audit import audit
from sfumato.cli.app import run as command_line
from sfumato.papers import reproduce as papers
from sfumato.web.projects import Workspace
from sfumato.web.runs import Kind, Runner, load_run, runs_of

POLICY = """attributes:
  name: {role: identifier}
  age: {role: quasi-identifier}
  sex: {role: quasi-identifier}
  disease: {role: sensitive, l: 2}
method: {name: mondrian, k: %d}
"""
PEOPLE = "".join(
    ["name,age,sex,disease\n"]
    + [
        f"P {n},{20 + n % 10},{'FM'[n % 2]},{['Flu', 'Cold', 'Gout', 'HIV'][n % 4]}\n"
        for n in range(40)
    ]
)
NEW_SEED, OLD_SEED = (hashlib.sha256(word).digest() for word in (b"new", b"old"))


class Broken(AssertionError):  # noqa: N818 -- a state
    """A state that is neither the old nor the new one."""


@dataclass(frozen=True)
class Task:
    """Something that a fault may hit.

    `work` may return an exit code, as the command line does. A task that is `apart` starts
    processes itself, and is tried in processes of their own only.
    """

    name: str
    prepare: Callable[[Path], None]
    work: Callable[[Path], int | None]
    check: Callable[[Path], str]
    expected: tuple[str, ...]
    apart: bool = False
    settled: Callable[[Path], None] = lambda _: None

    def litter(self, folder: Path) -> list[str]:
        """Return what lies in the folder and is nobody's."""
        found = [path.relative_to(folder).as_posix() for path in folder.rglob("*")]
        return [
            name
            for name in found
            if ".tmp-" in name or ".old-" in name or not name.startswith(self.expected)
        ]


# --- publishing -----------------------------------------------------------------------------------


def _inputs(folder: Path) -> None:
    (folder / "data.csv").write_text(PEOPLE)
    (folder / "policy.yaml").write_text(POLICY % 3)
    (folder / "old.yaml").write_text(POLICY % 4)
    (folder / "new.seed").write_bytes(NEW_SEED)
    (folder / "old.seed").write_bytes(OLD_SEED)


def _published(folder: Path, policy: str, seed: str, with_ledger: bool) -> int:
    command = ["anonymize", str(folder / "data.csv"), "--policy", str(folder / policy)]
    command += ["--out", str(folder / "release"), "--force", "--seed-file", str(folder / seed)]
    command += ["--record", str(folder / "record.json")]
    return command_line(
        command + (["--ledger", str(folder / "ledger.jsonl")] if with_ledger else [])
    )


def _with_an_old_release(folder: Path) -> None:
    _inputs(folder)
    assert _published(folder, "old.yaml", "old.seed", False) == 0


def _publish(folder: Path) -> int:
    # a release that the ledger lists is not replaced: the run after a whole one goes without it
    is_first = _ledger(folder / "ledger.jsonl") == "nothing"
    return _published(folder, "policy.yaml", "new.seed", is_first)


def _replace(folder: Path) -> int:
    return _published(folder, "policy.yaml", "new.seed", False)


def _state_of_release(folder: Path) -> str:
    """Return old, new or nothing; Broken where a file is not whole, or tells of what is not there.

    The record and the ledger follow the release: they may lag behind it, never lead.
    """
    states = [_release(folder / "release"), _record(folder / "record.json")]
    if (folder / "ledger.jsonl").exists() or states[0] == "nothing":
        states.append(_ledger(folder / "ledger.jsonl"))
    rank = {"nothing": 0, "old": 1, "new": 2}
    ranks = [rank[state] for state in states]
    if ranks != sorted(ranks, reverse=True):
        raise Broken(f"release, record and ledger are {', '.join(states)}")
    return states[0] if len(set(states)) == 1 else f"{states[0]}, and {states[-1]} told"


def _release(folder: Path) -> str:
    if not folder.exists():
        return "nothing"
    if audit(folder).exit_code != 0:
        raise Broken("a release that the audit does not confirm")
    manifest = json.loads((folder / "manifest.json").read_text())
    return "new" if manifest["guarantees"][0]["k"] == 3 else "old"


def _record(path: Path) -> str:
    if not path.exists():
        return "nothing"
    fields = json.loads(path.read_text())
    if "writing" not in fields["timings"]:
        raise Broken("a record of a run that did not end")
    return "new" if fields["seed"] == NEW_SEED.hex() else "old"


def _ledger(path: Path) -> str:
    if not path.exists() or not path.read_bytes():
        return "nothing"
    text = path.read_text()
    if not text.endswith("\n"):
        raise Broken("a ledger that was cut off")
    lines = [json.loads(line) for line in text.splitlines()]
    return "new" if lines[-1]["guarantees"][0]["k"] == 3 else "old"


# --- papers ---------------------------------------------------------------------------------------


def _reproduce(folder: Path) -> int:
    paper_of = papers.paper_of
    papers.paper_of = lambda key: toy.PAPER
    try:
        return command_line(["reproduce", "toy", "--out", str(folder / "papers")])
    finally:
        papers.paper_of = paper_of


def _state_of_papers(folder: Path) -> str:
    """Return what there is; Broken where a line before the last is not whole."""
    results = folder / "papers" / "results" / "toy.jsonl"
    lines = results.read_bytes().splitlines(keepends=True) if results.exists() else []
    for line in lines[:-1]:
        json.loads(line)
    page = folder / "papers" / "toy.md"
    if not page.exists():
        return "nothing" if not lines else "some points"
    if "verdicts: 1 holds" not in page.read_text():
        raise Broken("half a page")
    return "new"


# --- the workbench --------------------------------------------------------------------------------


def _space(folder: Path) -> Workspace:
    return Workspace(folder / "space")


def _new_project(folder: Path) -> None:
    """Make a project and a run of it that waits, as the server does; no process is started."""
    workspace = _space(folder)
    with workspace.opened():
        runner = Runner(workspace, at_once=0)
        runner.recover()
        made = workspace.new_folder("people")
        try:
            (made / "data" / "table.csv").write_text(PEOPLE)
            project = workspace.finish(made, "people", "people.csv", own="table.csv")
        except OSError:
            workspace.discard(made)
            raise
        runner.submit(project, Kind.INSPECT)


def _state_of_space(folder: Path) -> str:
    """Return how many projects and runs there are, all whole."""
    if not (folder / "space").exists():
        return "nothing"
    projects = _space(folder).projects()
    for project in projects:
        if hashlib.sha256(project.data.read_bytes()).digest() != _PEOPLE_DIGEST:
            raise Broken("a project with half of its data")
        for run in runs_of(project):
            if load_run(run.folder) is None:
                raise Broken("half a run")
    return f"{len(projects)} projects"


_PEOPLE_DIGEST = hashlib.sha256(PEOPLE.encode()).digest()


def _recovered(folder: Path) -> None:
    """Open the workspace anew, as the next server does, and make one more project."""
    _new_project(folder)
    for path in (folder / "space").iterdir():
        if path.is_dir() and not (path / "project.json").is_file():
            raise Broken("a folder that is no project")
        for run in (path / "runs").iterdir() if path.is_dir() else ():
            if not (run / "request.json").is_file():
                raise Broken("a folder that is no run")


_FILES = (
    *("data.csv", "policy.yaml", "old.yaml", "old.seed", "new.seed"),
    *("release", "record.json", "ledger.jsonl"),
)
PUBLISH = Task("anonymize", _inputs, _publish, _state_of_release, _FILES)
REPLACE = Task("anonymize --force", _with_an_old_release, _replace, _state_of_release, _FILES)
REPRODUCE = Task("reproduce", lambda _: None, _reproduce, _state_of_papers, ("papers",))
WORKBENCH = Task("workbench", lambda _: None, _recovered, _state_of_space, ("space",))
RUN = Task(
    "workbench run",
    lambda folder: workbench_run.prepare(folder, PEOPLE, POLICY % 3),
    workbench_run.publish,
    workbench_run.state,
    ("space",),
    apart=True,
    settled=workbench_run.no_run_is_open,
)
TASKS = (PUBLISH, REPLACE, REPRODUCE, WORKBENCH, RUN)
HERE = tuple(task for task in TASKS if not task.apart)
