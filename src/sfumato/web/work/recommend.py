"""Search for a policy that keeps stated limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.errors import EngineUnavailable

if TYPE_CHECKING:
    from sfumato.web.runs import Run
    from sfumato.web.worker import Report


def recommend(run: Run, report: Report) -> None:
    """Refuse: not built yet."""
    raise EngineUnavailable("this version has no recommend")
