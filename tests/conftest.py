"""Shared fixtures: the real data beside the checkout, when it is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and worked examples; tests that need it skip without it."""
    folder = Path(os.environ.get("SFUMATO_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip("the shared data folder is not beside this checkout (set SFUMATO_SHARED)")
    return folder
