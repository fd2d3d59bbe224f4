"""Guarantees in plain words: what each means in this release, what it leaves open, its formula.

`docs/guarantees.md` tells the same at length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

_IN_GROUP: Final = "In every group G of the release"


@dataclass(frozen=True, slots=True)
class Words:
    """What a guarantee means, what it does not protect, its formula, and what `worst` is."""

    means: str
    leaves: str
    formula: str
    worst: str


# Texts take the keys of the claim in braces.
_WORDS: Final[Mapping[str, Words]] = {
    "k-anonymity": Words(
        "At least {k} share every published combination of known values.",
        "The sensitive value, if those who share a group share it.",
        f"{_IN_GROUP}: |G| ≥ k, where |G| counts people.",
        "people in the smallest group",
    ),
    "l-diversity": Words(
        "In every group the values of {attribute} are diverse ({variant}, l = {l}).",
        "Values that are different but alike; an adversary who can rule values out.",
        f"{_IN_GROUP}, with n_v people who have the value v and n with any: distinct: at least l "
        "values; frequency: l · max n_v ≤ n; entropy: −Σ (n_v/n) ln(n_v/n) ≥ ln l; recursive: "
        "the commonest count r₁ < c · (r_l + … + r_m).",
        "the l that the least diverse group reaches",
    ),
    "l-unique-groups": Words(
        "Every group holds at least {l} people with a value of {attribute}, no two of them alike.",
        "Values that are different but alike; an adversary who can rule values out.",
        f"{_IN_GROUP}: n ≥ l, and n_v ≤ 1 for every value v.",
        "values in the smallest group",
    ),
    "l-unique-buckets": Words(
        "Each bucket of {attribute} holds at least {l} values, no two alike, dealt at random to "
        "its rows: nobody's value is guessed with a chance above 1/{l}.",
        "Values of a bucket that cannot be a person's; cells that their owner did not flag.",
        "In every bucket B: |B| ≥ l, and n_v ≤ 1 for every value v.",
        "values in the smallest bucket",
    ),
    "t-closeness": Words(
        "What a group tells of {attribute} is within distance {t} of what the whole table tells.",
        "What the whole table tells already; rare values may still gain much.",
        f"{_IN_GROUP}: EMD(P_G, P) ≤ t, the earth mover's distance of the group's distribution "
        "from the table's.",
        "the largest distance of a group",
    ),
    "t-close-buckets": Words(
        "Each bucket of {attribute} is within distance {t} of all sensitive cells of it.",
        "A bucket may be mostly one value.",
        "In every bucket B: EMD(P_B, P) ≤ t, and at least two different values.",
        "the largest distance of a bucket",
    ),
    "alpha-k-anonymity": Words(
        "At least {k} people in every group, and no value of {attribute} with a share above "
        "{alpha}.",
        "Values that are different but alike.",
        f"{_IN_GROUP}: |G| ≥ k and max n_v ≤ α · n.",
        "the largest share of a value in a group",
    ),
    "beta-likeness": Words(
        "No value of {attribute} becomes likelier in a group by more than {beta} times its share.",
        "Values that become less likely.",
        f"{_IN_GROUP}, for every value v: (q_v − p_v) / p_v ≤ β (enhanced: ≤ min(β, −ln p_v)).",
        "the largest gain in a group",
    ),
    "alpha-beta-gamma-delta": Words(
        "In every group: no combination of known values above the share {alpha}, no value of "
        "{attribute} above {beta}, the product of the commonest shares at most {gamma}, and no "
        "share further than {delta} from the whole table's.",
        "Alpha says nothing against who knows the known values exactly; gamma is no bound on what "
        "can be learnt about presence.",
        f"{_IN_GROUP}: max share of a combination ≤ α; max n_v/n ≤ β; the product over all tables "
        "of the largest share ≤ γ; |q_v − p_v| ≤ δ.",
        "the level of the worst group",
    ),
    "linkable": Words(
        "An independent release of like data shares {d} further values of a group with a "
        "probability of at least {alpha}.",
        "What others really publish.",
        "Pr[at least d values beside a person's own are shared] ≥ α, for groups of the same size "
        "with values drawn as in the whole table.",
        "the lowest probability of a group",
    ),
    "minimum-width": Words(
        "The numbers of {attribute} in a group span at least a stated width.",
        "Values near a common one.",
        f"{_IN_GROUP}: max − min ≥ width.",
        "the smallest span of a group",
    ),
    "set-diversity": Words(
        "Every set of {attribute} holds at least {l} values.",
        "Adversaries who know which values are common: a common one may be far likelier than "
        "1/{l}.",
        "For every set S: |S| ≥ l.",
        "values in the smallest set",
    ),
    "set-closeness": Words(
        "Whatever set is published, it moves what is known of {attribute} by a distance of at most "
        "{t}.",
        "What the sets of other attributes tell, where attributes go together.",
        "For every set S: EMD(Pr[v | S], Pr[v]) ≤ t, given the stated p and size of sets.",
        "the largest distance of a set",
    ),
    "set-anonymity": Words(
        "Every set of {attribute} holds at least {k} values.",
        "How likely each of them is.",
        "For every set S: |S| ≥ k.",
        "values in the smallest set",
    ),
    "delta-presence": Words(
        "How surely somebody can be said to be in the data is bounded, by what the publisher says.",
        "It is declared only: it depends on the population, which is not in the release.",
        "δ_min ≤ Pr[a person is in the data | release] ≤ δ_max.",
        "",
    ),
    "differential-privacy": Words(
        "One row more or less in the data changes the chance of any release by a factor of at most "
        "e^{epsilon}. It is declared: no files can show it.",
        "What a release tells of people in general; more than one row of a person.",
        "Pr[release ∈ S | T] ≤ e^ε · Pr[release ∈ S | T′] for tables T, T′ that differ in one row.",
        "",
    ),
    "local-differential-privacy": Words(
        "No published value of {attribute} is likelier for one true value than for another by a "
        "factor above e^{epsilon}. That cells were replaced so is declared.",
        "One cell alone: those of a person's attributes add up.",
        "For all true values u, w and every published value v: M[u, v] ≤ e^ε · M[w, v], where M is "
        "the matrix in the manifest.",
        "the epsilon of the stated matrix",
    ),
}  # fmt: skip
# What the commonest variant of l-diversity says, without its name.
_FREQUENCY: Final = "In every group no value of {attribute} is that of more than one in {l} people."
_UNKNOWN: Final = Words("This version does not know the model.", "", "", "")


class _Named(dict[str, Any]):
    """The keys of a claim; one that is not there is told by its name."""

    def __missing__(self, key: str) -> str:
        return key


def words_of(claim: Mapping[str, Any]) -> Words:
    """Return the words for a claim of a manifest, with its own numbers.

    >>> words_of({"model": "k-anonymity", "k": 5}).means
    'At least 5 share every published combination of known values.'
    """
    found = _WORDS.get(str(claim.get("model")), _UNKNOWN)
    if claim.get("model") == "l-diversity" and claim.get("variant", "frequency") == "frequency":
        found = replace(found, means=_FREQUENCY)
    keys = _Named({"variant": "frequency", **claim})
    if "attribute" in claim:
        keys["attribute"] = f"'{claim['attribute']}'"
    return Words(
        found.means.format_map(keys),
        found.leaves.format_map(keys),
        found.formula,
        found.worst,
    )


def known_models() -> tuple[str, ...]:
    """Return the models that there are words for."""
    return tuple(_WORDS)
