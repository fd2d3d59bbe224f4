"""Privacy models: predicates on group statistics that know nothing of how groups were found."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from sfumato.errors import ParameterError
from sfumato.models.alpha_k import AlphaKAnonymity
from sfumato.models.association import AlphaBetaGammaDelta
from sfumato.models.beta_likeness import BetaLikeness
from sfumato.models.buckets import LUniqueBuckets, TCloseBuckets
from sfumato.models.declared import DeltaPresence
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity, LUniqueGroups
from sfumato.models.linkable import Linkable
from sfumato.models.min_width import MinimumWidth
from sfumato.models.model import BoundModel, Model
from sfumato.models.sets import SetAnonymity, SetCloseness, SetDiversity
from sfumato.models.statistics import GroupStatistics, Histogram, Total
from sfumato.models.t_closeness import TCloseness

MODELS: dict[str, type[Model]] = {
    model.name: model
    for model in (
        KAnonymity,
        LDiversity,
        LUniqueGroups,
        LUniqueBuckets,
        TCloseness,
        TCloseBuckets,
        AlphaKAnonymity,
        BetaLikeness,
        AlphaBetaGammaDelta,
        Linkable,
        MinimumWidth,
        SetDiversity,
        SetCloseness,
        SetAnonymity,
        DeltaPresence,
    )
}


def from_claim(claim: Mapping[str, Any]) -> Model:
    """Return the model that a manifest's claim (or a policy's request) spells out.

    >>> from_claim({"model": "k-anonymity", "k": 5})
    KAnonymity(k=5)
    """
    name = claim.get("model")
    if not isinstance(name, str) or name not in MODELS:
        raise ParameterError(f"unknown privacy model; known are {', '.join(MODELS)}")
    model = MODELS[name]
    fields = {field.name for field in dataclasses.fields(model)}  # type: ignore[arg-type]
    given = {key: value for key, value in claim.items() if key != "model"}
    unknown = sorted(set(given) - fields)
    if unknown:
        raise ParameterError(
            f"{name}: unknown key `{unknown[0]}`; it has {', '.join(sorted(fields))}"
        )
    try:
        return model(**given)
    except TypeError:
        raise ParameterError(f"{name}: needs {', '.join(sorted(fields))}") from None


__all__ = [
    "MODELS",
    "AlphaBetaGammaDelta",
    "AlphaKAnonymity",
    "BetaLikeness",
    "BoundModel",
    "DeltaPresence",
    "GroupStatistics",
    "Histogram",
    "KAnonymity",
    "LDiversity",
    "LUniqueBuckets",
    "LUniqueGroups",
    "Linkable",
    "MinimumWidth",
    "Model",
    "SetAnonymity",
    "SetCloseness",
    "SetDiversity",
    "TCloseBuckets",
    "TCloseness",
    "Total",
    "from_claim",
]
