"""NCP and C_DM of local releases, against the definitions; C_DM of generalised ones."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from sfumato.errors import ParameterError
from sfumato.methods import LGB, Anatomy, Mondrian
from sfumato.models import LUniqueBuckets
from sfumato.predicates.flags import flagged
from sfumato.randomness import Randomness
from sfumato.schema import Attribute, Role, Schema
from sfumato.table import encode
from sfumato.utility import discernibility, ncp

# Two patterns of flags; ages span 40 years, and there are four towns.
ROWS = pa.table(
    {
        "age": [20, 30, 40, 60, 25, 35],
        "town": ["a", "b", "c", "d", "a", "a"],
        "hide": [False, False, True, True, False, False],
        "pay": [1, 2, 3, 4, 5, 6],
    }
)
SCHEMA = Schema(
    (
        Attribute("age", Role.SEMI_SENSITIVE, flag="hide"),
        Attribute("town", Role.QUASI_IDENTIFIER),
        Attribute("hide", Role.INSENSITIVE),
        Attribute("pay", Role.SENSITIVE),
    )
)


def release(k: int):
    method = LGB(k=k, l=2, protection={"pay": LUniqueBuckets("pay", 1)})
    return method.publish(ROWS, SCHEMA, randomness=Randomness.test(1))


def test_cells_in_buckets_count_for_nothing():
    found = ncp(release(2), encode(ROWS, SCHEMA))
    cells = release(2).tables["records"].to_pylist()
    assert Counter(row["town"] for row in cells if row["age.bucket"]) == {"{c, d}": 2}
    # ages: four cells outside buckets; towns: six cells
    assert found.cells == 10
    spans = [row["age"] for row in cells if not row["age.bucket"]]
    by_hand = sum((int(high) - int(low)) / 40 for low, high in (_ends(span) for span in spans))
    by_hand += sum(len(_members(row["town"])) / 4 for row in cells if row["town"].startswith("{"))
    assert found.total == pytest.approx(by_hand)
    assert found.mean == pytest.approx(by_hand / 10)
    assert found.by_attribute["town"] >= 2 * 0.5 / 6
    assert found.by_attribute.keys() == {"age", "town"}


def _ends(cell: str) -> list[str]:
    return cell.strip("[]").split(", ") if cell.startswith("[") else [cell, cell]


def _members(cell: str) -> list[str]:
    return cell.strip("{}").split(", ")


def test_withheld_cells_lose_everything():
    found = ncp(release(3), encode(ROWS, SCHEMA))
    withheld = [row for row in release(3).tables["records"].to_pylist() if row["age"] == "*"]
    assert len(withheld) >= 2  # the pattern of two rows had to be united with others
    assert found.by_attribute["age"] >= len(withheld) / 6


@pytest.mark.parametrize("k", [2, 3])
def test_discernibility_is_the_sum_of_squared_group_sizes(k):
    sizes = Counter(release(k).tables["records"]["group"].to_pylist())
    assert discernibility(release(k)) == sum(size**2 for size in sizes.values())


def test_suppressed_rows_are_told_from_no_other():
    data = pa.table({"age": [20, 21, 40, 41], "pay": [1, 2, 1, 2]})
    schema = Schema.of(age="quasi-identifier", pay="sensitive")
    whole = Mondrian(k=2).publish(data, schema)
    assert discernibility(whole) == 2**2 + 2**2
    fewer = type(whole)(whole.manifest.model_copy(update={"suppressed": 3}), whole.tables)
    assert discernibility(fewer) == 8 + 3 * 7
    before, after = ncp(whole, encode(data, schema)), ncp(fewer, encode(data, schema))
    assert after.total == before.total + 3
    assert after.cells == before.cells + 3


def test_other_layouts_have_no_groups_that_look_alike():
    data = pa.table({"age": [20, 21], "pay": [1, 2]})
    anatomized = Anatomy(l=2).publish(data, Schema.of(age="quasi-identifier", pay="sensitive"))
    with pytest.raises(ParameterError, match="C_DM is not defined for the layout anatomized"):
        discernibility(anatomized)
    with pytest.raises(ParameterError, match="NCP is not defined"):
        ncp(anatomized, flagged(encode(ROWS, SCHEMA), ROWS))
