"""Every method at the same stated protection: which parameters promise it, as far as any do."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.jobs.policy import Policy
from sfumato.jobs.policy_file import MODEL_KEYS, SET_KEYS, AttributePolicy, PolicyFile, parse
from sfumato.jobs.requests import declared_by
from sfumato.jobs.set_requests import SET_METHODS
from sfumato.jobs.stated import ANONYMOUS, OF_MODELS, Stated, stated_by
from sfumato.methods import METHODS
from sfumato.models import (
    AlphaKAnonymity,
    BetaLikeness,
    KAnonymity,
    LDiversity,
    Model,
    SetCloseness,
    TCloseness,
)

# What stands for protection where a method can be asked for neither k nor l.
EPSILON: Final = 1.0
KEEP: Final = 0.8

# What to know of a method's promise, beside the claims of its release.
_EXACT = "quasi-identifiers are exact, so that it hides what people have and not who is there"
ABOUT: Final[Mapping[str, str]] = {
    "top-down": "promises k alone: a group may share one sensitive value",
    "anatomy": _EXACT,
    "arp": _EXACT,
    "aip": _EXACT,
    "ng": "promises l different values behind each record, which files cannot show, so that it "
    "claims nothing",
    "slppa": "quasi-identifiers are exact, in several tables: it hides what people have, and blurs "
    "who is there",
    "slicing": "quasi-identifiers are exact, in blocks that are permuted within groups",
    "merging": "quasi-identifiers are exact, in blocks that are permuted within classes; made "
    "against several independent releases, which are not compared here",
    "asn": "quasi-identifiers are exact, each in a table of its own; promises nothing of presence",
    "composition": "promises k alone; made against several releases, which are not compared here",
    "probabilistic": "promises k alone, of a sample; made against several releases, which are not "
    "compared here",
    "hybrid": "promises k alone, of a sample with perturbed values; made against several releases, "
    "which are not compared here",
    "dp": f"another kind of promise: differential privacy, here with epsilon = {EPSILON:g}",
    "pram": f"another kind of promise: every cell is replaced at random, here kept with "
    f"probability {KEEP:g}",
    "mdav": "promises k alone: a group may share one sensitive value",
    "local-suppression": "promises k alone: a group may share one sensitive value",
    "sensitive-qid": "quasi-identifiers are exact, secret cells random sets: its l bounds what is "
    "learnt only by somebody to whom all values are equally likely",
    "rating": "quasi-identifiers are exact, secret cells sets of other people's values",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A policy whose method and models promise what was stated, or come nearest; and notes."""

    policy: Policy
    notes: tuple[str, ...] = ()


def at_protection(
    policy: Policy,
    method: str,
    stated: Stated | None = None,
    tuning: Mapping[str, Any] | None = None,
) -> Choice:
    """Return the policy under another method (a name in `METHODS`) at a stated protection.

    Roles, hierarchies, domains and recoding stay as they are. Without `stated`, protection is what
    the policy itself states, and its own method is left as it is. `tuning` are further parameters
    of the method; the policy's own keeps those that ask for nothing. What a method cannot be asked
    for is left out: the claims of its release tell.

    Refuses (ParameterError) a method that is none, one that could not be asked for any of it, and
    parameters that it does not have.
    """
    if method not in METHODS:
        raise ParameterError(f"there is no method `{method}`; there are {', '.join(METHODS)}")
    _refuse_roles(policy.content, method)
    about = (ABOUT[method],) if method in ABOUT else ()
    if stated is None and method == policy.content.method.name and not tuning:
        about = () if method in ("dp", "pram") else about
        return Choice(policy, ("as the policy says", *about))
    stated = stated_by(policy) if stated is None else stated
    asked = _ASK[method](_Request(method, policy.content, stated))
    if method == policy.content.method.name:
        tuning = _own_tuning(policy.content) | dict(tuning or {})
    content = _content(policy.content, method, asked, tuning or {})
    changed = Policy(content, policy.folder)
    made = changed.method()
    if policy.content.on_infeasible == "suppress" and made.largest_share() is not None:
        changed = replace(changed, content=content.model_copy(update={"on_infeasible": "suppress"}))
    return Choice(changed, (*asked.notes, *about))


def _own_tuning(content: PolicyFile) -> dict[str, Any]:
    """Return the parameters of the policy's method that do not ask for protection."""
    asking = {"k", "gamma", "delta", "attributes", *MODEL_KEYS, *SET_KEYS}
    given = content.method.parameters
    return {key: value for key, value in given.items() if key not in asking}


def _refuse_roles(content: PolicyFile, method: str) -> None:
    """Refuse (ParameterError) roles that a method does not know, before it is asked for models."""
    for name, attribute in content.attributes.items():
        if attribute.role not in METHODS[method].handles:
            raise ParameterError(
                f"{method} cannot protect '{name}', which is {attribute.role}; compare it under a "
                "policy that gives the column another role"
            )


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked of which method, and of which attributes."""

    method: str
    content: PolicyFile
    stated: Stated

    def k(self) -> tuple[int, tuple[str, ...]]:
        """Return k, or where only l is stated the l that groups of l values have anyway."""
        if self.stated.k is not None:
            return self.stated.k, ()
        found = [self.stated.l_of(name) for name in self.content.protected]
        largest = max((each for each in found if each is not None), default=None)
        if largest is None:
            raise ParameterError(
                f"the policy states neither `k` nor `l`, and {self.method} is asked for `k`; add it"
            )
        return largest, (f"the policy states no k: k = {largest} as its l has it",)

    def l(self) -> int:  # noqa: E743 -- the parameter's name in every paper
        """Return the greatest l of all sensitive attributes, which holds for each."""
        found = [self.stated.l_of(name) for name in self.content.sensitive]
        largest = max((each for each in found if each is not None), default=None)
        if largest is None:
            raise ParameterError(
                f"the policy states no `l` for a sensitive attribute, and {self.method} protects "
                "by nothing else; add `l` to one"
            )
        return largest


@dataclass(frozen=True, slots=True)
class _Asked:
    """Parameters of a method, keys of attributes, further guarantees; and what to say of them."""

    method: dict[str, Any]
    attributes: Mapping[str, Mapping[str, Any]]
    guarantees: tuple[Model, ...] = ()
    notes: tuple[str, ...] = ()


def _content(
    content: PolicyFile, method: str, asked: _Asked, tuning: Mapping[str, Any]
) -> PolicyFile:
    plain = content.model_dump(exclude_unset=True)
    attributes = {}
    for name, keys in plain["attributes"].items():
        gone = {*MODEL_KEYS, *SET_KEYS}
        if method in SET_METHODS and keys.get("missing") == "excluded":
            gone.add("missing")  # sets count a missing value like any other
        kept = {key: value for key, value in keys.items() if key not in gone}
        attributes[name] = kept | dict(asked.attributes.get(name, {}))
    claims = [model.claim() for model in (*asked.guarantees, *declared_by(content))]
    plain |= {
        "attributes": attributes,
        "method": {"name": method, **asked.method, **tuning},
        "guarantees": claims,
        "on_infeasible": "error",
    }
    if not claims:
        del plain["guarantees"]
    return parse(plain, "policy")


def _by_models(request: _Request) -> _Asked:
    """Ask for every model, at its attribute where a key says it, else under `guarantees`."""
    k, notes = request.k()
    attributes: dict[str, dict[str, Any]] = {}
    others: list[Model] = []
    for model in request.stated.models:
        keys = _keys(model)
        name = model.needs[0] if model.needs else ""
        taken = attributes.get(name, {})
        owner = request.content.sensitive.get(name)
        if keys is None or owner is None or not _fits(model, owner) or keys.keys() & taken.keys():
            if not isinstance(model, KAnonymity):
                others.append(model)
        else:
            attributes[name] = taken | keys
    return _Asked({"k": k}, attributes, tuple(others), notes)


def _keys(model: Model) -> dict[str, Any] | None:
    """Return the keys of an attribute that ask for a model."""
    match model:
        case LDiversity(l=l, variant="recursive", c=c):
            return {"l": l, "variant": "recursive", "c": c}
        case LDiversity(l=l, variant=variant):
            return {"l": l} if variant == "frequency" else {"l": l, "variant": variant}
        case TCloseness(t=t, distance=distance):
            return {"t": t} if distance == "equal" else {"t": t, "distance": distance}
        case AlphaKAnonymity(alpha=alpha):
            return {"alpha": alpha}
        case BetaLikeness(beta=beta, variant=variant):
            return {"beta": beta} if variant == "basic" else {"beta": beta, "variant": variant}
    return None


def _fits(model: Model, owner: AttributePolicy) -> bool:
    return getattr(model, "missing", owner.missing) == owner.missing


def _by_k(request: _Request) -> _Asked:
    k, notes = request.k()
    return _Asked({"k": k}, {}, notes=notes)


def _by_l(request: _Request) -> _Asked:
    return _Asked({"l": request.l()}, {})


def _by_share(request: _Request) -> _Asked:
    """Ask that no value has more than 1/l of a group; decimals are rounded down, to be safe."""
    share = _share(request.l())
    own = {name: request.stated.l_of(name) for name in request.content.sensitive}
    if request.method == "slppa" and len(set(own.values())) > 1:
        shares = {name: {"beta": _share(each)} for name, each in own.items() if each is not None}
        return _Asked({"beta": share, "attributes": shares}, {})
    return _Asked({"beta": share}, {})


def _share(l: int) -> float:  # noqa: E741
    return math.floor(Fraction(10_000, l)) / 10_000


def _by_classes(request: _Request) -> _Asked:
    l = request.l()  # noqa: E741
    return _Asked({"l": l} if request.stated.k is None else {"l": l, "k": request.stated.k}, {})


def _by_buckets(request: _Request) -> _Asked:
    """Ask for l-unique buckets of each attribute, or for t-close ones where no l is stated."""
    k, notes = request.k()
    attributes = {}
    for name in request.content.protected:
        l, close = request.stated.l_of(name), request.stated.t_of(name)  # noqa: E741
        if l is None and close is None:
            raise ParameterError(_nothing_of(name, request.method))
        attributes[name] = {"l": l} if l is not None else _closeness(close)
    return _Asked({"k": k}, attributes, notes=notes)


def _by_sets(request: _Request) -> _Asked:
    """Ask for sets of l values of each attribute, which are t-close if that is stated."""
    attributes = {}
    for name in request.content.protected:
        l, close = request.stated.l_of(name), request.stated.t_of(name)  # noqa: E741
        knows_t = request.method == "sensitive-qid" and close is not None
        if l is None and not knows_t:
            raise ParameterError(_nothing_of(name, request.method))
        found: dict[str, Any] = {} if l is None else {"l": l}
        if knows_t:
            found |= _closeness(close)
        if found.get("distance") == "hierarchical":
            del found["distance"]  # equal distances are never smaller
        attributes[name] = found
    return _Asked({}, attributes)


def _closeness(close: Any) -> dict[str, Any]:
    found = {"t": close.t}
    if getattr(close, "distance", "equal") != "equal":
        found["distance"] = close.distance
    if isinstance(close, SetCloseness) and close.prior != "free":
        found["prior"] = close.prior
    return found


def _nothing_of(name: str, method: str) -> str:
    return f"the policy states nothing of '{name}' that {method} could promise; add `l` to it"


def _otherwise(**parameters: Any) -> Callable[[_Request], _Asked]:
    return lambda request: _Asked(dict(parameters), {})


_ASK: Final[Mapping[str, Callable[[_Request], _Asked]]] = {
    **dict.fromkeys(ANONYMOUS, _by_k),
    **dict.fromkeys(OF_MODELS, _by_models),
    **dict.fromkeys(("anatomy", "arp", "aip", "ng", "slicing"), _by_l),
    **dict.fromkeys(("slppa", "asn"), _by_share),
    **dict.fromkeys(SET_METHODS, _by_sets),
    "lgb": _by_buckets,
    "merging": _by_classes,
    "dp": _otherwise(epsilon=EPSILON),
    "pram": _otherwise(keep=KEEP),
}
