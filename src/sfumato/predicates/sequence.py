"""Words of a predicate that are in order each, and yet cannot follow what came before.

sqlglot would take some of them in a sense of its own (`(age = 5 x)` names a column x), and then
nobody can say which word was to blame. So they are looked for before anything is parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import Token, TokenType

from sfumato.errors import ParameterError
from sfumato.predicates.places import refusal

COMPARES = frozenset(
    (TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE)
)
RANGES = frozenset((TokenType.IN, TokenType.BETWEEN, TokenType.LIKE))
CONSTANTS = frozenset((TokenType.NULL, TokenType.TRUE, TokenType.FALSE))
_ENDS = CONSTANTS | {TokenType.STRING, TokenType.NUMBER, TokenType.R_PAREN}
_BEGINS = CONSTANTS | {TokenType.STRING, TokenType.NUMBER, TokenType.VAR, TokenType.IDENTIFIER}
# After one of these a literal belongs, and no condition.
_BEFORE_LITERALS = COMPARES | {TokenType.BETWEEN, TokenType.LIKE, TokenType.ESCAPE}


@dataclass(slots=True)
class _Level:
    """What has been read between two parentheses, or since the last AND or OR there."""

    is_list: bool = False  # of IN
    is_ranged: bool = False  # IN, BETWEEN, LIKE or IS was there
    compared: int = 0
    is_between: bool = False  # the AND of a BETWEEN is still to come


def check_sequence(tokens: Sequence[Token], describe: Callable[[Token], str]) -> None:
    """Refuse (ParameterError, with the place) the first word that cannot follow those before it.

    Parentheses must be balanced. `describe` says a word for a message.
    """
    levels = [_Level()]
    before = Token(TokenType.L_PAREN, "(")
    for number, token in enumerate(tokens):
        first, second = before.token_type, token.token_type
        if first in _ENDS and second in _BEGINS:
            raise _out_of_place(token, describe)
        if first in _BEFORE_LITERALS and second is TokenType.NOT:
            raise _out_of_place(token, describe)
        if first is TokenType.IN and second is not TokenType.L_PAREN:
            raise refusal(token.start, "IN needs a list of literals in parentheses")
        if second is TokenType.IS:
            _check_is(tokens[number + 1 : number + 3])
        if second is TokenType.L_PAREN:
            levels.append(_Level(is_list=first is TokenType.IN))
        elif second is TokenType.R_PAREN:
            levels.pop()
        else:
            _check_level(levels[-1], token, describe)
        before = token


def _check_is(after: Sequence[Token]) -> None:
    """Refuse what follows IS, unless that is NULL or NOT NULL."""
    kinds = [token.token_type for token in after]
    blamed = after[1:] if kinds[:1] == [TokenType.NOT] else after[:1]
    if blamed and blamed[0].token_type is not TokenType.NULL:
        raise refusal(blamed[0].start, "IS is followed by NULL or NOT NULL; write =")


def _check_level(level: _Level, token: Token, describe: Callable[[Token], str]) -> None:
    """Refuse a comma outside lists, and a comparison of what is a comparison already."""
    kind = token.token_type
    if kind is TokenType.NOT and level.is_list:
        raise _out_of_place(token, describe)
    if kind is TokenType.COMMA and not level.is_list:
        raise refusal(token.start, "`,` stands only in the list of IN")
    if kind is TokenType.AND and level.is_between:
        level.is_between = False
    elif kind in (TokenType.AND, TokenType.OR):
        level.is_ranged, level.compared = False, 0
    elif kind in RANGES or kind is TokenType.IS or kind in COMPARES:
        if level.is_ranged or (level.compared and kind not in COMPARES):
            raise refusal(token.start, f"AND or OR is missing before {describe(token)}")
        level.compared += kind in COMPARES
        level.is_ranged = kind not in COMPARES
        level.is_between = kind is TokenType.BETWEEN


def _out_of_place(token: Token, describe: Callable[[Token], str]) -> ParameterError:
    what = f"{describe(token)} cannot stand here, or something is missing beside it"
    return refusal(token.start, what)
