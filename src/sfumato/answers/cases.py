"""The cases of a predicate: attributes that stand in several places are told apart by regions.

In each case it is known in which region (`regions.py`) such an attribute lies, so that every other
one stands in one place only, and attributes are independent of each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from sfumato.answers.diagram import NO, Diagrams
from sfumato.answers.parts import Part, Tree, given, parts_of, predicate_of, take_apart
from sfumato.answers.regions import Region, region, regions, too_many
from sfumato.answers.slots import Slots
from sfumato.predicates.expression import And, Or, Predicate, negation_normal_form

_MOST_CASES = 512


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """That all of `where` is true, and what is then left of some trees."""

    where: tuple[Part, ...]
    left: tuple[Tree | bool, ...]


def in_several_places(trees: Sequence[Tree]) -> dict[str, tuple[Part, ...]]:
    """Return the attributes that stand in several places of the trees, with all that is said of
    them, each once."""
    found = [part for tree in trees for part in parts_of(tree)]
    places = Counter(part.attribute for part in found)
    several: dict[str, dict[Part, None]] = {}
    for part in found:
        if places[part.attribute] > 1:
            several.setdefault(part.attribute, {})[part] = None
    return {name: tuple(parts) for name, parts in several.items()}


def cases(trees: Sequence[Tree], several: Mapping[str, Sequence[Region]]) -> Iterator[Case]:
    """Return the cases of trees; without attributes that stand in several places, one.

    Refuses (ParameterError) more cases than can be gone through.
    """
    if prod(map(len, several.values())) > _MOST_CASES:
        raise too_many(next(iter(several)))
    for chosen in product(*several.values()):
        known = {part: is_true for each in chosen for part, is_true in each.truth.items()}
        left = tuple(given(tree, known) for tree in trees)
        yield Case(tuple(each.part for each in chosen), left)


@dataclass(frozen=True, slots=True, eq=False)
class Deciding:
    """What a predicate comes to: `tree` is left of it without the attributes that decide nothing.

    Of the others, those that stand in several places have two regions or more, which leave
    different things to the others: what a region leaves tells it from all others. One that leaves
    nothing true comes last. `required` are the parts without which the predicate is false.
    """

    tree: Tree | bool
    several: Mapping[str, tuple[Region, ...]]
    required: frozenset[Part]


def deciding(tree: Tree, slots: Mapping[str, Slots]) -> Deciding:
    """Return what a predicate comes to, given what the cells of its attributes may hold.

    So predicates that say the same come to the same.

    Refuses (ParameterError) predicates that tie too many things together.
    """
    several = in_several_places([tree])
    if not several:
        every = tree.parts if not isinstance(tree, Part) and tree.every else (tree,)
        alone = frozenset(part for part in every if isinstance(part, Part))
        return Deciding(given(tree, {}), {}, alone)
    parts = dict(sorted(several.items()))
    parts |= {part.attribute: (part,) for part in parts_of(tree) if part.attribute not in parts}
    found = {
        name: regions(slots[name], own) if name in several else _alone(own[0])
        for name, own in parts.items()
    }
    diagrams = Diagrams([len(own) for own in found.values()])
    truths = [[each.truth for each in own] for own in found.values()]
    kept: dict[str, tuple[Region, ...]] = {}
    idle: dict[Part, bool] = {}
    required: set[Part] = set()
    for name, own in found.items():
        by_left: dict[int, list[Region]] = {}
        for each in own:
            by_left.setdefault(diagrams.of(given(tree, each.truth), truths), []).append(each)
        if len(by_left) < 2:
            idle |= own[0].truth if own else dict.fromkeys(parts[name], False)
            continue
        vectors = [tuple(each.truth.values()) for each in own]
        together = [
            (node, region(parts[name], [tuple(each.truth.values()) for each in chosen], vectors))
            for node, chosen in sorted(by_left.items(), reverse=True)  # NO is 0
        ]
        if len(together) == 2 and together[1][0] == NO:
            required.add(together[0][1].part)
        if name in several:
            kept[name] = tuple(each for _, each in together)
    return Deciding(given(tree, idle), kept, frozenset(required))


def told_apart(predicate: Predicate, attribute: str) -> list[tuple[Predicate, Predicate | bool]]:
    """Return what may be true of an attribute, and what is left of a predicate in each case.

    Every value is in one case, whatever cells there are; each leaves something else. The attribute
    must be one that the predicate reads.

    Refuses (ParameterError) predicates that read the attribute in too many places.

    >>> from sfumato.predicates import parse
    >>> for own, left in told_apart(parse("ill = 'Flu' or age < 23"), "ill"):
    ...     print(own, "->", left)
    ill = 'Flu' -> True
    ill != 'Flu' OR ill IS NULL -> age < 23
    """
    tree = take_apart(negation_normal_form(predicate))
    parts = tuple(dict.fromkeys(p for p in parts_of(tree) if p.attribute == attribute))
    if 2 ** len(parts) > _MOST_CASES:
        raise too_many(attribute)
    every = list(product((True, False), repeat=len(parts)))
    by_left: dict[Tree | bool, list[tuple[bool, ...]]] = {}
    for vector in every:
        left = given(tree, dict(zip(parts, vector, strict=True)))
        by_left.setdefault(left, []).append(vector)
    return [
        (
            region(parts, chosen, every).part.predicate,
            left if isinstance(left, bool) else predicate_of(left),
        )
        for left, chosen in by_left.items()
    ]


def whatever(
    predicate: Predicate | bool | None, attribute: str, kind: type[And | Or]
) -> Predicate | bool | None:
    """Return what is true whatever an attribute is (And), or if it is the right thing (Or)."""
    if predicate is None or isinstance(predicate, bool) or attribute not in predicate.attributes:
        return predicate
    lefts = [left for _, left in told_apart(predicate, attribute)]
    if (kind is Or) in lefts:
        return kind is Or
    return joined(kind, lefts)


def joined(kind: type[And | Or], several: Sequence[Predicate | bool]) -> Predicate | bool:
    """Return all of some predicates, or any of them; what is known already is left out."""
    found = [each for each in several if not isinstance(each, bool)]
    if not found:
        return kind is And
    return found[0] if len(found) == 1 else kind(tuple(found))


def _alone(part: Part) -> list[Region]:
    """Return the regions of an attribute that stands in one place; only their truths are used."""
    return [Region(part, {part: True}), Region(part, {part: False})]
