"""The lattice search: no recoding is better, whatever is withheld; large ones are searched well."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from arbitrary.coded import SIZES, Sample, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import lattice as oracle
from oracles.models import holds as holds_by_definition

from sfumato.errors import Infeasible, ParameterError
from sfumato.models import KAnonymity, LDiversity, LUniqueGroups, Model, TCloseness
from sfumato.randomness import repeatable
from sfumato.rows.full_domain import full_domain
from sfumato.rows.ladders import ladders_of
from sfumato.rows.lattice import Lattice
from sfumato.rows.lattice_search import search
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.table import Groups, Table, encode

QUASI = st.sampled_from([("place",), ("place", "job"), ("size", "place"), ("job", "size", "place")])
FURTHER = st.sampled_from(
    [
        None,
        LDiversity("illness", 2),
        LDiversity("illness", 2, "distinct"),
        TCloseness("illness", 0.5031),  # no distance of few rows is a tie
        TCloseness("pay", 0.3017, "ordered"),
    ]
)


def ladders(sample: Sample) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the levels of each value as the oracle reads them."""
    plain = {"job": "vwxyz", "size": SIZES}
    known = {name: {v: (v, "*") for v in values} for name, values in plain.items()}
    known["place"] = {path[0]: path for path in sample.paths}
    rows = sample.rows
    found = {}
    for name in sample.quasi:
        occurring = {row[name] for row in rows} - {None}
        # all leaves of a hierarchy count in its loss, and a column without values stays as it is
        whole = known[name] if name == "place" else {v: known[name][v] for v in occurring}
        found[name] = whole if occurring else {"": ("",)}
    return found


def controlled(sample: Sample, weights: dict[str, int], highest: int | None) -> Table:
    """Return the coded table with weights, and a cap on the one column with a hierarchy."""
    attributes = tuple(
        replace(
            each,
            loss_weight=weights.get(each.name, 1),
            max_level=highest if each.name == "place" else None,
        )
        for each in sample.schema
    )
    return encode(sample.frame, Schema(attributes, sample.schema.unit))


@settings(max_examples=150)
@given(
    data=st.data(),
    quasi=QUASI,
    k=st.integers(1, 4),
    limit=st.integers(0, 6),
    further=FURTHER,
    highest=st.sampled_from([None, None, 0, 1]),
)
def test_no_recoding_loses_less(data, quasi, k, limit, further, highest):
    sample = data.draw(samples(quasi=quasi, people=None if further is None else False, max_rows=16))
    weights = {name: data.draw(st.integers(1, 3)) for name in quasi}
    limit = min(limit, len(sample.rows) - 1)
    table = controlled(sample, weights, highest)
    levels = ladders(sample)

    def holds(group, everybody):
        return further is None or holds_by_definition(further.claim(), group, everybody)

    def people(group):
        return len({row["person"] for row in group})

    tops = {name: len(next(iter(paths.values()))) - 1 for name, paths in levels.items()}
    if highest is not None:
        tops["place"] = min(tops["place"], highest)
    best = oracle.best(
        sample.rows, levels, k, limit, weights, highest=tops, holds=holds, people=people
    )
    models: list[Model] = [KAnonymity(k)] + ([] if further is None else [further])
    try:
        found = full_domain(table, models, limit=limit)
    except Infeasible:
        assert best is None
        return
    assert found.optimal
    assert best is not None and found.loss == pytest.approx(float(best), abs=1e-9)
    assert len(sample.rows) - len(found.kept) <= limit
    # the loss is really that of the levels and rows that are handed over
    kept = [sample.rows[i] for i in found.kept]
    again = oracle.published(sample.rows, found.levels, levels, k, holds, people)
    assert sorted(map(id, kept)) == sorted(map(id, again))
    loss = oracle.loss(sample.rows, kept, found.levels, levels, weights)
    assert float(loss) == pytest.approx(found.loss, abs=1e-9)
    # a large lattice is searched in part, and what is found holds all the same
    part = full_domain(table, models, limit=limit, most_nodes=0, budget=6)
    assert not part.optimal and part.loss >= found.loss - 1e-9


def wide_table(columns: int, rows: int) -> Table:
    """Return a table of many attributes with hierarchies of several levels."""
    rng = repeatable(5)
    paths = [(f"v{i:02}", f"a{i // 2}", f"b{i // 4}", f"c{i // 16}", "*") for i in range(64)]
    names = [f"q{a}" for a in range(columns)]
    # people are alike: one number steers all of a row's values
    base = rng.integers(0, 64, rows)
    cells = {name: [f"v{v:02}" for v in (base + rng.integers(0, 6, rows)) % 64] for name in names}
    hierarchy = Hierarchy.from_rows(paths, "q")
    attributes = tuple(Attribute(n, Role.QUASI_IDENTIFIER, hierarchy=hierarchy) for n in names)
    return encode(pa.table(cells), Schema(attributes))


def lattice_of(table: Table, k: int, limit: int) -> Lattice:
    columns = table.quasi_identifiers
    return Lattice(table, columns, ladders_of(columns), [KAnonymity(k)], limit)


def test_groups_are_counted_right_where_no_number_holds_a_combination():
    table = wide_table(14, 400)  # 64**14 combinations
    lattice = lattice_of(table, 3, 399)
    for node in ((0,) * 14, (1, 2) * 7, (4,) * 13 + (2,), (3,) * 14):
        cells = [
            column.tree.at_level(rung)[column.codes]
            for column, rung in zip(table.quasi_identifiers, node, strict=True)
        ]
        sizes = Groups.of_equal(cells).sizes
        assert lattice.outcome(node).withheld == sizes[sizes < 3].sum()


def test_counting_from_coarser_nodes_changes_nothing():
    table = wide_table(4, 600)
    warm = lattice_of(table, 4, 40)
    nodes = list(product(range(5), repeat=4))
    rng = repeatable(1)
    for place in rng.permutation(len(nodes))[:200]:
        fresh = lattice_of(table, 4, 40)
        one, other = warm.outcome(nodes[place]), fresh.outcome(nodes[place])
        assert (one.withheld, one.sinks) == (other.withheld, other.sinks)
        assert one.loss == pytest.approx(other.loss, abs=1e-12)


def test_a_large_lattice_is_searched_well():
    table = wide_table(5, 1500)
    best = search(lattice_of(table, 5, 30))
    good = search(lattice_of(table, 5, 30), most_nodes=0)
    assert best.optimal and not good.optimal
    assert best.outcome.loss <= good.outcome.loss <= 1.05 * best.outcome.loss
    larger = wide_table(14, 1500)  # 5**14 nodes
    lattice = lattice_of(larger, 5, 30)
    found = search(lattice)
    assert not found.optimal and found.outcome.loss < 1
    assert lattice.evaluations <= 2_000 + 14


def test_a_search_that_takes_too_long_ends_with_the_best_so_far():
    table = wide_table(5, 1500)
    cut_short = search(lattice_of(table, 5, 30), most_work=1)
    assert not cut_short.optimal
    assert cut_short.outcome.withheld <= 30


def test_the_order_of_rows_changes_nothing():
    table = wide_table(4, 500)
    order = repeatable(3).permutation(table.rows)
    columns = tuple(replace(c, codes=np.ascontiguousarray(c.codes[order])) for c in table.columns)
    other = Table(table.schema, columns, table.rows)
    models = [KAnonymity(5)]
    assert full_domain(table, models, limit=9).levels == full_domain(other, models, limit=9).levels


def test_models_that_unions_break_are_refused():
    sample = Sample(
        [{"job": "v", "illness": "flu", "pay": 1, "person": 0}], ("job",), (("p0", "*"),), False
    )
    with pytest.raises(ParameterError, match="not preserved when groups are united"):
        full_domain(sample.table, [LUniqueGroups("illness", 1)])
