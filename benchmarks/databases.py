"""Seconds to read a table from databases and from Parquet, and to write and read a release there.

    python -m benchmarks.databases postgresql://user@host/database [--rows 1000000]

The schemas `sfumato_data` and `sfumato_release` of the database are made and dropped again.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from sfumato.databases.address import Address
from sfumato.databases.names import quoted
from sfumato.databases.session import session
from sfumato.release.stored_columns import as_stored, stored

COLUMNS = ["age", "sex", "zipcode", "occupation", "salary", "disease", "admitted", "stay_days"]
DATA, RELEASE = "sfumato_data", "sfumato_release"
TIMES = 3


def main() -> None:
    """Print a line for each measurement."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("address", help="the address of a PostgreSQL database")
    options.add_argument("--rows", type=int, default=1_000_000)
    chosen = options.parse_args()
    rows = sf.datasets.hospital(chosen.rows).select(COLUMNS)
    schema = sf.Schema.of(
        age="quasi-identifier", sex="quasi-identifier", zipcode="quasi-identifier",
        occupation="quasi-identifier", disease="sensitive",
    )  # fmt: skip
    release = sf.Mondrian(k=10).publish(rows.select(schema.names), schema)
    print(f"{chosen.rows} rows, {len(COLUMNS)} columns; the best of {TIMES}, in seconds")
    with tempfile.TemporaryDirectory() as home:
        pq.write_table(rows, Path(home, "rows.parquet"))
        places = {"DuckDB": f"{home}/base.duckdb", "PostgreSQL": chosen.address}
        try:
            print(f"read Parquet: {_best(lambda: sf.read_table(f'{home}/rows.parquet')):.2f}")
            for name, place in places.items():
                _fill(place, rows)
                seconds = _best(lambda place=place: sf.read_table(f"{place}#{DATA}.people"))
                print(f"read {name}: {seconds:.2f}")
            for name, place in {"Parquet": home, **places}.items():
                where = f"{place}/{RELEASE}"
                seconds = _best(lambda where=where: release.save(where, force=True))
                print(f"write a release, {name}: {seconds:.2f}")
                seconds = _best(lambda where=where: sf.Release.load(where))
                print(f"read a release, {name}: {seconds:.2f}")
        finally:
            _clear(chosen.address)


def _best(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(TIMES):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _fill(place: str, rows: pa.Table) -> None:
    address = Address.of(place)
    assert address is not None
    forms = {name: stored(rows[name]) for name in rows.column_names}
    arrow = pa.schema([(name, form.arrow) for name, form in forms.items()])
    arrays = [as_stored(rows[name].combine_chunks(), form) for name, form in forms.items()]
    pieces = pa.Table.from_arrays(arrays, schema=arrow).to_batches(1 << 16)
    with session(address, writing=True) as here:
        here.make_schema(DATA)
        here.write(DATA, "people", {n: f.sql for n, f in forms.items()}, iter(pieces), arrow)


def _clear(place: str) -> None:
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(place, autocommit=True) as connection, connection.cursor() as cursor:
        for schema in (DATA, RELEASE):
            cursor.execute(f"DROP SCHEMA IF EXISTS {quoted(schema)} CASCADE")


if __name__ == "__main__":
    main()
