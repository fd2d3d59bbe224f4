"""`python -m tests.load [--runs 50] [--sessions 20]`: many at once, and none disturbs another.

CLI runs publish different policies, half of them to places that others publish to as well: one of
those must win whole. Visitors of one workbench each bring a table, publish it, and must get back a
release of their own rows and nobody else's.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from web.conftest import House
from web.visitor import PORT

from sfumato.audit import audit
from sfumato.web.app import application
from sfumato.web.bench import Bench
from sfumato.web.guard import Hosts, Keys
from sfumato.web.projects import Workspace
from sfumato.web.runs import Kind, Runner, runs_of

POLICY = """attributes:
  name: {{role: identifier}}
  age: {{role: quasi-identifier}}
  sex: {{role: quasi-identifier}}
  disease: {{role: sensitive, l: 2}}
method: {{name: mondrian, k: {k}}}
"""
_LONGEST = 3600


def people(who: str) -> str:
    """Return a table whose values say whose it is."""
    lines = [f"{who} {n},{20 + n % 10},{'FM'[n % 2]},{who}-{n % 4}" for n in range(60)]
    return "\n".join(["name,age,sex,disease", *lines, ""])


def at_the_command_line(runs: int, home: Path) -> Counter[str]:
    """Start so many runs at once; return how they ended."""
    counts: Counter[str] = Counter()
    started = []
    for number in range(runs):
        shared = number % 2 == 0
        (home / f"{number}.csv").write_text(people(f"run{number}"))
        (home / f"{number}.yaml").write_text(POLICY.format(k=3 + number % 3))
        out = f"shared-{number % 8}" if shared else f"own-{number}"
        command = [sys.executable, "-c", "from sfumato.cli import main; main()", "anonymize"]
        command += [f"{number}.csv", "--policy", f"{number}.yaml", "--out", out, "--force"]
        command += [] if shared else ["--ledger", "ledger.jsonl", "--record", f"{number}.json"]
        process = subprocess.Popen(
            command, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        started.append((number, out, process))
    for number, out, process in started:
        _, told = process.communicate(timeout=_LONGEST)
        if process.returncode == 0:
            counts["finished"] += 1
        elif process.returncode == 2 and told.startswith("error: ") and out.startswith("shared"):
            counts["refused in one line"] += 1
        else:
            counts[f"BAD: run {number} ended with {process.returncode}: {told[-200:]}"] += 1
    for number, out, _ in started:
        whole = audit(home / out).exit_code == 0
        content = b"".join(file.read_bytes() for file in (home / out).rglob("*") if file.is_file())
        if not whole or (out.startswith("own") and f"run{number}-".encode() not in content):
            counts[f"BAD: {out} is not whole"] += 1
    counts["releases whole"] = len({out for _, out, _ in started})
    entered = (home / "ledger.jsonl").read_text().splitlines()
    if len(entered) != runs // 2:
        counts[f"BAD: the ledger has {len(entered)} lines"] += 1
    litter = [path.name for path in home.iterdir() if path.name.startswith(".")]
    if litter:
        counts[f"BAD: litter {litter}"] += 1
    return counts


def at_the_workbench(sessions: int, home: Path) -> Counter[str]:
    """Let so many visitors publish at once; return how they fared."""
    counts: Counter[str] = Counter()
    workspace = Workspace(home / "space", [])
    with workspace.opened():
        runner = Runner(workspace)
        notes: list[str] = []
        bench = Bench(workspace, runner, Keys(), 10**6)
        house = House(bench, application(bench, Hosts.of("127.0.0.1", PORT), notes.append), notes)

        def visit(number: int) -> None:
            who = f"visitor{number}"
            try:
                visitor = house.visitor()
                visitor.get("/")
                answer = visitor.upload("/new/upload", f"{who}.csv", people(who).encode())
                project = workspace.project(answer.address.split("/")[2])
                assert project is not None, answer.status
                (look,) = runs_of(project, Kind.INSPECT)
                assert runner.wait(look, _LONGEST).state == "finished"
                (project.folder / "policy.yaml").write_text(POLICY.format(k=3))
                run = runner.submit(project, Kind.PUBLISH)
                status = runner.wait(run, _LONGEST)
                assert status.state == "finished", status
                made = next(run.folder.rglob("manifest.json")).parent
                content = b"".join(f.read_bytes() for f in made.rglob("*") if f.is_file())
                others = [n for n in range(sessions) if n != number]
                assert audit(made).exit_code == 0
                assert f"{who}-".encode() in content
                assert not [n for n in others if f"visitor{n}-".encode() in content]
                counts["finished"] += 1
            except Exception as error:
                counts[f"BAD: {who}: {type(error).__name__} {error}"[:300]] += 1

        visits = [threading.Thread(target=visit, args=(n,)) for n in range(sessions)]
        for each in visits:
            each.start()
        for each in visits:
            each.join()
        runner.stop()
        if notes:
            counts[f"BAD: the server noted {notes[0][:200]}"] += 1
    return counts


def main() -> int:
    """Run both and print the counts."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--runs", type=int, default=50)
    asked.add_argument("--sessions", type=int, default=20)
    options = asked.parse_args()
    bad = 0
    for what, count, work in (
        ("command line", options.runs, at_the_command_line),
        ("workbench", options.sessions, at_the_workbench),
    ):
        with tempfile.TemporaryDirectory() as home:
            began = time.monotonic()
            found = work(count, Path(home))
            bad += sum(n for name, n in found.items() if name.startswith("BAD"))
            print(f"{what}: {count} at once in {time.monotonic() - began:.0f} s: {dict(found)}")
    print(f"load average {os.getloadavg()[0]:.1f}; {bad} ended badly")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
