"""Runs as processes: they finish, wait, are cancelled, crash and are interrupted; none is lost."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sfumato.errors import InputError
from sfumato.web import runs as runs_module
from sfumato.web.projects import Workspace
from sfumato.web.runs import Kind, Runner, load_run, run_of, runs_of
from sfumato.web.small_files import read_json, write_json
from sfumato.web.stage_words import stage_words
from sfumato.web.status import State, Status

POLICY = """\
attributes:
  age: {role: quasi-identifier}
  disease: {role: sensitive}
method: {name: mondrian, k: 3}
"""
LONG = 60


@pytest.fixture
def project(tmp_path):
    space = Workspace(tmp_path / "space")
    with space.opened():
        folder = space.new_folder("people")
        rows = [f"{20 + n},{'abc'[n % 3]}" for n in range(30)]
        (folder / "data" / "table.csv").write_text("\n".join(["age,disease", *rows, ""]))
        (folder / "policy.yaml").write_text(POLICY)
        yield space.finish(folder, "people", "people.csv", own="table.csv")


@pytest.fixture
def runner(project):
    runner = Runner(Workspace(project.folder.parent))
    yield runner
    runner.stop()


@pytest.fixture
def sleeping(monkeypatch, tmp_path):
    """Let every run sleep in place of its work; what it does in the end can be told."""

    def program(then: str = "import time; time.sleep(60)", *, prepare: str = ""):
        script = tmp_path / "worker.py"
        script.write_text(
            "import sys, time\nfrom pathlib import Path\nfrom sfumato.web import worker\n"
            f"def work(run, report):\n    report.stage('sleeping')\n    {then}\n"
            f"{prepare}\nworker._work = lambda kind: work\n"
            "sys.exit(worker.main(Path(sys.argv[1])))\n"
        )
        popen = subprocess.Popen

        def instead(command, **options):
            return popen([sys.executable, str(script), command[-1]], **options)

        monkeypatch.setattr(runs_module.subprocess, "Popen", instead)

    return program


def until(condition, seconds=LONG):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def pid_of(runner, run):
    return runner._processes[run.folder].pid


def is_asleep(run):
    return run.status.stage == "sleeping"


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


# --- real work ------------------------------------------------------------------------------------


def test_a_run_publishes_and_is_judged(project, runner, tmp_path):
    before = set(tmp_path.rglob("*"))
    run = runner.submit(project, Kind.PUBLISH)
    status = runner.wait(run, 180)
    assert status.state is State.FINISHED, status
    assert status.message == ""
    assert "publish: partitioning by mondrian" in status.timings
    assert [each for each in status.timings if each.startswith("judge:")]
    extra = {"starting", "preparing", "judge: estimating"}
    assert set(status.timings) - extra <= set(status.expected)
    until(lambda: not runner._processes)
    names = {each.name for each in run.folder.iterdir()}
    assert names >= {"release", "release.zip", "report.html", "judged.json", "private"}
    assert not names & {"scratch"}
    assert not [name for name in names if name.startswith(".")]
    record = run.folder / "private" / "record.json"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    seed = json.loads(record.read_text())["seed"]
    for path in run.folder.rglob("*"):
        if path.is_file() and path != record:
            assert seed.encode() not in path.read_bytes()
    judged = run.result("judged.json")
    assert judged["audit"]["ok"]
    assert (judged["method"], judged["rows"]) == ("mondrian", 30)
    assert judged["attacks"]
    assert judged["utility"]
    new = set(tmp_path.rglob("*")) - before
    assert all(each.is_relative_to(run.folder) for each in new)


def test_a_run_says_while_it_compiles(project, runner, sleeping):
    sleeping(
        "\n    import numba\n"
        "    report.stage('counting')\n"
        "    done = run.folder / 'done'\n"
        "    @numba.extending.overload_method(numba.types.UnicodeType, 'slowly')\n"
        "    def slowly(text):\n"
        "        while not done.exists(): time.sleep(0.02)\n"
        "        return lambda text: len(text)\n"
        "    assert numba.njit(lambda text: text.slowly())('abc') == 3\n"
        "    report.stage('counted')\n"
        "    while done.exists(): time.sleep(0.02)"
    )
    run = runner.submit(project, Kind.PUBLISH)
    until(lambda: run.status.preparing)
    assert stage_words(run.status) == "Preparing (compiling, only the first time). Counting"
    assert run.status.remaining() is None
    (run.folder / "done").touch()
    until(lambda: run.status.stage == "counted")
    assert not run.status.preparing
    assert run.status.timings["preparing"] > 0
    (run.folder / "done").unlink()
    assert runner.wait(run, LONG).state is State.FINISHED


def test_a_refusal_is_one_line_without_data(project, runner):
    project.policy.write_text(POLICY.replace("k: 3", "k: 300"))
    run = runner.submit(project, Kind.PUBLISH)
    status = runner.wait(run, LONG)
    assert status.state is State.REFUSED
    assert "300" in status.message
    assert "\n" not in status.message
    assert not (run.folder / "release").exists()
    assert not (run.folder / "private" / "record.json").exists()


def test_data_are_looked_at_once(project, runner):
    project.policy.unlink()
    run = runner.submit(project, Kind.INSPECT)
    assert runner.wait(run, LONG).state is State.FINISHED
    profile = run.result("profile.json")
    assert profile["rows"] == 30
    age, disease = profile["columns"]
    assert (age["name"], age["missing"], age["distinct"], age["is_range"]) == ("age", 0, 30, True)
    assert sum(count for _, count in age["bars"]) == 30
    assert sorted(disease["bars"]) == [["a", 10], ["b", 10], ["c", 10]]
    assert profile["preview"]["rows"][0] == ["20", "a"]
    assert len(profile["preview"]["rows"]) == 30
    assert profile["reasons"].keys() == {"age", "disease"}
    assert (run.folder / "draft.yaml").read_text().startswith("# A draft")


def test_a_file_that_is_no_table_is_refused(project, runner):
    project.data.write_bytes(b"\x00\x01\x02")
    run = runner.submit(project, Kind.INSPECT)
    assert runner.wait(run, LONG).state is State.REFUSED


# --- cancelled, crashed, interrupted --------------------------------------------------------------


def test_a_run_is_cancelled_with_all_that_it_started(project, runner, sleeping, tmp_path):
    sleeping(
        "import subprocess; child = subprocess.Popen([sys.executable, '-c', 'import time; "
        f"time.sleep(60)']); Path({str(tmp_path / 'child')!r}).write_text(str(child.pid)); "
        "(run.folder / 'private' / '.record.json.tmp-1').touch(); "
        "(run.folder / '.release.tmp-1').mkdir(); time.sleep(60)"
    )
    run = runner.submit(project, Kind.PUBLISH)
    until((run.folder / ".release.tmp-1").is_dir)
    pid, child = pid_of(runner, run), int((tmp_path / "child").read_text())
    runner.cancel(run)
    assert runner.wait(run, LONG).state is State.CANCELLED
    until(lambda: is_gone(pid))
    until(lambda: is_gone(child) or _is_zombie(child))
    assert {each.name for each in run.folder.iterdir()} == {
        "request.json", "status.json", "policy.yaml", "hierarchies", "private"
    }  # fmt: skip
    assert list((run.folder / "private").iterdir()) == []  # no draft, which may hold a seed
    runner.cancel(run)  # again: nothing happens
    assert run.status.state is State.CANCELLED


def test_a_crash_leaves_no_process_behind(project, runner, sleeping, tmp_path):
    sleeping(
        "import subprocess; child = subprocess.Popen([sys.executable, '-c', 'import time; "
        f"time.sleep(60)']); Path({str(tmp_path / 'child')!r}).write_text(str(child.pid)); "
        "(run.folder / 'ready').touch(); time.sleep(60)"
    )
    run = runner.submit(project, Kind.PUBLISH)
    until((run.folder / "ready").exists)
    child = int((tmp_path / "child").read_text())
    os.kill(pid_of(runner, run), signal.SIGKILL)
    assert runner.wait(run, LONG).state is State.FAILED
    until(lambda: is_gone(child) or _is_zombie(child), 20)


def _is_zombie(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_run_that_does_not_listen_is_ended_by_force(project, runner, sleeping, monkeypatch):
    monkeypatch.setattr(runs_module, "_PATIENCE", 0.2)
    sleeping(prepare="import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    run = runner.submit(project, Kind.PUBLISH)
    until(lambda: is_asleep(run))
    runner.cancel(run)
    assert runner.wait(run, LONG).state is State.CANCELLED


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
def test_a_crash_is_a_failed_run_and_others_go_on(project, runner, sleeping, how):
    sleeping()
    run, other = (runner.submit(project, Kind.PUBLISH) for _ in range(2))
    until(lambda: is_asleep(run) and is_asleep(other))
    os.kill(pid_of(runner, run), how)
    status = runner.wait(run, LONG)
    assert status.state is State.FAILED
    assert "ended by itself" in status.message
    assert other.status.state is State.RUNNING


def test_a_fault_is_a_failed_run_without_its_words(project, runner, sleeping):
    sleeping("raise ValueError('the cell of a person')")
    run = runner.submit(project, Kind.PUBLISH)
    status = runner.wait(run, LONG)
    assert status.state is State.FAILED
    assert "ValueError" in status.message
    assert "person" not in (run.folder / "status.json").read_text()


def test_two_run_at_once_and_others_wait(project, runner, sleeping, tmp_path):
    go = tmp_path / "go"
    sleeping(f"\n    while not Path({str(go)!r}).exists(): time.sleep(0.02)")
    runs = [runner.submit(project, Kind.PUBLISH) for _ in range(4)]
    until(lambda: is_asleep(runs[0]) and is_asleep(runs[1]))
    assert [run.status.state for run in runs[2:]] == [State.QUEUED, State.QUEUED]
    assert len(runner._processes) == 2
    quick = runner.submit(project, Kind.INSPECT)  # does not wait behind long ones
    until(lambda: is_asleep(quick))
    runner.cancel(runs[3])
    assert runs[3].status.state is State.CANCELLED
    go.touch()
    assert [runner.wait(run, LONG).state for run in runs[:3]] == [State.FINISHED] * 3


def test_what_ran_or_waited_is_interrupted_when_the_server_ends(project, runner, sleeping):
    sleeping()
    runs = [runner.submit(project, Kind.PUBLISH) for _ in range(3)]
    until(lambda: is_asleep(runs[0]) and is_asleep(runs[1]))
    pids = [pid_of(runner, run) for run in runs[:2]]
    runner.stop()
    assert [run.status.state for run in runs] == [State.INTERRUPTED] * 3
    assert all(map(is_gone, pids))


def test_a_killed_server_leaves_runs_that_are_seen_to_be_interrupted(project, sleeping, tmp_path):
    """The server is a process of its own here, killed while a run goes on."""
    script = tmp_path / "server.py"
    script.write_text(
        "import sys, time\nfrom pathlib import Path\n"
        "from sfumato.web.projects import Workspace\nfrom sfumato.web.runs import Kind, Runner\n"
        "space = Workspace(Path(sys.argv[1]))\nrunner = Runner(space)\n"
        "run = runner.submit(space.project('people'), Kind.PUBLISH)\n"
        "print(run.id, runner._processes[run.folder].pid, flush=True)\ntime.sleep(60)\n"
    )
    # its worker waits for data that never come
    project.data.unlink()
    os.mkfifo(project.data)
    server = subprocess.Popen(
        [sys.executable, str(script), str(project.folder.parent)], stdout=subprocess.PIPE, text=True
    )
    with server:
        id, pid = server.stdout.readline().split()
        run = run_of(project, id)
        until(lambda: run.status.stage == "publish: reading the data")
        server.kill()
    until(lambda: is_gone(int(pid)) or _is_zombie(int(pid)))
    assert run.status.state is State.RUNNING  # so its file still says
    fresh = Runner(Workspace(project.folder.parent))
    fresh.recover()
    assert run.status.state is State.INTERRUPTED
    project.data.unlink()
    project.data.write_text("age,disease\n" + "".join(f"{n},{'abc'[n % 3]}\n" for n in range(9)))
    again = fresh.again(project, run)
    assert fresh.wait(again, 120).state is State.FINISHED
    fresh.stop()


HOLDING = """\
import ctypes, sys, time
from pathlib import Path
from sfumato.web import worker
def work(run, report):
    while not (run.folder / "go").exists():
        time.sleep(0.02)
    report.stage("holding")
    ctypes.PyDLL(None).pause()  # as a library that waits and keeps the interpreter
worker._work = lambda kind: work
sys.exit(worker.main(Path(sys.argv[1])))
"""
SHORT_LIVED = """\
import subprocess, sys, threading, time
from pathlib import Path
from sfumato.web import runs
from sfumato.web.projects import Workspace
from sfumato.web.status import State
popen = subprocess.Popen
runs.subprocess.Popen = lambda command, **more: popen(
    [sys.executable, sys.argv[2], command[-1]], **more
)
space = Workspace(Path(sys.argv[1]))
runner = runs.Runner(space)
def ask():
    run = runner.submit(space.project("people"), runs.Kind.PUBLISH)
    print(run.id, runner._processes[run.folder].pid, flush=True)
    deadline = time.monotonic() + 60
    while run.status.state is not State.RUNNING and time.monotonic() < deadline:
        time.sleep(0.02)  # until it has asked the system to end it with this thread
asking = threading.Thread(target=ask)
asking.start()
asking.join()
print("asked", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot end a child")
def test_a_killed_server_ends_a_worker_that_cannot_listen(project, tmp_path):
    """It outlives the thread that asked for it, and not the server."""
    (tmp_path / "worker.py").write_text(HOLDING)
    (tmp_path / "server.py").write_text(SHORT_LIVED)
    command = [sys.executable, "server.py", str(project.folder.parent), str(tmp_path / "worker.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as server:
        id, pid = server.stdout.readline().split()
        try:
            assert server.stdout.readline() == "asked\n"
            run = run_of(project, id)
            until(lambda: run.status.state is State.RUNNING)
            (run.folder / "go").touch()
            until(lambda: run.status.stage == "holding")
        finally:
            server.kill()
    until(lambda: is_gone(int(pid)) or _is_zombie(int(pid)), 20)


def test_a_run_is_made_again_under_its_own_policy(project, runner, sleeping):
    sleeping("pass")
    (project.hierarchies / "h.csv").write_text("1;*\n")
    run = runner.submit(project, Kind.PUBLISH, {"a": 1})
    project.policy.write_text(POLICY.replace("k: 3", "k: 4"))
    (project.hierarchies / "h.csv").write_text("2;*\n")
    again = runner.again(project, run)
    assert again.policy.read_text() == POLICY
    assert (again.folder / "hierarchies" / "h.csv").read_text() == "1;*\n"
    assert again.options == {"a": 1}
    assert again.id != run.id


def test_only_runs_that_are_over_are_removed(project, runner, sleeping):
    sleeping()
    run = runner.submit(project, Kind.PUBLISH)
    with pytest.raises(InputError, match="cancel"):
        runner.discard(run)
    runner.end_all(project)
    runner.discard(run)
    assert runs_of(project) == []


def test_runs_are_listed_from_the_newest_on(project, runner, sleeping):
    sleeping("pass")
    first = runner.submit(project, Kind.PUBLISH)
    second = runner.submit(project, Kind.INSPECT)
    assert {run.id for run in runs_of(project)} == {first.id, second.id}
    assert [run.id for run in runs_of(project, Kind.INSPECT)] == [second.id]
    for id in ("..", "", first.id + "/", "20260101-000000-ABCDEF", "../runs/" + first.id):
        assert run_of(project, id) is None


# --- files ----------------------------------------------------------------------------------------


def test_a_status_is_whole_at_every_moment(tmp_path):
    """A reader beside a writer never finds half a file."""
    script = (
        "import sys\nfrom pathlib import Path\nfrom sfumato.web.status import State, Status\n"
        "for n in range(400):\n    Status(State.RUNNING, 'x' * n, message='y' * 1000)"
        ".write(Path(sys.argv[1]))\n"
    )
    Status(State.RUNNING).write(tmp_path)
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) as writer:
        seen = set()
        while writer.poll() is None:
            status = Status.read(tmp_path)
            assert status.state is State.RUNNING
            seen.add(status.stage)
    assert len(seen) > 1
    assert [each.name for each in tmp_path.iterdir()] == ["status.json"]


def test_a_status_that_cannot_be_read_is_a_failure(tmp_path):
    for content in ("", "{", "[]", "{}", '{"state": "odd"}'):
        (tmp_path / "status.json").write_text(content)
        assert Status.read(tmp_path).state is State.FAILED


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path):
    write_json(tmp_path / "a.json", {"a": 1})
    with pytest.raises(TypeError):
        write_json(tmp_path / "a.json", {"a": object()})
    assert read_json(tmp_path / "a.json") == {"a": 1}
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o600


def test_a_folder_without_a_request_is_no_run(tmp_path):
    assert load_run(tmp_path) is None
    (tmp_path / "request.json").write_text('{"kind": "other"}')
    assert load_run(tmp_path) is None
