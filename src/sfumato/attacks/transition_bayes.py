"""What a replaced cell tells who knows whose record it is, and whether rows are out of order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.attacks.guesses import guessed
from sfumato.attacks.leak import leak
from sfumato.attacks.order import told_best
from sfumato.attacks.outcome import Outcome, Rate, worst_decile
from sfumato.attacks.targets import draw
from sfumato.attacks.transition_adversary import TransitionAdversary
from sfumato.measures.transitions import epsilon, posterior

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


def transition_bayes(eyes: TransitionAdversary) -> list[Outcome]:
    """Return, for each secret that was replaced, how often the likeliest value is the person's.

    Which record is whose only the maker knows, so all that the matrix may have made of a person's
    value are counted with their chances.
    """
    found = []
    for name in eyes.secrets:
        column, margin = eyes.columns[name], eyes._margin(name)
        own = eyes.places[name][eyes.targets]
        own = own[own >= 0]
        if column.transition is None or not len(own):
            continue
        matrix = column.transition.matrix
        behind = posterior(margin, matrix)
        # by published value: the chance to be right about each true one, and belief in it
        right = np.stack(
            [guessed(behind, np.full(len(behind), value)) for value in range(len(matrix))]
        )
        success = (matrix * right).sum(axis=1)[own]
        belief = (matrix * behind.T).sum(axis=1)[own]
        blind = guessed(np.tile(margin, (len(own), 1)), own)
        bound = epsilon(matrix)
        figures = {"mean_chance_of_own_value": float(belief.mean())}
        if np.isfinite(bound):
            figures["epsilon"] = bound
        found.append(
            Outcome(
                attack="joint Bayes (record known)",
                attribute=name,
                knows="which record is the person's",
                how="The published value and the shares of values, which the matrix and all "
                "records tell, say by Bayes how likely each value is; the likeliest is guessed. "
                "Which record it is only the maker knows, so whatever the matrix may have made of "
                "the person's value counts with its chance. The blind guess is the commonest "
                "value; there is no control, since nobody else has a record.",
                success=Rate.of(success),
                blind=Rate.of(blind),
                control=None,
                worst=worst_decile(success),
                blind_is="the commonest value",
                sample=len(own),
                population=eyes.population,
                figures=figures,
            )
        )
    return found


def transition_leaks(
    eyes: TransitionAdversary, sample: int, rng: np.random.Generator
) -> list[Outcome]:
    """Return whether rows are in the order of the input: by who fits a row best."""
    people = eyes.population
    rows = draw(eyes.rows, sample, rng)
    forward = rows * people // max(eyes.rows, 1)
    tries = [_better(eyes, rows, own, rng) for own in (forward, people - 1 - forward)]
    how = (
        "The person at the same place in the input, counted from either end, is to fit a row's "
        "cells better than a person drawn at random, by the matrices; ties count one half."
    )
    told = told_best(np.stack(tries), np.full((2, 1), 0.5), rng)
    kind = ("rows", "whether the person at a row's place in the input fits it better than another")
    return [leak("row order", how, told, people, kind=kind)]


def _better(eyes: TransitionAdversary, rows: Ints, own: Ints, rng: np.random.Generator) -> Reals:
    other = rng.integers(0, eyes.population, len(rows))
    weight = np.zeros(len(rows))
    for name, column in eyes.columns.items():
        shown = column.codes[rows]
        for sign, people in ((1, own), (-1, other)):
            place = eyes.places[name][people]
            if column.transition is None:
                chance = (place == shown).astype(np.float64)
            else:
                chance = np.where(place >= 0, column.transition.matrix[place, shown], 0.0)
            weight += sign * np.log(np.maximum(chance, 1e-9))
    return np.asarray((1 + np.sign(np.round(weight, 9))) / 2)
