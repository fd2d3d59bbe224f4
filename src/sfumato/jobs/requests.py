"""From a policy to the method and the models that it asks for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from sfumato.errors import ParameterError
from sfumato.jobs.policy_errors import nearest
from sfumato.jobs.policy_file import MODEL_KEYS, AttributePolicy, PolicyFile
from sfumato.jobs.set_requests import SET_METHODS, is_kept_by_sets, set_protection
from sfumato.methods import METHODS, Method, Mondrian, SensitiveQID
from sfumato.models import (
    AlphaKAnonymity,
    BetaLikeness,
    KAnonymity,
    LDiversity,
    LUniqueBuckets,
    LUniqueGroups,
    Model,
    TCloseBuckets,
    TCloseness,
    from_claim,
)
from sfumato.models.sets import SetModel

_BETA_VARIANTS = ("basic", "enhanced")


def method_of(policy: PolicyFile) -> Method:
    """Return the method with its parameters, and the models of the policy if it takes any.

    Refuses (ParameterError) an unknown method, unknown or missing parameters, and models that the
    method cannot be asked for.
    """
    name = policy.method.name
    if name not in METHODS:
        raise ParameterError(f"there is no method `{name}`; {nearest(name, METHODS)}")
    # a field whose name is taken in Python says under which key a policy has it
    fields = {
        field.metadata.get("key", field.name): field
        for field in dataclasses.fields(cast(Any, METHODS[name]))
    }
    given = policy.method.parameters
    valid = [key for key in fields if key not in ("models", "protection")]
    takes_models = "models" in fields
    if takes_models:
        valid += [key for key in MODEL_KEYS if key not in fields]
    for key in given:
        if key not in valid:
            raise ParameterError(f"`method.{key}`: {name} has no such key; {nearest(key, valid)}")
    parameters = {
        key: _parameter(value, fields[key].type, key)
        for key, value in given.items()
        if key in fields
    }
    if name not in SET_METHODS:
        _refuse_of_sets(policy)
    if takes_models:
        parameters["models"] = _models(policy)
    elif name in SET_METHODS:
        parameters["protection"] = set_protection(policy, parameters)
    elif "protection" in fields:
        parameters["protection"] = _protection(policy)
    else:
        parameters |= _only_l(policy, fields)
    for key, field in fields.items():
        optional = (field.default, field.default_factory) != (dataclasses.MISSING,) * 2
        if key not in parameters and not optional:
            raise ParameterError(f"{name} needs `{key}`: add it to `method`")
    method = METHODS[name](**{fields[key].name: value for key, value in parameters.items()})
    if policy.on_infeasible == "suppress" and method.largest_share() is None:
        raise ParameterError(f"`on_infeasible: suppress` is not for {name}, which knows `error`")
    if not takes_models:
        _refuse_not_kept(policy, parameters)
    return method


def declared_by(policy: PolicyFile) -> tuple[Model, ...]:
    """Return the models under `guarantees` that files cannot show."""
    return tuple(model for model in guarantees_of(policy) if not model.checkable)


def unprotected(policy: PolicyFile) -> tuple[str, ...]:
    """Return a warning for every sensitive attribute that no model protects."""
    protected = {name for model in guarantees_of(policy) for name in model.needs}
    if policy.method.name not in ("mondrian", "full-domain") or _asked_of_method(policy):
        return ()
    return tuple(
        f"k-anonymity alone does not protect '{name}': a group may share one value; "
        "add `l` or `t` to it"
        for name, attribute in policy.sensitive.items()
        if not attribute.asked() and name not in protected
    )


def idle(policy: PolicyFile) -> tuple[str, ...]:
    """Return a warning for every attribute whose `l` asks for nothing."""
    warnings = []
    for name, attribute in policy.protected.items():
        asked = {**_asked_of_method(policy), **attribute.asked()}
        if "t" in attribute.asked() and "l" not in attribute.asked():
            continue
        if asked.get("l") == 1:
            warnings.append(
                f"l = 1 does not protect '{name}': one value alone meets it; use 2 or more"
            )
    return tuple(warnings)


def drawn_at_random(policy: PolicyFile) -> tuple[str, ...]:
    """Return a warning for every attribute whose sensitive cells nobody has named."""
    return tuple(
        f"the sensitive cells of '{name}' are drawn at random (`density`), which is for "
        "experiments: nobody's wish is kept; use `flag` or `when`"
        for name, attribute in policy.attributes.items()
        if attribute.density is not None
    )


def _asked_of_method(policy: PolicyFile) -> dict[str, Any]:
    given = policy.method.parameters
    return {key: given[key] for key in MODEL_KEYS if key in given}


def _parameter(value: Any, annotation: Any, key: str) -> Any:
    """Return a truth value for `yes` and its kin; all else is checked by the method itself."""
    if annotation not in (bool, "bool"):
        return value
    try:
        return TypeAdapter(bool).validate_python(value)
    except ValidationError:
        raise ParameterError(f"`method.{key}` must be true or false") from None


def _models(policy: PolicyFile) -> tuple[Model, ...]:
    defaults = _asked_of_method(policy)
    sensitive = policy.sensitive
    if defaults and not sensitive:
        raise ParameterError(
            f"`method.{next(iter(defaults))}` is about sensitive attributes, and there are none"
        )
    k = policy.method.parameters.get("k")
    models = [
        model
        for name, attribute in sensitive.items()
        for model in models_of(name, attribute, defaults, k)
    ]
    models += [model for model in guarantees_of(policy) if model.checkable]
    return tuple(dict.fromkeys(models))


def models_of(
    name: str, attribute: AttributePolicy, defaults: Mapping[str, Any], k: Any
) -> list[Model]:
    """Return the models of one attribute; its own keys win over those of the method."""
    own = attribute.asked()
    asked = {**defaults, **own}
    place = f"`attributes.{name}`"
    for key, needed in (("variant", ("l", "beta")), ("c", ("l",)), ("distance", ("t",))):
        if key in asked and not any(other in asked for other in needed):
            raise ParameterError(f"{place}: `{key}` needs {' or '.join(f'`{n}`' for n in needed)}")
    variant: Any = asked.get("variant")
    if attribute.missing == "value" and ("alpha" in asked or "beta" in asked):
        raise ParameterError(
            f"{place}: `alpha` and `beta` do not count missing values; leave `missing` excluded, "
            "or ask for `l` or `t`"
        )
    of_beta = variant in _BETA_VARIANTS
    if variant is not None and of_beta and "beta" not in asked:
        raise ParameterError(f"{place}: `variant: {variant}` needs `beta`")
    models: list[Model] = []
    try:
        if "l" in asked:
            kind: Any = variant if variant is not None and not of_beta else "frequency"
            # a `c` for all attributes steers only those that are recursive
            c = asked.get("c") if kind == "recursive" else own.get("c")
            models.append(LDiversity(name, asked["l"], kind, c, attribute.missing))
        elif variant is not None and not of_beta:
            raise ParameterError(f"`variant` must be one of {', '.join(_BETA_VARIANTS)}")
        if "t" in asked:
            distance = asked.get("distance", "equal")
            models.append(TCloseness(name, asked["t"], distance, attribute.missing))
        if "alpha" in asked:
            if k is None:
                raise ParameterError("`alpha` needs `k` in the method")
            models.append(AlphaKAnonymity(name, asked["alpha"], k))
        if "beta" in asked:
            models.append(BetaLikeness(name, asked["beta"], variant if of_beta else "basic"))
    except ParameterError as error:
        raise ParameterError(f"{place}: {error}") from None
    return models


def guarantees_of(policy: PolicyFile) -> list[Model]:
    """Return the models under `guarantees`.

    Refuses (ParameterError) entries that are none, or about attributes that are not sensitive.
    """
    models = []
    for number, claim in enumerate(policy.guarantees, start=1):
        try:
            model = from_claim(claim)
        except ParameterError as error:
            raise ParameterError(f"`guarantees`, entry {number}: {error}") from None
        of_cells = isinstance(model, LUniqueBuckets | TCloseBuckets | SetModel)
        sensitive = policy.protected if of_cells else policy.sensitive
        for name in model.needs:
            if name not in sensitive:
                of_sets = isinstance(model, SetModel)
                kind = f"sensitive{'' if of_sets or not of_cells else ' or semi-sensitive'}"
                raise ParameterError(
                    f"`guarantees`, entry {number}: '{name}' is not a {kind} attribute; "
                    f"{nearest(name, sensitive)}"
                )
        models.append(model)
    return models


# Methods that protect each attribute by buckets of its own


def _protection(policy: PolicyFile) -> dict[str, LUniqueBuckets | TCloseBuckets]:
    """Return the buckets that attributes ask for themselves; the others have the method's."""
    found: dict[str, LUniqueBuckets | TCloseBuckets] = {}
    for name, attribute in policy.protected.items():
        place, asked = f"`attributes.{name}`", attribute.asked()
        for key in asked:
            if key not in ("l", "t", "distance"):
                raise ParameterError(f"{place}.{key}: {policy.method.name} knows only `l` and `t`")
        if attribute.missing == "value":
            raise ParameterError(
                f"{place}.missing: {policy.method.name} does not count missing values; "
                "leave it `excluded`"
            )
        if "distance" in asked and "t" not in asked:
            raise ParameterError(f"{place}: `distance` needs `t`")
        if "l" in asked and "t" in asked:
            raise ParameterError(f"{place}: buckets are either l-unique or t-close; drop one")
        try:
            if "l" in asked:
                found[name] = LUniqueBuckets(name, asked["l"])
            elif "t" in asked:
                found[name] = TCloseBuckets(name, asked["t"], asked.get("distance", "equal"))
        except ParameterError as error:
            raise ParameterError(f"{place}: {error}") from None
    return found


def _refuse_of_sets(policy: PolicyFile) -> None:
    """Refuse keys and guarantees that only methods of random sets know."""
    for name, attribute in policy.protected.items():
        for key in attribute.asked_of_sets():
            raise ParameterError(
                f"`attributes.{name}.{key}`: {policy.method.name} cannot be asked for it; "
                "use sensitive-qid"
            )
    for number, model in enumerate(guarantees_of(policy), start=1):
        if isinstance(model, SetModel):
            raise ParameterError(
                f"`guarantees`, entry {number}: {model.name} is about random sets, which "
                f"{policy.method.name} does not publish; use sensitive-qid, or drop the entry"
            )


# Methods that have an `l` and take no other model


def _only_l(policy: PolicyFile, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `l` that sensitive attributes ask for: the greatest, which holds for all of them.

    An attribute's own `l` wins over the method's.
    """
    name = policy.method.name
    asked = []
    for column, attribute in policy.sensitive.items():
        for key in attribute.asked():
            if key != "l" or "l" not in fields:
                raise ParameterError(
                    f"`attributes.{column}.{key}`: {name} cannot be asked for it; use mondrian"
                )
        if attribute.missing == "value" and not METHODS[name].counts_missing:
            raise ParameterError(
                f"`attributes.{column}.missing`: {name} does not count missing values; "
                "leave it `excluded`, or use mondrian"
            )
        wanted = policy.method.parameters.get("l") if attribute.l is None else attribute.l
        if wanted is not None:
            asked.append(wanted)
    numbers = all(isinstance(each, int | float) for each in asked)
    return {"l": max(asked)} if asked and numbers else {}


def _refuse_not_kept(policy: PolicyFile, parameters: Mapping[str, Any]) -> None:
    """Refuse guarantees that the method does not give anyway."""
    name = policy.method.name
    for number, model in enumerate(guarantees_of(policy), start=1):
        if model.checkable and not _is_kept(model, parameters):
            other = SensitiveQID.name if isinstance(model, SetModel) else Mondrian.name
            advice = "ask the method for more" if other == name else f"use {other}"
            raise ParameterError(
                f"`guarantees`, entry {number}: {name} does not give {model.name} to this degree; "
                f"{advice}, or change the entry"
            )


def _is_kept(model: Model, parameters: Mapping[str, Any]) -> bool:
    """Whether what a method with these parameters gives is the model, or implies it."""
    if isinstance(model, SetModel):
        return is_kept_by_sets(model, parameters)
    match model:
        case KAnonymity(k):
            return bool(k <= parameters.get("k", 0))
        case LUniqueBuckets(attribute, l):
            given = _buckets_of(attribute, parameters)
            return isinstance(given, LUniqueBuckets) and l <= given.l
        case TCloseBuckets(attribute, t, distance):
            given = _buckets_of(attribute, parameters)
            is_close = isinstance(given, TCloseBuckets) and t >= given.t
            return is_close and distance == cast(TCloseBuckets, given).distance
        case LUniqueGroups() | LDiversity(variant="frequency" | "distinct", missing="excluded") if (
            "protection" not in parameters
        ):
            # buckets hold sensitive cells, and groups promise nothing about them
            return bool(model.l <= parameters.get("l", 0))
    return False


def _buckets_of(
    attribute: str, parameters: Mapping[str, Any]
) -> LUniqueBuckets | TCloseBuckets | None:
    """Return how a method with these parameters protects an attribute by buckets, if it does."""
    if "protection" not in parameters:
        return None
    given: LUniqueBuckets | TCloseBuckets | None = parameters["protection"].get(attribute)
    if given is None and parameters.get("l") is not None:
        return LUniqueBuckets(attribute, parameters["l"])
    if given is None and parameters.get("t") is not None:
        return TCloseBuckets(attribute, parameters["t"])
    return given
