"""A synthetic census of any size with diseases: a Parquet data set, a policy for each method.

    python -m benchmarks.big_data FOLDER --rows 50000000

writes FOLDER/data/part-00000.parquet and so on, FOLDER/<method>.yaml and FOLDER/hierarchies. It is
made batch by batch, so that its size is that of the disk. The same seed gives the same rows, and a
smaller table is the beginning of a larger one.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.datasets import census_schema, illnesses, occupations
from sfumato.datasets.census import census_batches
from sfumato.datasets.occupations import Exposure
from sfumato.datasets.sampling import Batch, Distribution
from sfumato.jobs.policy_text import AttributeText, policy_text
from sfumato.schema import Hierarchy

DATA: Final = "data"
SECRET: Final = "disease"
SEED: Final = 1
K, L = 10, 5
BATCHES_A_PART: Final = 4  # 2^20 rows: a part is read within a second and fits anywhere
_HIERARCHIES = "hierarchies"

# The columns as they are called here and in the census.
COLUMNS: Final[Mapping[str, str]] = {
    "age": "age",
    "sex": "sex",
    "zipcode": "zipcode",
    "country": "birthplace",
    "marital_status": "marital_status",
    "education": "education",
    "occupation": "occupation",
    "hours_per_week": "hours_per_week",
}
# What policies say beside roles and hierarchies: one protection, as each method is asked for it.
METHODS: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    "mondrian": {"method": {"name": "mondrian", "k": K}, SECRET: {"l": L}},
    "anatomy": {"method": {"name": "anatomy"}, SECRET: {"l": L}},
    "lgb": {
        "method": {"name": "lgb", "k": K, "l": L},
        "age": {"role": "semi-sensitive", "when": "hours_per_week >= 45 or country = 'Poland'"},
        "zipcode": {"role": "semi-sensitive", "when": "marital_status = 'Divorced'"},
    },
    "arp": {"method": {"name": "arp"}, SECRET: {"l": L}},
    "merging": {"method": {"name": "merging", "k": K}, SECRET: {"l": L}},
    "slppa": {"method": {"name": "slppa", "beta": 1 / L}},
    "sensitive-qid": {
        "method": {"name": "sensitive-qid"},
        "age": {"role": "sensitive-quasi-identifier", "l": L, "domain": {"min": 0, "max": 120}},
        SECRET: {"l": L},
    },
}


def big_batches(rows: int, seed: int = SEED) -> Iterator[pa.RecordBatch]:
    """Return the record batches of the table, made one by one as they are asked for.

    >>> next(big_batches(3)).schema.names[-2:]
    ['hours_per_week', 'disease']
    """
    for number, people in enumerate(census_batches(rows, seed)):
        columns = {name: _plain(people[column]) for name, column in COLUMNS.items()}
        columns[SECRET] = _diseases(people, Batch("big data", seed, number, people.num_rows))
        yield pa.RecordBatch.from_pydict(columns)


def write_data(rows: int, folder: Path, seed: int = SEED) -> None:
    """Write the table as a Parquet data set: part files in the folder, which is made."""
    folder.mkdir(parents=True)
    writer: pq.ParquetWriter | None = None
    for number, batch in enumerate(big_batches(rows, seed)):
        part, within = divmod(number, BATCHES_A_PART)
        if within == 0:
            if writer is not None:
                writer.close()
            writer = pq.ParquetWriter(
                folder / f"part-{part:05}.parquet", batch.schema, compression="zstd"
            )
        assert writer is not None
        writer.write_batch(batch)
    if writer is not None:
        writer.close()


def write_policies(folder: Path) -> None:
    """Write the policy of every method, and the hierarchies that they share, into a folder."""
    (folder / _HIERARCHIES).mkdir(parents=True, exist_ok=True)
    found = _hierarchies()
    for name, hierarchy in found.items():
        with (folder / _HIERARCHIES / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file, delimiter=";").writerows(hierarchy.rows())
    for method, says in METHODS.items():
        attributes = []
        for name in (*COLUMNS, SECRET):
            keys: dict[str, Any] = {"role": "sensitive" if name == SECRET else "quasi-identifier"}
            if name in found:
                keys["hierarchy"] = f"{_HIERARCHIES}/{name}.csv"
            if name == "education":
                keys["order"] = list(occupations.EDUCATION)
            attributes.append(AttributeText(name, {**keys, **says.get(name, {})}, ""))
        notes = [f"Made by `benchmarks.big_data`: a census with diseases under {method}."]
        (folder / f"{method}.yaml").write_text(policy_text(notes, attributes, says["method"]))


def _hierarchies() -> dict[str, Hierarchy]:
    """Return the hierarchies of quasi-identifiers that have one."""
    schema = census_schema()
    found = {name: schema[column].hierarchy for name, column in COLUMNS.items()}
    return {name: each for name, each in found.items() if isinstance(each, Hierarchy)}


def _plain(column: pa.Array) -> pa.Array:
    """Return a column without a dictionary: as most programs write and read their tables."""
    coded = pa.types.is_dictionary(column.type)
    return column.dictionary_decode() if coded else column


@cache
def _model() -> tuple[Distribution, npt.NDArray[np.int8], pa.Array]:
    """Return the diseases by age, sex and exposure; the exposures of jobs, last of none; names."""
    jobs = [int(job.exposure) for job in occupations.OCCUPATIONS]
    exposure = np.array([*jobs, int(Exposure.NONE)], dtype=np.int8)
    return Distribution(illnesses.illness_weights()), exposure, pa.array(illnesses.names())


def _diseases(people: pa.RecordBatch, batch: Batch) -> pa.Array:
    """Return what each of these people suffers from: it goes with age, sex and occupation."""
    illness, exposure, names = _model()
    age = people["age"].to_numpy()
    sex = people["sex"].indices.to_numpy()
    job = people["occupation"].indices.fill_null(len(exposure) - 1).to_numpy()
    drawn = illness.draw(batch.uniform(SECRET), age, sex, exposure[job])
    return names.take(pa.array(drawn))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a data set and its policies."""
    parser = argparse.ArgumentParser(prog="benchmarks.big_data", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    write_data(given.rows, given.folder / DATA, given.seed)
    write_policies(given.folder)


if __name__ == "__main__":
    main()
