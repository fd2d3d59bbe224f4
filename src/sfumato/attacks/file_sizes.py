"""Whether files are as large as their cells make them: what is written again must be the same."""

from __future__ import annotations

import tempfile
from pathlib import Path

from sfumato.attacks.leak import leak
from sfumato.attacks.order import Trained
from sfumato.attacks.outcome import Outcome, Rate
from sfumato.release import Release
from sfumato.release.release import FileFormat

_HOW = (
    "Every table is written once more, from its published cells alone: where all files have the "
    "same size again, sizes tell nothing but the cells. Where one has not, which may also be due "
    "to another writer, or a table is in several parts, it is not judged."
)


def file_sizes(folder: Path, release: Release, rows: int) -> Outcome:
    """Return whether the cells of a release explain how large its files are."""
    tables = [table.name for table in release.manifest.tables]
    files = [folder / f"{name}.{kind}" for name in tables for kind in ("parquet", "csv")]
    files = [file for file in files if file.is_file()]
    wanted: dict[Path, set[int]] = {file: set() for file in files}
    for kind in sorted({file.suffix for file in files}):
        # whether cells that a spreadsheet would run were guarded is not stated
        for guard in (True, False) if kind == ".csv" else (True,):
            with tempfile.TemporaryDirectory() as scratch:
                again = Path(scratch) / "again"
                form: FileFormat = "csv" if kind == ".csv" else "parquet"
                release.save(again, format=form, formula_guard=guard)
                for file in (file for file in files if file.suffix == kind):
                    wanted[file].add((again / file.name).stat().st_size)
    same = sum(file.stat().st_size in sizes for file, sizes in wanted.items())
    figures = {"files": float(len(tables)), "same_size": float(same)}
    nothing = Trained(Rate(0, 0), Rate(0, 0))
    is_search = same == len(tables)
    return leak("file sizes", _HOW, nothing, rows, figures=figures, is_search=is_search)
