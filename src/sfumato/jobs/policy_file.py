"""The content of a policy file: its sections and keys, checked one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

from sfumato.errors import SchemaError
from sfumato.jobs.policy_errors import first_problem
from sfumato.recoding import days_of_shift, steps_from_policy
from sfumato.release.manifest import MOST_DIGITS
from sfumato.schema import Kind, Role

Scalar = StrictBool | StrictInt | StrictFloat | StrictStr
Number = StrictInt | StrictFloat
# The keys of an attribute that ask for a privacy model, and those that only steer one.
MODEL_KEYS = ("l", "variant", "c", "t", "distance", "alpha", "beta")
# Those that only methods of random sets know.
SET_KEYS = ("k", "max_eta", "prior")

_FOR_SENSITIVE = (*MODEL_KEYS, *SET_KEYS, "min_width", "missing")
_ALLOWED = {
    Role.SENSITIVE: _FOR_SENSITIVE,
    Role.SEMI_SENSITIVE: MODEL_KEYS,
    Role.SENSITIVE_QUASI_IDENTIFIER: ("l", "variant", "t", "distance", *SET_KEYS, "missing"),
}


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class DomainBounds(_Section):
    """The ends of a stated numeric domain."""

    min: Number | StrictStr
    max: Number | StrictStr


class AttributePolicy(_Section):
    """What the policy says of one column."""

    role: Role
    kind: Kind | None = None
    hierarchy: StrictStr | dict[str, Any] | None = None
    order: list[Scalar] | None = None
    domain: DomainBounds | list[Scalar] | None = None
    recode: list[dict[str, Any]] | dict[str, Any] | None = None
    pseudonym: StrictBool | StrictStr = False
    keep: bool = False
    missing: Literal["excluded", "value"] = "excluded"
    min_width: Number | None = None
    loss_weight: Number = 1
    max_level: StrictInt | None = None
    max_width: Number | None = None
    flag: StrictStr | None = None
    when: StrictStr | None = None
    density: Number | None = None
    l: Number | None = None  # noqa: E741 -- the key's name in every paper
    variant: StrictStr | None = None
    c: Number | None = None
    t: Number | None = None
    distance: StrictStr | None = None
    alpha: Number | None = None
    beta: Number | None = None
    k: StrictInt | None = None
    max_eta: StrictInt | None = None
    prior: StrictStr | None = None

    def asked(self) -> dict[str, Any]:
        """Return the keys for privacy models that are given."""
        given = self.model_dump(include=set(MODEL_KEYS))
        return {key: given[key] for key in MODEL_KEYS if given[key] is not None}

    def asked_of_sets(self) -> dict[str, Any]:
        """Return the keys that are given and only methods of random sets know."""
        given = self.model_dump(include=set(SET_KEYS))
        return {key: given[key] for key in SET_KEYS if given[key] is not None}


class MethodPolicy(_Section):
    """The publishing method and its parameters."""

    model_config = ConfigDict(extra="allow", frozen=True, hide_input_in_errors=True)
    name: StrictStr

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters as given."""
        return dict(self.model_extra or {})


class OutputPolicy(_Section):
    """How the release is written."""

    format: Literal["parquet", "csv"] = "parquet"
    formula_guard: bool = True


class PolicyFile(_Section):
    """The whole content of a policy file."""

    attributes: dict[str, AttributePolicy]
    unit: StrictStr | None = None
    weight: StrictStr | None = None
    household: StrictStr | None = None
    method: MethodPolicy
    guarantees: list[dict[str, Any]] = []
    on_infeasible: Literal["error", "suppress"] = "error"
    output: OutputPolicy = OutputPolicy()

    @model_validator(mode="after")
    def _is_coherent(self) -> Self:
        for name, attribute in self.attributes.items():
            _check_attribute(name, attribute)
        _check_recoding(self)
        return self

    @property
    def sensitive(self) -> dict[str, AttributePolicy]:
        """The sensitive attributes by name."""
        return {
            name: attribute
            for name, attribute in self.attributes.items()
            if attribute.role is Role.SENSITIVE
        }

    @property
    def protected(self) -> dict[str, AttributePolicy]:
        """The attributes of which all or some cells are sensitive, by name."""
        roles = (Role.SENSITIVE, Role.SEMI_SENSITIVE, Role.SENSITIVE_QUASI_IDENTIFIER)
        return {
            name: attribute
            for name, attribute in self.attributes.items()
            if attribute.role in roles
        }


def parse(content: Any, name: str) -> PolicyFile:
    """Return the checked content of the policy called `name`.

    Refuses (SchemaError, one line) unknown keys, with the nearest valid one, impossible values,
    and keys that contradict a role.
    """
    if place := _place_of_long_number(content):
        raise SchemaError(
            f"{name}: `{place}` has a whole number of {MOST_DIGITS} digits or more, which a "
            "release cannot state; give a smaller one"
        )
    try:
        return PolicyFile.model_validate(content)
    except ValidationError as error:
        raise SchemaError(f"{name}: {first_problem(error, _KNOWN_KEYS, _CHOICES)}") from None


def _place_of_long_number(content: Any, steps: tuple[str, ...] = ()) -> str | None:
    """Return the key under which a whole number stands that no manifest may have, None if none.

    What lies below a key of a column may be a value of it, and is not named.
    """
    if isinstance(content, int) and abs(content) >= 10 ** (MOST_DIGITS - 1):  # and a minus
        return ".".join(steps[: 3 if steps[:1] == ("attributes",) else 2])
    inner: Iterable[tuple[str, Any]] = ()
    if isinstance(content, Mapping):
        inner = ((str(key), value) for key, value in content.items())
    elif isinstance(content, list | tuple):
        inner = (("", value) for value in content)
    places = (_place_of_long_number(value, (*steps, key) if key else steps) for key, value in inner)
    return next((place for place in places if place), None)


_KNOWN_KEYS = {
    "": list(PolicyFile.model_fields),
    "attributes.*": list(AttributePolicy.model_fields),
    "output": list(OutputPolicy.model_fields),
    "attributes.*.domain": list(DomainBounds.model_fields),
}
_CHOICES = {
    "attributes.*.role": [str(role) for role in Role],
    "attributes.*.kind": [str(kind) for kind in Kind],
    "attributes.*.missing": ["excluded", "value"],
    "on_infeasible": ["error", "suppress"],
    "output.format": ["parquet", "csv"],
}


def _check_attribute(name: str, attribute: AttributePolicy) -> None:
    """Refuse keys that contradict the role; the exception becomes one line of the policy."""
    for key in (*MODEL_KEYS, *SET_KEYS):
        if key in attribute.model_fields_set and getattr(attribute, key) is None:
            raise ValueError(f"column '{name}': `{key}` is empty; give it a value or leave it out")
    allowed = _ALLOWED.get(attribute.role, ())
    for key in _FOR_SENSITIVE:
        if key in attribute.model_fields_set and key not in allowed:
            raise ValueError(
                f"column '{name}': `{key}` is for sensitive attributes, and this one is "
                f"{attribute.role}"
            )
    if attribute.domain is not None and attribute.kind is not None:
        is_numeric = attribute.kind is Kind.NUMERIC
        if is_numeric != isinstance(attribute.domain, DomainBounds):
            form = "{min: ..., max: ...}" if is_numeric else "a list of values"
            raise ValueError(
                f"column '{name}': the domain of a {attribute.kind} attribute is {form}"
            )
    if isinstance(attribute.domain, DomainBounds):
        low, high = attribute.domain.min, attribute.domain.max
        if not isinstance(low, str) and not isinstance(high, str) and low > high:
            raise ValueError(f"column '{name}': the `min` of its domain is above the `max`")


def _check_recoding(policy: PolicyFile) -> None:
    """Refuse steps that are none, and columns that nobody publishes or that tell people apart."""
    steps = {}
    for name, attribute in policy.attributes.items():
        if attribute.recode is None:
            continue
        if attribute.role is Role.IDENTIFIER or name == policy.unit:
            raise ValueError(
                f"column '{name}': `recode` has no use, since a column that tells people apart is "
                "never published"
            )
        if name in (policy.weight, policy.household):
            raise ValueError(f"column '{name}': weights and households are taken as they are")
        try:
            steps[name] = steps_from_policy(attribute.recode, name)
        except SchemaError as error:
            raise ValueError(str(error)) from None
    try:
        days_of_shift(steps)
    except SchemaError as error:
        raise ValueError(str(error)) from None
