"""A table and a policy in files, and the command line in this process."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from cli.cli_files import SECRET, write_policy

with warnings.catch_warnings():
    # some versions of Typer import what their click is about to drop
    warnings.simplefilter("ignore", DeprecationWarning)
    import typer  # noqa: F401


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with `data.csv` and `policy.yaml`; a secret stands in many cells."""
    diseases = ("Flu", "Fever", "HIV", f"{SECRET}-disease")
    rows = [f"{SECRET}-{n},{20 + n},{SECRET}-{'FM'[n % 2]},{diseases[n % 4]}" for n in range(24)]
    (tmp_path / "data.csv").write_text("\n".join(["name,age,sex,disease", *rows]) + "\n")
    write_policy(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def sfumato(capsys: pytest.CaptureFixture[str]):
    """Run a command line here; return its exit code, its output and its error lines."""
    from sfumato.cli.app import run

    def call(*arguments: object) -> tuple[int, str, list[str]]:
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err.splitlines()

    return call
