"""Tables, and methods that forget to shuffle, for tests of leaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.methods import Method
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.schema import Attribute, Role, Schema

QI, SENSITIVE = Role.QUASI_IDENTIFIER, Role.SENSITIVE
SECRET_QI = Role.SENSITIVE_QUASI_IDENTIFIER
PLAIN = Schema.of(
    age="quasi-identifier",
    zip="quasi-identifier",
    sex="quasi-identifier",
    job="quasi-identifier",
    disease="sensitive",
    private="insensitive",
)
SEMI = Schema(
    (
        *(Attribute(name, QI) for name in ("age", "zip", "sex")),
        Attribute("job", Role.SEMI_SENSITIVE, flag="private"),
        Attribute("disease", SENSITIVE),
    )
)
SETS = Schema(
    (
        Attribute("age", SECRET_QI),
        *(Attribute(name, QI) for name in ("zip", "sex")),
        Attribute("job", SECRET_QI),
        Attribute("disease", SENSITIVE),
        Attribute("private", Role.INSENSITIVE),
    )
)
MAKERS: dict[str, tuple[Method, Schema]] = {
    "mondrian": (sf.Mondrian(k=4, models=(sf.LDiversity("disease", 2),)), PLAIN),
    "top-down": (sf.TopDown(k=4), PLAIN),
    "anatomy": (sf.Anatomy(l=3), PLAIN),
    "lgb": (sf.LGB(k=3, l=2), SEMI),
    "slicing": (sf.Slicing(l=3), PLAIN),
    "slppa": (sf.SLPPA(beta=0.5, tables=2), PLAIN),
    "merging": (sf.Merging(l=2, collapse=None), PLAIN),
    "arp": (sf.ARP(l=3), PLAIN),
    "sensitive-qid": (sf.SensitiveQID(l=3), SETS),
}


def table(rows: int, seed: int, *, ordered: bool = False) -> pa.Table:
    """Return people, ordered by age if asked; texts come in an order that is not the alphabet's."""
    rng = repeatable(seed, 80)
    age = rng.integers(18, 90, rows)
    if ordered:
        age = np.sort(age)
    job = rng.integers(0, 7, rows)
    disease = (rng.integers(0, 6, rows) + job // 2) % 8
    area = rng.integers(0, 60, rows) + age // 10 * 100
    return pa.table(
        {
            "age": age,
            "zip": pa.array([f"z{code:04d}" for code in area]),
            "sex": pa.array(np.array(["F", "M"])[rng.integers(0, 2, rows)]),
            "job": pa.array([f"job {code * 5 % 7}" for code in job]),
            "disease": pa.array([f"illness {code * 3 % 8}" for code in disease]),
            "private": pa.array(rng.random(rows) < 0.5),
        }
    )


class _InOrder:
    """A generator that leaves everything where it was when it is asked to permute."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def permutation(self, x: Any) -> Any:
        return np.arange(x) if isinstance(x, int | np.integer) else np.asarray(x)

    def shuffle(self, x: Any) -> None:
        """Do nothing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rng, name)


class Forgetful:
    """Randomness of a method that forgets to shuffle what it publishes."""

    is_test = True

    def generator(self, purpose: str) -> Any:
        rng = Randomness.test(1).generator(purpose)
        return _InOrder(rng) if purpose in ("records", "tables", "sets") else rng


def forgetful(name: str, data: pa.Table) -> Release:
    """Return a release of a method that does not shuffle."""
    method, schema = MAKERS[name]
    return method.publish(data, schema, randomness=Forgetful())  # type: ignore[arg-type]


def with_tables(release: Release, **tables: pa.Table) -> Release:
    """Return the release with other tables."""
    return Release(release.manifest, {**release.tables, **tables}, release.hierarchies)


def shuffled(content: pa.Table, seed: int = 0) -> pa.Table:
    return content.take(pa.array(repeatable(seed).permutation(content.num_rows)))
