"""The schemes that one can choose: what each protects against, in plain words and in the papers'.

Whatever is asked of a scheme (its knobs) is named once; `scheme_fit.py` says what the data allow of
it, and `scheme_form.py` brings it into a policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from sfumato.web import knobs
from sfumato.web.knobs import K, Knob, L

Needs = Literal["none", "some", "one"]
# Where a scheme stands: on top, one click away, or among the comparators of papers.
Shelf = Literal["main", "more", "compared"]


@dataclass(frozen=True, slots=True)
class Scheme:
    """One scheme. `each` are the keys that every protected attribute has for itself.

    `secrets` says how many sensitive attributes it needs. `may_withhold`: rows can be left out
    whose value is too common. The rest says what columns it takes: numbers only, with hierarchies,
    with stated domains, of so many values at most.
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
    shelf: Shelf = "more"
    only_numbers: bool = False
    needs_levels: bool = False
    needs_domains: bool = False
    most_values: int | None = None

    @property
    def is_main(self) -> bool:
        """Whether it stands on top."""
        return self.shelf == "main"


_FIVE: Final = (
    Scheme(
        "lgb",
        "Each person's own wishes",
        "Hides who is who, and the cells that people themselves (or a rule) marked as private; "
        "other cells stay as useful as they can.",
        "One table: known things become ranges shared by a crowd, private cells point to "
        "buckets of values.",
        "Local generalisation and bucketisation (LGB): k-anonymity for quasi-identifiers, "
        "l-unique or t-close buckets for sensitive and semi-sensitive cells.",
        knobs=(K, knobs.GENERALIZE, *knobs.CUTTING),
        each=("l", "t"),
        shelf="main",
    ),
    Scheme(
        "arp",
        "Secrets, with all else exact",
        "Nobody can tell which of several secrets is whose. It does not hide who is in the "
        "data: known things stay exact.",
        "Exact tables that are linked only through small blocks of people with different secrets.",
        "Anonymisation on a refining partition (ARP): blocks of l records whose sensitive "
        "values all differ.",
        knobs=(L, knobs.PUBLISH, knobs.INITIAL, knobs.COLUMNS, knobs.RESIDUES),
        secrets="some",
        may_withhold=True,
        shelf="main",
    ),
    Scheme(
        "merging",
        "Releases that others combine",
        "Lowers what somebody learns who has another release about the same people, and who "
        "knows which values never go together. It does not hide who is in the data.",
        "One table of exact values, mixed within classes, with a few records of nobody.",
        "Merging: l-diverse classes, sliced, with fake records and incompatible values.",
        knobs=(L, knobs.BLURRED, *knobs.MERGED),
        secrets="some",
        may_withhold=True,
        shelf="main",
    ),
    Scheme(
        "slppa",
        "Whole records that are put together again",
        "Nobody can put a person's record together with more than a stated probability, nor "
        "guess a secret with more than another.",
        "Several exact tables that are linked only through groups.",
        "Sensitive label privacy preservation with anatomisation (SLPPA): the (α, β, γ, δ) model.",
        knobs=(knobs.BETA, knobs.TABLES, knobs.ALPHA, knobs.DELTA, *knobs.SEPARATED),
        secrets="some",
        may_withhold=True,
        shelf="main",
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
        knobs=(*knobs.SETS, knobs.BINS),
        each=("l", "t"),
        shelf="main",
    ),
)
_MORE: Final = (
    Scheme(
        "mondrian",
        "Nobody stands alone",
        "Everybody looks like a crowd of others; where you ask for it, crowds have several "
        "secrets each.",
        "One table in which known things are ranges or groups of values.",
        "Mondrian: k-anonymity by local recoding, with l-diversity or t-closeness.",
        knobs=(K, knobs.SUPPRESSION, knobs.STRICT, *knobs.CUTTING, *knobs.MODELS),
        each=("l", "t"),
    ),
    Scheme(
        "full-domain",
        "Nobody stands alone, one level for all",
        "As above, with the same ranges for everybody: easier to analyse, coarser.",
        "One table; each column is generalised to one level of its hierarchy.",
        "Full-domain generalisation (k-anonymity, l-diversity, t-closeness).",
        knobs=(K, knobs.SUPPRESSION, knobs.LEVELS, *knobs.MODELS),
        each=("l", "t"),
        needs_levels=True,
    ),
    Scheme(
        "top-down",
        "Nobody stands alone, by halving",
        "Everybody looks like a crowd of others. A crowd may share one secret.",
        "One table in which known things are ranges or groups of values.",
        "Top-down greedy (k-anonymity alone).",
        knobs=(K,),
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
        "slicing",
        "Columns are mixed within groups",
        "Nobody can tell which of several secrets is whose, nor which blocks of columns go "
        "together. It does not hide who is in the data.",
        "One table of exact values, whose blocks of columns are mixed within groups.",
        "Slicing: l-diverse groups, associated columns kept together.",
        knobs=(L, knobs.COLUMNS, knobs.DISTINCT),
        secrets="some",
        may_withhold=True,
    ),
    Scheme(
        "pram",
        "No cell can be believed",
        "Every cell is replaced at random by known probabilities; nobody can be sure of any.",
        "One table of possible values, and the probabilities to estimate totals with.",
        "Post-randomisation (PRAM): a published matrix of probabilities for each attribute.",
        knobs=(knobs.KEEP, *knobs.REPLACED),
        most_values=200,
    ),
    Scheme(
        "dp",
        "Nobody's presence shows",
        "Whether a person is in the data at all makes hardly a difference, whatever else is known "
        "or published. Its records are nobody's: totals are noisy.",
        "One table of made-up records that follow noisy counts.",
        "ε-differential privacy, by noisy specialisation and noisy counts (DiffGen).",
        knobs=(knobs.EPSILON, *knobs.COUNTED),
        secrets="one",
        needs_domains=True,
    ),
)
_COMPARED: Final = (
    Scheme(
        "aip",
        "Secrets in larger groups",
        "As “Secrets, with all else exact”, with groups that are not made as small as they can.",
        "Two exact tables that are linked only through groups.",
        "Anonymisation on the initial partition (AIP), which ARP refines.",
        knobs=(L, knobs.INITIAL),
        secrets="some",
        may_withhold=True,
        shelf="compared",
    ),
    Scheme(
        "ng",
        "Neighbours on a ring",
        "Behind each record may be several people with different secrets. Files cannot show it, "
        "so that nothing is claimed and the audit is not satisfied.",
        "One table in which known things are ranges of their own for each record.",
        "Non-homogeneous generalisation (NG).",
        knobs=(L, knobs.INITIAL),
        secrets="one",
        shelf="compared",
    ),
    Scheme(
        "asn",
        "Every column apart",
        "Nobody can guess a secret with more than a stated probability; no column is linked with "
        "another. It does not hide who is in the data.",
        "One exact table for each known column, linked only through groups.",
        "Ambiguity (ASN), as the SLPPA paper compares with it: β and γ.",
        knobs=(knobs.BETA, knobs.GAMMA),
        secrets="some",
        may_withhold=True,
        shelf="compared",
    ),
    Scheme(
        "rating",
        "Sets of other people's values",
        "Each secret cell becomes a set of values that other people have; nobody can tell which is "
        "whose. Totals can hardly be estimated from them.",
        "One table: secret cells are sets of values; all else is exact.",
        "Rating: set-l-diversity by sets that records share.",
        knobs=(knobs.BINS, knobs.LEFT_OVER),
        each=("l",),
        shelf="compared",
    ),
    Scheme(
        "composition",
        "Crowds that doubt remains about",
        "Everybody looks like a crowd; somebody who has another release about the same people "
        "mostly still finds several secrets. Only the crowd is promised.",
        "One table in which known things are ranges or groups of values.",
        "Composition-aware k-anonymity: groups whose values an independent release likely shares.",
        knobs=(K, Knob(
            "alpha", "share", "Chance that nothing else is shared (alpha)",
            "the largest, with another release; below 1", 0.05)),
        shelf="compared",
    ),
    Scheme(
        "probabilistic",
        "A sample in doubtful crowds",
        "As above, and not everybody is in it at all. Only the crowd is promised.",
        "One table of a random sample, known things in ranges.",
        "(d, α)-linkable groups of a sample.",
        knobs=(
            K,
            knobs.SAMPLE,
            knobs.rare("d", "count", "Further values that are shared (d)"),
            knobs.rare("alpha", "share", "With which probability at least (alpha)"),
        ),
        shelf="compared",
    ),
    Scheme(
        "hybrid",
        "A sample with some secrets redrawn",
        "Everybody looks like a crowd, not everybody is in it, and some secrets are drawn anew. "
        "Only the crowd is promised.",
        "One table of a random sample, known things in ranges.",
        "Hybrid: sampling, perturbation and k-anonymity.",
        knobs=(
            K,
            knobs.SAMPLE,
            knobs.rare("perturb", "structure", "Share of secrets that are redrawn", "0 for none"),
        ),
        shelf="compared",
    ),
)  # fmt: skip
SCHEMES: Final[Mapping[str, Scheme]] = {each.name: each for each in (*_FIVE, *_MORE, *_COMPARED)}
