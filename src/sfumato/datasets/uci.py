"""Loaders of two well known census extracts of the UCI repository, from a local file.

The original text files (no header, `?` for missing, blanks around values, dots after labels, a
comment line in the test part) and Parquet files with the same columns give the same table.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from sfumato.errors import InputError

_PARQUET_MAGIC = b"PAR1"
_COMMENT = b"|"


@dataclass(frozen=True, slots=True)
class _Layout:
    """What a file of one data set looks like."""

    title: str
    parts: tuple[str, ...]
    """The original file names, in the order in which a folder's parts are joined."""
    schema: pa.Schema
    label: str
    labels: tuple[str, ...]


def _schema(columns: str, **numbers: pa.DataType) -> pa.Schema:
    """Return the schema of the named columns; those marked with # are whole numbers."""
    return pa.schema(
        [
            (name.rstrip("#"), pa.int32() if name.endswith("#") else numbers.get(name, pa.string()))
            for name in columns.split()
        ]
    )


ADULT = _Layout(
    title="Adult",
    parts=("adult.data", "adult.test"),
    schema=_schema(
        "age# workclass fnlwgt# education education-num# marital-status occupation relationship "
        "race sex capital-gain# capital-loss# hours-per-week# native-country salary-class"
    ),
    label="salary-class",
    labels=("<=50K", ">50K"),
)
CENSUS_INCOME = _Layout(
    title="Census-Income",
    parts=("census-income.data", "census-income.test"),
    schema=_schema(
        "age# class-of-worker detailed-industry-recode# detailed-occupation-recode# education "
        "wage-per-hour# enroll-in-edu-inst-last-wk marital-stat major-industry-code "
        "major-occupation-code race hispanic-origin sex member-of-a-labor-union "
        "reason-for-unemployment full-or-part-time-employment-stat capital-gains# capital-losses# "
        "dividends-from-stocks# tax-filer-stat region-of-previous-residence "
        "state-of-previous-residence detailed-household-and-family-stat "
        "detailed-household-summary-in-household instance-weight migration-code-change-in-msa "
        "migration-code-change-in-reg migration-code-move-within-reg "
        "live-in-this-house-1-year-ago migration-prev-res-in-sunbelt "
        "num-persons-worked-for-employer# family-members-under-18 country-of-birth-father "
        "country-of-birth-mother country-of-birth-self citizenship own-business-or-self-employed# "
        "fill-inc-questionnaire-for-veterans-admin veterans-benefits# weeks-worked-in-year# year# "
        "income",
        **{"instance-weight": pa.float64()},
    ),
    label="income",
    labels=("-50000", "50000+"),
)


def load_adult(path: str | Path) -> pa.Table:
    """Return UCI Adult from `adult.data`, `adult.test`, a folder with both, or a Parquet file.

    Missing cells are null; a folder's training part comes first. Refuses a file that is not Adult.
    """
    return _load(Path(path), ADULT)


def load_census_income(path: str | Path) -> pa.Table:
    """Return UCI Census-Income (KDD) from its text files, a folder with them, or a Parquet file.

    Missing cells are null ("Not in universe" is a category). Refuses a file that is not it.
    """
    return _load(Path(path), CENSUS_INCOME)


def _load(path: Path, layout: _Layout) -> pa.Table:
    if path.is_dir():
        parts = [path / part for part in layout.parts if (path / part).is_file()]
        if not parts:
            raise InputError(
                f"{path}: the folder has neither {layout.parts[0]} nor {layout.parts[1]}"
            )
        return pa.concat_tables([_load(part, layout) for part in parts])
    try:
        with path.open("rb") as file:
            start = file.read(len(_PARQUET_MAGIC))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    table = _typed(
        _read_parquet(path, layout) if start == _PARQUET_MAGIC else _read_text(path, layout),
        path,
        layout,
    )
    if not table.num_rows:
        raise InputError(f"{path}: the file is empty")
    wrong = pc.invert(pc.is_in(table[layout.label], pa.array(layout.labels)))
    if count := pc.sum(wrong).as_py():
        raise InputError(
            f"{path}: column '{layout.label}' has {count} cells that are none of the two "
            f"labels of {layout.title}; is this the right file?"
        )
    return table


def _read_parquet(path: Path, layout: _Layout) -> pa.Table:
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError):
        raise InputError(f"{path}: a damaged Parquet file") from None
    lacking = [name for name in layout.schema.names if name not in table.column_names]
    if lacking or table.num_columns != len(layout.schema):
        raise InputError(
            f"{path}: not {layout.title}: it has {table.num_columns} columns and lacks "
            f"{len(lacking)} of the {len(layout.schema)} that {layout.title} has"
            + (f", '{lacking[0]}' first" if lacking else "")
        )
    return table.select(layout.schema.names)


def _read_text(path: Path, layout: _Layout) -> pa.Table:
    """Return the text file's cells, all as text, cleaned."""
    names = layout.schema.names
    # Comments go before Arrow sees them: it calls a handler of odd rows on its own threads, which
    # may abort the process as it ends.
    lines = path.read_bytes().splitlines(keepends=True)
    content = b"".join(line for line in lines if not line.startswith(_COMMENT))
    try:
        table = csv.read_csv(
            pa.BufferReader(content),
            read_options=csv.ReadOptions(column_names=names),
            parse_options=csv.ParseOptions(quote_char=False, ignore_empty_lines=True),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:  # its message quotes the row
        if not content.strip():
            raise InputError(f"{path}: the file is empty") from None
        widths = {line.count(b",") + 1 for line in content.splitlines() if line} - {len(names)}
        if widths:
            raise InputError(
                f"{path}: a line has {min(widths)} fields, {layout.title} has {len(names)}; "
                "is this the original file, without a header?"
            ) from None
        raise InputError(f"{path}: not a text file in UTF-8") from None
    return pa.table({name: _clean(table[name], name == layout.label) for name in names})


def _clean(cells: pa.ChunkedArray, is_label: bool) -> pa.ChunkedArray:
    cells = pc.utf8_trim_whitespace(cells)
    if is_label:
        # The test part of Adult and both parts of Census-Income end the label with a dot, and
        # Census-Income writes a blank after the minus sign.
        cells = pc.replace_substring(pc.utf8_rtrim(cells, "."), " ", "")
    return pc.if_else(pc.equal(cells, "?"), pa.scalar(None, pa.string()), cells)


def _typed(table: pa.Table, path: Path, layout: _Layout) -> pa.Table:
    columns = []
    for field in layout.schema:
        try:
            columns.append(table[field.name].cast(field.type))
        except pa.ArrowException:  # its message quotes the cell
            raise InputError(
                f"{path}: column '{field.name}' of {layout.title} must hold numbers and does "
                "not; is this the original file, without a header?"
            ) from None
    return pa.table(columns, schema=layout.schema)
