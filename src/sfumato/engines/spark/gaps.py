"""What the Spark engine cannot do, and what to do then: asked before anything is started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from sfumato.errors import EngineUnavailable
from sfumato.jobs.policy import Policy
from sfumato.methods import Method
from sfumato.methods.splitting import unavailable
from sfumato.recoding import days_of_shift
from sfumato.schema import Schema


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that a policy may ask for, and that only the local engine does."""

    key: str
    what: str
    instead: str
    is_asked: Callable[[Policy, Schema], bool]

    def refusal(self) -> EngineUnavailable:
        """Return the error that says so."""
        return EngineUnavailable(
            f"--engine spark does not know `{self.key}`: {self.what}; {self.instead}"
        )


_LOCALLY = "leave out --engine spark"


def _has_cap(cap: str, _: Policy, schema: Schema) -> bool:
    return any(getattr(attribute, cap) is not None for attribute in schema)


GAPS: tuple[Gap, ...] = (
    Gap(
        "unit",
        "whose rows belong together is not known within a shard",
        f"keep one row a person, or {_LOCALLY}",
        lambda policy, schema: schema.unit is not None,
    ),
    Gap(
        "household",
        "who lives together is not known within a shard",
        _LOCALLY,
        lambda policy, schema: schema.household is not None,
    ),
    Gap(
        "weight",
        "weights are not read",
        _LOCALLY,
        lambda policy, schema: schema.weight is not None,
    ),
    Gap(
        "pseudonym",
        "tokens are not made",
        _LOCALLY,
        lambda policy, schema: bool(schema.pseudonyms),
    ),
    Gap(
        "shift",
        "dates are moved by one number of days a person, drawn in the order of the rows",
        f"shift them beforehand, or {_LOCALLY}",
        lambda policy, schema: days_of_shift(policy.recoding()) is not None,
    ),
    Gap(
        "on_infeasible: suppress",
        "the rows to withhold are chosen among all",
        f"use `on_infeasible: error`, or {_LOCALLY}",
        lambda policy, schema: policy.content.on_infeasible == "suppress",
    ),
    *(
        Gap(
            cap,
            "the rows to withhold are chosen among all",
            _LOCALLY,
            partial(_has_cap, cap),
        )
        for cap in ("max_level", "max_width")
    ),
)
_CSV = Gap(
    "output.format: csv",
    "a release in parts is of Parquet files",
    f"use `format: parquet`, or {_LOCALLY}",
    lambda policy, schema: policy.content.output.format != "parquet",
)


def refuse_gaps(policy: Policy, schema: Schema, *, as_parquet: bool = False) -> None:
    """Refuse (EngineUnavailable) a policy that asks for something that only the local engine does.

    Methods declare for themselves whether they can be split (`Method.splitting`), and what of it
    only the data tell is refused later. `as_parquet` says that the format is asked for outside the
    policy.
    """
    method = policy.method()
    if type(method).splitting is Method.splitting:
        raise unavailable(method.name)
    for gap in GAPS if as_parquet else (*GAPS, _CSV):
        if gap.is_asked(policy, schema):
            raise gap.refusal()


def refuse_options(
    *, against: bool, repartition: bool, key_file: bool, csv: bool, database: bool
) -> None:
    """Refuse (EngineUnavailable) options of the command that only the local engine knows."""
    for is_given, option, what in (
        (against, "--against", "releases are held against others on one machine"),
        (repartition, "--repartition", "releases are held against others on one machine"),
        (key_file, "--key-file", "tokens are not made"),
        (csv, "--format csv", "a release in parts is of Parquet files"),
        (database, "addresses of databases", "it reads Parquet files and writes folders"),
    ):
        if is_given:
            raise EngineUnavailable(
                f"--engine spark does not know {option}: {what}; leave out one of the two"
            )
