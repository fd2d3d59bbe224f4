"""sqlglot's parser, held to a single condition, with a place for every leaf and errors of ours."""

from __future__ import annotations

from sqlglot import ParseError, Parser, Token, TokenType, exp

from sfumato.errors import ParameterError
from sfumato.predicates.places import refusal
from sfumato.predicates.sequence import CONSTANTS
from sfumato.predicates.tokens import MAX_DEPTH, MAX_LENGTH, describe, is_name

_Kinds = type[exp.Expression] | tuple[type[exp.Expression], ...]


def tree_of(tokens: list[Token], text: str) -> exp.Expression:
    """Return the tree of the condition that the words of the text make.

    Refuses (ParameterError, with the place) words that make none.
    """
    parser = Parser(error_message_context=MAX_LENGTH)
    try:
        (tree,) = parser.parse_into(exp.Condition, [_plain(token) for token in tokens], text)
    except ParseError as error:
        # Without a cause, whose message quotes the text.
        raise _refusal_near(tokens, len(error.errors[0]["start_context"])) from None
    except RecursionError:
        raise refusal(0, f"this is nested too deeply ({MAX_DEPTH} levels at most)") from None
    except Exception:  # a fault of the parser, on words that make no condition anyway
        raise refusal(0, "this is no condition") from None
    if not isinstance(tree, exp.Expression):
        raise refusal(0, "this is no condition")
    _place(tree, (exp.Null, exp.Boolean), [t for t in tokens if t.token_type in CONSTANTS])
    _place(tree, exp.Neg, [t for t in tokens if t.token_type is TokenType.DASH])
    _place(tree, exp.Paren, _parentheses(tokens))
    return tree


def _plain(token: Token) -> Token:
    """Return the token, a name as if in quotes: the parser has its own ideas of words like CASE."""
    if not is_name(token):
        return token
    return Token(TokenType.IDENTIFIER, token.text, start=token.start, end=token.end)


def _place(tree: exp.Expression, kinds: _Kinds, tokens: list[Token]) -> None:
    """Note where nodes stand of which sqlglot does not, unlike leaves: in the same order."""
    nodes = [node for node in tree.dfs() if isinstance(node, kinds)]
    for node, token in zip(nodes, tokens, strict=False):
        node.meta["start"] = token.start


def _parentheses(tokens: list[Token]) -> list[Token]:
    """Return those that open, without the lists of IN."""
    befores = [None, *(token.token_type for token in tokens)]
    return [
        token
        for before, token in zip(befores, tokens, strict=False)
        if token.token_type is TokenType.L_PAREN and before is not TokenType.IN
    ]


def _refusal_near(tokens: list[Token], start: int) -> ParameterError:
    token = next((token for token in tokens if token.start >= start), tokens[-1])
    what = f"{describe(token)} cannot stand here, or something is missing beside it"
    return refusal(token.start, what)
