"""The cell grammar of a release, read literally from the format's text.

A cell's *text* becomes one of the small classes below, the values inside become points.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from .points import NoPoint, Point, point_of_text

SPECIAL = set('{}[],|"')


class CellError(Exception):
    """A cell that the grammar does not allow."""


@dataclass(frozen=True)
class Exact:
    """One value, as it was; `point` None is a missing one."""

    point: Point | None


@dataclass(frozen=True)
class Range:
    """All values from low to high, both included."""

    low: Point
    high: Point


@dataclass(frozen=True)
class Node:
    """All leaves below a node of the hierarchy."""

    label: str


@dataclass(frozen=True)
class Star:
    """Everything: the root of a hierarchy or a suppressed cell."""


@dataclass(frozen=True)
class ValueSet:
    """Any of the members; an `Exact(None)` among them is a missing value."""

    members: tuple[Exact | Range, ...]


Cell = Exact | Range | Node | Star | ValueSet


@dataclass(frozen=True)
class Reading:
    """How the cells of one attribute read: its type, kind, order and hierarchy."""

    type: str
    kind: str
    order: tuple[Point, ...] = ()
    paths: Mapping[Point, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        type: str,
        kind: str,
        *,
        order: Sequence[str] = (),
        hierarchy: Sequence[Sequence[str]] = (),
    ) -> Reading:
        """Return a reading from the texts of a manifest and the rows of a hierarchy file."""
        return cls(
            type,
            kind,
            tuple(point_of_text(text, type) for text in order),
            {_leaf(row[0], type): tuple(row[1:]) for row in hierarchy},
        )

    @property
    def labels(self) -> set[str]:
        """The labels of all nodes above the leaves."""
        return {label for path in self.paths.values() for label in path}


def _leaf(text: str, type: str) -> Point:
    """Return the point of a leaf; an inner node left without leaves may stand in as its own."""
    try:
        return point_of_text(text, type)
    except NoPoint:
        return text


def parse_cell(text: str | None, reading: Reading) -> Cell:
    """Return the cell that a text stands for; None is a missing exact cell.

    >>> age, sex = Reading.of("int32", "numeric"), Reading.of("string", "categorical")
    >>> parse_cell("[25, 28]", age)
    Range(low=Fraction(25, 1), high=Fraction(28, 1))
    >>> parse_cell("{null, Female}", sex)
    ValueSet(members=(Exact(point=None), Exact(point='Female')))
    >>> parse_cell('"*"', sex), parse_cell("*", sex)
    (Exact(point='*'), Star())
    """
    if text is None:
        return Exact(None)
    if text == "*":
        return Star()
    # A node is named by its label, which may itself look like a range ("[20, 30[").
    if text in reading.labels and not _is_leaf(text, reading):
        return Node(text)
    if text.startswith('"') and reading.paths:
        plain = _json_text(text)
        if plain != "*" and plain in reading.labels and not _is_leaf(plain, reading):
            return Node(plain)
    parser = _Parser(text, reading)
    cell = parser.cell()
    parser.end()
    return cell


def _json_text(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        raise CellError("a quoted value is not a JSON string") from None


def _is_leaf(text: str, reading: Reading) -> bool:
    """Whether a text is a value of the data with a row of its own in the hierarchy."""
    try:
        return point_of_text(text, reading.type) in reading.paths
    except NoPoint:
        return False


class _Parser:
    """Reads one text from left to right."""

    def __init__(self, text: str, reading: Reading) -> None:
        self.text, self.reading, self.at = text, reading, 0

    def cell(self) -> Cell:
        if self.text.startswith("["):
            return self.range()
        if self.text.startswith("{"):
            return self.set()
        return self.value(allow_null=False)

    def end(self) -> None:
        if self.at != len(self.text):
            raise CellError("text after the end of a cell")

    def take(self, *signs: str) -> str:
        for sign in signs:
            if self.text.startswith(sign, self.at):
                self.at += len(sign)
                return sign
        raise CellError(f"expected {' or '.join(signs)} in a cell")

    def value(self, *, allow_null: bool) -> Exact:
        if self.text.startswith('"', self.at):
            try:
                plain, self.at = json.JSONDecoder().raw_decode(self.text, self.at)
            except ValueError:
                raise CellError("a quoted value is not a JSON string") from None
            return Exact(self.point(plain))
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in SPECIAL:
            # In a set of the `sets` layout values are parted by " | ".
            if self.text.startswith(" |", self.at):
                break
            self.at += 1
        bare = self.text[start : self.at]
        if bare == "null":
            if not allow_null:
                raise CellError("a bare null outside a set")
            return Exact(None)
        if bare == "*" or (not bare and self.text):
            raise CellError("an empty or starred value inside a cell")
        return Exact(self.point(bare))

    def point(self, text: str) -> Point:
        try:
            return point_of_text(text, self.reading.type)
        except NoPoint as error:
            raise CellError(str(error)) from None

    def range(self) -> Range:
        if self.reading.kind == "categorical":
            raise CellError("a range of values without order")
        self.take("[")
        low = self.value(allow_null=False).point
        self.take(", ")
        high = self.value(allow_null=False).point
        self.take("]")
        assert low is not None and high is not None
        if position(low, self.reading) > position(high, self.reading):
            raise CellError("a range that ends before it begins")
        return Range(low, high)

    def set(self) -> ValueSet:
        self.take("{")
        members: list[Exact | Range] = []
        parted = set()
        while True:
            ranged = self.text.startswith("[", self.at)
            members.append(self.range() if ranged else self.value(allow_null=True))
            sign = self.take(", ", " | ", "}")
            if sign == "}":
                break
            parted.add(sign)
        if len(parted) > 1 or len(set(members)) < len(members):
            raise CellError("a set with a repeated member or mixed separators")
        return ValueSet(tuple(members))


def position(point: Point, reading: Reading) -> Fraction:
    """Return where a value lies on its attribute's line: itself, or its rank in the order."""
    if reading.kind == "numeric":
        if not isinstance(point, Fraction):
            raise CellError("a numeric attribute with a value that is no number")
        return point
    if point not in reading.order:
        raise CellError("a value outside the order of its attribute")
    return Fraction(reading.order.index(point))


def covers(cell: Cell, point: Point | None, reading: Reading) -> bool:
    """Whether an original value may stand behind a published cell.

    >>> age = Reading.of("int32", "numeric")
    >>> covers(parse_cell("[25, 28]", age), Fraction(25), age)
    True
    >>> covers(parse_cell("[25, 28]", age), None, age)
    False
    """
    match cell:
        case Star():
            return True
        case Exact(own):
            return own == point
        case ValueSet(members):
            return any(covers(member, point, reading) for member in members)
        case Range(low, high):
            if point is None:
                return False
            ends = position(low, reading), position(high, reading)
            return ends[0] <= position(point, reading) <= ends[1]
        case Node(label):
            # A missing value is a child of the root, which is a Star.
            return point is not None and label in reading.paths.get(point, ())
    raise TypeError(cell)


def covered(cell: Cell, domain: Sequence[Point | None], reading: Reading) -> set[Point | None]:
    """Return the values of a domain that a cell covers."""
    return {point for point in domain if covers(cell, point, reading)}
