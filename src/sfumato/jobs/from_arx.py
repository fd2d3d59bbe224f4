"""Hierarchies of an ARX project: a folder of files such as `adult_hierarchy_age.csv`.

The text after `_hierarchy_` names the column. ARX itself writes the name as it is; people also
write blanks, dots and hyphens as `_`, so that names are compared by their words, too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from sfumato.errors import HierarchyError, InputError
from sfumato.schema import Attribute, Hierarchy, Kind, Proposal, Role
from sfumato.schema.distinct import distinct
from sfumato.schema.leaf_texts import spelled_as
from sfumato.schema.names import words
from sfumato.schema.text import to_texts

_MARK = "_hierarchy_"
_LISTED = "`sfumato check` lists them"


@dataclass(frozen=True, slots=True)
class ArxHierarchies:
    """The hierarchy of a column and the path that a policy has for it, by column.

    `doubts` say in names and numbers, never in values, which files belong to no column or cannot
    be used, and which hierarchies lack values of the data or have entries under intervals that do
    not hold them; `unfit` are the columns whose hierarchies lack values.
    """

    found: Mapping[str, tuple[Hierarchy, str]]
    doubts: tuple[str, ...]
    unfit: frozenset[str]

    @classmethod
    def read(cls, folder: Path, data: pa.Table, source: str, policy: Path | None) -> ArxHierarchies:
        """Return the hierarchies of a folder for the columns of a table.

        `source` is the data's file name, which tells two sets of files in one folder apart.
        `policy` is the file that paths are relative to, the working folder without one.

        Refuses (InputError) a folder that cannot be read or has no hierarchy file, and two files
        for one column.
        """
        files, strays = _matched(_files(folder), data.column_names, Path(source).stem)
        doubts = [f"no column of the data belongs to {file.name}" for file in strays]
        found: dict[str, tuple[Hierarchy, str]] = {}
        unfit: set[str] = set()
        for column, file in files.items():
            try:
                hierarchy = Hierarchy.read_csv(file)
            except HierarchyError as error:
                doubts.append(f"column '{column}' goes without its hierarchy: {error}")
                continue
            found[column] = (hierarchy, _relative(file, policy))
            values = distinct(data[column], column).values
            report = spelled_as(hierarchy, values.type).report(to_texts(values).to_pylist())
            if report.missing:
                unfit.add(column)
                doubts.append(
                    f"column '{column}': {len(report.missing)} of its {len(values)} values have "
                    f"no entry in {file.name}; {_LISTED}"
                )
            if report.wrong_intervals:
                doubts.append(
                    f"column '{column}': {len(report.wrong_intervals)} entries of {file.name} "
                    f"stand under an interval that does not hold them; {_LISTED}"
                )
        return cls(found, tuple(doubts), frozenset(unfit))

    def applied(self, proposal: Proposal) -> Proposal:
        """Return the proposal with the column's hierarchy, if it has one.

        Someone meant to generalise the column, so it is a quasi-identifier; but one that looks
        sensitive stays so, since ARX has hierarchies of sensitive attributes, too. Numbers and
        scales take their order from the data, unless the hierarchy contradicts it.
        """
        attribute = proposal.attribute
        if attribute.name not in self.found:
            return proposal
        hierarchy, path = self.found[attribute.name]
        is_sensitive = attribute.role is Role.SENSITIVE
        role = Role.SENSITIVE if is_sensitive else Role.QUASI_IDENTIFIER
        kind = attribute.kind if attribute.kind is Kind.CATEGORICAL else None
        made = Attribute(attribute.name, role, kind=kind, hierarchy=hierarchy)
        reason = proposal.reason
        if attribute.hierarchy is not None or attribute.order is not None:
            reason = reason.rpartition("; ")[0]  # the last of its parts spoke for these
        return Proposal(made, f"ARX generalises it by {Path(path).name}; {reason}")

    def trial(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        """Return the attributes without the hierarchies that would keep a trial from running."""
        return tuple(
            replace(attribute, hierarchy=None) if attribute.name in self.unfit else attribute
            for attribute in attributes
        )


def _files(folder: Path) -> list[Path]:
    try:
        files = sorted(
            file
            for file in folder.iterdir()
            if _MARK in file.stem.lower() and file.suffix.lower() == ".csv" and file.is_file()
        )
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be read ({error.strerror}); --from-arx takes a folder"
        ) from None
    if not files:
        raise InputError(f"{folder}: the folder has no file such as adult{_MARK}age.csv")
    return files


def _matched(
    files: Sequence[Path], columns: Sequence[str], stem: str
) -> tuple[dict[str, Path], list[Path]]:
    """Return the file of every column that has one, and the files of none."""
    chosen: dict[str, list[Path]] = {}
    strays = []
    for file in files:
        column = _column(file, columns)
        if column is None:
            strays.append(file)
        else:
            chosen.setdefault(column, []).append(file)
    matched = {}
    for column, candidates in chosen.items():
        own = [
            file for file in candidates if file.stem.lower().startswith(f"{stem}{_MARK}".lower())
        ]
        best = candidates if len(candidates) == 1 else own
        if len(best) != 1:
            names = ", ".join(file.name for file in candidates)
            raise InputError(
                f"{candidates[0].parent}: column '{column}' has several hierarchy files: {names}; "
                "leave one of them in the folder"
            )
        matched[column] = best[0]
        strays += [file for file in candidates if file != best[0]]
    return {column: matched[column] for column in columns if column in matched}, strays


def _column(file: Path, columns: Sequence[str]) -> str | None:
    start = file.stem.lower().index(_MARK) + len(_MARK)
    name = file.stem[start:]
    if name in columns:
        return name
    alike = [column for column in columns if words(column) == words(name)]
    alike = alike or [column for column in columns if column.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def _relative(file: Path, policy: Path | None) -> str:
    start = Path.cwd() if policy is None else policy.parent
    try:
        return Path(os.path.relpath(file, start)).as_posix()
    except ValueError:  # on another drive
        return file.resolve().as_posix()
