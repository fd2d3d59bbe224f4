"""A predicate taken apart: what concerns one attribute, or one table, is judged as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias, TypeVar

from sfumato.predicates.expression import And, Or, Predicate

Known = TypeVar("Known")


@dataclass(frozen=True, slots=True)
class Part:
    """A predicate on attributes of one place: an attribute itself, or a table that has several."""

    place: str
    predicate: Predicate

    @property
    def attribute(self) -> str:
        """The attribute, where that is what places are."""
        return self.place


@dataclass(frozen=True, slots=True)
class Join:
    """Several parts, all of which must hold (`every`) or at least one."""

    every: bool
    parts: tuple[Tree, ...]


Tree: TypeAlias = Part | Join
ALWAYS = Join(every=True, parts=())


def take_apart(predicate: Predicate, place_of: Mapping[str, str] | None = None) -> Tree:
    """Return the tree of a predicate in negation normal form, in which NOT stands before leaves.

    `place_of` says in which place each attribute is; without it, each is a place of its own.

    >>> from sfumato.predicates import parse
    >>> tree = take_apart(parse("age > 30 and sex = 'F' and age < 40"))
    >>> [str(part.predicate) for part in tree.parts]
    ['age > 30 AND age < 40', "sex = 'F'"]
    """
    places = _places(predicate, place_of)
    if len(places) == 1:
        return Part(next(iter(places)), predicate)
    assert isinstance(predicate, And | Or)  # all that can read several attributes
    kind = type(predicate)
    alone: dict[str, list[Predicate]] = {}
    mixed: list[Tree] = []
    for part in predicate.parts:
        places = _places(part, place_of)
        if len(places) == 1:
            alone.setdefault(next(iter(places)), []).append(part)
        else:
            mixed.append(take_apart(part, place_of))
    single = (
        Part(name, kind(tuple(parts)) if len(parts) > 1 else parts[0])
        for name, parts in alone.items()
    )
    return Join(kind is And, (*single, *mixed))


def parts_of(tree: Tree) -> Iterator[Part]:
    """Return all parts of the tree."""
    if isinstance(tree, Part):
        yield tree
    else:
        for part in tree.parts:
            yield from parts_of(part)


def fold(
    tree: Tree,
    known: Callable[[Part], Known],
    every: Callable[[Known, Known], Known],
    some: Callable[[Known, Known], Known],
    always: Known,
) -> Known:
    """Return what follows for the whole tree from what is known of each part."""
    if isinstance(tree, Part):
        return known(tree)
    found = [fold(part, known, every, some, always) for part in tree.parts]
    return reduce(every if tree.every else some, found) if found else always


def given(tree: Tree, known: Mapping[Part, bool]) -> Tree | bool:
    """Return what is left of the tree once some parts are known to be true or false.

    >>> from sfumato.predicates import parse
    >>> tree = take_apart(parse("age > 30 and (sex = 'F' or job = 'Cook')"))
    >>> age, (sex, job) = tree.parts[0], tree.parts[1].parts
    >>> given(tree, {age: False}), given(tree, {age: True, sex: True})
    (False, True)
    >>> given(tree, {age: True, sex: False}) == job
    True
    """
    if isinstance(tree, Part):
        return known.get(tree, tree)
    left: dict[Tree, None] = {}  # in order, each once
    for part in tree.parts:
        found = given(part, known)
        if isinstance(found, bool):
            if found is not tree.every:
                return found
        else:
            left[found] = None
    if not left:
        return tree.every
    return next(iter(left)) if len(left) == 1 else Join(tree.every, tuple(left))


def predicate_of(tree: Tree) -> Predicate:
    """Return the predicate of a tree that has parts."""
    if isinstance(tree, Part):
        return tree.predicate
    several = tuple(predicate_of(part) for part in tree.parts)
    return And(several) if tree.every else Or(several)


def both(one: Any, other: Any) -> Any:
    """Return the chance of both, independent of each other."""
    return one * other


def either(one: Any, other: Any) -> Any:
    """Return the chance of one or the other, independent of each other."""
    return one + other - one * other


def _places(predicate: Predicate, place_of: Mapping[str, str] | None) -> frozenset[str]:
    names = predicate.attributes
    return names if place_of is None else frozenset(place_of[name] for name in names)
