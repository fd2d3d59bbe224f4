"""The protection that a policy states, in models that do not know its method.

Methods promise in words of their own: groups, buckets, shares. To set them side by side, what a
policy asks for is put as models (k-anonymity; for each attribute l-diversity, t-closeness or
whatever it says), and each release's audited claims are held against those.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.audit.report import Verdict
from sfumato.jobs.policy import Policy
from sfumato.jobs.policy_file import MODEL_KEYS, AttributePolicy, PolicyFile
from sfumato.jobs.requests import guarantees_of, models_of
from sfumato.jobs.set_requests import SET_METHODS
from sfumato.models import (
    AlphaKAnonymity,
    KAnonymity,
    LDiversity,
    LUniqueBuckets,
    Model,
    SetCloseness,
    SetDiversity,
    TCloseBuckets,
    TCloseness,
)
from sfumato.models.model import exact_share
from sfumato.schema import Role

# Methods whose `k` is that of k-anonymity (of merging and sensitive-qid it is something else).
ANONYMOUS = (
    "mondrian",
    "full-domain",
    "top-down",
    "lgb",
    "composition",
    "probabilistic",
    "hybrid",
    "mdav",
    "local-suppression",
)
# Methods that take every model, under `method` or at an attribute.
OF_MODELS = ("mondrian", "full-domain")
# Methods that say `beta` for the largest share of a sensitive value in a group.
_OF_SHARES = ("slppa", "asn")
# Methods that protect each attribute by itself, by buckets or sets.
_OF_BUCKETS = ("lgb", *SET_METHODS)
_OF_OTHERS = ("l", "t", "distance", "variant", "prior")


@dataclass(frozen=True, slots=True)
class Stated:
    """What is promised about people, as models: of groups (k), and of attributes (l, t, ...).

    >>> Stated((KAnonymity(5), LDiversity("disease", 3))).k
    5
    >>> Stated((KAnonymity(5), LDiversity("disease", 3))).l_of("disease")
    3
    """

    models: tuple[Model, ...]

    @property
    def k(self) -> int | None:
        """The fewest people who share what is known; None where nothing is said of it."""
        return max(
            (m.k for m in self.models if isinstance(m, KAnonymity | AlphaKAnonymity)), default=None
        )

    def l_of(self, attribute: str) -> int | None:
        """Return the l by which no value has more than 1/l of a group, rounded up, if any is asked.

        Whoever keeps it for the values that people have keeps `distinct` and `entropy`, too.
        """
        found = [_l(model) for model in self.of(attribute)]
        return max((each for each in found if each is not None), default=None)

    def t_of(self, attribute: str) -> TCloseness | TCloseBuckets | SetCloseness | None:
        """Return the closeness that is asked of an attribute."""
        of = (TCloseness, TCloseBuckets, SetCloseness)
        return next((m for m in self.of(attribute) if isinstance(m, of)), None)

    def of(self, attribute: str) -> tuple[Model, ...]:
        """Return the models of one attribute."""
        return tuple(model for model in self.models if attribute in model.needs)

    def claims(self) -> list[dict[str, Any]]:
        """Return the models in the words of a manifest."""
        return [model.claim() for model in self.models]


def stated_by(policy: Policy) -> Stated:
    """Return what a policy states, whatever its method.

    Refuses (ParameterError) what `Policy.method` refuses.
    """
    policy.method()  # refuses what is not asked for rightly
    content = policy.content
    name, parameters = content.method.name, content.method.parameters
    k = parameters.get("k") if name in ANONYMOUS else None
    models: list[Model] = [] if k is None else [KAnonymity(k)]
    for column, attribute in content.protected.items():
        defaults = _defaults(content, attribute)
        if attribute.role is Role.SENSITIVE and name not in SET_METHODS:
            models += models_of(column, attribute, defaults, k)
        else:
            models += _of_cells(column, attribute, {**defaults, **attribute.asked()})
    models += [model for model in guarantees_of(content) if model.checkable]
    return Stated(tuple(dict.fromkeys(models)))


def _defaults(content: PolicyFile, attribute: AttributePolicy) -> dict[str, Any]:
    """Return what the method asks for an attribute beside its own keys, in those keys."""
    name, given = content.method.name, content.method.parameters
    if name in _OF_BUCKETS:
        # buckets and sets have the method's `l` or `t` only where an attribute says neither
        if {"l", "t"} & attribute.asked().keys():
            return {}
        keys: tuple[str, ...] = ("l",) if name == "lgb" and "l" in given else _OF_OTHERS
        return {key: given[key] for key in keys if key in given}
    if name in _OF_SHARES:
        share = given.get("beta", given.get("delta") if name == "slppa" else None)
        return {} if share is None else {"l": math.floor(1 / exact_share(share))}
    keys = MODEL_KEYS if name in OF_MODELS else _OF_OTHERS
    return {key: given[key] for key in keys if key in given}


def _of_cells(column: str, attribute: AttributePolicy, asked: Mapping[str, Any]) -> list[Model]:
    """Return what is asked of an attribute whose cells are in buckets, or sets."""
    distance, found = asked.get("distance", "equal"), list[Model]()
    if attribute.role is Role.SEMI_SENSITIVE:
        if "l" in asked:
            return [LUniqueBuckets(column, asked["l"])]
        return [TCloseBuckets(column, asked["t"], distance)] if "t" in asked else []
    if "l" in asked:
        found.append(SetDiversity(column, asked["l"], asked.get("variant", "frequency")))
    if "t" in asked:
        prior: Any = attribute.prior or asked.get("prior", "free")
        found.append(SetCloseness(column, asked["t"], distance, prior))
    return found


def _l(model: Model) -> int | None:
    match model:
        case LDiversity(l=l) | LUniqueBuckets(l=l) | SetDiversity(l=l):
            return math.ceil(l)
        case AlphaKAnonymity(alpha=alpha):
            return math.ceil(1 / exact_share(alpha))
    return None


# What audited claims promise of it


def kept_by(stated: Stated, verdicts: Iterable[Verdict]) -> tuple[Model, ...]:
    """Return the stated models that claims which hold are, or imply."""
    claims = [verdict.claim for verdict in verdicts if verdict.holds]
    return tuple(
        model for model in stated.models if any(_implies(claim, model) for claim in claims)
    )


def _implies(claim: Mapping[str, Any], model: Model) -> bool:
    """Return whether a claim is a model, or a stricter one in other words."""
    if claim == model.claim():
        return True
    if claim.get("attribute") not in model.needs and model.needs:
        return False
    name = claim["model"]
    match model:
        case KAnonymity(k):
            return name in ("k-anonymity", "alpha-k-anonymity") and claim["k"] >= k
        case LDiversity(l=l, variant=variant, missing=missing):
            if name in ("l-unique-groups", "l-unique-buckets"):
                # values that all differ are distinct, and as even as can be
                return variant != "recursive" and missing == "excluded" and claim["l"] >= l
            if name == "l-diversity":
                is_same = claim["missing"] == missing and claim["variant"] == variant
                return is_same and variant != "recursive" and claim["l"] >= l
            share = claim.get({"alpha-beta-gamma-delta": "beta"}.get(name, "alpha"))
            if share is None or variant != "frequency" or missing != "excluded":
                return False
            return exact_share(share) <= Fraction(1, math.ceil(l))
        case TCloseness(t=t, distance=distance, missing=missing):
            if name == "t-close-buckets":
                return missing == "excluded" and claim["distance"] == distance and claim["t"] <= t
            same = {"distance": distance, "missing": missing}
            is_same = name == model.name and same.items() <= claim.items()
            return is_same and bool(claim["t"] <= t)
        case LUniqueBuckets(l=l):
            return name == model.name and bool(claim["l"] >= l)
        case SetDiversity(l=l, variant=variant):
            # a share of 1/l at most is what sets of l mean to whom all values are equally likely
            names = (model.name, "l-diversity")
            is_same = name in names and claim["variant"] == variant
            is_stricter = name in ("l-unique-groups", "l-unique-buckets")
            return (is_same or is_stricter) and bool(claim["l"] >= l)
        case TCloseBuckets(t=t, distance=distance):
            return name == model.name and claim["distance"] == distance and bool(claim["t"] <= t)
    return False
