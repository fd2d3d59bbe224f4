"""Methods and layouts in plain words, and the known limits that apply to each.

The limits are those of `docs/known-limits.md`, as short as a reader of one release needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

LAYOUTS: Final[Mapping[str, str]] = {
    "generalized": "One table. A cell may say less than it did: a range, a label, a set of values, "
    "or * where it was withheld.",
    "anatomized": "Several tables that share only the number of a group. Within a group nobody can "
    "tell which row of one table belongs to which row of another.",
    "sliced": "One table in blocks of columns. Within each group the blocks were shuffled "
    "separately, so that a row joins values of different people.",
    "local": "One table. Cells that are sensitive for their owner were dealt at random within "
    "buckets; the others are generalised within groups.",
    "sets": "One table. Every protected cell is a set of values, one of which may be the true one.",
}

_MINIMAL: Final = (
    "Where the partition looks at sensitive values, that a group was not divided further tells "
    "something to whoever knows the algorithm (minimality attack)."
)
_ONE_ROW: Final = "The guarantee counts one row a person."
_GREEDY: Final = "The search is greedy: it never breaks a model, and a finer partition may exist."
_SHARED: Final = "People of a group who share a sensitive value share it openly under k-anonymity."

_METHODS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "mondrian": (
        "People were divided into groups by cutting one attribute after the other; within a group "
        "all have the same coarsened values.",
        (_GREEDY, _MINIMAL, _SHARED),
    ),
    "full-domain": (
        "Every attribute was coarsened to one level of its hierarchy, the same everywhere; groups "
        "that were still too small were withheld.",
        (_MINIMAL, _SHARED),
    ),
    "top-down": (
        "People were divided into ever smaller groups of similar ones; within a group all have the "
        "same coarsened values.",
        (_ONE_ROW, _SHARED),
    ),
    "anatomy": (
        "Known and sensitive attributes stand in separate tables that share only a group, in which "
        "all sensitive values differ.",
        (_ONE_ROW, "Quasi-identifiers are exact: that somebody is in the data can be seen."),
    ),
    "lgb": (
        "Each cell was treated as its owner asked: sensitive cells were dealt at random within "
        "buckets, the others generalised within groups.",
        (
            _ONE_ROW,
            "Buckets go by values alone: some values of a bucket may be ruled out for a person.",
            "l-unique buckets of numbers are narrow: a number may be known to within a few per "
            "cent although nobody's is certain.",
            "That a person flagged a cell may itself tell something.",
        ),
    ),
    "arp": (
        "Groups of similar people were refined into the smallest blocks in which all sensitive "
        "values differ.",
        (_MINIMAL,),
    ),
    "aip": (
        "Groups in which no sensitive value is too common, published as separate tables.",
        (_MINIMAL,),
    ),
    "ng": (
        "Every record covers several neighbours whose sensitive values all differ.",
        ("The files cannot show the protection, so the release claims nothing.",),
    ),
    "slppa": (
        "The known attributes stand in several tables that share only a group, in which sensitive "
        "values are neither common nor far from their usual shares.",
        (
            "Alpha bounds what a stranger to the known attributes can put together.",
            "Gamma is no bound on being known as present: a rare combination shows its owner.",
        ),
    ),
    "slicing": (
        "Blocks of columns were shuffled separately within groups of diverse sensitive values.",
        (_ONE_ROW, "One row says nothing across blocks; some rows join what does not go together."),
    ),
    "merging": (
        "Blocks of columns were shuffled separately within classes, and fake records were added, "
        "so that releases of like data give away less together.",
        (
            "Where most combinations of known values are unique, fakes can often be picked out.",
            "One row says nothing across blocks; some rows join what does not go together.",
        ),
    ),
    "asn": (
        "Every known attribute is a table of its own; tables share only a group.",
        ("Gamma is no bound on what can be learnt about somebody's presence.",),
    ),
    "composition": (
        "Groups of similar people that leave doubt beside an independent release of like data.",
        (_SHARED, "What others publish is assumed, not known."),
    ),
    "probabilistic": (
        "Groups of similar people of a random sample, which leave doubt beside an independent "
        "release of like data.",
        (_SHARED, "What others publish is assumed, not known."),
    ),
    "hybrid": (
        "Groups of similar people of a random sample, some of whose sensitive cells were redrawn.",
        (_SHARED, "Only k-anonymity is claimed."),
    ),
    "dp": (
        "Records were drawn from noisy counts: whether one row is in the data or not changes the "
        "chance of any release by a bounded factor.",
        (
            "It protects one row of one release; several releases add up their epsilon.",
            "That a table was refused is not protected.",
            "No record is anybody's, and the number of records is noisy.",
        ),
    ),
    "pram": (
        "Cells were replaced at random, with the probabilities that the manifest states.",
        (
            "Epsilon is of one cell: those of a person's attributes add up.",
            "Attributes that go together tell of each other's true values.",
            "Rare combinations are estimated with errors larger than their counts.",
        ),
    ),
    "mdav": (
        "Numbers that may be known were replaced by the mean of a group of similar people.",
        (
            "Whoever knows a person's numbers often finds the right group by distance.",
            "Sums of groups are exact: whoever knows all others of a group knows the last one.",
            "Minima, maxima and variances are lost.",
        ),
    ),
    "local-suppression": (
        "Single cells were withheld until nobody's combination of known values is rare.",
        (
            "It is a heuristic: fewer cells may do.",
            "Whoever knows that no cell is withheld without need may reason from what is shown.",
            _SHARED,
        ),
    ),
    "sensitive-qid": (
        "Cells that are both known to some and secret from others became random sets of values.",
        (
            "Values that are common remain likely; sets of other attributes tell of a cell, too, "
            "where attributes go together.",
            "That sets were drawn with the stated probabilities, files cannot show.",
        ),
    ),
    "rating": (
        "Cells became sets of values that records share, the own value among them.",
        ("Attributes that go together tell of each other's true values.",),
    ),
}  # fmt: skip
_UNKNOWN: Final = ("A method that this version does not know.", ())

# What holds for every release.
EVERYWHERE: Final = (
    "The number of rows and groups, and group sizes, are public by nature.",
    "No simulated attack that fails shows that every attack fails.",
    "Another release of the same people may be combined with this one (sfumato compose).",
)


def method_words(method: str) -> str:
    """Return what a method did, in plain words."""
    return _METHODS.get(method, _UNKNOWN)[0]


def method_limits(method: str) -> tuple[str, ...]:
    """Return the known limits that apply to a method."""
    return _METHODS.get(method, _UNKNOWN)[1]


def limits_of_parameters(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the known limits that apply because of what a manifest states."""
    found = []
    if parameters.get("linked"):
        found.append(
            "Linked tables are protected together, once: the next delivery with the same key can "
            "be joined with this one."
        )
    if parameters.get("household"):
        found.append(
            "Households are counted; whoever knows all members of one may intersect their groups."
        )
    if parameters.get("recoding"):
        found.append("Recoding protects nobody by itself: the guarantees are about recoded values.")
    if parameters.get("sample") not in (None, 1, 1.0):
        found.append("The records are a random sample: answers scale them up, with wider bounds.")
    return tuple(found)


def known_methods() -> tuple[str, ...]:
    """Return the methods that there are words for."""
    return tuple(_METHODS)
