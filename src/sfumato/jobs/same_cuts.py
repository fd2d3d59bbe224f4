"""The cuts of an earlier release on other data of the same kind.

A record goes to the group on its side of every cut, and is published in the cells of that group,
which are widened where it lies between the cells of two groups. What the earlier
release claims must hold for the new records: groups in which it would not are named, by their
numbers in that release, and nothing is published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.axis import Published, parsed
from sfumato.attacks.fits import kinds_of
from sfumato.attacks.stage import set_stage
from sfumato.attacks.view import Block, View
from sfumato.audit.withheld_cells import KEY as SUPPRESSED_CELLS
from sfumato.audit.withheld_cells import withheld_cells
from sfumato.errors import Infeasible, ParameterError
from sfumato.jobs.cut_tree import NOWHERE, Cells, assigned
from sfumato.jobs.same_levels import at_same_levels, listed
from sfumato.jobs.same_types import in_same_order, in_same_types
from sfumato.jobs.suppress import without
from sfumato.methods import FullDomain, LocalSuppression, Mondrian
from sfumato.methods.controlled import check_suppression, most_withheld
from sfumato.models import Model, from_claim
from sfumato.models.counting import group_statistics
from sfumato.publish.assemble import assemble
from sfumato.publish.households import with_households
from sfumato.publish.records import generalized_records
from sfumato.publish.same_cells import same_cells
from sfumato.randomness import Randomness
from sfumato.recoding.pseudonyms import refuse_linking, with_tokens
from sfumato.release import Release
from sfumato.release.households import counts_households
from sfumato.release.origin import is_noisy
from sfumato.release.weights import weight_of
from sfumato.rows.eligibility import bind_to_table
from sfumato.schema import Kind, Schema
from sfumato.schema.frames import as_arrow
from sfumato.schema.kinds import is_number
from sfumato.table import Groups, Table, encode

Ints = npt.NDArray[np.int64]

_NONE = np.zeros(0, np.int64)
# What a manifest's parameters have if cells are not their people's own, generalised.
_NOT_THEIR_OWN = ("sample", "perturb", "fakes", "microaggregated", "transitions")

# Other methods have no such parameter, full-domain's refusals are its own.
_ADVICE = "Publish anew, or state a larger share that may be withheld (`suppression` of `method`)"


def reapply(
    earlier: Release,
    data: Any,
    schema: Schema,
    *,
    suppression: float = 0,
    randomness: Randomness | None = None,
    key: bytes | None = None,
) -> Release:
    """Return a release of other data in the groups and cells of an earlier release.

    *Guarantee*: the claims of the earlier release hold for the new one, on its own records.
    *Refuses* (ParameterError): releases whose cells do not cover their people's own values, and
    data that do not fit, columns of other types among them; (Infeasible) more records than the
    share `suppression` that no group covers, or whose group would break a claim.

    >>> from sfumato import Mondrian
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> may = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "Flu", "HIV", "Fever"]})
    >>> june = pa.table({"age": [26, 26, 47, 45], "disease": ["Flu", "HIV", "HIV", "Flu"]})
    >>> release = reapply(Mondrian(k=2).publish(may, schema), june, schema)
    >>> sorted(set(release.tables["records"]["age"].to_pylist()))
    ['[25, 28]', '[41, 47]']
    """
    found = randomness or Randomness.fresh()
    rows = in_same_types(as_arrow(data), earlier)
    return applied(earlier, rows, schema, suppression, found, key)[0]


def applied(
    earlier: Release,
    rows: pa.Table,
    schema: Schema,
    suppression: float,
    randomness: Randomness,
    key: bytes | None = None,
) -> tuple[Release, Ints]:
    """Return the new release, and the rows that it withholds; `key` is that of pseudonyms.

    The rows are in the types of the earlier release (`same_types.py`).
    """
    check_suppression(suppression, "apply")
    models = _claimed(earlier)
    table = with_tokens(encode(rows, schema), rows, key)
    refuse_linking(table)
    _refuse_other_columns(earlier, table)
    if counts_households(earlier.manifest) != (schema.household is not None):
        raise ParameterError(
            "only one of the policy and the earlier release counts households (`household`); use "
            "the policy of that release"
        )
    if weight_of(earlier.manifest) != schema.weight:
        raise ParameterError(
            "the policy and the earlier release do not have the same weights (`weight`); use the "
            "policy of that release"
        )
    if earlier.manifest.method == FullDomain.name:
        return at_same_levels(earlier, table, schema, models, suppression, randomness)
    view = View.of(earlier)
    group = _groups_of(view, rows, randomness.generator("groups to choose from"))
    strays, allowed = int((group == NOWHERE).sum()), most_withheld(suppression, rows.num_rows)
    broken: dict[Model, Ints] = {}
    while True:
        withheld = np.flatnonzero(group == NOWHERE)
        if len(withheld) > allowed or len(withheld) == len(group):
            raise _refusal(earlier, group, broken, strays, allowed)
        kept = without(rows, withheld)
        table = with_tokens(encode(kept, schema), kept, key)
        shown, ids = np.unique(group[group != NOWHERE], return_inverse=True)
        groups = Groups(ids.astype(np.int32), len(shown))
        failing = _failing(table, groups, models)
        for model, fails in failing.items():
            broken[model] = np.union1d(broken.get(model, _NONE), shown[fails])
        if not failing:
            break
        if not allowed:
            raise _refusal(earlier, group, broken, strays, allowed)
        group[np.isin(group, np.concatenate([shown[fails] for fails in failing.values()]))] = (
            NOWHERE
        )
    release = _published(table, groups, view, shown, kept, earlier, suppression, randomness)
    by_value = any(model.needs for model in broken)
    manifest = release.manifest.model_copy(
        update={"suppressed": len(withheld), "suppressed_by_value": by_value}
    )
    return release.restated(manifest), withheld


def _published(
    table: Table,
    groups: Groups,
    view: View,
    shown: Ints,
    kept: pa.Table,
    earlier: Release,
    suppression: float,
    randomness: Randomness,
) -> Release:
    """Return the release of groups in the cells that those numbers had earlier."""
    rng = randomness.generator("records")
    (block,) = view.blocks
    columns, known = {column.name: column for column in table.columns}, {}
    for name in block.names:
        published = view.published[name]
        cells = [*parsed(published), None]
        own = [cells[code] for code in _codes_of_groups(block, name)[shown]]
        columns[name], known[name] = same_cells(
            kept[name],
            in_same_order(columns[name].attribute, published.entry, kept[name]),
            groups,
            own,
            published.hierarchy,
            rng=rng,
            or_star=earlier.manifest.method == LocalSuppression.name,
        )
    recoded = replace(table, columns=tuple(columns.values()))
    release = assemble(
        generalized_records(recoded, groups, rng=rng, known=known),
        method=earlier.manifest.method,
        rows=table.rows,
        models=_claimed(earlier),
        parameters=_parameters(earlier, suppression),
        is_test=randomness.is_test,
    )
    return with_households(_recounted(release), table)


def _recounted(release: Release) -> Release:
    """Return the release, whose manifest counts its own withheld cells if it counts any."""
    manifest = release.manifest
    stated = manifest.parameters.get(SUPPRESSED_CELLS)
    counted = stated.get("by") if isinstance(stated, dict) else None
    if not isinstance(counted, dict):
        return release
    by = {name: withheld_cells(release.tables["records"], name) for name in counted}
    counts = {"total": sum(by.values()), "by": by}
    parameters = {**manifest.parameters, SUPPRESSED_CELLS: counts}
    updated = manifest.model_copy(update={"parameters": parameters})
    return release.restated(updated)


def _parameters(earlier: Release, suppression: float) -> dict[str, Any]:
    """Return the parameters without those that tell how the files were stored.

    The share that might be withheld is the one asked for now: the earlier one may be less than
    what was withheld here.
    """
    other = ("hierarchies", "formula_guard", "suppression")
    kept = {k: v for k, v in earlier.manifest.parameters.items() if k not in other}
    states_share = earlier.manifest.method == Mondrian.name and suppression
    return {**kept, "suppression": suppression} if states_share else kept


def _claimed(earlier: Release) -> list[Model]:
    """Return what the release claims; ParameterError for one whose cuts are no use elsewhere."""
    manifest = earlier.manifest
    if manifest.layout != "generalized" or any(n in manifest.parameters for n in _NOT_THEIR_OWN):
        raise ParameterError(
            f"releases by {manifest.method} have no cuts that other data could be put into; "
            "apply one by mondrian, top-down, full-domain or local-suppression"
        )
    models = [] if is_noisy(manifest) else [from_claim(claim) for claim in manifest.guarantees]
    if not models:
        raise ParameterError("the earlier release claims nothing that could be kept")
    return models


def _refuse_other_columns(earlier: Release, table: Table) -> None:
    """Refuse (ParameterError) a policy that publishes other attributes than the release has."""
    before = {entry.name: entry.role for entry in earlier.manifest.attributes}
    now = {column.name: column.attribute.role for column in table.columns}
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            role = before.get(name)
            raise ParameterError(
                f"column '{name}' is {now.get(name, 'not published')} by the policy and "
                f"{role or 'not published'} in the earlier release; use the policy of that release"
            )


def _groups_of(view: View, rows: pa.Table, rng: np.random.Generator) -> Ints:
    """Return every row's group in the earlier release, NOWHERE where it has no place."""
    (block,) = view.blocks
    side = set_stage([view], [rows])[0]
    first, kind = kinds_of([side.people[name][:] for name in block.names])
    cells = {
        name: Cells(
            _codes_of_groups(block, name), side.reaches[name], _is_line(view.published[name])
        )
        for name in block.names
    }
    people = {name: side.people[name][first] for name in block.names}
    return assigned(cells, view.groups, people, rng)[kind]


def _codes_of_groups(block: Block, name: str) -> Ints:
    """Return the cell of every group, of which all rows have the same."""
    return block.cells[:, block.names.index(name)].astype(np.int64)


def _is_line(published: Published) -> bool:
    """Return whether cells are ranges of numbers, between which a gap can be divided."""
    entry = published.entry
    return published.hierarchy is None and entry.kind is Kind.NUMERIC and is_number(entry.dtype)


def _failing(table: Table, groups: Groups, models: Sequence[Model]) -> dict[Model, Ints]:
    """Return the groups that break each model, if any do."""
    checkable = [model for model in models if model.checkable]
    statistics = group_statistics(
        table, groups, dict.fromkeys(name for model in checkable for name in model.needs)
    )
    found = {
        bound.model: np.flatnonzero(~bound.holds(statistics))
        for bound in bind_to_table(table, checkable)
    }
    return {model: fails for model, fails in found.items() if len(fails)}


def _refusal(
    earlier: Release, group: Ints, broken: Mapping[Model, Ints], strays: int, allowed: int
) -> Infeasible:
    """Return why the cuts cannot be applied, in numbers of groups and records."""
    sizes = np.bincount(group[group != NOWHERE], minlength=1)
    parts = [f"no group has a place for {strays} of {len(group)} records"] if strays else []
    for model, groups in broken.items():
        about = "".join(f" of '{name}'" for name in model.needs)
        parts.append(f"{model.name}{about} would break in {listed(_told(groups, sizes))}")
    limit = f"; {allowed} records may be withheld" if allowed else ""
    return Infeasible(
        f"the cuts of the earlier release do not do for these data: {'; '.join(parts)}{limit}. "
        f"{_ADVICE if earlier.manifest.method == Mondrian.name else 'Publish anew'}"
    )


def _told(groups: Ints, sizes: Ints) -> list[str]:
    """Return the public numbers of groups, with their records where they still have any."""
    return [
        f"{n + 1} ({sizes[n]} records)" if n < len(sizes) and sizes[n] else str(n + 1)
        for n in groups.tolist()
    ]
