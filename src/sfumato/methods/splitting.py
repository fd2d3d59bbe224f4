"""How a method may be split: how rows come into shards, and what every shard must satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sfumato.errors import EngineUnavailable
from sfumato.models import Model
from sfumato.rows.coarse_cuts import Counts, CutTree, plan_cuts
from sfumato.rows.coarse_deal import Deal, plan_deal
from sfumato.rows.eligibility import bind_to_table
from sfumato.rows.shard_conditions import Condition, SatisfiesModel
from sfumato.table import Table
from sfumato.table.whole import Joint


@dataclass(frozen=True, slots=True, eq=False)
class Splitting:
    """How rows come into shards.

    `by` is `cuts` (near rows together: `rows/coarse_cuts.py`), `deal` (each shard has its share of
    every value: `rows/coarse_deal.py`) or `any` (rows need not fit together: any deal will do).
    `on` are the columns to cut on, or those whose combinations are dealt evenly. `conditions` must
    hold in each shard, which has at least `least_rows`. `commonest` are combinations of columns of
    which the method must know how many rows of the whole table have the commonest. Cuts are made
    in the order of `on` if `in_order` says so; combinations of `apart` are set apart first.
    """

    by: Literal["cuts", "deal", "any"]
    on: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    least_rows: int = 1
    commonest: tuple[tuple[str, ...], ...] = ()
    apart: tuple[str, ...] = ()
    in_order: bool = False

    def cuts(self, frame: Table, counts: Counts, *, most_rows: int) -> CutTree:
        """Return the plan of cuts into parts of at most so many rows."""
        return plan_cuts(
            frame,
            self.on,
            self.conditions,
            counts,
            most_rows=most_rows,
            least_rows=self.least_rows,
            apart=self.apart,
            in_order=self.in_order,
        )

    def deal(self, strata: Joint, shards: int) -> Deal:
        """Return the plan of a deal to so many shards, given the joint counts of `on`."""
        return plan_deal(self.on, strata, self.conditions, shards, least_rows=self.least_rows)


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
