"""The joint-Bayes adversary on random sets: one attribute's sets, told by all the others.

A set of l values promises a chance of one over l, if all values are equally likely beforehand and
nothing else is known. But how common values are can be reconstructed from the sets of all records,
and so can which values go with which. With what is known of a person, a value v of the secret is
the likelier

    by the tables:   share(v) ∏ P(x_a | v)  over the known values x_a
    by the records:  Σ_r ∏ P(S_ra | x_a) P(S_r | v) / P(S_r)  over all sets S of record r

where a set that holds the own value has the chance p/C(d-1, η-1) + (1-p)/C(d, η), and any other
(1-p)/C(d, η). P(S_r) is how likely the sets are if attributes were independent. Who knows which
record is the person's has one record in the sum.

The parts of attributes that were randomised as one are secrets each, the other parts being known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sfumato.answers.joint_parts import joints, parts_of_values
from sfumato.answers.set_axes import Axis
from sfumato.attacks.guesses import guessed
from sfumato.attacks.outcome import Outcome, Rate, worst_decile
from sfumato.attacks.record_weights import LEAST_SHARE, most_people, told_by_records
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.attacks.set_tables import SetTables
from sfumato.attacks.set_weights import factors
from sfumato.attacks.targets import draw

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

# Values of an attribute, for all people together.
MOST_CELLS: Final = 16 * 10**6
_TABLES = (
    "Shares of values and tables of pairs are reconstructed from the sets of all records; with the "
    "person's known values they say how likely each value of the secret is. "
)
_RIVALS = (
    "The blind guess is what the person's own set and the shares of values allow without the "
    "tables (of a part of a joint attribute, at least what its t allows); the control are the "
    "tables without the person's record, which say the same of people who are not in the data."
)
_NOT_KNOWN = (
    "record not known",
    "and that the person is in the data",
    "All records are then weighed by how likely the person's known values make their sets, where "
    f"the person's own may weigh more than {LEAST_SHARE:.0%} of all. ",
)
_KNOWN = (
    "record known",
    "and which record is the person's",
    "Which it is only the maker knows, so a set is drawn for the person as the release says that "
    "sets were. ",
)


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A secret: an attribute of sets, or a part of one whose other parts are known.

    `value[code]` is the secret's value, and `rest[code]` what the other parts are.
    """

    name: str
    axis: Axis
    value: Ints
    rest: Ints

    @property
    def is_part(self) -> bool:
        """Whether it is a part."""
        return self.name != self.axis.name

    @property
    def values(self) -> int:
        """The number of values."""
        return int(self.value.max(initial=0)) + 1

    def by_value(self, chances: Reals) -> Reals:
        """Return the chances of values, from those of codes; a line a person, adding up to 1."""
        found = chances
        if self.is_part:  # else codes are values
            found = np.zeros((len(chances), self.values))
            np.add.at(found.T, self.value, chances.T)
        return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300))


def joint_bayes(eyes: SetAdversary, *, rng: np.random.Generator) -> list[Outcome]:
    """Return two outcomes for each secret: of who has to look for the record, and of who has it.

    The former looks at fewer people where there are many records. Nothing where the sets were not
    drawn at random, since nothing follows from them then.
    """
    if eyes.release.manifest.method == "rating":
        return []
    questions = list(_questions(eyes))
    rows = _people(eyes, rng)
    if not questions or not len(rows):
        return []
    tables = SetTables()
    sought = draw(len(rows), most_people(eyes), rng)
    secrets = list(dict.fromkeys(question.axis.name for question in questions))
    records = told_by_records(eyes, secrets, rows[sought], tables)
    found = []
    for question in questions:
        seen = _Seen.of(eyes, question, rows, tables, rng)
        by_records = seen.of_some(sought).with_likelihoods(records[question.axis.name])
        found += [_outcome(eyes, by_records, *_NOT_KNOWN), _outcome(eyes, seen, *_KNOWN)]
    return found


def _questions(eyes: SetAdversary) -> Iterator[Question]:
    joined = {joint.name: joint for joint in joints(eyes.release.manifest)}
    for name in eyes.secrets:
        axis = eyes.axes[name]
        codes = np.arange(axis.size)
        if name not in joined:
            yield Question(name, axis, codes, np.zeros_like(codes))
            continue
        joint = joined[name]
        combinations = parts_of_values(eyes.release.manifest.attribute(name), joint)
        for place, part in enumerate(joint.parts):
            own = _numbered([each[place] for each in combinations])
            others = [(*each[:place], *each[place + 1 :]) for each in combinations]
            yield Question(part, axis, own, _numbered(others))


def _numbered(things: Sequence[Any]) -> Ints:
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in things], np.int64)


def _people(eyes: SetAdversary, rng: np.random.Generator) -> Ints:
    """Return the people to look at: those whose values are listed, as many as fit into memory."""
    listed = np.ones(len(eyes.targets), np.bool_)
    for name in eyes.axes:
        listed &= eyes.places[name][eyes.targets] >= 0
    rows = eyes.targets[listed]
    largest = max(axis.size for axis in eyes.axes.values())
    return rows[draw(len(rows), max(1, MOST_CELLS // largest), rng)]


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A secret of some people, a line each: their own values, what the tables tell of the codes
    (`prior`), and how likely each code makes what is seen of records; chances to be right by their
    own set without the tables (`limit`), and by the most frequent value."""

    question: Question
    truth: Ints
    prior: Reals
    likelihood: Reals
    limit: Reals
    most: Reals

    @classmethod
    def of(
        cls,
        eyes: SetAdversary,
        question: Question,
        rows: Ints,
        tables: SetTables,
        rng: np.random.Generator,
    ) -> _Seen:
        """Return what is seen by who knows the record of each person."""
        axis = question.axis
        own, margin = eyes.places[axis.name][rows], tables.margin(axis)
        truth = question.value[own]
        drawn = _drawn(axis, own, rng)
        most = guessed(np.tile(question.by_value(margin[None, :]), (len(rows), 1)), truth)
        limit = guessed(question.by_value(margin * drawn), truth)
        closeness = _claimed(eyes, axis.name, "set-closeness", "t")
        if question.is_part and closeness is not None:
            # a set of combinations tells more of a part to who knows the others, and may by t
            allowed = np.minimum(most + closeness, 1)
            limit = max(limit, allowed, key=lambda chances: float(chances.sum()))
        prior = _by_tables(eyes, question, rows, tables)
        return cls(question, truth, prior, drawn, limit, most)

    def of_some(self, people: Ints) -> _Seen:
        """Return what is seen of some of the people."""
        lines = (getattr(self, each)[people] for each in self.__slots__[1:])
        return _Seen(self.question, *lines)

    def with_likelihoods(self, likelihood: Reals) -> _Seen:
        """Return the same people where something else is seen of records."""
        return replace(self, likelihood=likelihood)

    @property
    def chances(self) -> Reals:
        """How likely each person has each value."""
        return self.question.by_value(self.prior * self.likelihood)


def _outcome(eyes: SetAdversary, seen: _Seen, attack: str, more: str, how: str) -> Outcome:
    chances, truth = seen.chances, seen.truth
    chance = chances[np.arange(len(truth)), truth]
    alone = guessed(seen.question.by_value(seen.prior), truth)
    figures = {
        "own_set_and_shares": float(seen.limit.mean()),
        "tables_alone": float(alone.mean()),
        "most_frequent_value": float(seen.most.mean()),
    }
    return Outcome(
        attack=f"joint Bayes ({attack})",
        attribute=seen.question.name,
        knows=f"all attributes of a person that others may know but this one, {more}",
        how=_TABLES + how + _RIVALS,
        success=Rate.of(guessed(chances, truth)),
        blind=Rate.of(seen.limit),
        control=Rate.of(alone),
        worst=worst_decile(chance),
        blind_is="the person's own set and the shares of values",
        control_is="the reconstructed tables without the person's record",
        sample=len(truth),
        population=eyes.population,
        figures=figures | _above(eyes, seen.question.axis.name, chance),
    )


def _above(eyes: SetAdversary, name: str, chance: Reals) -> dict[str, float]:
    """Return how many people's own value is likelier than the sets' l promises, where one is, and
    how many's is twice as likely: shares that are nearly equal lie now above it and now below."""
    found = {"mean_chance_of_own_value": float(chance.mean())}
    promised = _claimed(eyes, name, "set-diversity", "l")
    if promised is not None:
        found["share_above_one_over_l"] = float((chance * promised > 1 + 1e-9).mean())
        found["share_above_two_over_l"] = float((chance * promised > 2).mean())
    return found


def _claimed(eyes: SetAdversary, name: str, model: str, parameter: str) -> float | None:
    """Return what is claimed of an attribute, None where nothing is."""
    for claim in eyes.release.manifest.guarantees:
        stated = claim.get(parameter)
        is_own = (claim.get("model"), claim.get("attribute")) == (model, name)
        if is_own and isinstance(stated, int | float) and stated > 0:
            return float(stated)
    return None


def _by_tables(eyes: SetAdversary, question: Question, rows: Ints, tables: SetTables) -> Reals:
    """Return how likely each person has each code of a secret, by the tables and known parts."""
    secret = question.axis
    own = question.rest[eyes.places[secret.name][rows]]
    logs = np.tile(np.log(tables.margin(secret)), (len(rows), 1))
    for name in eyes.known:
        given = None if name == secret.name else tables.given(secret, eyes.axes[name])
        if given is not None:
            logs += np.log(given)[:, eyes.places[name][rows]].T
    logs[question.rest != own[:, None]] = -np.inf
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _drawn(axis: Axis, own: Ints, rng: np.random.Generator) -> Reals:
    """Return how likely each code makes a set that is drawn for each person."""
    inside, outside = factors(axis)
    order = rng.random((len(own), axis.size))
    order[np.arange(len(own)), own] = np.where(rng.random(len(own)) < axis.own, -1.0, 2.0)
    places = np.argpartition(order, axis.eta - 1, axis=1)[:, : axis.eta]
    found = np.full((len(own), axis.size), outside)
    np.put_along_axis(found, places, inside, axis=1)
    return found
