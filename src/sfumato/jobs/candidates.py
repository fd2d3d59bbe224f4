"""What `recommend` tries: methods and their parameters that promise to keep stated limits.

Every candidate is a policy of the steward's roles: none is changed. k and l follow from the limits;
what differs is how groups are found and what is published of them. Numbers may lose a hierarchy
that a builder made from the data, since ranges are narrower than its intervals; one that was
supplied as a file stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor
from typing import Any, Final

from sfumato.jobs.limits import Limits
from sfumato.jobs.policy import Policy
from sfumato.jobs.policy_file import AttributePolicy, PolicyFile, parse
from sfumato.jobs.policy_text import spelled
from sfumato.jobs.protection import at_protection
from sfumato.jobs.requests import guarantees_of, models_of
from sfumato.jobs.set_requests import SET_METHODS
from sfumato.jobs.stated import Stated
from sfumato.models import (
    AlphaKAnonymity,
    KAnonymity,
    LDiversity,
    LUniqueBuckets,
    Model,
    SetDiversity,
    TCloseBuckets,
)
from sfumato.schema import Role

# Builders whose levels are made from the data, for the want of anything better.
_FROM_DATA: Final = ("width", "intervals", "quantiles")
# Methods whose releases hide people among others, so that re-identification can be limited.
CROWDS: Final = ("lgb", "mondrian", "full-domain", "top-down", "local-suppression")
# Those of them that look at no sensitive value: of use where no limit of inference is stated.
_OF_K_ALONE: Final = ("top-down", "local-suppression")
_MOST_LISTED: Final = 8  # quasi-identifiers that `initial` of arp may list

_LGB: Final[Sequence[Mapping[str, Any]]] = (
    {"generalize": "ncp"},
    {},
    {"cut": "median"},
    {"categories": "value"},
    {"choose": "widest"},
)
_MONDRIAN: Final[Sequence[Mapping[str, Any]]] = (
    {"strict": False},
    {},
    {"strict": False, "cut": "median"},
    {"cut": "median"},
    {"strict": False, "categories": "value"},
    {"categories": "value"},
    {"choose": "widest"},
)
_EXACT: Final[Sequence[tuple[str, Mapping[str, Any]]]] = (
    ("arp", {"initial": "mondrian"}),
    ("arp", {}),
    ("slicing", {"columns": 1}),
    ("arp", {"initial": "top-down"}),
    ("aip", {"initial": "mondrian"}),
    ("aip", {}),
    ("anatomy", {}),
    ("slicing", {}),
    ("slppa", {"tables": 1, "delta": 1}),
    ("slppa", {}),
    ("arp", {"initial": "mondrian", "publish": "slice"}),
    ("arp", {"initial": "anatomy"}),
    ("arp", {"initial": "mondrian", "publish": "generalize"}),
    ("merging", {"columns": 1, "collapse": None}),
    ("merging", {}),
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A method with what is added to its k and l, and the attributes whose hierarchy is left out.

    `k_times` and `l_more` ask for more than the limits do: a margin.
    """

    method: str
    tuning: Mapping[str, Any] = field(default_factory=dict)
    plain: tuple[str, ...] = ()
    k_times: int = 1
    l_more: int = 0
    withholds: bool = False
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The candidate in a few words, which no other has."""
        words = [f"{key} {spelled(value)}" for key, value in self.tuning.items()]
        if self.plain:
            words.append(f"ranges for {', '.join(self.plain)}")
        words += [f"{name} weighs {value:g}" for name, value in self.weights.items()]
        if self.k_times > 1:
            words.append(f"k × {self.k_times}")
        if self.l_more:
            words.append(f"l + {self.l_more}")
        if self.withholds:
            words.append("withholding rows")
        return self.method + (f" ({'; '.join(words)})" if words else "")

    def policy(self, policy: Policy, limits: Limits) -> tuple[Policy, Stated]:
        """Return the steward's policy with this method in the place of its own, and its promise.

        Refuses (ParameterError) what the method cannot be asked for.
        """
        content = _bare(policy.content, self.plain, self.weights)
        stated = promise(content, limits, self.k_times, self.l_more)
        tuning = dict(self.tuning)
        if self.withholds and self.method == "full-domain":
            tuning["suppression"] = float(limits.withheld)
        changed = at_protection(Policy(content, policy.folder), self.method, stated, tuning).policy
        if self.withholds and changed.method().largest_share() is not None:
            own = changed.content.model_copy(update={"on_infeasible": "suppress"})
            changed = replace(changed, content=own)
        return changed, stated


def promise(content: PolicyFile, limits: Limits, k_times: int = 1, l_more: int = 0) -> Stated:
    """Return models that keep the limits, and all that attributes of the policy ask for anyway."""
    k = limits.k * k_times
    models: list[Model] = [] if limits.reidentification is None else [KAnonymity(k)]
    for name, attribute in content.protected.items():
        needed = limits.l + l_more if limits.inference is not None else None
        if attribute.role is Role.SENSITIVE:
            models += _of_values(name, attribute, limits, k, l_more)
            continue
        own = attribute.asked()
        l = max(needed or 1, own.get("l") or 1)  # noqa: E741
        is_semi = attribute.role is Role.SEMI_SENSITIVE
        if is_semi and "t" in own and "l" not in own:
            # few values allow no l: whether the limit is kept, the release tells
            models.append(TCloseBuckets(name, own["t"], own.get("distance", "equal")))
        elif l > 1:
            models.append((LUniqueBuckets if is_semi else SetDiversity)(name, l))
    models += [model for model in guarantees_of(content) if model.checkable]
    return Stated(tuple(dict.fromkeys(models)))


def _of_values(
    name: str, attribute: AttributePolicy, limits: Limits, k: int, l_more: int
) -> list[Model]:
    """Return what a sensitive attribute asks for itself, and what keeps the limit of inference."""
    own = models_of(name, attribute, {}, k)
    if limits.inference is None:
        return own
    is_whole = (1 / limits.inference).denominator == 1
    needed: Model
    if is_whole or l_more or attribute.missing == "value":
        needed = LDiversity(name, limits.l + l_more, "frequency", None, attribute.missing)
        stricter = [m for m in own if isinstance(m, LDiversity) and m.variant == "frequency"]
        if any(model.l >= needed.l for model in stricter):
            return own
        own = [model for model in own if model not in stricter]
    else:
        needed = AlphaKAnonymity(name, _decimals(limits.inference), k)
        shares = [m for m in own if isinstance(m, AlphaKAnonymity)]
        if any(model.alpha <= needed.alpha for model in shares):
            return own
        own = [model for model in own if model not in shares]
    return [needed, *own]


def _decimals(share: Fraction) -> float:
    """Return a share as a decimal, rounded down."""
    return floor(share * 1_000_000) / 1_000_000


def _bare(content: PolicyFile, plain: Sequence[str], weights: Mapping[str, float]) -> PolicyFile:
    """Return the policy without some hierarchies, and with some weights of losses."""
    if not plain and not weights:
        return content
    dumped = content.model_dump(exclude_unset=True)
    for name in plain:
        dumped["attributes"][name].pop("hierarchy", None)
    for name, weight in weights.items():
        dumped["attributes"][name]["loss_weight"] = weight
    return parse(dumped, "policy")


def first_candidates(content: PolicyFile, limits: Limits) -> list[Candidate]:
    """Return what is tried of every table, the most promising first.

    Methods that hide nobody among others are left out where re-identification is limited.
    """
    droppable = droppable_hierarchies(content)
    shapes = [droppable, ()] if droppable else [()]
    found: list[Candidate] = []
    if any(a.role is Role.SENSITIVE_QUASI_IDENTIFIER for a in content.protected.values()):
        return [Candidate(method) for method in reversed(SET_METHODS)]
    if limits.reidentification is None:
        found += [Candidate(method, tuning) for method, tuning in _EXACT]
        found += [Candidate("lgb", {"k": 1})]
    found += [Candidate("lgb", tuning, plain) for plain in shapes for tuning in _LGB]
    if limits.inference is not None:
        # buckets hold other people's values: it may take larger ones until attacks fail
        found += [Candidate("lgb", _LGB[0], shapes[0], l_more=more) for more in (1, 2, 3)]
    if not content.protected or limits.inference is None:
        for method in _OF_K_ALONE:
            found += [Candidate(method, {}, plain) for plain in shapes]
    found += [Candidate("mondrian", tuning, plain) for plain in shapes for tuning in _MONDRIAN]
    found.append(Candidate("full-domain"))
    if limits.withheld:
        found = [c for each in found for c in (each, *_withholding(each))]
    return found


def _withholding(candidate: Candidate) -> Iterator[Candidate]:
    """Return the same where it may leave out rows; most methods cannot."""
    if candidate.method in ("full-domain", "anatomy", "arp", "aip", "slicing", "merging", "slppa"):
        yield replace(candidate, withholds=True)


def neighbours(candidate: Candidate, content: PolicyFile) -> list[Candidate]:
    """Return candidates that differ from a good one in one respect."""
    found = []
    for name in droppable_hierarchies(content):
        kept = tuple(each for each in candidate.plain if each != name)
        plain = kept if name in candidate.plain else (*candidate.plain, name)
        found.append(replace(candidate, plain=plain))
    quasi = [n for n, a in content.attributes.items() if a.role is Role.QUASI_IDENTIFIER]
    if candidate.method == "mondrian":
        found += [
            replace(candidate, weights={**candidate.weights, name: factor})
            for name in quasi
            for factor in (0.5, 2.0)
            if candidate.weights.get(name) != factor and content.attributes[name].loss_weight == 1
        ]
    if candidate.method == "arp":
        listed = candidate.tuning.get("initial")
        columns = listed if isinstance(listed, list) else []
        found += [
            replace(candidate, tuning={**candidate.tuning, "initial": [*columns, name]})
            for name in quasi
            if name not in columns and len(columns) < _MOST_LISTED
        ]
        if not isinstance(listed, list) and len(quasi) > 1:
            found.append(replace(candidate, tuning={**candidate.tuning, "initial": quasi}))
    return found


def stricter(candidate: Candidate, limits: Limits) -> list[Candidate]:
    """Return the same at more protection than the limits ask for."""
    found = []
    if limits.inference is not None:
        found += [replace(candidate, l_more=candidate.l_more + more) for more in (1, 2)]
    if limits.reidentification is not None:
        found += [replace(candidate, k_times=times) for times in (2, 4)]
    return found


def droppable_hierarchies(content: PolicyFile) -> tuple[str, ...]:
    """Return quasi-identifiers of numbers whose hierarchy is made of intervals from the data."""
    return tuple(
        name
        for name, attribute in content.attributes.items()
        if attribute.role in (Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE)
        and isinstance(attribute.hierarchy, dict)
        and any(key in attribute.hierarchy for key in _FROM_DATA)
        and attribute.max_level is None
    )
