"""A predicate taken apart by attribute: what concerns one alone is judged as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias, TypeVar

from sfumato.predicates.expression import And, Or, Predicate

Known = TypeVar("Known")


@dataclass(frozen=True, slots=True)
class Part:
    """A predicate on one attribute."""

    attribute: str
    predicate: Predicate


@dataclass(frozen=True, slots=True)
class Join:
    """Several parts, all of which must hold (`every`) or at least one."""

    every: bool
    parts: tuple[Tree, ...]


Tree: TypeAlias = Part | Join
ALWAYS = Join(every=True, parts=())


def take_apart(predicate: Predicate) -> Tree:
    """Return the tree of a predicate in negation normal form, in which NOT stands before leaves.

    >>> from sfumato.predicates import parse
    >>> tree = take_apart(parse("age > 30 and sex = 'F' and age < 40"))
    >>> [str(part.predicate) for part in tree.parts]
    ['age > 30 AND age < 40', "sex = 'F'"]
    """
    names = predicate.attributes
    if len(names) == 1:
        return Part(next(iter(names)), predicate)
    assert isinstance(predicate, And | Or)  # all that can read several attributes
    kind = type(predicate)
    alone: dict[str, list[Predicate]] = {}
    mixed: list[Tree] = []
    for part in predicate.parts:
        if len(part.attributes) == 1:
            alone.setdefault(next(iter(part.attributes)), []).append(part)
        else:
            mixed.append(take_apart(part))
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
