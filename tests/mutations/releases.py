"""Sound releases of every layout, from small random tables: what the mutations start from."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from contracts.raw_release import entry_of, rewrite_manifest, table_file, table_names
from oracles.altered import digest_of

from sfumato.errors import SfumatoError
from sfumato.methods import METHODS
from sfumato.models import (
    AlphaKAnonymity,
    BetaLikeness,
    KAnonymity,
    LDiversity,
    TCloseness,
)
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Attribute, EqualWidth, Hierarchy, Role, Schema

ILLNESS = ("Flu", "Cold", "Asthma", "Ulcer", "Gout", "Angina")
CHAPTERS = dict(
    zip(ILLNESS, ("Lungs", "Lungs", "Lungs", "Organs", "Organs", "Organs"), strict=True)
)
JOBS = {"Nurse": "Care", "Carer": "Care", "Cook": "Trade", "Smith": "Trade", "Clerk": "Office"}
QI, SENSITIVE, BOTH = Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.SENSITIVE_QUASI_IDENTIFIER


def people(rng: random.Random, rows: int) -> pa.Table:
    """Return random people; illnesses are dealt evenly, so that requests can be met."""
    illness = [ILLNESS[i % len(ILLNESS)] for i in range(rows)]
    rng.shuffle(illness)
    missing = rng.choice([0, 0, 1, 3])
    holes = set(rng.sample(range(rows), missing))
    return pa.table(
        {
            "age": pa.array(
                [None if i in holes else rng.randint(20, 59) for i in range(rows)], pa.int16()
            ),
            "sex": [rng.choice(("Female", "Male")) for _ in range(rows)],
            "job": [rng.choice(list(JOBS)) for _ in range(rows)],
            "visits": pa.array([rng.randint(1, 9) for _ in range(rows)], pa.int32()),
            "illness": illness,
            "pay": pa.array([rng.randrange(10, 40) * 100 for _ in range(rows)], pa.int64()),
            "ward": [rng.choice("ABC") for _ in range(rows)],
            "secret": [rng.random() < 0.4 for _ in range(rows)],
            "person": [f"p{rng.randrange(rows)}" for _ in range(rows)],
            "weight": [rng.randint(100, 900) / 100 for _ in range(rows)],
        }
    )


def _tree(parents: dict[str, str], name: str) -> Hierarchy:
    return Hierarchy.from_rows([(leaf, node, "*") for leaf, node in parents.items()], name)


def _schema(rng: random.Random, role: Role = QI, **more: Any) -> Schema:
    """Return roles of the people's columns, with hierarchies or without."""
    job = _tree(JOBS, "job") if rng.random() < 0.6 and role is QI else None
    age = EqualWidth(width=10) if rng.random() < 0.3 and role is QI else None
    illness = _tree(CHAPTERS, "illness") if rng.random() < 0.5 and role is QI else None
    quasi = [Attribute("age", role, hierarchy=age), Attribute("sex", role)]
    if rng.random() < 0.6:
        quasi.append(Attribute("job", role, hierarchy=job))
    attributes = [*quasi, Attribute("illness", SENSITIVE, hierarchy=illness)]
    if rng.random() < 0.3:
        attributes.append(Attribute("ward", Role.INSENSITIVE, keep=True))
    if "unit" in more:
        attributes.append(Attribute(more["unit"], Role.IDENTIFIER))
    return Schema(tuple(attributes), **more)


def _models(rng: random.Random, schema: Schema) -> tuple[Any, ...]:
    by_tree = schema["illness"].hierarchy is not None
    possible = [
        LDiversity("illness", 2),
        LDiversity("illness", 3, "distinct"),
        LDiversity("illness", 2, "entropy"),
        LDiversity("illness", 2, "recursive", c=3.0),
        TCloseness("illness", 0.6),
        AlphaKAnonymity("illness", 0.6, 3),
        BetaLikeness("illness", 4.0),
        KAnonymity(3),
        *([TCloseness("illness", 0.6, "hierarchical")] if by_tree else []),
    ]
    return tuple(rng.sample(possible, rng.randint(0, 3)))


Asked = tuple[str, dict[str, Any], Schema]


def _mondrian(rng: random.Random) -> Asked:
    schema = _schema(rng)
    parameters = {"k": rng.choice([2, 3, 4]), "models": _models(rng, schema)}
    return "mondrian", parameters | {"strict": rng.random() < 0.7}, schema


def _several_rows(rng: random.Random) -> Asked:
    models = (LDiversity("illness", 2),) if rng.random() < 0.7 else ()
    return "mondrian", {"k": 2, "models": models}, _schema(rng, unit="person")


def _weighted(rng: random.Random) -> Asked:
    return "mondrian", {"k": 3}, _schema(rng, weight="weight")


def _full_domain(rng: random.Random) -> Asked:
    attributes = (
        Attribute("age", QI, hierarchy=EqualWidth(width=10, levels=2)),
        Attribute("sex", QI),
        Attribute("illness", SENSITIVE, hierarchy=_tree(CHAPTERS, "illness")),
    )
    models = (LDiversity("illness", 2),) if rng.random() < 0.5 else ()
    return "full-domain", {"k": 2, "models": models, "suppression": 0.3}, Schema(attributes)


def _numbers(rng: random.Random) -> Asked:
    kept = [Attribute("ward", Role.INSENSITIVE, keep=True)] if rng.random() < 0.3 else []
    attributes = (Attribute("pay", QI), Attribute("visits", QI), Attribute("illness", SENSITIVE))
    return "mdav", {"k": rng.choice([2, 3])}, Schema((*attributes, *kept))


def _lgb(rng: random.Random) -> Asked:
    flagged = Attribute("job", Role.SEMI_SENSITIVE, flag="secret")
    attributes = [Attribute("age", QI), Attribute("sex", QI), Attribute("illness", SENSITIVE)]
    if rng.random() < 0.7:
        attributes.append(flagged)
    asked = {"l": rng.choice([2, 3])} if rng.random() < 0.6 else {"t": 0.7}
    return "lgb", {"k": rng.choice([2, 3]), **asked}, Schema(tuple(attributes))


def _plain(name: str, *choices: dict[str, Any]) -> Callable[[random.Random], Asked]:
    return lambda rng: (name, rng.choice(choices), _schema(rng))


def _two_secrets(rng: random.Random) -> Asked:
    attributes = (
        *(Attribute("sex", QI), Attribute("job", QI)),
        *(Attribute("illness", SENSITIVE), Attribute("ward", SENSITIVE)),
    )
    return "slppa", {"beta": 0.7, "tables": 1}, Schema(attributes)


def _sets(rng: random.Random) -> Asked:
    asked = rng.choice([{"l": 2}, {"t": 0.4}, {"l": 2, "t": 0.6, "prior": "data"}])
    return "sensitive-qid", asked, _schema(rng, rng.choice([QI, BOTH]))


def _rating(rng: random.Random) -> Asked:
    return "rating", {"l": rng.choice([2, 3])}, _schema(rng, rng.choice([QI, BOTH]))


# Several of a kind where a layout has one maker, so that each layout is started from often.
MAKERS: tuple[Callable[[random.Random], Asked], ...] = (
    *(_mondrian, _mondrian, _several_rows, _weighted, _full_domain, _numbers),
    *(_lgb, _lgb, _lgb, _sets, _sets, _rating),
    _plain("anatomy", {"l": 2}, {"l": 3}),
    _plain("arp", {"l": 2}, {"l": 3}, {"l": 2, "initial": "mondrian", "publish_by": "generalize"}),
    _plain("arp", {"l": 2, "initial": "anatomy", "publish_by": "slice", "columns": 2}),
    _plain("aip", {"l": 2}),
    *(_plain("slppa", {"beta": 0.5, "tables": 1}), _two_secrets),
    _plain("slicing", {"l": 2}, {"l": 3, "columns": 1}),
    _plain("merging", {"l": 2, "collapse": 0.2}, {"l": 2, "fakes": 2, "collapse": None}),
    _plain("top-down", {"k": 3}),
    _plain("local-suppression", {"k": 2}, {"k": 3}),
    _plain("composition", {"k": 2, "alpha": 0.5}),
    _plain("hybrid", {"k": 2, "sample": 0.8, "perturb": 0.2}),
)


@dataclass(frozen=True)
class Good:
    """A saved release that was sound when it was made."""

    method: str
    layout: str
    folder: Path


def publish(rng: random.Random) -> Release | None:
    """Return a release by a method of chance, None where it refuses the table."""
    name, parameters, schema = rng.choice(MAKERS)(rng)
    data = people(rng, rng.randint(18, 42))
    own = [each.name for each in schema] + [each.flag for each in schema if each.flag]
    data = data.select([*own, *([schema.weight] if schema.weight else [])])
    try:
        return METHODS[name](**parameters).publish(
            data, schema, randomness=Randomness.secret(rng.randbytes(32))
        )
    except SfumatoError:
        return None


def saved(rng: random.Random, folder: Path) -> Good:
    """Save a release at the folder, as CSV or Parquet, sometimes in parts."""
    release = next(filter(None, (publish(rng) for _ in range(100))))
    release.save(folder, format=rng.choice(["parquet", "parquet", "csv"]))
    if rng.random() < 0.15 and release.manifest.layout != "sets":
        split_in_parts(rng, folder)
    return Good(release.manifest.method, release.manifest.layout, folder)


def split_in_parts(rng: random.Random, folder: Path) -> None:
    """Make a folder of parts of a Parquet table, as writers of large tables leave it."""
    name = rng.choice(table_names(folder))
    file = table_file(folder, name)
    if file.suffix != ".parquet":
        return
    table = pq.ParquetFile(file).read()
    cut = rng.randint(0, table.num_rows)
    file.unlink()
    file.mkdir()
    pq.write_table(table.slice(0, cut), file / "part-0.parquet")
    pq.write_table(table.slice(cut), file / "part-1.parquet")
    position = table_names(folder).index(name)
    digest = digest_of(folder / entry_of(folder, name)["file"])
    rewrite_manifest(folder, lambda m: m["tables"][position].update(sha256=digest))
