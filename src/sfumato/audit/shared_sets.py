"""Sets that records share, as rating makes them: what cannot be said of such, and what must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.audit.statistics import SetEvidence
from sfumato.measures.set_randomization import Randomization
from sfumato.models import SetCloseness, SetDiversity

Ints = npt.NDArray[np.int64]
Claims = Sequence[Mapping[str, Any]]


def misstatement(found: SetEvidence, claims: Claims, held: Ints) -> str | None:
    """Return what is said of an attribute's sets that rating's cannot be; None if nothing is.

    `claims` are those of the attribute, `held` how many sets have each value. Where no record
    repeats another's set, each value is in eta sets for every record that has it.
    """
    how = found.randomization
    if how.p != 1 or found.masses is not None:
        return "has sets of rating, which are not drawn, with another p than 1, or with masses"
    models = [claim["model"] for claim in claims]
    close = [claim for claim in claims if claim["model"] == SetCloseness.name]
    if any(how.eta == how.d or claim.get("t") == 1 for claim in close):
        # p = 1 breaks every other claim of closeness
        return "is said to be close, and rating draws no sets"
    if SetDiversity.name in models and (held % how.eta).any():
        return "is said to be diverse, and has records that repeat others' sets"
    return None


def too_common(name: str, held: Ints, how: Randomization, rows: int) -> list[str]:
    """Return a remark if more records may have some value than there are groups.

    All groups have it then, and so have all sets, save one for each record that joined a group of
    eta others; these are fewer than eta.
    """
    most = int(held.max(initial=0))
    if how.eta == 1 or not rows or rows - most >= how.eta:
        return []
    return [
        f"{most} of {rows} sets of '{name}' hold the same value: more than 1/{how.eta} of "
        "the people may have it, and those whom no group had room for are then guessed with a "
        f"chance above 1/{how.eta}; the files do not tell how many they are"
    ]


def diverse_to_all(claims: Claims) -> list[str]:
    """Return a remark on attributes that are diverse to those as well who know the shares."""
    names = [
        f"'{claim.get('attribute')}'" for claim in claims if claim["model"] == SetDiversity.name
    ]
    if not names:
        return []
    return [
        f"set-diversity of {', '.join(dict.fromkeys(names))} is a bound for people who know the "
        "shares of values as well, given that records were dealt into groups as rating does it: "
        "no value of a set is then likelier than another, however common it is"
    ]
