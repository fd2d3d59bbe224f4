"""How a method may be split: how rows come into shards, and what every shard must satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sfumato.errors import EngineUnavailable
from sfumato.models import Model
from sfumato.rows.eligibility import bind_to_table
from sfumato.rows.shard_conditions import Condition, SatisfiesModel
from sfumato.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Splitting:
    """How rows come into shards.

    `by` is `cuts` (near rows together: `rows/coarse_cuts.py`), `deal` (each shard has its share of
    every value: `rows/coarse_deal.py`) or `any` (rows need not fit together: any deal will do).
    `on` are the columns to cut on, or those whose combinations are dealt evenly. `conditions` must
    hold in each shard, which has at least `least_rows`. `commonest` are combinations of columns of
    which the method must know how many rows of the whole table have the commonest.
    """

    by: Literal["cuts", "deal", "any"]
    on: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    least_rows: int = 1
    commonest: tuple[tuple[str, ...], ...] = ()


def model_conditions(frame: Table, models: Sequence[Model]) -> tuple[Condition, ...]:
    """Return the models, bound to the totals of the whole table, as conditions on shards."""
    bound = bind_to_table(frame, models)
    nulls = [frame[b.model.needs[0]].null_code if b.model.needs else 0 for b in bound]
    return tuple(SatisfiesModel(b, null) for b, null in zip(bound, nulls, strict=True))


def refuse_unsplittable(frame: Table, method: str) -> None:
    """Refuse (EngineUnavailable) what no shard can know by itself: who else has rows elsewhere."""
    schema = frame.schema
    for is_asked, what in (
        (frame.units is not None or schema.unit is not None, "people with several rows (`unit`)"),
        (schema.household is not None, "households (`household`)"),
        (bool(schema.pseudonyms), "pseudonyms"),
        (frame.weights is not None or schema.weight is not None, "weights (`weight`)"),
    ):
        if is_asked:
            raise unavailable(f"{method} with {what}")


def unavailable(what: str) -> EngineUnavailable:
    """Return the refusal of what runs on one machine only."""
    return EngineUnavailable(
        f"{what} runs on one machine; leave out --engine spark, or change the policy"
    )
