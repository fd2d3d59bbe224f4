"""The parameters of methods as pages ask for them: in plain words, each under its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

# people: so many of them; values: of a secret; share: up to 1; tables, count: whole numbers;
# number: any above 0; choice: one of a list; lines: texts, a line each; structure: as in a policy.
Kind = Literal[
    "people", "values", "share", "tables", "count", "number", "choice", "lines", "structure"
]


@dataclass(frozen=True, slots=True)
class Knob:
    """A parameter of a method: `kind` says how it is asked for, an empty field leaves it out.

    `is_rare`: it stands under "more".
    """

    key: str
    kind: Kind
    label: str
    hint: str
    default: int | float | str | None = None
    options: Mapping[str, str] | None = None
    is_rare: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number."""
        return self.kind in ("people", "values", "tables", "count")


def rare(key: str, kind: Kind, label: str, hint: str = "", **options: str) -> Knob:
    """Return a parameter that few change; the words of a choice stand by value."""
    if options:
        return Knob(key, kind, label, hint, None, {"": "As usual", **options}, is_rare=True)
    return Knob(key, kind, label, hint, is_rare=True)


K: Final = Knob(
    "k", "people", "Smallest crowd (k)", "everybody looks like at least so many people", 5
)
L: Final = Knob(
    "l", "values", "Possible secrets (l)", "everybody's secret is one of at least so many", 3
)
BETA: Final = Knob(
    "beta", "share", "Most certain guess (beta)",
    "the largest share of a group that one secret may have", 0.25,
)  # fmt: skip
ALPHA: Final = Knob(
    "alpha", "share", "Most alike (alpha)",
    "the largest share of a group that one combination of known things may have; empty: chosen "
    "by the data",
)  # fmt: skip
DELTA: Final = Knob(
    "delta", "share", "Largest surprise (delta)",
    "by how much a secret's share in a group may differ from that among all; empty: as beta",
)  # fmt: skip
TABLES: Final = Knob("tables", "tables", "Tables", "into how many the known columns are parted", 2)
KEEP: Final = Knob("keep", "share", "Cells that stay (keep)", "all others are drawn anew", 0.8)
EPSILON: Final = Knob(
    "epsilon", "number", "Privacy budget (epsilon)",
    "the smaller, the safer, and the noisier; 1 is common, above 10 says little", 1,
)  # fmt: skip
SAMPLE: Final = Knob("sample", "share", "Share of the people who are published", "1 for all", 0.9)
BLURRED: Final = replace(
    K, label="Crowd of a blurred cell (k)", default=2,
    hint="a value that cannot go with a secret is blurred over so many people",
)  # fmt: skip
PUBLISH: Final = Knob(
    "publish", "choice", "What is published", "known things exact, or in ranges", "anatomy",
    {
        "anatomy": "Two exact tables, linked through blocks",
        "generalize": "One table with ranges",
        "slice": "One table of exact values, mixed within blocks",
    },
)  # fmt: skip

# How groups are cut
_CHOOSE: Final = rare(
    "choose", "choice", "Where groups are cut",
    loss="where least is lost", widest="at the widest range, as published",
)  # fmt: skip
_CUT: Final = rare(
    "cut", "choice", "At which value", best="at any, the best", median="at the median only"
)
_CATEGORIES: Final = rare(
    "categories", "choice", "How categories are lined up",
    frequency="by how common they are", value="by name",
)  # fmt: skip
CUTTING: Final = (_CHOOSE, _CUT, _CATEGORIES)
STRICT: Final = rare(
    "strict", "choice", "Rows of equal value",
    true="stay together", false="may be parted when no other cut is left",
)  # fmt: skip
SUPPRESSION: Final = rare(
    "suppression", "share", "Share of the rows that may be withheld",
    "where limits of levels or widths cannot be kept otherwise; empty: none",
)  # fmt: skip
GENERALIZE: Final = rare(
    "generalize", "choice", "How local groups are found",
    mdp="by cutting (mdp)", ncp="by halving (ncp)",
)  # fmt: skip
LEVELS: Final = rare(
    "levels", "structure", "Levels that are fixed",
    "by column, such as {age: 2}; 0 is the value itself",
)  # fmt: skip

# Models for all secret columns at once
MODELS: Final = (
    rare(
        "variant", "choice", "How secrets are counted, all columns",
        frequency="l: none is more common than 1/l", distinct="l: l different ones",
        entropy="l: by entropy", recursive="l: the commonest against the rare",
        basic="beta: basic", enhanced="beta: enhanced",
    ),
    rare("c", "number", "Factor c, all columns", "of recursive diversity, which needs it"),
    rare(
        "distance", "choice", "How closeness is measured, all columns",
        equal="all values equally far apart", ordered="by their order",
        hierarchical="by the hierarchy",
    ),
    rare("alpha", "share", "Largest share of a secret (alpha), all columns", "in a crowd"),
    rare(
        "beta", "number", "Largest growth of a share (beta), all columns",
        "of a secret in a crowd, relative to everybody",
    ),
)  # fmt: skip
SETS: Final = (
    rare("k", "count", "Fewest values in a set (k), all columns"),
    rare("max_eta", "count", "Most values in a set, all columns"),
    rare(
        "prior", "choice", "Whose guess t bounds, all columns",
        free="anybody's", data="that of who knows the shares of values",
    ),
    rare(
        "distance", "choice", "How closeness is measured, all columns",
        equal="all values equally far apart", ordered="by their order",
    ),
    rare(
        "variant", "choice", "How secrets are counted, all columns",
        frequency="one by one", entropy="by entropy",
    ),
    rare(
        "joint", "structure", "Columns that are drawn as one",
        "since they tell of each other, such as [[age, occupation]]",
    ),
)  # fmt: skip
BINS: Final = rare("bins", "count", "Ranges of numbers", "into how many they are cut at most")
LEFT_OVER: Final = rare(
    "left_over", "choice", "Rows whose secret is too common",
    refuse="refuse to publish", repeat="repeat others' sets, which claims less",
)  # fmt: skip

# Blocks of rows and columns
INITIAL: Final = rare(
    "initial", "structure", "First groups",
    "correlation, correlation-literal, mondrian, top-down, anatomy, or columns such as [zipcode]",
)  # fmt: skip
COLUMNS: Final = rare(
    "columns", "structure", "Blocks of known columns",
    "how many, or the blocks themselves such as [[age, zipcode], [sex]]",
)  # fmt: skip
RESIDUES: Final = rare(
    "residues", "choice", "Rows that are left over",
    own="join their own blocks", neighbours="join neighbours' blocks, as published",
)  # fmt: skip
DISTINCT: Final = rare(
    "variant", "choice", "How secrets are counted",
    frequency="none is more common than 1/l", distinct="l different ones, however common one is",
)  # fmt: skip
MERGED: Final = (
    COLUMNS,
    rare("fakes", "structure", "Records of nobody", "how many, or a share such as 5%"),
    rare(
        "incompatible", "lines", "What never goes together",
        "a rule each line, such as sex = 'Male' AND disease = 'Breast cancer'",
    ),
    rare(
        "expected", "structure", "When the data show that values never go together",
        "how many rows chance would give them; null: by rules only",
    ),
    rare("min_class", "count", "Fewest people in a class"),
    rare(
        "collapse", "structure", "Largest chance that another release tells a secret",
        "a share; null asks for nothing",
    ),
    DISTINCT,
)  # fmt: skip
SEPARATED: Final = (
    rare(
        "gamma", "share", "Largest product of shares (gamma)",
        "of the commonest combinations of all tables of a group",
    ),
    rare(
        "cap", "structure", "Most columns of a table", "even, a number, or null for no limit"
    ),
    rare(
        "attributes", "structure", "Single secrets",
        "beta and delta of their own, such as {disease: {beta: 0.1}}",
    ),
)  # fmt: skip
GAMMA: Final = replace(SEPARATED[0])
REPLACED: Final = (
    rare(
        "kind", "choice", "What a cell becomes otherwise",
        uniform="any other value, equally", proportional="others by their shares",
        invariant="such that shares stay the same",
    ),
    rare("keep_of", "structure", "Other shares of single columns", "such as {disease: 0.6}"),
    rare("attributes", "structure", "Columns that are replaced", "such as [age, sex, disease]"),
    rare(
        "transitions", "structure", "Probabilities of single columns",
        "such as {sex: {values: [F, M], matrix: [[0.8, 0.2], [0.3, 0.7]]}}",
    ),
)  # fmt: skip
COUNTED: Final = (
    rare(
        "cuts", "count", "Specialisations", "how many are chosen; more tell more, with more noise"
    ),
    rare("bins", "count", "Parts of a range of numbers", "into how many one can be split"),
    rare("cells", "count", "Most combinations", "that are counted"),
)
