"""Publish a sample under the run's policy, to show what a choice would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.errors import EngineUnavailable

if TYPE_CHECKING:
    from sfumato.web.runs import Run
    from sfumato.web.worker import Report


def preview(run: Run, report: Report) -> None:
    """Refuse: not built yet."""
    raise EngineUnavailable("this version has no preview")
