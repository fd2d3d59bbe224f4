"""Simulated attacks on a release in a folder, with the data it was made from in files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from sfumato.attacks import AttackReport
from sfumato.attacks import attack as run
from sfumato.attacks.attack import SAMPLE
from sfumato.databases.address import Address
from sfumato.io.read import read_table
from sfumato.jobs.progress import Progress, Stages
from sfumato.randomness import Randomness
from sfumato.release import Release


def attack(
    release: str | os.PathLike[str],
    original: str | os.PathLike[str],
    *,
    controls: str | os.PathLike[str] | None = None,
    attacks: Sequence[str] | None = None,
    sample: int = SAMPLE,
    earlier: tuple[str | os.PathLike[str], str | os.PathLike[str]] | None = None,
    randomness: Randomness | None = None,
    progress: Progress | None = None,
) -> AttackReport:
    """Return what came of attacks on the release; `original` is its data.

    `earlier` is the folder of an earlier release of the table, and what its data were then.

    Refuses (SfumatoError) what cannot be read, and what `sfumato.attacks.attack` refuses.
    """
    stages = Stages(progress)
    with stages.stage("reading the release"):
        loaded = Release.load(release)
    with stages.stage("reading the data"):
        table = read_table(original)
        others = None if controls is None else read_table(controls)
        before = None if earlier is None else (Release.load(earlier[0]), read_table(earlier[1]))
    with stages.stage("attacking"):
        source = randomness or Randomness.fresh()
        return run(
            loaded,
            table,
            controls=others,
            attacks=attacks,
            sample=sample,
            path=None if Address.of(release) else release,
            earlier=before,
            rng=source.generator("attacks"),
        )
