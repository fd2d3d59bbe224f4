"""Which tables a layout has, and that each attribute stands in exactly one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sfumato.errors import ReleaseDamaged
from sfumato.release import Manifest, TableEntry
from sfumato.schema.attribute import Role

PLAIN_ROLES = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE)
# The role of the attributes in the tables `qi_1`, `sensitive_1`, `kept_1` … of this name.
_ANATOMY = {"qi": Role.QUASI_IDENTIFIER, "sensitive": Role.SENSITIVE, "kept": Role.INSENSITIVE}
_NUMBERED = re.compile(r"([a-z]+)_([1-9][0-9]{0,8})")


def check_roles(manifest: Manifest, roles: Sequence[Role] = PLAIN_ROLES) -> None:
    """Refuse (ReleaseDamaged) attributes that have no place in the layout."""
    for entry in manifest.attributes:
        if entry.role not in roles:
            raise ReleaseDamaged(
                f"attribute '{entry.name}' is {entry.role}, "
                f"which has no place in the layout '{manifest.layout}'"
            )
    fakes = manifest.parameters.get("fakes", 0)
    if isinstance(fakes, bool) or not isinstance(fakes, int) or not 0 <= fakes <= manifest.rows:
        raise ReleaseDamaged("the parameter 'fakes' is not a number of the records")
    if fakes and manifest.layout != "sliced":
        raise ReleaseDamaged(f"the layout '{manifest.layout}' has no place for fake records")


def record_tables(manifest: Manifest) -> list[TableEntry]:
    """Return the one table `records` of a release of records, checked."""
    tables, _ = _without_units(manifest)
    if [table.name for table in tables] != ["records"]:
        raise ReleaseDamaged(
            f"a {manifest.layout} release has one table 'records', and this one has not"
        )
    if tables[0].group is None or tables[0].count is not None:
        raise ReleaseDamaged("table 'records' needs a column of groups, and none of counts")
    _check_coverage(manifest, tables)
    return tables


def set_table(manifest: Manifest) -> TableEntry:
    """Return the one table `records` of a release of sets, which has no groups, checked."""
    if [table.name for table in manifest.tables] != ["records"]:
        raise ReleaseDamaged("a release of sets has one table 'records', and this one has not")
    (table,) = manifest.tables
    if table.group is not None or table.count is not None:
        raise ReleaseDamaged("table 'records' has groups or counts, and sets have neither")
    _check_coverage(manifest, [table])
    return table


def anatomy_tables(manifest: Manifest) -> list[TableEntry]:
    """Return the tables of an anatomised release, checked: `qi_1` …, `sensitive_1` …, `kept_1` …"""
    tables, _ = _without_units(manifest)
    if not tables:
        raise ReleaseDamaged("the release has no tables of cells")
    role_of = {entry.name: entry.role for entry in manifest.attributes}
    for table in tables:
        match = _NUMBERED.fullmatch(table.name)
        role = _ANATOMY.get(match[1]) if match else None
        if role is None:
            raise ReleaseDamaged(f"an anatomized release has no table named '{table.name}'")
        if any(role_of[name] is not role for name in table.attributes):
            raise ReleaseDamaged(f"table '{table.name}' holds an attribute that is not {role}")
        if role is not Role.QUASI_IDENTIFIER and len(table.attributes) != 1:
            raise ReleaseDamaged(f"table '{table.name}' does not hold exactly one attribute")
        if not table.attributes:
            raise ReleaseDamaged(f"table '{table.name}' holds no attribute")
        _check_counted(table)
    for prefix in _ANATOMY:
        _check_dense(tables, prefix)
    _check_coverage(manifest, tables)
    return tables


def attribute_blocks(manifest: Manifest) -> list[list[str]]:
    """Return the blocks of a sliced release, checked: `parameters.columns`, each attribute once.

    Only quasi-identifiers may share a block: what stays together in a row is told of one person.
    """
    stated = manifest.parameters.get("columns")
    blocks = [_names(block) for block in stated] if isinstance(stated, list) else []
    if not blocks or not all(blocks):
        raise ReleaseDamaged("the parameter 'columns' is not a list of blocks of attributes")
    listed = sorted(name for block in blocks for name in block)
    if listed != sorted(entry.name for entry in manifest.attributes):
        raise ReleaseDamaged("the blocks do not name each attribute of the manifest once")
    role_of = {entry.name: entry.role for entry in manifest.attributes}
    for block in blocks:
        for name in block:
            if len(block) > 1 and role_of[name] is not Role.QUASI_IDENTIFIER:
                raise ReleaseDamaged(
                    f"attribute '{name}' is {role_of[name]}, and shares a block with others"
                )
    return blocks


def _names(block: object) -> list[str]:
    """Return the names in a block, none where it is not a list of texts."""
    if not isinstance(block, list) or not all(isinstance(name, str) for name in block):
        return []
    return block


def unit_tables(manifest: Manifest) -> list[TableEntry]:
    """Return the tables of people, checked: `units`, then `units_i` for each sensitive attribute.

    None at all where every row is a person of its own.
    """
    _, tables = _without_units(manifest)
    if not tables:
        return []
    whole = [table for table in tables if table.name == "units"]
    parts = [table for table in tables if table.name != "units"]
    if not whole or whole[0].attributes:
        raise ReleaseDamaged("the tables of people need a table 'units' without attributes")
    for table in tables:
        _check_counted(table)
    _check_dense(parts, "units")
    sensitive = sorted(e.name for e in manifest.attributes if e.role is Role.SENSITIVE)
    if sorted(name for table in parts for name in table.attributes) != sensitive or any(
        len(table.attributes) != 1 for table in parts
    ):
        raise ReleaseDamaged("the tables 'units_…' do not hold each sensitive attribute once")
    return [*whole, *parts]


def _without_units(manifest: Manifest) -> tuple[list[TableEntry], list[TableEntry]]:
    """Return the tables of cells and the tables of people."""
    people = [t for t in manifest.tables if t.name == "units" or t.name.startswith("units_")]
    return [table for table in manifest.tables if table not in people], people


def _check_counted(table: TableEntry) -> None:
    if table.group is None or table.count is None:
        raise ReleaseDamaged(f"table '{table.name}' needs columns of groups and of counts")


def _check_dense(tables: Iterable[TableEntry], prefix: str) -> None:
    names = {table.name for table in tables if table.name.startswith(f"{prefix}_")}
    if names != {f"{prefix}_{number}" for number in range(1, len(names) + 1)}:
        raise ReleaseDamaged(f"the tables '{prefix}_…' are not numbered from 1 without a gap")


def _check_coverage(manifest: Manifest, tables: Sequence[TableEntry]) -> None:
    published = sorted(name for table in tables for name in table.attributes)
    if published != sorted(entry.name for entry in manifest.attributes):
        raise ReleaseDamaged("the tables do not publish each attribute of the manifest once")
