"""The schemes that one can choose: what each protects against, in plain words and in the papers'.

Whatever is asked of a scheme (its knobs) is named here once; `scheme_fit.py` says what the data
allow of it, and `scheme_form.py` brings it into a policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Needs = Literal["none", "some", "one"]


@dataclass(frozen=True, slots=True)
class Knob:
    """A parameter of a method: `kind` says how it is asked for, an empty field leaves it out."""

    key: str
    kind: Literal["people", "values", "share", "tables", "choice"]
    label: str
    hint: str
    default: int | float | str | None = None
    options: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Scheme:
    """One scheme. `each` are the keys that every protected attribute has for itself.

    `secrets` says how many sensitive attributes it needs. `may_withhold`: rows can be left out
    whose value is too common. `is_main`: stands on top, others one click away. The rest says what
    columns it takes: numbers only, with hierarchies, of so many values at most.
    """

    name: str
    title: str
    against: str
    reader: str
    term: str
    knobs: tuple[Knob, ...] = ()
    each: tuple[Literal["l", "t"], ...] = ()
    secrets: Needs = "none"
    may_withhold: bool = False
    is_main: bool = False
    only_numbers: bool = False
    needs_levels: bool = False
    most_values: int | None = None


K: Final = Knob(
    "k", "people", "Smallest crowd (k)", "everybody looks like at least so many people", 5
)
L: Final = Knob(
    "l", "values", "Possible secrets (l)", "everybody's secret is one of at least so many", 3
)
_BETA: Final = Knob(
    "beta",
    "share",
    "Most certain guess (beta)",
    "the largest share of a group that one secret may have",
    0.25,
)
_ALPHA: Final = Knob(
    "alpha",
    "share",
    "Most alike (alpha)",
    "the largest share of a group that one combination of known things may have; empty: chosen "
    "by the data",
)
_DELTA: Final = Knob(
    "delta",
    "share",
    "Largest surprise (delta)",
    "by how much a secret's share in a group may differ from that among all; empty: as beta",
)
_TABLES: Final = Knob("tables", "tables", "Tables", "into how many the known columns are parted", 2)
_KEEP: Final = Knob("keep", "share", "Cells that stay (keep)", "all others are drawn anew", 0.8)

SCHEMES: Final[Mapping[str, Scheme]] = {
    each.name: each
    for each in (
        Scheme(
            "lgb",
            "Each person's own wishes",
            "Hides who is who, and the cells that people themselves (or a rule) marked as private; "
            "other cells stay as useful as they can.",
            "One table: known things become ranges shared by a crowd, private cells point to "
            "buckets of values.",
            "Local generalisation and bucketisation (LGB): k-anonymity for quasi-identifiers, "
            "l-unique or t-close buckets for sensitive and semi-sensitive cells.",
            knobs=(K,),
            each=("l", "t"),
            is_main=True,
        ),
        Scheme(
            "arp",
            "Secrets, with all else exact",
            "Nobody can tell which of several secrets is whose. It does not hide who is in the "
            "data: known things stay exact.",
            "Exact tables that are linked only through small blocks of people with different "
            "secrets.",
            "Anonymisation on a refining partition (ARP): blocks of l records whose sensitive "
            "values all differ.",
            knobs=(
                L,
                Knob(
                    "publish",
                    "choice",
                    "What is published",
                    "known things exact, or in ranges",
                    "anatomy",
                    {
                        "anatomy": "Two exact tables, linked through blocks",
                        "generalize": "One table with ranges",
                        "slice": "One table of exact values, mixed within blocks",
                    },
                ),
            ),
            secrets="some",
            may_withhold=True,
            is_main=True,
        ),
        Scheme(
            "merging",
            "Releases that others combine",
            "Lowers what somebody learns who has another release about the same people, and who "
            "knows which values never go together. It does not hide who is in the data.",
            "One table of exact values, mixed within classes, with a few records of nobody.",
            "Merging: l-diverse classes, sliced, with fake records and incompatible values.",
            knobs=(
                L,
                Knob(
                    "k",
                    "people",
                    "Crowd of a blurred cell (k)",
                    "a value that cannot go with a secret is blurred over so many people",
                    2,
                ),
            ),
            secrets="some",
            may_withhold=True,
            is_main=True,
        ),
        Scheme(
            "slppa",
            "Whole records that are put together again",
            "Nobody can put a person's record together with more than a stated probability, nor "
            "guess a secret with more than another.",
            "Several exact tables that are linked only through groups.",
            "Sensitive label privacy preservation with anatomisation (SLPPA): the "
            "(α, β, γ, δ) model.",
            knobs=(_BETA, _TABLES, _ALPHA, _DELTA),
            secrets="some",
            may_withhold=True,
            is_main=True,
        ),
        Scheme(
            "sensitive-qid",
            "Known things that are secret too",
            "Some things that others may know are secrets themselves. Each such cell becomes a "
            "random set of values, so that no cell can be believed.",
            "One table: secret cells are sets of values from which totals can be estimated; all "
            "else is exact.",
            "Sensitive quasi-identifiers under randomised sets: set-l-diversity and "
            "set-t-closeness. l bounds what is learnt only by somebody to whom all values are "
            "equally likely; t holds for everybody.",
            each=("l", "t"),
            is_main=True,
        ),
        Scheme(
            "mondrian",
            "Nobody stands alone",
            "Everybody looks like a crowd of others; where you ask for it, crowds have several "
            "secrets each.",
            "One table in which known things are ranges or groups of values.",
            "Mondrian: k-anonymity by local recoding, with l-diversity or t-closeness.",
            knobs=(K,),
            each=("l", "t"),
        ),
        Scheme(
            "full-domain",
            "Nobody stands alone, one level for all",
            "As above, with the same ranges for everybody: easier to analyse, coarser.",
            "One table; each column is generalised to one level of its hierarchy.",
            "Full-domain generalisation (k-anonymity, l-diversity, t-closeness).",
            knobs=(K,),
            each=("l", "t"),
            needs_levels=True,
        ),
        Scheme(
            "local-suppression",
            "Nobody stands alone, as few blanks as possible",
            "Everybody looks like a crowd of others. A crowd may share one secret.",
            "One table of exact cells, some of them withheld.",
            "Local suppression (k-anonymity alone).",
            knobs=(K,),
        ),
        Scheme(
            "mdav",
            "Numbers are averaged",
            "Everybody looks like a crowd of others. A crowd may share one secret.",
            "One table in which known numbers are the means of small groups.",
            "Microaggregation, MDAV (k-anonymity alone).",
            knobs=(K,),
            only_numbers=True,
        ),
        Scheme(
            "anatomy",
            "One secret, with all else exact",
            "Nobody can tell which of several secrets is whose. It does not hide who is in the "
            "data: known things stay exact.",
            "Two exact tables that are linked only through groups.",
            "Anatomy: groups of l different sensitive values.",
            knobs=(L,),
            secrets="one",
            may_withhold=True,
        ),
        Scheme(
            "pram",
            "No cell can be believed",
            "Every cell is replaced at random by known probabilities; nobody can be sure of any.",
            "One table of possible values, and the probabilities to estimate totals with.",
            "Post-randomisation (PRAM), with uniform transitions.",
            knobs=(_KEEP,),
            most_values=200,
        ),
    )
}
