"""What every run that publishes does around its method: a free place first, an audit last."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from sfumato.audit import audit
from sfumato.audit.report import Verdict
from sfumato.databases.address import Address
from sfumato.errors import ClaimBroken, InputError, ParameterError, ReleaseDamaged
from sfumato.jobs.policy import Policy
from sfumato.methods import FullDomain
from sfumato.release import Manifest, Release, in_database
from sfumato.release.enclosing import refuse_inside_release
from sfumato.release.manifest import MANIFEST
from sfumato.release.release import FileFormat
from sfumato.utility import Ncp

# The folder of a release, or the schema of one in a database.
Place = Path | Address


def place_of(out: str | os.PathLike[str], format: FileFormat | None = None) -> Place:
    """Return where a release is to be written.

    Refuses (ParameterError) a format of files for a database.
    """
    address = Address.of(out)
    if address is not None and format is not None:
        raise ParameterError("--format is for releases in folders; a database has tables, no files")
    return address or Path(out)


@dataclass(frozen=True, slots=True)
class Publication:
    """A release that was written, and what its maker should know of it."""

    path: Place
    manifest: Manifest
    groups: int
    ncp: Ncp | None
    warnings: tuple[str, ...]
    timings: Mapping[str, float]

    @property
    def withheld_cells(self) -> int | None:
        """How many cells are withheld, None if the method knows no such thing."""
        return withheld_cells(self.manifest)


def refuse_occupied(path: Place, force: bool) -> None:
    """Refuse early, before a long run, what writing the release would refuse at its end."""
    if isinstance(path, Address):
        if path.file is not None:
            refuse_inside_release(path.file, "the database")
        in_database.refuse_occupied(path, force)
        return
    refuse_inside_release(path, "the release")
    if not path.parent.is_dir():
        raise InputError(f"'{path.parent}' is not a folder; create it first")
    if not os.path.lexists(path):
        return
    if not force:
        raise InputError(f"'{path}' exists; use --force to replace it")
    if not path.is_dir() or (any(path.iterdir()) and not (path / MANIFEST).is_file()):
        raise InputError(f"'{path}' is not a release and is not replaced; choose another name")


def refuse_own_fault(release: Release) -> None:
    """Refuse to write a release that its own audit would not stand by: a fault of sfumato."""
    refuse_broken(lambda: audit(release).guarantees)


def refuse_broken(judge: Callable[[], Iterable[Verdict]]) -> None:
    """Refuse (ClaimBroken) to write what a judge finds damaged or its claims broken."""
    try:
        broken = [str(verdict) for verdict in judge() if verdict.holds is False]
    except ReleaseDamaged as error:
        broken = [str(error)]
    if broken:
        raise ClaimBroken(
            f"nothing was written: the audit of the new release failed ({broken[0]}), which is a "
            "fault of sfumato; please report it"
        )


def save(
    release: Release,
    path: Place,
    rules: Policy,
    *,
    format: FileFormat | None,
    formula_guard: bool | None,
    force: bool = False,
) -> None:
    """Write a release as its policy says, or otherwise where that is asked for."""
    with saving(release, path, rules, format=format, formula_guard=formula_guard, force=force):
        pass


def saving(
    release: Release,
    path: Place,
    rules: Policy,
    *,
    format: FileFormat | None,
    formula_guard: bool | None,
    force: bool = False,
) -> AbstractContextManager[None]:
    """Return a block during which a release is written; it appears when the block ends well."""
    output = rules.content.output
    return release.saving(
        path,
        format=format or output.format,
        force=force,
        formula_guard=output.formula_guard if formula_guard is None else formula_guard,
    )


def about_loss(manifest: Manifest, loss: Ncp | None) -> tuple[str, ...]:
    """Return a warning where full-domain recoding had to generalise every cell to `*`."""
    if manifest.method != FullDomain.name or loss is None or loss.mean_published < 1:
        return ()
    return (
        "nothing of the quasi-identifiers is left, all are `*`: allow more records to be withheld "
        "(`suppression`), ask for less, or give finer hierarchies",
    )


def group_count(release: Release) -> int:
    """Return the number of groups; sets have none."""
    table = next((entry for entry in release.manifest.tables if entry.group), None)
    if table is None:
        return 0
    return pc.max(release.tables[table.name]["group"]).as_py() or 0  # they run from 1


def withheld_cells(manifest: Manifest) -> int | None:
    """Return how many cells a release withholds, None if its method knows no such thing."""
    cells = manifest.parameters.get("withheld_cells")
    if cells is None:
        counted = manifest.parameters.get("suppressed_cells")  # of local-suppression, by attribute
        cells = counted.get("total") if isinstance(counted, Mapping) else None
    return cells if isinstance(cells, int) else None


def with_declared(release: Release, rules: Policy, withheld: int) -> Release:
    """Return the release with what the method does not know: declared models, withheld rows."""
    manifest = release.manifest
    claims = [model.claim() for model in rules.declared()]
    updated = manifest.model_copy(
        update={
            "guarantees": (*manifest.guarantees, *claims),
            "suppressed": manifest.suppressed + withheld,
            "suppressed_by_value": manifest.suppressed_by_value or withheld > 0,
        }
    )
    return release.restated(updated)
