"""`import sfumato`: light, complete, and with the functions that share a room's name."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import sfumato


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_import_is_light():
    heavy = "'numpy', 'pyarrow', 'polars', 'numba', 'pydantic', 'typer', 'yaml'"
    assert run(f"import sfumato, sys; print([m for m in ({heavy}) if m in sys.modules])") == "[]"


@pytest.mark.parametrize("name", sfumato.__all__)
def test_every_public_name_is_there(name):
    assert getattr(sfumato, name) is not None
    assert name in dir(sfumato)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Mondrain'"):
        sfumato.Mondrain  # noqa: B018


@pytest.mark.parametrize(
    "first", ["", "import sfumato.audit", "from sfumato.audit import AuditReport", "sf.AuditReport"]
)
def test_audit_is_the_function_whatever_was_imported_before(first):
    code = f"import sfumato as sf\n{first}\nprint(sf.audit.__module__, callable(sf.audit))"
    assert run(code) == "sfumato.audit.judge True"


def test_the_version_is_that_of_the_package():
    assert sfumato.__version__ == version("sfumato")
