"""A share of the trials in this process; `python -m tests.faults` has all, and kills."""

from __future__ import annotations

import pytest

from .points import KINDS
from .tasks import HERE, Task
from .trials import fails, points_of

NAMES = [task.name for task in HERE]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The old states, made once."""
    home = tmp_path_factory.mktemp("old")
    found = {}
    for task in HERE:
        found[task.name] = home / task.name
        found[task.name].mkdir()
        task.prepare(found[task.name])
    return found


@pytest.mark.parametrize("task", HERE, ids=NAMES)
def test_whatever_fails_the_state_is_old_or_new(task: Task, prepared):
    points = points_of(task, prepared)
    assert points > 10, "the points are not counted"
    kinds = [kind for kind in KINDS if kind != "kill"]
    for at in range(1, points + 1):
        fails(task, kinds[at % len(kinds)], at, prepared)
