"""Arbitrary small linked tables: several rows a person, people who are missing from a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa

from sfumato.methods.linked import LinkedTable
from sfumato.models import LDiversity
from sfumato.recoding.pseudonyms import with_tokens
from sfumato.schema import Attribute, Kind, Role, Schema
from sfumato.schema.builders import Mask
from sfumato.table import encode

KEY = bytes(range(100, 132))
CANARY = "canary of a person"
WORD = "person"
ATTRIBUTES = {
    "age": Attribute("age", Role.QUASI_IDENTIFIER),
    "town": Attribute("town", Role.QUASI_IDENTIFIER, hierarchy=Mask("right", "#")),
    "job": Attribute("job", Role.QUASI_IDENTIFIER),
    "grade": Attribute("grade", Role.QUASI_IDENTIFIER, order=("low", "mid", "high")),
    "ill": Attribute("ill", Role.SENSITIVE),
    "pay": Attribute("pay", Role.SENSITIVE, kind=Kind.CATEGORICAL),
    "ward": Attribute("ward", Role.INSENSITIVE, keep=True),
}
VALUES: dict[str, tuple[Any, ...]] = {
    "age": (20, 21, 35, 60, None),
    "town": ("101", "102", "211", "230", None),
    "job": ("Cook", "Judge", "Nurse", None),
    "grade": ("low", "mid", "high", None),
    "ill": ("Flu", "Gout", "Kuru", None),
    "pay": (10, 20, 30),
    "ward": ("kept ward",),
}
TYPES = {"age": pa.int64(), "pay": pa.int64()}


@dataclass(frozen=True)
class LinkedData:
    """Rows of every table, as Arrow and by person; what is asked of their releases."""

    data: dict[str, pa.Table]
    k: int
    suppression: float
    diversity: dict[str, dict[str, int]]  # by table and attribute

    def schema(self, name: str) -> Schema:
        """Return the schema of a table; the unit has the same word in all of them."""
        unit = Attribute("who", Role.IDENTIFIER, pseudonym=WORD)
        names = [each for each in self.data[name].column_names if each != "who"]
        return Schema((unit, *(ATTRIBUTES[each] for each in names)), unit="who")

    def tables(self, key: bytes = KEY) -> dict[str, LinkedTable]:
        """Return what `publish_linked` takes."""
        found = {}
        for name, rows in self.data.items():
            asked = tuple(LDiversity(a, n) for a, n in self.diversity[name].items())
            found[name] = LinkedTable(
                with_tokens(encode(rows, self.schema(name)), rows, key), asked
            )
        return found

    def known(self) -> dict[str, dict[str, list[dict[str, Any]]]]:
        """Return of every person the rows in each table."""
        people = {who for rows in self.data.values() for who in rows["who"].to_pylist()}
        found: dict[str, dict[str, list[dict[str, Any]]]] = {
            who: {name: [] for name in self.data} for who in people
        }
        for name, rows in self.data.items():
            for row in rows.to_pylist():
                found[row["who"]][name].append(row)
        return found


@st.composite
def linked_data(draw: Any, *, max_people: int = 9) -> LinkedData:
    """Return one to three tables about the same people; in some the people have one row each."""
    people = draw(st.integers(2, max_people))
    data, diversity = {}, {}
    for name in ("alpha", "beta", "gamma")[: draw(st.sampled_from([1, 2, 2, 2, 3]))]:
        numbers = draw(st.sampled_from([(1,), (0, 1), (1, 2), (0, 1, 2, 3), (2,)]))
        counts = draw(st.lists(st.sampled_from(numbers), min_size=people, max_size=people))
        if not any(counts):
            counts[0] = 1
        owners = draw(st.permutations([i for i, n in enumerate(counts) for _ in range(n)]))
        quasi = draw(st.permutations(["age", "town", "job", "grade"]))[: draw(st.integers(1, 2))]
        others = draw(st.lists(st.sampled_from(["ill", "pay", "ward"]), unique=True))
        if len(set(owners)) < 2:
            others = [each for each in others if each != "ward"]  # a value of one person tells
        columns = {"who": pa.array([f"{CANARY} {i}" for i in owners])}
        for column in (*quasi, *others):
            pool = VALUES[column] if draw(st.booleans()) else VALUES[column][:2]
            cells = st.lists(st.sampled_from(pool), min_size=len(owners), max_size=len(owners))
            columns[column] = pa.array(draw(cells), TYPES.get(column, pa.string()))
        data[name] = pa.table(columns)
        secret = [each for each in others if each != "ward"]
        asked = draw(st.sampled_from([0, 0, 1, 2]))
        diversity[name] = dict.fromkeys(secret, asked) if asked else {}
    k = draw(st.sampled_from([2, 2, 2, 3, 3, 1, 4]))
    suppression = draw(st.sampled_from([0.9, 0.5, 0.3, 0.0]))
    return LinkedData(data, k, suppression, diversity)
