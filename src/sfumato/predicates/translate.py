"""From sqlglot's tree of SQL to a predicate: every node that the language has, and no other."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from sqlglot import exp

from sfumato.errors import ParameterError
from sfumato.predicates.expression import (
    MAX_MAGNITUDE,
    And,
    Between,
    Comparison,
    IsMissing,
    Not,
    OneOf,
    Operator,
    Or,
    Predicate,
    Prefix,
    Value,
)
from sfumato.predicates.moments import read_date, read_datetime
from sfumato.predicates.places import refusal

_OPERATORS: dict[type[exp.Expression], Operator] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_MIRRORED: dict[Operator, Operator] = {
    "=": "=",
    "!=": "!=",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}
_READERS: dict[str, Callable[[str], Value]] = {"DATE": read_date, "TIMESTAMP": read_datetime}


def translate(node: exp.Expression) -> Predicate:
    """Return the predicate that the tree says.

    Refuses (ParameterError, with the place) whatever the language does not have.
    """
    node = _unwrapped(node)
    match node:
        case exp.And() | exp.Or():
            kind = type(node)
            parts = tuple(translate(part) for part in _chain(node, kind))
            return And(parts) if kind is exp.And else Or(parts)
        case exp.Not():
            _only(node, "this")
            return Not(translate(node.this))
        case exp.Column():
            return Comparison(_column(node), "=", True, (_place(node),))
        case exp.In():
            _only(node, "this", "expressions")
            if not node.expressions:
                raise _refusal(node, "IN needs a list of literals in parentheses")
            column, items = _column(node.this), node.expressions
            return OneOf(column, tuple(map(_literal, items)), tuple(map(_place, items)))
        case exp.Between():
            _only(node, "this", "low", "high")
            low, high = node.args["low"], node.args["high"]
            places = _place(low), _place(high)
            return Between(_column(node.this), _literal(low), _literal(high), places)
        case exp.Is():
            _only(node, "this", "expression")
            if not isinstance(node.expression, exp.Null):
                raise _refusal(node.expression, "IS is followed by NULL or NOT NULL; write =")
            return IsMissing(_column(node.this))
        case exp.Escape(this=exp.Like()):
            _only(node, "this", "expression")
            return _like(node.this, escape=node.expression)
        case exp.Like():
            return _like(node, escape=None)
    if type(node) in _OPERATORS:
        return _comparison(node)
    raise _refusal(node, "a predicate compares columns with literals; this does neither")


def _comparison(node: exp.Expression) -> Predicate:
    _only(node, "this", "expression")
    operator = _OPERATORS[type(node)]
    left, right = _unwrapped(node.this), _unwrapped(node.expression)
    if type(node.this) in _OPERATORS:
        return _between_comparisons(node.this, operator, right)
    if isinstance(left, exp.Column):
        return Comparison(_column(left), operator, _literal(right), (_place(right),))
    if isinstance(right, exp.Column):
        return Comparison(_column(right), _MIRRORED[operator], _literal(left), (_place(left),))
    what = "a comparison needs a column on one side and a literal on the other"
    raise _refusal(left if _is_literal(left) else node, what)


def _between_comparisons(inner: exp.Expression, operator: Operator, high: exp.Expression) -> And:
    """Return what `18 <= age < 65` means to everybody but a database."""
    first = _OPERATORS[type(inner)]
    if {first, operator} - {"<", "<="} and {first, operator} - {">", ">="}:
        raise _refusal(
            inner, "comparisons are chained as in 18 <= age < 65; otherwise join them by AND"
        )
    _only(inner, "this", "expression")
    column = _column(inner.expression)
    low = Comparison(column, _MIRRORED[first], _literal(inner.this), (_place(inner.this),))
    return And((low, Comparison(column, operator, _literal(high), (_place(high),))))


def _like(node: exp.Expression, escape: exp.Expression | None) -> Predicate:
    _only(node, "this", "expression", "negate")
    column, pattern = _column(node.this), _literal(node.expression)
    if not isinstance(pattern, str):
        raise _refusal(node.expression, "LIKE needs a text in single quotes")
    sign = "" if escape is None else _literal(escape)
    if not isinstance(sign, str) or (escape is not None and len(sign) != 1):
        raise _refusal(escape or node, "ESCAPE needs a text of one sign")
    found = _prefix(pattern, sign)
    if found is None:
        raise _refusal(
            node.expression,
            "LIKE finds beginnings only: one % at the end, and no _ (to mean the signs themselves, "
            "write !% and !_ and add ESCAPE '!')",
        )
    prefix, is_open = found
    places = (_place(node.expression),)
    leaf = Prefix(column, prefix, places) if is_open else Comparison(column, "=", prefix, places)
    return Not(leaf) if node.args.get("negate") else leaf


def _prefix(pattern: str, escape: str) -> tuple[str, bool] | None:
    """Return the text of a pattern and whether more may follow; None if it is no such pattern."""
    sign = re.escape(escape)
    signs = rf"{sign}.|[^%_{sign}]" if escape else "[^%_]"
    found = re.fullmatch(rf"((?:{signs})*)(%?)", pattern, re.DOTALL)
    if found is None:
        return None
    text = re.sub(f"{sign}(.)", r"\1", found[1], flags=re.DOTALL) if escape else found[1]
    return text, found[2] == "%"


def _column(node: exp.Expression) -> str:
    inner = _unwrapped(node)
    if not isinstance(inner, exp.Column):
        # a condition in parentheses is refused as a whole: there may be a column in it
        raise _refusal(inner if _is_literal(inner) else node, "the name of a column belongs here")
    _only(inner, "this")
    return str(inner.name)


def _is_literal(node: exp.Expression) -> bool:
    return isinstance(node, exp.Literal | exp.Neg | exp.Boolean | exp.Null | exp.Cast)


def _literal(node: exp.Expression) -> Value:
    node = _unwrapped(node)
    match node:
        case exp.Column():
            raise _refusal(node, "a literal belongs here, and no column; texts have single quotes")
        case exp.Literal(is_string=True):
            return str(node.this)
        case exp.Literal():
            return _number(node, str(node.this))
        case exp.Neg(this=exp.Literal(is_string=False)):
            return _number(node, f"-{node.this.this}")
        case exp.Boolean():
            return bool(node.this)
        case exp.Cast(this=exp.Literal(is_string=True)) if node.to.this.value in _READERS:
            _only(node, "this", "to")
            kind = node.to.this.value
            try:
                return _READERS[kind](str(node.this.this))
            except ValueError:
                example = "2026-01-31" if kind == "DATE" else "2026-01-31 12:00:00"
                raise _refusal(node, f"{kind} needs its ISO form, such as '{example}'") from None
        case exp.Null():
            raise _refusal(node, "nothing compares with NULL; write IS NULL or IS NOT NULL")
    whole = node.parent if isinstance(node.parent, exp.Paren) else node
    raise _refusal(whole, "a literal belongs here: a text in single quotes, a number, a date")


def _number(node: exp.Expression, text: str) -> int | Decimal:
    number = Decimal(text)
    if abs(number.adjusted()) > MAX_MAGNITUDE:
        raise _refusal(node, f"numbers lie within {MAX_MAGNITUDE} digits around the point")
    return int(number) if re.fullmatch("-?[0-9]+", text) else number


def _unwrapped(node: exp.Expression) -> exp.Expression:
    while isinstance(node, exp.Paren):
        _only(node, "this")
        node = node.this
    return node


def _chain(node: exp.Expression, kind: type[exp.Expression]) -> list[exp.Expression]:
    """Return the parts of `a AND b AND c`, in a loop: a long chain is a deep tree."""
    parts = []
    while type(node) is kind:
        _only(node, "this", "expression")
        parts.append(node.expression)
        node = node.this
    return [node, *reversed(parts)]


def _only(node: exp.Expression, *known: str) -> None:
    """Refuse a node that says more than the language has, such as BETWEEN SYMMETRIC."""
    if any(said for key, said in node.args.items() if key not in known):
        raise _refusal(node, f"{type(node).__name__.upper()} is not taken in this form")


def _refusal(node: exp.Expression, what: str) -> ParameterError:
    return refusal(_start(node), what)


def _place(node: exp.Expression) -> int:
    """Return where a literal begins, without the parentheses around it."""
    return _start(_unwrapped(node))


def _start(node: exp.Expression) -> int:
    """Return where the first of the node's words begins that sqlglot knows the place of."""
    starts = [each.meta["start"] for each in node.walk() if "start" in each.meta]
    if starts:
        return int(min(starts))
    parent = node.parent
    return _start(parent) if isinstance(parent, exp.Expression) else 0
