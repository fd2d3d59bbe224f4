"""One claim of the manifest against the evidence of the published tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.audit.report import Verdict
from sfumato.audit.statistics import Evidence, statistics_of
from sfumato.audit.transitions import judge_transitions
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.models import (
    MODELS,
    GroupStatistics,
    Histogram,
    KAnonymity,
    LUniqueBuckets,
    Model,
    TCloseBuckets,
    Total,
    from_claim,
)
from sfumato.models.association import BoundAssociation
from sfumato.models.buckets import FEWEST_VALUES
from sfumato.models.declared import (
    DeltaPresence,
    DifferentialPrivacy,
    LocalDifferentialPrivacy,
)
from sfumato.models.sets import SetCloseness, SetModel

UNKNOWN = "unknown model"
DECLARED = "declared, not checked"
# Far above any table, far below where a product of counts and parameters would overflow.
_LARGEST = 2**31 - 1
_LONGEST_LINE = 300
# What decides which claim is meant: a reader who takes another default would read another claim.
_SPELT_OUT = ("variant", "distance", "prior")


def judge(claim: Mapping[str, Any], evidence: Evidence) -> Verdict:
    """Return whether every group of the release satisfies the claim, and the worst level reached.

    Refuses (ReleaseDamaged) a claim that is not fully stated, has impossible parameters, or is
    about an attribute that the release does not show as sensitive.
    """
    name = claim["model"]
    if name not in (*MODELS, DifferentialPrivacy.name, LocalDifferentialPrivacy.name):
        return Verdict(claim, None, note=UNKNOWN)
    try:
        if name == DifferentialPrivacy.name:
            return _differentially_private(claim)
        if name == LocalDifferentialPrivacy.name:
            return judge_transitions(claim, evidence.transitions)
        model = from_claim(claim)
        if isinstance(model, DeltaPresence):
            return _present(claim, model, evidence)
        verdict = _checked(claim, model, evidence)
        _refuse_unsaid(claim, model)
        return verdict
    except ParameterError as error:
        line = " ".join(str(error).split())[:_LONGEST_LINE]  # it may quote a key of the manifest
        raise ReleaseDamaged(f"the manifest makes no sensible claim: {line}") from None


def _differentially_private(claim: Mapping[str, Any]) -> Verdict:
    """Return that it is declared; ParameterError where no mechanism has such a parameter.

    That the method is one that draws its records so is checked with the manifest.
    """
    if claim.keys() != {"model", "epsilon"}:
        raise ParameterError(f"{DifferentialPrivacy.name} needs `epsilon`, and nothing else")
    DifferentialPrivacy(claim["epsilon"])
    return Verdict(claim, None, note=DECLARED)


def _present(claim: Mapping[str, Any], model: DeltaPresence, evidence: Evidence) -> Verdict:
    """Return that it is declared; ParameterError where the published records contradict it."""
    if any(isinstance(end, bool) for end in (model.minimum, model.maximum)):
        raise ParameterError(f"{model.name}: needs numbers")
    if model.maximum == 0 and len(evidence.sizes):
        raise ParameterError(f"{model.name} says that nobody is in the release, and there are some")
    return Verdict(claim, None, note=DECLARED)


def _refuse_unsaid(claim: Mapping[str, Any], model: Model) -> None:
    """Refuse (ParameterError) a claim that leaves open which of several it is."""
    for key in _SPELT_OUT:
        if hasattr(model, key) and key not in claim:
            raise ParameterError(f"{model.name} does not state its `{key}`")


def _checked(claim: Mapping[str, Any], model: Model, evidence: Evidence) -> Verdict:
    if any(isinstance(value, int | float) and value > _LARGEST for value in claim.values()):
        raise ParameterError(f"{model.name} has a parameter above {_LARGEST:,}")
    if isinstance(model, SetModel):
        return _of_sets(claim, model, evidence)
    statistics, totals = _counted(model, evidence)
    notes = [evidence.note]
    if model.of_tables:
        if evidence.repeats is None or evidence.note:
            raise ParameterError(
                f"{model.name} is about quasi-identifiers in tables of their own, one row a person"
            )
        statistics = replace(statistics, repeats=evidence.repeats)
    if (evidence.crowds < evidence.sizes).any() and hasattr(model, "k"):
        # The layout shows quasi-identifiers exactly: a group's size protects its links only.
        if isinstance(model, KAnonymity):
            statistics = GroupStatistics(evidence.crowds, {})
            notes.append("counts people with the same quasi-identifiers")
        else:
            notes.append("k counts the people of a group, whose quasi-identifiers may differ")
    bound = model.bind(totals)
    if not len(statistics.sizes):
        return Verdict(claim, True, note="no records")
    holds = bool(bound.holds(statistics).all())
    if isinstance(model, TCloseBuckets) and not holds:
        # its level is a distance, which may be small all the same
        notes.append(_buckets_of_one_value(statistics.histograms[model.attribute], totals))
    if isinstance(bound, BoundAssociation):
        greatest = (
            f"{k} {float(v.max()):.4g}" for k, v in bound.reached(statistics)._asdict().items()
        )
        notes.append(f"reaches {', '.join(greatest)}")
    return Verdict(claim, holds, bound.worst(statistics), "; ".join(filter(None, notes)))


def _of_sets(claim: Mapping[str, Any], model: SetModel, evidence: Evidence) -> Verdict:
    """Return whether sets that were drawn as stated satisfy the claim."""
    (attribute,) = model.needs
    if attribute not in evidence.sets:
        raise ParameterError(f"{model.name} is about '{attribute}', whose cells are not sets")
    found = evidence.sets[attribute]
    notes = []
    if isinstance(model, SetCloseness):
        # files show sets, not how often the own value was put in on purpose
        notes.append(f"given the stated p{' and masses' if model.prior == 'data' else ''}")
        if model.distance == "ordered":
            if not found.has_order:
                raise ParameterError(f"{model.name}: '{attribute}' has no order")
            notes.append("by its bound, the distance of values without order")
    how, masses = found.randomization, found.masses
    holds, worst = model.holds_for(how, masses), model.level(how, masses)
    return Verdict(claim, holds, worst, "; ".join(notes))


def _buckets_of_one_value(histogram: Histogram, totals: dict[str, Total]) -> str:
    """Return a note on buckets that hide nothing, if there are any."""
    (total,) = totals.values()
    before = np.concatenate([[0], np.cumsum(histogram.codes != total.null_code)])
    few = int((np.diff(before[histogram.offsets]) < FEWEST_VALUES).sum())
    return f"{few} of {len(histogram.present)} buckets hold fewer than two values" if few else ""


def _counted(model: Model, evidence: Evidence) -> tuple[GroupStatistics, dict[str, Total]]:
    """Return the statistics that the model looks at: of groups, or of buckets."""
    attribute = next(iter(model.needs), None)
    if attribute is None:
        return GroupStatistics(evidence.sizes, {}), {}
    of_buckets = isinstance(model, LUniqueBuckets | TCloseBuckets)
    shown = evidence.buckets if of_buckets else evidence.sensitive
    if attribute not in shown:
        where = "in buckets" if of_buckets else "sensitive"
        raise ParameterError(f"{model.name} is about '{attribute}', which is not {where}")
    found = shown[attribute]
    return statistics_of(
        found.sizes if of_buckets else evidence.sizes,
        attribute,
        found,
        by_hierarchy=getattr(model, "distance", None) == "hierarchical",
    )
