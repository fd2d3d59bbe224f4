"""Leaks of random sets: rows in the order of the input, and members whose place tells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.attacks.leak import leak
from sfumato.attacks.memory import Memory
from sfumato.attacks.order import Trained, told_best
from sfumato.attacks.outcome import Outcome, Rate
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.attacks.targets import draw
from sfumato.release import Release
from sfumato.release.set_columns import set_codes

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


def set_leaks(
    release: Release,
    original: pa.Table,
    sample: int,
    rng: np.random.Generator,
    known: SetAdversary | None = None,
) -> list[Outcome]:
    """Return whether rows are in the order of the input, and whether members' places tell.

    `known` is an adversary of the release and the original, if there is one already.
    """
    if known is None:
        adversary = SetAdversary.of(release, original, original.slice(0, 0), sample=1, rng=rng)
    else:
        people = {name: own[: known.population] for name, own in known.places.items()}
        adversary = replace(known, places=people, memory=Memory())
        draw(original.num_rows, 1, rng)  # as the other does: what follows is drawn alike
    return [
        _row_order(adversary, original.num_rows, sample, rng),
        *_set_order(adversary, original.num_rows, sample, rng),
    ]


def _row_order(
    adversary: SetAdversary, people: int, sample: int, rng: np.random.Generator
) -> Outcome:
    """Return whether the person at a row's place fits the row better than another does."""
    rows = draw(adversary.rows, sample, rng)
    forward = rows * people // max(adversary.rows, 1)
    tries = [_better(adversary, rows, own, rng) for own in (forward, people - 1 - forward)]
    how = (
        "The person at the same place in the input, counted from either end, is to fit a row's "
        "sets better than a person drawn at random; ties count one half."
    )
    told = told_best(np.stack(tries), np.full((2, 1), 0.5), rng)
    kind = ("rows", "whether the person at a row's place in the input fits it better than another")
    return leak("row order", how, told, people, kind=kind)


def _better(adversary: SetAdversary, rows: Ints, own: Ints, rng: np.random.Generator) -> Reals:
    other = rng.integers(0, adversary.population, len(rows))
    weight = np.zeros(len(rows))
    for name, axis in adversary.axes.items():
        members = axis.members[rows]
        # how much a member weighs against chance; sets that hold any value equally weigh nothing
        gain = np.log(max(axis.own, 1e-9) * axis.size / axis.eta)
        loss = -20.0 if axis.own >= 1 or axis.eta == axis.size else 0.0
        if axis.own < 1 and axis.eta < axis.size:
            loss = np.log((1 - axis.own) * axis.size / (axis.size - axis.eta))
        for sign, people in ((1, own), (-1, other)):
            inside = (members == adversary.places[name][people][:, None]).any(axis=1)
            weight += sign * np.where(inside, gain, loss)
    return np.asarray((1 + np.sign(np.round(weight, 9))) / 2)


def _set_order(
    adversary: SetAdversary, people: int, sample: int, rng: np.random.Generator
) -> list[Outcome]:
    """Return whether the place of a member in its set tells the own value.

    Sets are stored in the order of the domain, so that places tell nothing. In others the place is
    sought whose members are spread like the people's own values: as many guesses are right as can
    be, by the counts of both.
    """
    found = []
    for name, axis in adversary.axes.items():
        column = adversary.release.tables["records"][name]
        if not pa.types.is_list(column.type):
            continue
        entry = adversary.release.manifest.attribute(name)
        starts, codes = set_codes(column.combine_chunks(), entry)
        inner = np.ones(max(len(codes) - 1, 0), np.bool_)
        inner[starts[1:-1][(starts[1:-1] > 0) & (starts[1:-1] < len(codes))] - 1] = False
        wrong = int((np.diff(codes.astype(np.int64)) <= 0)[inner].sum())
        how = (
            "Members that stand in the order of the domain tell nothing by their places. Where "
            "they do not, the members at the place that fits the people's own values best are "
            "taken for these."
        )
        rows = draw(adversary.rows, sample, rng)
        told = Trained(*(Rate(len(rows) / axis.eta, len(rows)) for _ in range(2)))
        if wrong and (np.diff(starts) == axis.eta).all():
            stored = codes.reshape(-1, axis.eta)[rows].astype(np.int64)
            truth = np.bincount(adversary.places[name] + 1, minlength=axis.size + 1)[1:]
            told = _by_place(stored, truth / people, rng)
        found.append(
            replace(
                leak("set order", how, told, people, attribute=name, certain=int(wrong > 0)),
                figures={"out_of_order": float(wrong)},
            )
        )
    return found


def _by_place(stored: Ints, truth: Reals, rng: np.random.Generator) -> Trained:
    """Return how many members at the best place can be right, and at any place on average."""
    order = rng.permutation(len(stored))
    train, test = order[: len(order) // 2], order[len(order) // 2 :]

    def right(rows: Ints) -> Reals:
        counts = [np.bincount(line, minlength=len(truth)) for line in stored[rows].T]
        return np.array([np.minimum(each, truth * len(rows)).sum() for each in counts])

    best = int(np.argmax(right(train)))
    found = right(test)
    return Trained(Rate(found[best], len(test)), Rate(float(found.mean()), len(test)))
