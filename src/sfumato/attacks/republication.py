"""Republication: what a table that has grown tells, published again.

Whoever has the earlier and the later release of one table knows more of people who are in both, as
of any two releases. And they know more of those who have come since: an earlier group that lies
wholly within a later one accounts for some of its values, and newcomers have the others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.bits import set_places
from sfumato.attacks.compose import compose
from sfumato.attacks.outcome import Outcome, Rate, worst_decile
from sfumato.attacks.people import by_identifier, by_values
from sfumato.attacks.reach import Reach
from sfumato.attacks.result import People
from sfumato.attacks.stage import Secret, Side, set_stage
from sfumato.attacks.targets import draw
from sfumato.attacks.view import View
from sfumato.errors import ParameterError
from sfumato.release import Release
from sfumato.release.origin import refuse_other

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_REGIONS = ("generalized", "local")  # in which a group is a region of people's values
_CONTROL = "There is no control: who is in neither table is not in the groups compared."


def republication(
    earlier: Release,
    later: Release,
    earlier_original: pa.Table,
    later_original: pa.Table,
    *,
    identifier: str | None = None,
    sample: int,
    rng: np.random.Generator,
) -> list[Outcome]:
    """Return what both releases of a growing table tell of those in both, and of newcomers.

    People are recognised by the column `identifier`, or else by equal values.

    Refuses (ParameterError) an earlier table that is larger or that its release cannot be of, and
    what `compose` refuses: releases without a common secret or quasi-identifier, and originals that
    do not fit them.
    """
    if earlier_original.num_rows > later_original.num_rows:
        raise ParameterError(
            f"the earlier table has {earlier_original.num_rows} rows and the later one "
            f"{later_original.num_rows}; a table that grows has more later: are they interchanged?"
        )
    refuse_other(earlier.manifest, earlier_original.num_rows)
    tables = [earlier_original, later_original]
    report = compose(
        [earlier, later], originals=tables, identifier=identifier, sample=sample, rng=rng
    )
    found = []
    regions = earlier.manifest.layout in _REGIONS and later.manifest.layout in _REGIONS
    for finding in report.findings:
        assert finding.people is not None
        found.append(_in_both(finding.attribute, finding.people))
        if regions:
            views = [
                view.of_one_who_knows([n for n in view.known if n != finding.attribute])
                for view in (View.of(earlier), View.of(later))
            ]
            sides = set_stage(views, tables)
            found += _of_newcomers(sides, finding.attribute, identifier, sample, rng)
    return found


def _in_both(attribute: str, people: People) -> Outcome:
    """Return what both releases tell of those in both, against either alone."""
    success, alone = (Rate(count, people.examined) for count in (people.disclosed, people.alone))
    return Outcome(
        attack="republication (people in both)",
        attribute=attribute,
        knows="the quasi-identifiers of a person who is in both releases",
        how=(
            "The values that a person may have in either release are intersected; one that is left "
            "alone and is theirs counts, and is certain where neither release gives it away alone. "
            "The blind guess are those whose value one of the releases gives away alone. "
            f"{_CONTROL}"
        ),
        success=success,
        blind=alone,
        blind_is="either release alone",
        control=None,
        worst=min(1.0, success.share * 10),
        sample=people.examined,
        population=people.found,
        figures={"guess": people.guess, "candidates_left": people.after},
        certain=people.disclosed - people.alone,
    )


def _of_newcomers(
    sides: list[Side], name: str, identifier: str | None, sample: int, rng: np.random.Generator
) -> list[Outcome]:
    """Return what is left for newcomers; nothing where there are none, or nothing links them."""
    if not all(side.view.known for side in sides):
        return []
    secret = Secret.of(name, sides)
    matched = (
        by_values(sides, secret, [0, 1])
        if identifier is None
        else by_identifier([side.original for side in sides], identifier)
    )
    later = sides[1]
    assert later.original is not None
    newcomers = np.setdiff1d(np.arange(later.original.num_rows), matched[1])
    total = len(newcomers)
    people = newcomers[draw(total, sample, rng)]
    if not total:
        return []
    who, group = set_places(later.groups_of(people))
    single = np.bincount(who, minlength=len(people))[who] == 1
    people, group = people[who[single]], group[single]
    groups, own = np.unique(group, return_inverse=True)
    before = secret.sides[1].of_classes(groups, secret.count)
    left = np.maximum(before - _accounted(sides, secret, groups), 0.0)
    left = np.where(left.sum(axis=1, keepdims=True) > 0, left, before)
    truth = secret.sides[1].truth[people]
    chance, blind = (_chance(weights[own], truth) for weights in (left, before))
    alone = ((left > 0).sum(axis=1) == 1)[own] & (left[own, truth] > 0)
    return [
        Outcome(
            attack="republication (newcomers)",
            attribute=name,
            knows="the quasi-identifiers of a person who is in the later release alone",
            how=(
                "From the values of the person's later group those of all earlier groups are taken "
                "away that lie wholly within it; a value is drawn from what is left. The blind "
                f"guess draws from the later group alone. {_CONTROL}"
            ),
            success=Rate.of(chance),
            blind=Rate.of(blind),
            blind_is="the later release alone",
            control=None,
            worst=worst_decile(chance),
            sample=len(people),
            population=total,
            figures={"only_candidate": float(alone.mean()) if len(alone) else 0.0},
        )
    ]


def _chance(weights: Reals, truth: Ints) -> Reals:
    total = np.maximum(weights.sum(axis=1), np.finfo(float).tiny)
    return np.asarray(weights[np.arange(len(truth)), truth] / total)


def _accounted(sides: list[Side], secret: Secret, groups: Ints) -> Reals:
    """Return how many of each value the earlier groups within each of some later groups have."""
    earlier, later = sides
    names = [name for name in later.view.known if name in earlier.view.known]
    old, new = (side.view.of_one_who_knows(names).blocks for side in sides)
    found = np.zeros((len(groups), secret.count))
    known: dict[tuple[str, int], Bools] = {}
    if not old or len(old[0].group) != earlier.view.groups:
        return found  # groups of several regions
    cells = {name: old[0].cells[:, old[0].names.index(name)] for name in names}
    rows = np.searchsorted(new[0].group, groups)
    for place, row in enumerate(rows.tolist()):
        inside = np.ones(earlier.view.groups, np.bool_)
        for name in names:
            cell = int(new[0].cells[row, new[0].names.index(name)])
            if (name, cell) not in known:
                known[name, cell] = _within(earlier.reaches[name], later.reaches[name], cell)
            inside &= known[name, cell][cells[name]]
        within = np.flatnonzero(inside)
        found[place] = secret.sides[0].of_classes(within, secret.count).sum(axis=0)
    return found


def _within(inner: Reach, outer: Reach, cell: int) -> Bools:
    """Return which cells of the inner reach have no value outside one cell of the outer.

    >>> reach = Reach(np.array([0, 1]), np.array([0, 2]), np.array([8, 4]), np.array([False] * 2))
    >>> _within(reach, reach, 0).tolist(), _within(reach, reach, 1).tolist()
    ([True, True], [False, True])
    """
    own = outer.cell == cell
    order = np.argsort(outer.low[own], kind="stable")
    low, high = outer.low[own][order], outer.high[own][order]
    fits = np.zeros(len(inner.cell), np.bool_)
    if len(low):
        at = np.searchsorted(low, inner.low, "right") - 1
        fits = (at >= 0) & (inner.high <= high[np.maximum(at, 0)])
    outside = np.bincount(inner.cell[~fits], minlength=inner.count) > 0
    return np.asarray(~outside & (outer.nulls[cell] | ~inner.nulls))
