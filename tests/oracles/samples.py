"""Releases written by hand, from the papers' worked examples: what an audit must accept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Table = Mapping[str, Sequence[Any]]  # columns by name


def write_release(
    folder: Path,
    *,
    layout: str,
    rows: int,
    attributes: Sequence[Mapping[str, Any]],
    tables: Mapping[str, Table],
    guarantees: Sequence[Mapping[str, Any]],
    hierarchies: Mapping[str, Sequence[Sequence[str]]] | None = None,
    suppressed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    file_format: str = "parquet",
) -> Path:
    """Write a release folder, column by column as given, and return it."""
    folder.mkdir(parents=True)
    entries = []
    for name, columns in tables.items():
        file = folder / f"{name}.{file_format}"
        if file_format == "parquet":
            pq.write_table(pa.table(dict(columns)), file)
        else:
            file.write_bytes(csv_text(columns).encode("utf-8"))
        entry = {"name": name, "file": file.name}
        entry["sha256"] = sha256(file)
        entry["attributes"] = [
            column
            for column in columns
            if column not in ("group", "count") and not column.endswith(".bucket")
        ]
        entry["group"] = "group"
        entries.append(entry | ({"count": "count"} if "count" in columns else {}))
    for attribute, paths in (hierarchies or {}).items():
        file = folder / "hierarchies" / f"{attribute}.csv"
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(";".join(path) + "\n" for path in paths), encoding="utf-8")
    manifest = {
        "format": "sfumato-release/1",
        "method": {"anatomized": "anatomy", "local": "lgb", "sliced": "merging"}.get(
            layout, "mondrian"
        ),
        "layout": layout,
        "software": "sfumato 0.1.0",
        "created": "2026-01-31",
        "rows": rows,
        "suppressed": suppressed,
        "attributes": list(attributes),
        "tables": entries,
        "guarantees": list(guarantees),
        "parameters": dict(parameters or {}),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    return folder


def sha256(file: Path) -> str:
    """Return a file's checksum, as a manifest states it."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def csv_text(columns: Table) -> str:
    """Return a CSV text: a missing cell is an empty field, the empty text is in quotes."""
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join(",".join(map(_field, line)) + "\n" for line in lines)


def _field(value: Any) -> str:
    if value is None:
        return ""
    text = str(value)
    plain = text and not set(text) & set(',"\r\n')
    return text if plain else '"' + text.replace('"', '""') + '"'


def hospital(folder: Path, file_format: str = "parquet") -> Path:
    """Write hospital A of the Merging paper in three groups, generalised, and return the folder.

    Ages are ranges, sexes sets, and zip codes nodes of a hierarchy.
    """
    shared = {  # group -> age, sex, zipcode
        1: ("[22, 33]", "{F, M}", "4790*"),
        2: ("[52, 60]", "{F, M}", "4790*"),
        3: ("[60, 64]", "F", "47308"),
    }
    diseases = [
        (2, "Flu"),
        (1, "Ovarian Cancer"),
        (3, "Fever"),
        (1, "Gastritis"),
        (2, "Fever"),
        (2, "Dyspepsia"),
        (3, "Cancer"),
        (1, "Breast Cancer"),
    ]
    records = {
        "group": [group for group, _ in diseases],
        **{
            name: [shared[group][i] for group, _ in diseases]
            for i, name in enumerate(("age", "sex", "zipcode"))
        },
        "disease": [disease for _, disease in diseases],
    }
    return write_release(
        folder,
        layout="generalized",
        rows=8,
        attributes=[
            _quasi("age", "numeric", "int64", {"min": 20, "max": 65}),
            _quasi("sex", "categorical", "string", ["F", "M"]),
            _quasi("zipcode", "categorical", "string", ["47308"]),
            {
                "name": "disease",
                "role": "sensitive",
                "kind": "categorical",
                "type": "string",
                "domain": sorted({disease for _, disease in diseases}),
            },
        ],
        tables={"records": records},
        guarantees=[
            {"model": "k-anonymity", "k": 2},
            {"model": "l-diversity", "attribute": "disease", "variant": "frequency", "l": 2}
            | {"missing": "excluded"},
            {"model": "t-closeness", "attribute": "disease", "t": 0.75, "distance": "equal"},
        ],
        hierarchies={"zipcode": ZIPCODES},
        file_format=file_format,
    )


ZIPCODES = [
    ("47901", "4790*", "*"),
    ("47902", "4790*", "*"),
    ("47905", "4790*", "*"),
    ("47308", "4730*", "*"),
]


def _quasi(name: str, kind: str, dtype: str, domain: Any) -> dict[str, Any]:
    return {"name": name, "role": "quasi-identifier", "kind": kind, "type": dtype, "domain": domain}


def transactions(folder: Path, file_format: str = "parquet") -> Path:
    """Write Table 3 of the SLPPA paper (two QI tables, one sensitive), and return the folder."""
    return write_release(
        folder,
        layout="anatomized",
        rows=8,
        attributes=[
            _quasi("age", "numeric", "int64", {"min": 30, "max": 45}),
            _quasi("zipcode", "categorical", "int64", ["11100", "12200", "23200", "25300"]),
            _quasi("gender", "categorical", "string", ["F", "M"]),
            _quasi("job", "categorical", "string", ["Doctor", "Engineer", "Police", "Teacher"]),
            {
                "name": "salary",
                "role": "sensitive",
                "kind": "numeric",
                "type": "int64",
                "domain": {"min": 4000, "max": 7000},
            },
        ],
        tables={
            "qi_1": {
                "group": [1, 1, 1, 1, 2, 2, 2, 2],
                "age": [30, 33, 45, 42, 32, 44, 30, 33],
                "zipcode": [11100, 12200, 12200, 11100, 25300, 23200, 11100, 12200],
                "count": [1] * 8,
            },
            "qi_2": {
                "group": [1, 1, 1, 1, 2, 2, 2],
                "gender": ["F", "M", "F", "M", "M", "M", "F"],
                "job": ["Teacher", "Engineer", "Engineer", "Teacher", "Doctor", "Police", "Doctor"],
                "count": [1, 1, 1, 1, 2, 1, 1],
            },
            "sensitive_1": {
                "group": [1, 1, 1, 2, 2, 2, 2],
                "salary": [4500, 6000, 4700, 6700, 4000, 6400, 6000],
                "count": [2, 1, 1, 1, 1, 1, 1],
            },
        },
        guarantees=[
            {"model": "l-diversity", "attribute": "salary", "variant": "frequency", "l": 2}
            | {"missing": "excluded"},
            {"model": "alpha-k-anonymity", "attribute": "salary", "alpha": 0.5, "k": 4},
        ],
        file_format=file_format,
    )


def clinic(folder: Path, file_format: str = "parquet") -> Path:
    """Write twelve made-up patients as LGB would, and return the folder.

    Group 1 hides its pay, group 2 whether it smokes. In group 3 some hide their pay and others do
    not, so it is withheld for all of them; all of them hide whether they smoke. Diseases are in
    3-unique buckets, pays in 2-unique ones, smokers dealt round-robin into t-close ones.
    """
    shared = {  # group -> age, sex, zipcode, pay, smoker; None: in a bucket
        1: ("[20, 31]", "{F, M}", "4790*", None, "{no, yes}"),
        2: ("[40, 52]", "F", "47308", "[2000, 2600]", None),
        3: ("[33, 60]", "{F, M}", "*", "*", None),
    }
    secrets = [  # group, pay and its bucket, smoker and its bucket, disease and its bucket
        (3, None, None, "yes", 1, "Flu", 2),
        (1, "3400", 2, None, None, "Asthma", 1),
        (2, None, None, "no", 3, "Fever", 4),
        (3, None, None, "no", 1, "Ulcer", 1),
        (1, "1000", 1, None, None, "Gastritis", 3),
        (2, None, None, "no", 2, "Flu", 3),
        (2, None, None, "yes", 3, "Asthma", 2),
        (1, "1200", 1, None, None, "Flu", 4),
        (3, None, None, "no", 2, "Ulcer", 3),
        (1, "3000", 2, None, None, "Gastritis", 4),
        (3, None, None, "no", 1, "Fever", 1),
        (2, None, None, "yes", 2, "Gastritis", 2),
    ]
    rows = []
    for group, pay, pay_bucket, smoker, smoker_bucket, disease, disease_bucket in secrets:
        age, sex, zipcode, no_pay, no_smoker = shared[group]
        rows.append(
            {
                "group": group,
                "age": age,
                "sex": sex,
                "zipcode": zipcode,
                "pay": no_pay or pay,
                "pay.bucket": pay_bucket,
                "smoker": no_smoker or smoker,
                "smoker.bucket": smoker_bucket,
                "disease": disease,
                "disease.bucket": disease_bucket,
            }
        )
    secret = {"role": "semi-sensitive"}
    diseases = ["Asthma", "Fever", "Flu", "Gastritis", "Ulcer"]
    return write_release(
        folder,
        layout="local",
        rows=12,
        attributes=[
            _quasi("age", "numeric", "int64", {"min": 20, "max": 65}),
            _quasi("sex", "categorical", "string", ["F", "M"]),
            _quasi("zipcode", "categorical", "string", ["47308"]),
            _quasi("pay", "numeric", "int64", {"min": 1000, "max": 4000}) | secret,
            _quasi("smoker", "categorical", "string", ["no", "yes"]) | secret,
            _quasi("disease", "categorical", "string", diseases) | {"role": "sensitive"},
        ],
        tables={"records": {name: [row[name] for row in rows] for name in rows[0]}},
        guarantees=[
            {"model": "k-anonymity", "k": 4},
            {"model": "l-unique-buckets", "attribute": "pay", "l": 2},
            {"model": "t-close-buckets", "attribute": "smoker", "t": 0.2, "distance": "equal"},
            {"model": "l-unique-buckets", "attribute": "disease", "l": 3},
        ],
        hierarchies={"zipcode": ZIPCODES},
        file_format=file_format,
    )


PATIENTS = [  # age, sex, zipcode, disease, ward: the first four are a group, and the last six
    (23, "F", "47901", "Flu", "east"),
    (25, "M", "47902", "Asthma", "west"),
    (25, "M", "47901", "Ulcer", "east"),
    (29, "F", "47905", None, "west"),
    (41, "F", "47308", "Flu", "west"),
    (44, "M", "47308", "Fever", "east"),
    (44, "M", "47901", "Ulcer", "west"),
    (52, "F", "47308", "Asthma", "west"),
    (52, "F", "47902", "Fever", "east"),
    (41, "F", "47308", "Flu", "west"),
]


def sliced_clinic(folder: Path, file_format: str = "parquet") -> Path:
    """Write ten made-up patients as Merging would, and return the folder.

    Ages stay with sexes; zip codes, diseases and wards are permuted on their own. Some ages and
    zip codes are generalised, so that two of a group share the cells of either block.
    """
    people = [(2, "41", "F"), (1, "25", "M"), (2, "44", "M"), (2, "52", "F"), (1, "[23, 29]", "F")]
    people += [(2, "44", "M"), (1, "[23, 29]", "F"), (2, "52", "F"), (2, "41", "F"), (1, "25", "M")]
    zipcodes = {1: ["47901", "4790*", "4790*", "47901"]}
    zipcodes[2] = ["47308", "*", "47308", "47308", "*", "47308"]
    diseases = {1: ["Ulcer", None, "Asthma", "Flu"]}
    diseases[2] = ["Fever", "Flu", "Flu", "Ulcer", "Fever", "Asthma"]
    wards = {1: ["west", "west", "east", "east"]}
    wards[2] = ["east", "west", "west", "east", "west", "west"]
    records = {
        "group": [group for group, _, _ in people],
        "age": [age for _, age, _ in people],
        "sex": [sex for _, _, sex in people],
        "zipcode": [zipcodes[group].pop() for group, _, _ in people],
        "disease": [diseases[group].pop() for group, _, _ in people],
        "ward": [wards[group].pop() for group, _, _ in people],
    }
    about = {"model": "l-diversity", "attribute": "disease", "missing": "excluded"}
    return write_release(
        folder,
        layout="sliced",
        rows=10,
        attributes=[
            _quasi("age", "numeric", "int64", {"min": 20, "max": 60}),
            _quasi("sex", "categorical", "string", ["F", "M"]),
            _quasi("zipcode", "categorical", "string", ["47308", "47901"]),
            _quasi("disease", "categorical", "string", ["Asthma", "Fever", "Flu", "Ulcer"])
            | {"role": "sensitive"},
            _quasi("ward", "categorical", "string", ["east", "west"]) | {"role": "insensitive"},
        ],
        tables={"records": records},
        guarantees=[
            about | {"variant": "frequency", "l": 2},
            about | {"variant": "distinct", "l": 3},
            {"model": "t-closeness", "attribute": "disease", "t": 0.3, "distance": "equal"},
            {"model": "k-anonymity", "k": 2},
        ],
        hierarchies={"zipcode": ZIPCODES},
        parameters={"columns": [["age", "sex"], ["zipcode"], ["disease"], ["ward"]]},
        file_format=file_format,
    )
