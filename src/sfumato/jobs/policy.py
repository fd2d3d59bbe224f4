"""The policy file: what every column is, how to publish, what to promise.

    attributes:
      name:    {role: identifier}
      age:     {role: semi-sensitive, flag: age_private}      # or when: "job = 'Nurse'"
      zipcode: {role: quasi-identifier, hierarchy: zip.csv}   # or {mask: right}
      disease: {role: sensitive, l: 4}
    method: {name: lgb, k: 5, l: 3}
    on_infeasible: error
    output: {format: parquet}

Paths of hierarchies are relative to the policy file. Models are asked for by `l`, `variant`, `c`,
`t`, `distance`, `alpha` and `beta` of a sensitive attribute, or of the method for all of them; or
under `guarantees`, in the words of a release's manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import SchemaError
from sfumato.jobs.policy_file import AttributePolicy, DomainBounds, PolicyFile, parse
from sfumato.jobs.requests import declared_by, drawn_at_random, idle, method_of, unprotected
from sfumato.jobs.yaml_file import read_yaml
from sfumato.methods import Method
from sfumato.models import Model
from sfumato.recoding import Steps, steps_from_policy
from sfumato.schema import Attribute, Hierarchy, HierarchyBuilder, Kind, Schema, builder_from_policy


@dataclass(frozen=True, slots=True)
class Policy:
    """A checked policy; `load` reads one. Paths in it are relative to `folder`."""

    content: PolicyFile
    folder: Path = Path()

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Return the policy in a YAML file.

        Refuses (SchemaError, one line) unknown keys, with the nearest valid one, impossible
        values, and keys that contradict a role.
        """
        path = Path(path)
        content = read_yaml(path)
        if isinstance(content, dict) and "tables" in content:
            raise SchemaError(
                f"{path}: the policy is of linked tables (`tables`); use `sfumato link`"
            )
        return cls(parse(content, str(path)), path.parent)

    @classmethod
    def of(cls, content: Any, folder: Path = Path()) -> Policy:
        """Return the policy of plain data.

        >>> roles = {"age": {"role": "quasi-identifier"}, "disease": {"role": "sensitive", "l": 3}}
        >>> Policy.of({"attributes": roles, "method": {"name": "anatomy"}}).method()
        Anatomy(l=3)
        """
        return cls(parse(content, "policy"), folder)

    def schema(self) -> Schema:
        """Return the schema; hierarchy files are read here."""
        attributes = self.content.attributes.items()
        return Schema(
            tuple(_attribute(name, attribute, self.folder) for name, attribute in attributes),
            self.content.unit,
            self.content.weight,
            self.content.household,
        )

    def recoding(self) -> Steps:
        """Return by column the steps that its values go through before anything else."""
        return {
            name: steps_from_policy(attribute.recode, name)
            for name, attribute in self.content.attributes.items()
            if attribute.recode is not None
        }

    def method(self) -> Method:
        """Return the method with all that the policy asks of it."""
        return method_of(self.content)

    def declared(self) -> tuple[Model, ...]:
        """Return the guarantees that a release can only declare, since files cannot show them."""
        return declared_by(self.content)

    def warnings(self, *, is_test: bool = False) -> tuple[str, ...]:
        """Return what is legal and probably not meant; a test may draw flags at random."""
        drawn = () if is_test else drawn_at_random(self.content)
        return (*unprotected(self.content), *idle(self.content), *drawn)


def _attribute(name: str, policy: AttributePolicy, folder: Path) -> Attribute:
    kind = policy.kind
    domain: tuple[Any, ...] | None = None
    if isinstance(policy.domain, DomainBounds):
        kind, domain = Kind.NUMERIC, (policy.domain.min, policy.domain.max)
    elif policy.domain is not None:
        # A list of values has no distances; without it whole numbers would count as numeric.
        kind = kind or (Kind.CATEGORICAL if policy.order is None else None)
        domain = tuple(policy.domain)
    return Attribute(
        name,
        policy.role,
        kind=kind,
        hierarchy=_hierarchy(name, policy.hierarchy, folder),
        order=None if policy.order is None else tuple(policy.order),
        domain=domain,
        missing=policy.missing,
        keep=policy.keep,
        min_width=policy.min_width,
        flag=policy.flag,
        when=policy.when,
        density=policy.density,
        loss_weight=policy.loss_weight,
        max_level=policy.max_level,
        max_width=policy.max_width,
        pseudonym=name if policy.pseudonym is True else policy.pseudonym or None,
    )


def _hierarchy(
    name: str, given: str | Mapping[str, Any] | None, folder: Path
) -> Hierarchy | HierarchyBuilder | None:
    if given is None:
        return None
    if isinstance(given, str):
        return Hierarchy.read_csv(folder / given)
    return builder_from_policy(given, name)
