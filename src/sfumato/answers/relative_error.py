"""How far an answer from a release is from the truth."""

from __future__ import annotations

import numpy as np

from sfumato.answers.answer import Answerer
from sfumato.answers.estimate import Count
from sfumato.errors import ParameterError
from sfumato.predicates import Predicate, evaluate, parse
from sfumato.release import Release
from sfumato.table import Table


def recq(release: Release | Answerer, original: Table, predicate: Predicate | str) -> float:
    """Return RECQ, the relative error of a count query: |estimate - truth| / truth.

    Refuses (ParameterError) a query that no row of the original satisfies.
    *Source*: SLPPA, equations 11 (the estimate) and 13.
    """
    asked = parse(predicate) if isinstance(predicate, str) else predicate
    true = int(np.count_nonzero(evaluate(asked, original)))
    if true == 0:
        raise ParameterError("no row of the original satisfies the query: RECQ divides by them")
    answerer = release if isinstance(release, Answerer) else Answerer(release)
    return abs(answerer.answer(Count(), asked).value - true) / true
