"""Ways to spoil means, withheld cells, weights and stated households, as in `spoil.py`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from .raw_release import (
    NotApplicable,
    attributes_of,
    claims_of,
    entry_of,
    read_manifest,
    read_rows,
    rewrite_manifest,
    rewrite_table,
)
from .spoil import BROKEN, DAMAGED, Spoil

SURVEY_SPOILS: list[Spoil] = []


def _spoil(made_by: tuple[str, ...], code: int) -> Callable[[Callable[[Path], None]], Any]:
    def register(function: Callable[[Path], None]) -> Callable[[Path], None]:
        SURVEY_SPOILS.append(Spoil(function.__name__, function, made_by, code))
        return function

    return register


def _change(folder: Path, table: str, column: str, change: Callable[[list[Any]], None]) -> None:
    """Change the cells of a column in place."""

    def changed(read: pa.Table) -> pa.Table:
        cells = read[column].to_pylist()
        change(cells)
        new = pa.array(cells, read[column].type)
        return read.set_column(read.column_names.index(column), column, new)

    rewrite_table(folder, table, changed)


def _as(cells: list[Any], value: float) -> Any:
    """Return a number as the table holds it: CSV has texts."""
    return repr(value) if isinstance(cells[0], str) else value


def _set_first(folder: Path, column: str, value: float, table: str = "records") -> None:
    def change(cells: list[Any]) -> None:
        cells[0] = _as(cells, value)

    _change(folder, table, column, change)


def _set_group(folder: Path, column: str, value: float) -> None:
    """Give all records of the first group one number."""
    groups = [row["group"] for row in read_rows(folder, "records")]

    def change(cells: list[Any]) -> None:
        for place, group in enumerate(groups):
            if group == groups[0]:
                cells[place] = _as(cells, value)

    _change(folder, "records", column, change)


# --- means of groups ------------------------------------------------------------------------------

MEANS = ("mdav",)


def _mean(folder: Path) -> str:
    return read_manifest(folder)["parameters"]["microaggregated"][0]


@_spoil(MEANS, DAMAGED)
def move_the_mean_of_one_record(folder: Path) -> None:
    """Who differs from the group is somebody's own value, perhaps."""
    _set_first(folder, _mean(folder), 41.125)


@_spoil(MEANS, DAMAGED)
def move_a_mean_beyond_the_domain(folder: Path) -> None:
    _set_group(folder, _mean(folder), 1000.0)


@_spoil(MEANS, DAMAGED)
def publish_a_mean_that_is_infinite(folder: Path) -> None:
    _set_group(folder, _mean(folder), math.inf)


@_spoil(MEANS, DAMAGED)
def say_that_a_sensitive_attribute_is_a_mean(folder: Path) -> None:
    name = attributes_of(folder, "sensitive")[0]["name"]
    rewrite_manifest(folder, lambda m: m["parameters"]["microaggregated"].append(name))


@_spoil(MEANS, DAMAGED)
def say_that_an_unknown_attribute_is_a_mean(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["parameters"].update(microaggregated=["shoe size"]))


@_spoil(MEANS, DAMAGED)
def say_that_all_are_means(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["parameters"].update(microaggregated=True))


# --- withheld cells -------------------------------------------------------------------------------

STARRED = ("local-suppression",)


def _starred(folder: Path) -> tuple[str, int]:
    """Return an attribute and a row whose cell is withheld."""
    rows = read_rows(folder, "records")
    for attribute in attributes_of(folder, "quasi-identifier"):
        for place, row in enumerate(rows):
            if row[attribute["name"]] == "*":
                return attribute["name"], place
    raise NotApplicable("no cell is withheld")


def _count_one_more(folder: Path, name: str, more: int) -> None:
    def change(manifest: dict[str, Any]) -> None:
        counted = manifest["parameters"]["suppressed_cells"]
        counted["total"] += more
        counted["by"][name] += more

    rewrite_manifest(folder, change)


@_spoil(STARRED, DAMAGED)
def reveal_a_withheld_cell_and_count_it(folder: Path) -> None:
    """Whose cell is shown is in a group of others."""
    name, place = _starred(folder)
    shown = Counter(row[name] for row in read_rows(folder, "records") if row[name] != "*")

    def change(cells: list[Any]) -> None:
        cells[place] = next(cell for cell in shown if cell is not None)

    _change(folder, "records", name, change)
    _count_one_more(folder, name, -1)


@_spoil(STARRED, DAMAGED)
def withhold_a_column_and_count_none_of_it(folder: Path) -> None:
    name, _ = _starred(folder)

    def change(cells: list[Any]) -> None:
        cells[:] = ["*"] * len(cells)

    _change(folder, "records", name, change)


@_spoil(STARRED, DAMAGED)
def count_fewer_withheld_cells(folder: Path) -> None:
    _count_one_more(folder, _starred(folder)[0], -1)


@_spoil(STARRED, DAMAGED)
def add_up_withheld_cells_to_something_else(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["parameters"]["suppressed_cells"].update(total=0))


@_spoil(STARRED, DAMAGED)
def count_withheld_cells_in_words(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["parameters"].update(suppressed_cells="few"))


@_spoil(STARRED, DAMAGED)
def count_withheld_cells_of_an_unknown_attribute(folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["parameters"]["suppressed_cells"]["by"]["shoe size"] = 0

    rewrite_manifest(folder, change)


# --- weights --------------------------------------------------------------------------------------

WEIGHTED = ("weights",)


def _weight(folder: Path) -> str:
    return entry_of(folder, "records")["weight"]


@_spoil(WEIGHTED, DAMAGED)
def give_one_record_a_weight_of_its_own(folder: Path) -> None:
    _set_first(folder, _weight(folder), 3.25)


@_spoil(WEIGHTED, DAMAGED)
def make_weights_negative(folder: Path) -> None:
    _set_group(folder, _weight(folder), -2.0)


@_spoil(WEIGHTED, DAMAGED)
def make_weights_nothing(folder: Path) -> None:
    _set_group(folder, _weight(folder), 0.0)


@_spoil(WEIGHTED, DAMAGED)
def make_weights_infinite(folder: Path) -> None:
    _set_group(folder, _weight(folder), math.inf)


@_spoil(WEIGHTED, DAMAGED)
def make_weights_no_numbers(folder: Path) -> None:
    _set_group(folder, _weight(folder), math.nan)


@_spoil(WEIGHTED, DAMAGED)
def leave_a_weight_out(folder: Path) -> None:
    def change(cells: list[Any]) -> None:
        cells[0] = None

    _change(folder, "records", _weight(folder), change)


@_spoil(WEIGHTED, DAMAGED)
def publish_weights_with_all_digits(folder: Path) -> None:
    _set_group(folder, _weight(folder), 3.123456789012)


@_spoil(WEIGHTED, DAMAGED)
def delete_the_weights(folder: Path) -> None:
    name = _weight(folder)
    rewrite_table(folder, "records", lambda table: table.drop_columns([name]))


@_spoil(WEIGHTED, DAMAGED)
def forget_that_a_column_holds_weights(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["tables"][0].pop("weight"))


@_spoil(WEIGHTED, DAMAGED)
def take_an_attribute_for_weights(folder: Path) -> None:
    name = attributes_of(folder, "sensitive")[0]["name"]
    rewrite_manifest(folder, lambda m: m["tables"][0].update(weight=name))


@_spoil(WEIGHTED, DAMAGED)
def weigh_the_records_of_a_sample(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["parameters"].update(sample=0.5))


# --- households -----------------------------------------------------------------------------------

HOUSEHOLDS = ("households",)


def _state(folder: Path, change: Callable[[list[int]], None], table: str = "units") -> None:
    _change(folder, table, "count", change)


@_spoil(HOUSEHOLDS, DAMAGED)
def state_more_households_than_rows(folder: Path) -> None:
    rows = Counter(row["group"] for row in read_rows(folder, "records"))
    groups = [row["group"] for row in read_rows(folder, "units")]
    _state(folder, lambda cells: cells.__setitem__(0, rows[groups[0]] + 1))


@_spoil(HOUSEHOLDS, DAMAGED)
def state_more_households_than_have_a_value(folder: Path) -> None:
    """Every household has a row, and every row here a value that is counted by household."""
    values = Counter()
    for row in read_rows(folder, "units_1"):
        values[row["group"]] += row["count"]
    rows = Counter(row["group"] for row in read_rows(folder, "records"))
    for place, row in enumerate(read_rows(folder, "units")):
        if values[row["group"]] < rows[row["group"]]:
            more = values[row["group"]] + 1
            _state(folder, lambda cells, at=place, n=more: cells.__setitem__(at, n))
            return
    raise NotApplicable("no household has a value twice")


@_spoil(HOUSEHOLDS, BROKEN)
def state_fewer_households_than_k(folder: Path) -> None:
    """So few that the claim is broken, and no fewer than a value has."""
    k = claims_of(folder, "k-anonymity")[0]["k"]
    most = Counter()
    for row in read_rows(folder, "units_1"):
        most[row["group"]] = max(most[row["group"]], row["count"])
    for place, row in enumerate(read_rows(folder, "units")):
        if most[row["group"]] < k:
            few = most[row["group"]]
            _state(folder, lambda cells, at=place, n=few: cells.__setitem__(at, n))
            return
    raise NotApplicable("every group has a value of so many")


@_spoil(HOUSEHOLDS, DAMAGED)
def state_no_household(folder: Path) -> None:
    _state(folder, lambda cells: cells.__setitem__(0, 0))


@_spoil(HOUSEHOLDS, DAMAGED)
def state_more_households_with_a_value_than_rows(folder: Path) -> None:
    _state(folder, lambda cells: cells.__setitem__(0, cells[0] + 9), "units_1")


@_spoil(HOUSEHOLDS, DAMAGED)
def forget_the_households_of_a_group(folder: Path) -> None:
    rewrite_table(folder, "units", lambda table: table.slice(1))


@_spoil(HOUSEHOLDS, DAMAGED)
def forget_the_households_with_a_value(folder: Path) -> None:
    rewrite_table(folder, "units_1", lambda table: table.slice(1))


@_spoil(HOUSEHOLDS, DAMAGED)
def state_the_households_of_a_group_twice(folder: Path) -> None:
    rewrite_table(folder, "units", lambda table: pa.concat_tables([table, table.slice(0, 1)]))


@_spoil(HOUSEHOLDS, DAMAGED)
def say_in_words_that_households_count(folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m["parameters"].update(household="yes"))
