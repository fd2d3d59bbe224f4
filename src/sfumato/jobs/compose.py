"""What releases in folders tell together, with the originals in files if there are any."""

from __future__ import annotations

import os
from collections.abc import Sequence

from sfumato.attacks import CompositionReport
from sfumato.attacks import compose as attack
from sfumato.attacks.compose import SAMPLE
from sfumato.io.read import read_table
from sfumato.jobs.progress import Progress, Stages
from sfumato.release import Release


def compose(
    releases: Sequence[str | os.PathLike[str]],
    *,
    originals: Sequence[str | os.PathLike[str]] = (),
    identifier: str | None = None,
    attribute: str | None = None,
    knows: Sequence[str] = (),
    sample: int = SAMPLE,
    progress: Progress | None = None,
) -> CompositionReport:
    """Return what the releases tell together; `originals` are their data, in the same order.

    Refuses (SfumatoError) what cannot be read, and what `sfumato.attacks.compose` refuses.
    """
    stages = Stages(progress)
    with stages.stage("reading the releases"):
        loaded = [Release.load(path) for path in releases]
    with stages.stage("reading the originals"):
        tables = [read_table(path) for path in originals]
    with stages.stage("composing"):
        return attack(
            loaded,
            attribute,
            originals=tables or None,
            identifier=identifier,
            knows=knows,
            sample=sample,
        )
