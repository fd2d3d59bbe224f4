"""One complete table that a release may have come from, for tools that want rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sfumato.answers.choices import CellReader
from sfumato.answers.dealing import dealt_anew
from sfumato.answers.drawing import draw
from sfumato.answers.set_microdata import drawn_from_sets, names_of_rows
from sfumato.answers.transition_tables import plausible_rows
from sfumato.errors import ReleaseDamaged
from sfumato.release import AttributeEntry, Release
from sfumato.release.transitions import is_randomised
from sfumato.release.weights import weight_of
from sfumato.schema.attribute import RESERVED_SUFFIX
from sfumato.schema.distinct import distinct
from sfumato.schema.hierarchy import Hierarchy
from sfumato.schema.kinds import is_text
from sfumato.table.groups import counting_order
from sfumato.table.permutation import permutation, shuffle
from sfumato.table.sorting import sorted_by

_DEALT = ("generalized", "sliced", "local")


def to_microdata(release: Release, rng: np.random.Generator) -> pa.Table:
    """Return one table that the release may have come from: the published attributes, no groups.

    A generalised cell becomes one of the values that it may hold, each as likely as any other:
    a number or date of a range (a missing one, too, where the cell says so and values can be
    counted), a value of a set or below a node of a hierarchy. A node under which the release names
    no value is taken by its label: as an interval or part of a year where it reads as one, as it
    stands in a column of text (a masked `102**` stays `102**`, which is nobody's value), and else
    as missing. A withheld cell (`*`) gets the value of another
    row; where all are withheld, one of the manifest's domain. Tables that share only the group
    (`anatomized`) are joined at random within each group. `sliced` and `local` records stay as
    they are published: their blocks and buckets were dealt at random when they were made. In the
    place of a random set (`sets`) stands a value drawn by how likely the set makes it, given how
    often values occur (`set_microdata.py`); joint attributes `a & b` are two columns again. So it
    is with cells that were replaced at random, by their matrices (`transition_tables.py`). Means of
    groups (`parameters.microaggregated`) stay what they are.

    *What it is not.* No row is evidence about any person. Cells are drawn one by one, so that
    joint statistics are destroyed: within a group those of generalised attributes, across blocks,
    tables and buckets those of all; of random sets those with exact attributes are weakened. Spread
    is overstated, and a second table differs from the first; ask `answer` for counts and sums, with
    their bounds. Fake records (`parameters.fakes` of them) are not marked, and stay.

    Refuses (ReleaseDamaged) a release whose cells or groups do not fit its manifest.

    >>> import sfumato as sf
    >>> people = pa.table({"age": [25, 28, 41, 47], "illness": ["Flu", "Fever", "HIV", "Flu"]})
    >>> schema = sf.Schema.of(age="quasi-identifier", illness="sensitive")
    >>> release = sf.Mondrian(k=2).publish(people, schema)
    >>> rows = to_microdata(release, sf.Randomness.test(7).generator("microdata"))
    >>> rows.column_names, str(rows["age"].type)
    (['age', 'illness'], 'int64')
    >>> sorted(age // 20 for age in rows["age"].to_pylist())
    [1, 1, 2, 2]
    """
    return _microdata(release, rng)


def coded_microdata(release: Release, rng: np.random.Generator) -> pa.Table:
    """Return the rows of `to_microdata` for those who count them: maybe in another order, and texts
    that were drawn as codes of a dictionary, which may have more than occur."""
    return _microdata(release, rng, coded=True)


def _microdata(release: Release, rng: np.random.Generator, *, coded: bool = False) -> pa.Table:
    rows = plausible_table(release, names_of_rows(release.manifest), rng, coded=coded)
    weight = weight_of(release.manifest)
    return rows if weight is None else rows.append_column(weight, release.tables["records"][weight])


def plausible_table(
    release: Release,
    attributes: Sequence[str],
    rng: np.random.Generator,
    *,
    redealt: bool = False,
    coded: bool = False,
) -> pa.Table:
    """Return some attributes of one table that the release may have come from; see `to_microdata`.

    With `redealt`, blocks and buckets are dealt once more within their groups, so that two tables
    differ as much as what the release may have come from. Parts of joint attributes can be asked
    for. `coded` is that of `draw`, and leaves the rows in whatever order takes least.
    """
    manifest = release.manifest
    if is_randomised(manifest):
        return plausible_rows(release, attributes, rng)
    columns: dict[str, pa.Array] = {}
    if manifest.layout == "sets":
        columns = drawn_from_sets(release, attributes, rng)
    if manifest.layout == "anatomized":
        tables = _joined(release, attributes, rng, in_random_order=not coded)
    elif redealt and manifest.layout in _DEALT:
        tables = dealt_anew(release, attributes, rng)
    else:
        tables = [release.tables["records"]]
    for name in attributes:
        if name in columns:
            continue
        entry = manifest.attribute(name)
        holder = next((table for table in tables if name in table.column_names), None)
        if holder is None:
            raise ReleaseDamaged(f"no table holds the attribute '{name}'")
        columns[name] = _drawn(holder, entry, release.hierarchies.get(name), rng, coded=coded)
    return pa.table({name: columns[name] for name in attributes})


def _joined(
    release: Release,
    attributes: Sequence[str],
    rng: np.random.Generator,
    *,
    in_random_order: bool,
) -> list[pa.Table]:
    """Return the tables of attributes, a row a record, such that equal places are one record."""
    tables: list[pa.Table] = []
    groups = None
    order = permutation(rng, release.manifest.rows)
    for entry in release.manifest.tables:
        wanted = [name for name in entry.attributes if name in attributes]
        if not wanted:
            continue
        table = release.tables[entry.name]
        rows = np.arange(table.num_rows)
        if entry.count is not None:
            counts = table[entry.count].to_numpy().astype(np.int64)
            if counts.min(initial=1) < 1 or counts.sum() != release.manifest.rows:
                raise ReleaseDamaged(f"table '{entry.name}' does not count all records")
            rows = np.repeat(rows, counts)
        shuffle(rng, rows)
        ids = table["group"].to_numpy()[rows] if entry.group else np.zeros(len(rows), np.int32)
        by_group = sorted_by([ids])
        sorted_ids = ids[by_group]
        if groups is None:
            groups = sorted_ids
        if len(ids) != len(order) or not np.array_equal(sorted_ids, groups):
            raise ReleaseDamaged(f"the groups of table '{entry.name}' are not those of the others")
        rows = rows[by_group]
        if not tables and not in_random_order:
            # that of the first table's rows, which need not be fetched from everywhere then
            order = counting_order(rows.astype(np.int32), table.num_rows)
        tables.append(table.select(wanted).take(pa.array(rows[order])))
    return tables


def _drawn(
    table: pa.Table,
    entry: AttributeEntry,
    hierarchy: Hierarchy | None,
    rng: np.random.Generator,
    *,
    coded: bool,
) -> pa.Array:
    """Return a value for every cell of an attribute."""
    cells = distinct(table[entry.name], entry.name)
    if pa.types.is_null(entry.dtype):
        return pa.nulls(table.num_rows, entry.dtype)
    if not is_text(cells.values.type):  # typed columns are exact
        return table[entry.name].cast(entry.dtype).combine_chunks()
    texts = cells.values.to_pylist()
    slots, exact = cells.codes, np.zeros(0, np.int32)
    buckets = entry.name + RESERVED_SUFFIX
    if buckets in table.column_names:
        # a cell in a bucket is exact, even where its text is also a label of the hierarchy
        told = table[buckets].is_valid().combine_chunks().to_numpy(zero_copy_only=False)
        hidden = told & (slots < len(texts))
        exact, place = np.unique(slots[hidden], return_inverse=True)
        slots = slots.copy()
        slots[hidden] = len(texts) + 1 + place
    reader = CellReader(entry, hierarchy)
    choices = reader.read(texts, [texts[code] for code in exact.tolist()])
    return draw(choices, slots, reader.line, rng, coded=coded)
