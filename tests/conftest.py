"""Shared fixtures: the real data beside the checkout, when it is there; Hypothesis' profile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from postgres_server import NOT_HERE, Server, binaries, running

ROOT = Path(__file__).resolve().parent.parent

# Compiling a kernel at its first use says nothing about the example at hand, nor does a slow
# machine; and with a module's good release made once, a function-scoped fixture is no accident.
settings.register_profile(
    "sfumato",
    deadline=None,
    max_examples=60,
    # the same examples every time, so that a run can be repeated; SFUMATO_EXPLORE=1 draws others
    derandomize=not os.environ.get("SFUMATO_EXPLORE"),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("sfumato")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and worked examples; tests that need it skip without it."""
    folder = Path(os.environ.get("SFUMATO_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip("the shared data folder is not beside this checkout (set SFUMATO_SHARED)")
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A real PostgreSQL server, whose password is in the environment as users would have it."""
    programs = binaries()
    if programs is None:
        pytest.skip(NOT_HERE)
    with running(programs) as server, pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("PG")]:
            patch.delenv(name)
        patch.setenv("PGPASSWORD", server.password)
        patch.setenv("PGPASSFILE", os.devnull)
        yield server


@pytest.fixture
def database(postgres: Server) -> Iterator[str]:
    """The address of an empty database on a real server."""
    yield postgres.url()
    postgres.clear()
