"""What a policy asks of methods that publish random sets: protection of each attribute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sfumato.errors import ParameterError
from sfumato.jobs.policy_file import PolicyFile
from sfumato.methods import Rating, SensitiveQID, SetProtection
from sfumato.models import SetAnonymity, SetCloseness, SetDiversity
from sfumato.models.sets import SetModel

SET_METHODS = (SensitiveQID.name, Rating.name)
_KEYS = {
    SensitiveQID.name: tuple(each.name for each in fields(SetProtection)),
    Rating.name: ("l",),
}
_STEER = ("max_eta", "prior", "distance", "variant")
_NEEDS = {"max_eta": ("l", "t", "k"), "prior": ("t",), "distance": ("t",), "variant": ("l",)}


def set_protection(policy: PolicyFile, parameters: Mapping[str, Any]) -> dict[str, SetProtection]:
    """Return the protection of attributes that ask for `l`, `t` or `k`, or steer the method's.

    Keys that only steer (`max_eta`, `prior`, `distance`, `variant`) are the method's where an
    attribute does not give them. Refuses (ParameterError) keys that the method does not know, and
    `missing: excluded`, since missing values are members of sets like others.
    """
    method = policy.method.name
    known = _KEYS[method]
    found = {}
    for name, attribute in policy.protected.items():
        own = {**attribute.asked(), **attribute.asked_of_sets()}
        place = f"`attributes.{name}`"
        if "missing" in attribute.model_fields_set and attribute.missing == "excluded":
            raise ParameterError(
                f"{place}.missing: {method} counts a missing value like any other; leave the key "
                "out, or make it `value`"
            )
        for key in own:
            if key not in known:
                raise ParameterError(
                    f"{place}.{key}: {method} knows only {', '.join(f'`{k}`' for k in known)}"
                )
        if not own:
            continue
        asks = any(key in own for key in ("l", "t", "k"))
        given = {key: parameters[key] for key in known if key in parameters}
        if asks:
            given = {key: value for key, value in given.items() if key in _STEER}
        for key in own:
            needed = _NEEDS.get(key, ())
            if needed and not any(other in {**given, **own} for other in needed):
                raise ParameterError(
                    f"{place}: `{key}` needs {' or '.join(f'`{other}`' for other in needed)}"
                )
        try:
            found[name] = SetProtection(**{**given, **own})
        except ParameterError as error:
            raise ParameterError(f"{place}: {error}") from None
    return found


def is_kept_by_sets(model: SetModel, parameters: Mapping[str, Any]) -> bool:
    """Whether sets that are made with these parameters keep a model that is asked for as well."""
    if "protection" not in parameters:
        return False
    if isinstance(model, SetDiversity) and parameters.get("left_over") == "repeat":
        return False
    name = model.needs[0]
    given = parameters["protection"].get(name)
    for names in parameters.get("joint", ()):
        if name in names:
            # all of a joint's set may share one part; closeness of the whole is that of its parts
            if not isinstance(model, SetCloseness):
                return False
            given = SensitiveQID(**parameters).protection_of_joint(names)
    if not isinstance(given, SetProtection):
        keys = {each.name for each in fields(SetProtection)}
        given = SetProtection(**{k: v for k, v in parameters.items() if k in keys})
    sizes = [size for size in (given.l, given.k) if size is not None]
    match model:
        case SetDiversity():
            return model.l <= max(sizes, default=0)
        case SetAnonymity():
            return model.k <= max(sizes, default=0)
        case SetCloseness():
            is_as_free = model.prior == given.prior or given.prior == "free"
            return given.t is not None and given.t <= model.t and is_as_free
    return False
