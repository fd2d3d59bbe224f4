"""Minimality: a method that cuts wherever it may tells by every cut that it did not make.

*Source*: Wong, Fu, Wang, Pei, "Minimality Attack in Privacy Preserving Data Publishing", VLDB 2007.
The adversary knows all quasi-identifiers of a group's people. If their values were dealt so that
some cut left both parts as protected as is claimed, the group would have been cut there; so they
were not dealt so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.guesses import guessed_value
from sfumato.attacks.outcome import Outcome, Rate, worst_decile
from sfumato.attacks.reach import covered_by
from sfumato.attacks.stage import Secret
from sfumato.errors import ParameterError
from sfumato.models import BoundModel, GroupStatistics, Histogram, KAnonymity, Total, from_claim
from sfumato.models.model import Model
from sfumato.schema.kinds import is_number

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

GROUPS = 150  # that are looked at
_DEALS = 400  # ways to deal a group's values that are tried
_CUTS = 24
_LARGEST = 200  # people of a group


def minimality(
    adversary: Adversary, *, groups: int = GROUPS, rng: np.random.Generator
) -> list[Outcome]:
    """Return what the cuts that were not made tell of each attribute with a claim on its values.

    Nothing for other layouts than the generalised one, and for claims of k-anonymity alone.
    """
    if adversary.release.manifest.layout != "generalized":
        return []
    models = [_model(claim) for claim in adversary.release.manifest.guarantees]
    k = max((model.k for model in models if isinstance(model, KAnonymity)), default=1)
    found = []
    for name in adversary.secrets:
        claims = [model for model in models if model is not None and model.needs == (name,)]
        if claims and not _by_tree(claims):
            found.append(_of_secret(adversary.ignorant_of(name), name, claims, k, groups, rng))
    return found


def _model(claim: Mapping[str, Any]) -> Model | None:
    try:
        model = from_claim(claim)
    except ParameterError:
        return None
    return model if model.checkable and not model.of_tables else None


def _by_tree(claims: Sequence[Model]) -> bool:
    """Return whether a claim needs the hierarchy of its values, which is not looked at here."""
    return any(getattr(model, "distance", None) == "hierarchical" for model in claims)


def _of_secret(
    adversary: Adversary,
    name: str,
    claims: Sequence[Model],
    k: int,
    groups: int,
    rng: np.random.Generator,
) -> Outcome:
    secret = adversary.secret(name)
    bound = _bound(adversary, secret, claims)
    success, blind, sure, kept, looked = [], [], 0, [], 0
    # a smaller group cannot be cut at all, a larger one takes long to deal
    sizes = adversary.sizes
    open_ = np.flatnonzero((sizes >= max(2 * k, 2)) & (sizes <= _LARGEST))
    for group in rng.permutation(open_)[: 4 * groups]:
        if looked == groups:
            break
        values = _values(secret, int(group))
        people = _people(adversary, int(group))
        if len(people) != len(values):
            continue  # people of several groups fit it
        looked += 1
        cuts = _cuts(adversary, people, k)
        deals = rng.permuted(np.tile(values, (_DEALS, 1)), axis=1)
        uncut = deals[_uncut(deals, cuts, bound, secret.count)]
        kept.append(len(uncut) / _DEALS)
        truth = adversary.truth(people, secret)
        shares = np.bincount(values, minlength=secret.count) / len(values)
        plain = np.tile(shares, (len(people), 1))
        told = plain
        if len(uncut):
            told = np.stack([np.bincount(own, minlength=secret.count) for own in uncut.T])
            told = (told + plain) / (len(uncut) + 1)
        # a missing value is no secret, and is not guessed
        has = truth < secret.count - 1
        told, plain, truth = told[has], plain[has], truth[has]
        success.append(guessed_value(told, truth))
        blind.append(guessed_value(plain, truth))
        sure += int((told[np.arange(len(truth)), truth] > 0.95).sum())
    right, chance = (np.concatenate([np.zeros(0), *each]) for each in (success, blind))
    return Outcome(
        attack="minimality",
        attribute=name,
        knows="the quasi-identifiers of everybody in a group, the method and its claims",
        how=(
            "A heuristic: the values of a group are dealt to its people in many ways, and those "
            "ways are kept under which no cut between values of one attribute would leave two "
            "parts that satisfy the claims; the likeliest value is guessed. The blind guess is the "
            "group's commonest value. There is no control: nobody else is in the group."
        ),
        success=Rate.of(right),
        blind=Rate.of(chance),
        blind_is="the group's commonest value",
        control=None,
        worst=worst_decile(right),
        sample=len(right),
        population=adversary.population,
        figures={
            "groups": float(looked),
            "ways_kept": float(np.mean(kept)) if kept else 1.0,
            "recovered": sure / len(right) if len(right) else 0.0,
        },
    )


def _bound(adversary: Adversary, secret: Secret, claims: Sequence[Model]) -> list[BoundModel]:
    """Return the claims bound to what the whole release shows."""
    told = secret.sides[0]
    counts = np.rint(np.bincount(told.value, told.weight, minlength=secret.count)).astype(np.int64)
    points = None
    if is_number(secret.dtype):
        try:
            points = np.array([float(text) for text in secret.texts])
        except ValueError:  # dates have an order, and here no distances but their ranks
            points = np.arange(len(secret.texts), dtype=np.float64)
    total = Total(
        counts, int(counts[:-1].sum()), ordered=points is not None, tree=None, points=points
    )
    return [model.bind({secret.name: total}) for model in claims]


def _people(adversary: Adversary, group: int) -> Ints:
    """Return the people of the original who fit a group."""
    fits = np.arange(adversary.population)
    for block in adversary.view.blocks:
        own = block.cells[block.group == group]
        shown = [_showing(adversary, block.names, cells, fits) for cells in own]
        fits = np.unique(np.concatenate([np.zeros(0, np.int64), *shown]))
    return fits


def _showing(adversary: Adversary, names: Sequence[str], cells: Ints, people: Ints) -> Ints:
    """Return those of some people whom a combination of cells covers."""
    for name, cell in zip(names, cells, strict=True):  # each leaves fewer to look at
        ranks = adversary.side.people[name][people]
        people = people[covered_by(ranks, adversary.side.reaches[name], int(cell))]
    return people


def _values(secret: Secret, group: int) -> Ints:
    """Return the values that a group shows, as often as it has them."""
    told = secret.sides[0]
    own = slice(told.start[group], told.start[group + 1])
    return np.repeat(told.value[own], np.rint(told.weight[own]).astype(np.int64))


def _cuts(adversary: Adversary, people: Ints, k: int) -> Bools:
    """Return ways to cut a group, a line each with who is on the one side; parts have k people.

    Numbers are cut between values, others by how frequent their values are in the group.
    """
    found = []
    for name in adversary.known:
        ranks = adversary.side.people[name][people]
        values, at, counts = np.unique(ranks, return_inverse=True, return_counts=True)
        if not is_number(adversary.view.published[name].entry.dtype):
            order = np.argsort(-counts, kind="stable")
            at = np.argsort(order)[at]
        for last in range(len(values) - 1):
            side = at <= last
            if k <= side.sum() <= len(people) - k:
                found.append(side)
    if len(found) > _CUTS:  # spread over all attributes
        found = [found[place] for place in np.linspace(0, len(found) - 1, _CUTS).astype(int)]
    return np.array(found, np.bool_).reshape(-1, len(people))


def _uncut(deals: Ints, cuts: Bools, bound: Sequence[BoundModel], values: int) -> Bools:
    """Return the deals under which no cut leaves two parts that satisfy all claims."""
    open_ = np.ones(len(deals), np.bool_)
    for cut in cuts:
        own = np.flatnonzero(open_)
        if not len(own):
            break
        holds = np.ones(len(own), np.bool_)
        for side in (cut, ~cut):
            for model in bound:
                holds &= model.holds(_statistics(deals[own][:, side], model, values))
        open_[own[holds]] = False
    return open_


def _statistics(deals: Ints, model: BoundModel, values: int) -> GroupStatistics:
    rows, size = deals.shape
    group = np.repeat(np.arange(rows), size)
    one = np.ones(rows * size, np.int64)
    histogram = Histogram.count(group, deals.ravel(), one, rows, values - 1)
    return GroupStatistics(np.full(rows, size), {model.model.needs[0]: histogram})
