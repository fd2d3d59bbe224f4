"""Which records may be a person's, and what they then tell of each secret, if sets are random.

For all secrets at once: the records are gone through once a person, and weighed by all that is
known of the person but the secret itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from sfumato.answers.set_axes import Axis
from sfumato.attacks.joint_bayes_kernels import Room, Sets, weigh_records
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.attacks.set_kernels import mark_members, norm_sets
from sfumato.attacks.set_tables import SetTables
from sfumato.attacks.set_weights import factors, in_shares

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

# Records times attributes, for all people together: seconds. Sets that surely hold the own value
# rule most records out at a glance.
MOST_VISITS: Final = 4 * 10**9
_SLOWER = 4
# All records weigh about 1 each on average. Where the person's own cannot weigh more than this
# share of all, it tells nothing.
LEAST_SHARE: Final = 0.01
_WORDS = 1 << 7  # of bits of records, at a time


def most_people(eyes: SetAdversary) -> int:
    """Return for how many people the records can be gone through in seconds."""
    soft = any(factors(eyes.axes[name])[1] > 0 for name in eyes.known)
    visits = eyes.rows * len(eyes.axes) * (_SLOWER if soft else 1)
    return max(1, MOST_VISITS // visits)


def told_by_records(
    eyes: SetAdversary, secrets: Sequence[str], rows: Ints, tables: SetTables
) -> dict[str, Reals]:
    """Return for each secret how likely each of its codes makes the records as they are, a line a
    person; ones where no record can stand out."""
    known = list(eyes.known)
    asked = np.array([known.index(name) if name in known else -1 for name in secrets])
    sums = np.cumsum([0, *(eyes.axes[name].size for name in secrets)])
    out, total = np.zeros((len(rows), sums[-1])), np.zeros((len(rows), len(secrets)))
    looked_at = np.flatnonzero(_weightiest(eyes, rows, tables) > LEAST_SHARE * eyes.rows)
    if len(looked_at):
        sets, begins = _sets(eyes, rows[looked_at], secrets, tables)

        def do(first: int, last: int) -> None:
            weigh_records(*(first, last, looked_at, sets, begins, asked, _room(), sums, out, total))

        in_shares(len(looked_at), do)
    found = {}
    for place, name in enumerate(secrets):
        inside, outside = factors(eyes.axes[name])
        held = out[:, sums[place] : sums[place + 1]]
        likely = (inside - outside) * held + outside * total[:, place : place + 1]
        likely[~likely.any(axis=1)] = 1.0
        found[name] = likely
    return found


def _weightiest(eyes: SetAdversary, rows: Ints, tables: SetTables) -> Reals:
    """Return what each person's own record weighs at most."""
    found = np.ones(len(rows))
    for name in eyes.known:
        inside, outside = factors(eyes.axes[name])
        shares = tables.margin(eyes.axes[name])[eyes.places[name][rows]]
        found *= inside / ((inside - outside) * shares + outside)
    return found


def _sets(
    eyes: SetAdversary, rows: Ints, secrets: Sequence[str], tables: SetTables
) -> tuple[Sets, Ints]:
    """Return the records, and for each person where the bits of their values begin."""
    known = eyes.known
    width = (eyes.rows + 63) // 64
    words, filled = [np.zeros(0, np.uint64)], 0
    begins = np.empty((len(rows), len(known)), np.int64)
    norm = np.ones(eyes.rows)
    for place, name in enumerate(known):
        axis = eyes.axes[name]
        values, of = np.unique(eyes.places[name][rows], return_inverse=True)
        line = np.full(axis.size, -1)
        line[values] = np.arange(len(values))
        held = np.zeros((len(values), width), np.uint64)
        mark_members(axis.members, line, held)
        begins[:, place] = filled + of * width
        filled += held.size
        words.append(held.ravel())
        norm *= _norms(axis, tables)
    more = np.ones((len(secrets), eyes.rows if set(secrets) - set(known) else 0))
    for place, name in enumerate(secrets):
        if name not in known:
            more[place] = _norms(eyes.axes[name], tables)
    flat = [eyes.axes[name].members.ravel() for name in secrets]
    eta = np.array([eyes.axes[name].eta for name in secrets])
    weights = np.array([factors(eyes.axes[name]) for name in known]).reshape(-1, 2)
    sets = Sets(
        *(np.concatenate(words), np.concatenate(flat), np.cumsum([0, *map(len, flat)])[:-1], eta),
        *(weights[:, 0].copy(), weights[:, 1].copy(), norm, more),
    )
    return sets, begins


def _room() -> Room:
    """Return room for the records of some words."""
    lacks, twice, open_ = np.empty((3, _WORDS), np.uint64)
    some, record = np.empty(_WORDS, np.int64), np.empty(_WORDS << 6, np.int64)
    weight, after = np.empty((2, _WORDS << 6))
    return Room(lacks, twice, open_, some, record, weight, after)


def _norms(axis: Axis, tables: SetTables) -> Reals:
    """Return one over how likely each record's set is, against any set."""
    inside, outside = factors(axis)
    out = np.empty(len(axis.members))
    norm_sets(axis.members, tables.margin(axis), inside - outside, outside, out)
    return out
