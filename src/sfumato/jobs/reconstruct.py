"""The cross table behind a release, from its folder, and perhaps into a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow.parquet as pq

from sfumato.answers.plausible import TABLES
from sfumato.answers.reconstruction import Method, Reconstruction
from sfumato.answers.reconstruction import reconstruct as estimate
from sfumato.errors import InputError, ParameterError
from sfumato.jobs.private_file import new_file
from sfumato.jobs.progress import Progress, Stages
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.release.csv_cells import write_csv

_CSV, _PARQUET = ".csv", ".parquet"


def reconstruct(
    release: Release | str | os.PathLike[str],
    attributes: Sequence[str],
    *,
    method: Method | None = None,
    tables: int = TABLES,
    randomness: Randomness | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reconstruction:
    """Return the estimated cross table; with `out`, also write it, one row a combination.

    The release is given as such or as its folder.
    `method` None means the usual one of the layout; `tables` is how many plausible ones are drawn.

    Refuses (SfumatoError) what cannot be read or written, and what
    `sfumato.answers.reconstruction.reconstruct` refuses.
    """
    target = None if out is None else Path(out)
    if target is not None:
        _refuse_unusable(target)
    stages = Stages(progress)
    with stages.stage("reading the release"):
        loaded = release if isinstance(release, Release) else Release.load(release)
    with stages.stage("reconstructing"):
        rng = (randomness or Randomness.fresh()).generator("reconstruction")
        found = estimate(loaded, attributes, method, rng, tables)
    if target is not None:
        with stages.stage("writing"):
            _write(found, target)
    return found


def _refuse_unusable(target: Path) -> None:
    if target.suffix not in (_CSV, _PARQUET):
        raise ParameterError(f"the output file must end in {_CSV} or {_PARQUET}")
    if os.path.lexists(target):
        raise InputError(f"'{target}' exists; choose another name or remove it")


def _write(found: Reconstruction, target: Path) -> None:
    with new_file(target, force=False, is_ours=lambda path: False, private=False) as file:
        if target.suffix == _CSV:
            write_csv(found.to_table(), cast(BinaryIO, file), formula_guard=True)
        else:
            pq.write_table(found.to_table(), file, compression="zstd")
