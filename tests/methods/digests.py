"""Digests of what every method publishes from one seed; run as a script, it prints them.

Work on speed must not change a release. The digests in `digests.json` were recorded before it
began; a change that is meant to alter releases records them anew, and says so.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sfumato.datasets import census, census_schema
from sfumato.methods import (
    AIP,
    ARP,
    ASN,
    LGB,
    MDAV,
    NG,
    PRAM,
    SLPPA,
    Anatomy,
    Composition,
    FullDomain,
    Hybrid,
    LocalSuppression,
    Merging,
    Method,
    Mondrian,
    Probabilistic,
    Rating,
    SensitiveQID,
    Slicing,
    TopDown,
)
from sfumato.models import LDiversity, TCloseBuckets, TCloseness
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.schema import Role, Schema

ROWS = 3_000
RECORDED = Path(__file__).with_name("digests.json")
_SETS = ("age", "education", "occupation")


def cases() -> Iterator[tuple[str, Method, Schema]]:
    """Yield every method with a name for its parameters, and the schema of the census for it."""
    plain = census_schema()
    diverse = (LDiversity("salary", 3), TCloseness("salary", 0.5))
    numbers = census_schema(("age", "hours_per_week"))
    few = census_schema(("sex", "marital_status", "education"))
    secret = _with_role(plain, Role.SENSITIVE_QUASI_IDENTIFIER, _SETS)
    flags = _with_role(plain, Role.SEMI_SENSITIVE, ("age", "sex", "occupation"), density=0.2)
    yield "mondrian", Mondrian(k=5), plain
    yield "mondrian, relaxed", Mondrian(k=5, strict=False), plain
    yield "mondrian, widest", Mondrian(k=5, choose="widest", categories="value"), plain
    yield "mondrian, models", Mondrian(k=5, models=diverse), plain
    yield "top-down", TopDown(k=5), plain
    yield "anatomy", Anatomy(l=4), plain
    protection = {"sex": TCloseBuckets("sex", 0.2)}
    yield "lgb, mdp", LGB(k=5, l=3, protection=protection, generalize="mdp"), flags
    yield "lgb, ncp", LGB(k=5, l=3, protection=protection, generalize="ncp"), flags
    yield "arp", ARP(l=4), plain
    yield "arp, mondrian", ARP(l=3, initial="mondrian", publish_by="generalize"), plain
    yield "arp, top-down", ARP(l=3, initial="top-down", publish_by="slice"), plain
    yield "aip", AIP(l=3), plain
    yield "ng", NG(l=3), plain
    yield "slppa", SLPPA(alpha=0.5, beta=0.2, gamma=0.02, delta=0.2, tables=3), plain
    yield "slppa, derived", SLPPA(beta=0.25, tables=2), plain
    yield "slicing", Slicing(l=4), plain
    yield "merging", Merging(l=4), plain
    yield "merging, fakes", Merging(l=3, fakes="5%", expected=1.0, collapse=None), plain
    yield "merging, distinct", Merging(l=3, columns=3, variant="distinct"), plain
    yield "asn", ASN(beta=0.25), plain
    yield "composition", Composition(k=3, alpha=0.2), plain
    yield "probabilistic", Probabilistic(k=2, d=1, alpha=0.3, sample=0.9), plain
    yield "hybrid", Hybrid(k=3, sample=0.9, perturb=0.2), plain
    yield "full-domain", FullDomain(k=5, suppression=0.3), few
    yield "mdav", MDAV(k=5), numbers
    yield "local-suppression", LocalSuppression(k=3), few
    yield "pram", PRAM(keep=0.6), census_schema(("sex", "marital_status"), ("education",))
    yield "sensitive-qid", SensitiveQID(l=2), secret
    yield "sensitive-qid, t", SensitiveQID(l=2, t=0.6), secret
    yield "rating", Rating(l=2, left_over="repeat"), secret


def _with_role(
    schema: Schema, role: Role, names: tuple[str, ...], density: float | None = None
) -> Schema:
    return Schema(
        tuple(
            replace(each, role=role, density=density) if each.name in names else each
            for each in schema
        )
    )


def digest(release: Release) -> str:
    """Return a checksum of all cells of a release, and of what its manifest says of them."""
    content = hashlib.sha256()
    for name, table in release.tables.items():
        content.update(json.dumps([name, table.column_names]).encode())
        for column in table.columns:
            content.update(repr(column.to_pylist()).encode())
    content.update(json.dumps(release.manifest.parameters, sort_keys=True, default=str).encode())
    return content.hexdigest()[:16]


def digests(rows: int = ROWS, only: str = "") -> dict[str, str]:
    """Return the digest of every case whose name begins so."""
    data = census(rows, seed=5)
    data = data.filter(data["salary"].is_valid())  # rings need every value
    return {
        name: digest(method.publish(data, schema, randomness=Randomness.test(11)))
        for name, method, schema in cases()
        if name.startswith(only)
    }


if __name__ == "__main__":
    print(json.dumps(digests(*map(int, sys.argv[1:2])), indent=1))
