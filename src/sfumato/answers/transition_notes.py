"""What an analyst should know about answers from cells that were replaced at random."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.answers.estimate import Row
from sfumato.release import Manifest
from sfumato.release.transitions import read_transitions


def transition_notes(manifest: Manifest, rows: Sequence[Row]) -> list[str]:
    """Return what was estimated and how, and what the bounds of such answers are worth."""
    if all(row.estimate.se == 0 for row in rows):  # nothing was random there
        return []
    found = [
        "cells were replaced at random by published matrices; answers are estimates of the "
        "original, unbiased unless a bound cuts them off, and standard errors cover that "
        "randomness, which is all there is"
    ]
    if all((own.matrix > 0).all() for own in read_transitions(manifest).values()):
        found.append(
            "no matrix rules out any value, so bounds exclude only what exact columns and the "
            "domains do: go by the standard errors"
        )
    return found
