"""`--profile`: every command tells where its time went, and nothing else changes."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import numba
import pytest
import typer

from sfumato.cli.app import app
from sfumato.cli.profile import COMPILING, SHOWING, STARTING, running, with_profile
from sfumato.cli.progress import terminal_progress

RUN = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out", "release")
COMMANDS = typer.main.get_command(app).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_it(name):
    assert any("--profile" in each.opts for each in COMMANDS[name].params)


def test_stages_are_told_on_stderr(place, sfumato):
    code, out, err = sfumato(*RUN, "--profile")
    assert code == 0
    assert out.endswith("next: sfumato audit release\n")
    assert err[0].split() == ["stage", "seconds", "processor", "peak", "MB"]
    stages = [line.split("  ")[0] for line in err[1:]]
    assert (stages[0], stages[-2:]) == (STARTING, [SHOWING, "all"])
    assert {"reading the data", "partitioning by mondrian", "auditing", "writing"} < set(stages)
    assert running() is None


def test_stages_are_told_in_the_json(place, sfumato):
    code, out, err = sfumato(*RUN, "--profile", "--json")
    told = json.loads(out)
    assert (code, err, told["method"]) == (0, [], "mondrian")
    keys = {"stage", "seconds", "processor_seconds", "peak_mb"}
    assert all(each.keys() == keys for each in told["profile"])
    assert all(each["seconds"] >= 0 for each in told["profile"])
    assert "profile" not in json.loads(sfumato(*RUN, "--force", "--json")[1])


def test_an_audit_that_says_no_is_told_as_well(place, sfumato):
    sfumato(*RUN, "--test-seed", 7)
    code, _, err = sfumato("audit", "release", "--profile")
    assert (code, err[-1].split()[0]) == (1, "all")
    assert any(line.startswith("auditing") for line in err)


def test_an_error_stays_one_line(place, sfumato):
    code, _, err = sfumato(*RUN[:-1], "nowhere/release", "--profile")
    assert (code, len(err)) == (2, 1)
    assert running() is None


def _compiled_in(progress):
    progress.stage("counting")
    numba.njit(lambda number: number + 1)(1)


def test_compiling_is_a_stage_of_its_own(capsys):
    @with_profile
    def command() -> None:
        with terminal_progress() as progress:
            _compiled_in(progress)

    command(profile=True)
    stages = [line.split("  ")[0] for line in capsys.readouterr().err.splitlines()]
    assert stages == ["stage", STARTING, "counting", COMPILING, SHOWING, "all"]


def test_whoever_waits_for_compiling_is_told_once(monkeypatch):
    said = []
    terminal = SimpleNamespace(isatty=lambda: True, write=said.append, flush=lambda: None)
    monkeypatch.setattr(sys, "stderr", terminal)
    with terminal_progress() as progress:
        _compiled_in(progress)
        _compiled_in(progress)
    monkeypatch.undo()
    assert "".join(said).count(COMPILING) == 1
