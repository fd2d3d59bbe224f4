"""The risk of the table in a file, before anything is published."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.errors import InputError, ParameterError, SchemaError
from sfumato.io.read import read_table
from sfumato.jobs.policy import Policy
from sfumato.jobs.private_file import new_file
from sfumato.jobs.progress import Progress, Stages
from sfumato.jobs.recode import recoded
from sfumato.randomness import Randomness
from sfumato.recoding import recode, shifted_columns
from sfumato.risk import KNOWN_ROLES, Risk, assess
from sfumato.schema import Attribute, Role, Schema
from sfumato.schema.frames import as_arrow
from sfumato.table import Table, encode
from sfumato.table.units import encode_units
from sfumato.table.weights import encode_households, encode_weights


def risk(
    data: str | os.PathLike[str],
    policy: str | os.PathLike[str],
    *,
    population: str | os.PathLike[str] | None = None,
    population_size: int | None = None,
    fraction: float | None = None,
    max_size: int = 3,
    recode_first: bool = False,
    chart: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Risk:
    """Return the risk of the data as they are; with `chart`, also draw it into a new file.

    The policy says which columns someone may know; its method plays no part, nor do hierarchies,
    and its recoding steps only with `recode_first`. `population` is a table that holds everyone,
    with these columns.

    Refuses (SfumatoError) what cannot be read or written, a policy that does not fit the columns,
    a population that is stated twice or smaller than the data, and a chart without the extra
    `reports`.
    """
    stated = [each is not None for each in (population, population_size, fraction)]
    if sum(stated) > 1:
        raise ParameterError(
            "the population is stated twice: keep one of --population, --population-size and "
            "--fraction"
        )
    target = None if chart is None else Path(chart)
    if target is not None:
        _refuse_unusable(target)
    stages = Stages(progress)
    with stages.stage("reading the policy"):
        rules = Policy.load(Path(policy))
        schema = rules.schema()
    with stages.stage("reading the data"):
        rows = read_table(data)
        schema.aligned(rows.column_names)
    everyone = None
    if population is not None:
        with stages.stage("reading the population"):
            everyone = read_table(population)
    if recode_first:
        with stages.stage("recoding"):
            rows, everyone = _recoded(rows, everyone, rules, schema)
    with stages.stage("assessing"):
        found = risk_of(
            rows,
            schema,
            population=everyone,
            population_size=population_size,
            fraction=fraction,
            max_size=max_size,
        )
    if target is not None:
        with stages.stage("drawing"):
            draw(found, target)
    return found


def risk_of(
    data: Any,
    schema: Schema,
    *,
    population: Any = None,
    population_size: int | None = None,
    fraction: float | None = None,
    max_size: int = 3,
) -> Risk:
    """Return the risk of a frame; `sfumato.risk.assess` says what of.

    >>> people = pa.table({"age": [25, 25, 41], "sex": ["F", "F", "M"], "disease": ["A", "B", "A"]})
    >>> schema = Schema.of(age="quasi-identifier", sex="quasi-identifier", disease="sensitive")
    >>> risk_of(people, schema).sample_uniques.records
    1
    """
    rows = as_arrow(data)
    schema = schema.aligned(rows.column_names)
    everyone = None if population is None else as_arrow(population)
    table, other = coded(rows, everyone, schema)
    return assess(
        table,
        population=other,
        population_size=population_size,
        fraction=fraction,
        weights=encode_weights(rows, schema),
        households=encode_households(rows, schema),
        max_size=max_size,
    )


def _recoded(
    rows: pa.Table, everyone: pa.Table | None, rules: Policy, schema: Schema
) -> tuple[pa.Table, pa.Table | None]:
    """Return data and population after the policy's recoding steps.

    Refuses (ParameterError) shifted dates beside a population: nobody's would be the same in both.
    """
    changed, _, steps = recoded(rows, rules, schema, Randomness.fresh())
    if everyone is None or not steps:
        return changed, everyone
    if shifted_columns(steps):
        raise ParameterError(
            "dates that are shifted cannot be compared with a population; leave out `--recoded`, "
            "or state its size"
        )
    known = {name: own for name, own in steps.items() if name in everyone.column_names}
    return changed, recode(everyone, known)


def draw(found: Risk, target: Path) -> None:
    """Draw the charts of a risk into a new file (.svg, .png or .html)."""
    from sfumato.reports.charts import drawing, risk_chart

    content = drawing(risk_chart(found), target.suffix)
    with new_file(target, force=False, is_ours=lambda path: False, private=False) as file:
        file.write(content)


def coded(rows: pa.Table, everyone: pa.Table | None, schema: Schema) -> tuple[Table, Table | None]:
    """Return the known columns of the data, and of the population in the same codes."""
    known = tuple(_plain(attribute) for attribute in schema.with_role(*KNOWN_ROLES))
    names = [attribute.name for attribute in known]
    if not names:
        raise SchemaError(
            "no column is known to an adversary, so nobody can be recognised: give the role "
            "`quasi-identifier` to those that may be known from elsewhere"
        )
    units = encode_units(rows, schema)
    if everyone is None:
        table = encode(rows.select(names), Schema(known))
        return Table(table.schema, table.columns, table.rows, units), None
    for name in names:
        if name not in everyone.column_names:
            raise SchemaError(f"the population has no column '{name}', which is known of people")
    try:
        both = pa.concat_tables(
            [rows.select(names), everyone.select(names)], promote_options="permissive"
        )
    except pa.ArrowException:
        raise SchemaError(
            "the columns of the population are of other types than those of the data; convert them"
        ) from None
    together = encode(both, Schema(known))
    others = None
    if schema.unit is not None and schema.unit in everyone.column_names:
        others = encode_units(everyone, Schema((schema[schema.unit],), schema.unit))
    return (
        _part(together, 0, rows.num_rows, units),
        _part(together, rows.num_rows, together.rows, others),
    )


def _plain(attribute: Attribute) -> Attribute:
    """Return the attribute with its role alone: values count as they are."""
    is_semi = attribute.role is Role.SEMI_SENSITIVE
    return Attribute(attribute.name, attribute.role, density=0.0 if is_semi else None)


def _part(table: Table, first: int, last: int, units: npt.NDArray[np.int32] | None) -> Table:
    columns = tuple(
        replace(column, codes=np.array(column.codes[first:last])) for column in table.columns
    )
    return Table(table.schema, columns, last - first, units)


def _refuse_unusable(target: Path) -> None:
    from sfumato.reports.charts import refuse_missing

    refuse_missing(target.suffix)
    if os.path.lexists(target):
        raise InputError(f"'{target}' exists; choose another name or remove it")
