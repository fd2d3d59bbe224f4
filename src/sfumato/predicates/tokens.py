"""The words of a predicate, checked before they are parsed.

sqlglot reads all of SQL, and reads it kindly. Here it is given the words of the predicate language
alone, and what cannot be part of it is refused at its very place, before any parser recurses.
"""

from __future__ import annotations

import re
from itertools import pairwise

from sqlglot import Token, TokenError, Tokenizer, TokenType

from sfumato.predicates.expression import RESERVED_WORDS
from sfumato.predicates.places import refusal
from sfumato.predicates.sequence import COMPARES, RANGES, check_sequence

MAX_LENGTH = 50_000
MAX_DEPTH = 32

_WORD = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?")
_CLOSED_QUOTES = re.compile(r"""'(?:[^']|'')*+'|"(?:[^"]|"")*+"|`(?:[^`]|``)*+`""")

_NAMES = frozenset((TokenType.VAR, TokenType.IDENTIFIER))
_LITERALS = frozenset((TokenType.STRING, TokenType.NUMBER))
_OPERANDS = _NAMES | _LITERALS
_ALLOWED = (
    COMPARES
    | _OPERANDS
    | {TokenType[word] for word in RESERVED_WORDS}
    | {TokenType.L_PAREN, TokenType.R_PAREN, TokenType.COMMA, TokenType.DASH, TokenType.DOT}
)
# After one of these a dash subtracts, and a dot selects.
_OPERAND_ENDS = _OPERANDS | {TokenType.R_PAREN}
# After one of these something must follow that the others are not.
_JOINS = COMPARES | {TokenType.AND, TokenType.OR, TokenType.COMMA}
_OPEN = _JOINS | RANGES | {TokenType.NOT, TokenType.IS, TokenType.ESCAPE, TokenType.L_PAREN}
_NOT_TO_FOLLOW = _JOINS | RANGES | {TokenType.IS, TokenType.ESCAPE, TokenType.R_PAREN}
# Words that a message may repeat: nobody's data. Some come in twos, such as SIMILAR TO.
_SQL_WORDS = frozenset(word for words in Tokenizer.KEYWORDS for word in words.split())
_SQL_WORDS |= {"SYMMETRIC", "ASYMMETRIC"}
# What stands before a text to say that it is a date.
_TYPES = {"DATE": TokenType.DATE, "TIMESTAMP": TokenType.TIMESTAMP}


class _PredicateTokenizer(Tokenizer):
    """Every word is a name but those of the language; there are no comments."""

    IDENTIFIERS = ['"', "`"]  # noqa: RUF012 -- as sqlglot has it
    COMMENTS = []  # noqa: RUF012
    KEYWORDS = {word: TokenType[word] for word in RESERVED_WORDS} | {
        "!=": TokenType.NEQ,
        "<>": TokenType.NEQ,
        "<=": TokenType.LTE,
        ">=": TokenType.GTE,
    }


def words(text: str) -> list[Token]:
    """Return the words of a text as the language cuts it, whatever they are: keywords are names.

    Refuses (ParameterError, with the place) a text that is too long, half a character, and quotes
    that are not closed.
    """
    if len(text) > MAX_LENGTH:
        what = f"at most {MAX_LENGTH} characters are read, not {len(text)}"
        raise refusal(MAX_LENGTH, what)
    try:
        text.encode()  # half of a surrogate pair is in no column, and nothing can be done with it
    except UnicodeEncodeError as error:
        raise refusal(error.start, "this is half a character") from None
    try:
        return list(_PredicateTokenizer().tokenize(text))
    except TokenError:  # its message quotes the text
        raise refusal(_unclosed(text), "what begins here is not closed") from None


def tokenize(text: str) -> list[Token]:
    """Return the words of the predicate, in an order that may still be wrong.

    Refuses (ParameterError, with the place) whatever the language does not have: functions,
    arithmetic, comments and other quotes; and a text that is too long or nested too deeply.

    >>> [token.text for token in tokenize("age >= 30")]
    ['age', '>=', '30']
    """
    tokens = words(text)
    if not tokens:
        raise refusal(0, "there is nothing; compare a column with a literal, such as age >= 30")
    for token in tokens:
        check_alone(token)
    _check_depth(tokens)
    # As if in parentheses, since the ends of a text leave as much unfinished as those do.
    start = Token(TokenType.L_PAREN, "the beginning")
    end = Token(TokenType.R_PAREN, "the end", start=len(text))
    for before, token in pairwise((start, *tokens, end)):
        _check_pair(before, token)
    check_sequence(tokens, describe)
    return _with_types(tokens)


def is_name(token: Token) -> bool:
    """Return whether the word names a column."""
    return token.token_type in _NAMES


def describe(token: Token) -> str:
    """Return the word for a message, where it cannot be somebody's data."""
    if token.token_type in _LITERALS:
        return "a literal"
    if token.token_type is TokenType.IDENTIFIER:
        return "a name in quotes"
    if token.token_type is TokenType.VAR and token.text.upper() not in _SQL_WORDS:
        return "this word"
    return token.text if " " in token.text else f"`{token.text}`"


def check_alone(token: Token) -> None:
    """Refuse (ParameterError, with the place) a word that stands nowhere in the language."""
    kind, text, start = token.token_type, token.text, token.start
    if token.comments:
        raise refusal(start, "a predicate has no comments")
    if kind not in _ALLOWED or (kind is TokenType.NOT and text == "!"):
        is_symbol = Tokenizer.SINGLE_TOKENS.get(text) is kind
        raise refusal(start, f"{f'`{text}`' if is_symbol else 'this'} is not part of the language")
    if kind is TokenType.VAR and not _WORD.fullmatch(text):
        raise refusal(start, "a name with signs or blanks in it needs double quotes")
    if kind is TokenType.IDENTIFIER and not text:
        raise refusal(start, "a column needs a name")
    if kind is TokenType.NUMBER and not _NUMBER.fullmatch(text):
        raise refusal(start, "a number has digits, and perhaps a point or a small exponent")


def _check_pair(before: Token, token: Token) -> None:
    """Refuse two words that never stand side by side, by the one of them that is to blame."""
    first, second = before.token_type, token.token_type
    if first is TokenType.DASH and second not in (TokenType.NUMBER, TokenType.DOT):
        raise refusal(before.start, "`-` stands only before a number")
    if first is TokenType.DOT and (second is not TokenType.NUMBER or token.start > before.end + 1):
        raise refusal(before.start, "a name with a dot in it needs double quotes")
    if second is TokenType.DASH and first in _OPERAND_ENDS:
        hint = "a name with a hyphen in it needs double quotes"
        raise refusal(token.start, f"`-` does not calculate here; {hint}")
    if second is TokenType.DOT and first in _OPERAND_ENDS:
        raise refusal(token.start, "a name with a dot in it needs double quotes")
    if first in _NAMES and second is TokenType.L_PAREN:
        shown = f"`{before.text}`" if first is TokenType.VAR else "this"
        raise refusal(before.start, f"functions such as {shown} are not part of the language")
    if first in _NAMES and second in _OPERANDS and not _is_typed(before, token):
        is_keyword = first is TokenType.VAR and before.text.upper() in _SQL_WORDS
        blamed = before if is_keyword else token
        raise refusal(blamed.start, f"{describe(blamed)} cannot stand here")
    is_negated_range = first is TokenType.NOT and second in RANGES
    if first in _OPEN and second in _NOT_TO_FOLLOW and not is_negated_range:
        raise refusal(token.start, f"something is missing before {describe(token)}")


def _check_depth(tokens: list[Token]) -> None:
    opened: list[Token] = []
    negations = 0
    for token in tokens:
        kind = token.token_type
        negations = negations + 1 if kind is TokenType.NOT else 0
        if kind is TokenType.L_PAREN:
            opened.append(token)
        if kind is TokenType.R_PAREN:
            if not opened:
                raise refusal(token.start, "this parenthesis was never opened")
            opened.pop()
        if max(len(opened), negations) > MAX_DEPTH:
            raise refusal(token.start, f"a predicate is nested at most {MAX_DEPTH} levels deep")
    if opened:
        raise refusal(opened[-1].start, "this parenthesis is not closed")


def _with_types(tokens: list[Token]) -> list[Token]:
    """Return the tokens with DATE and TIMESTAMP as types where they stand before a text."""
    for before, token in pairwise(tokens):
        if _is_typed(before, token):
            before.token_type = _TYPES[before.text.upper()]
    return tokens


def _is_typed(before: Token, token: Token) -> bool:
    is_type = before.token_type is TokenType.VAR and before.text.upper() in _TYPES
    return is_type and token.token_type is TokenType.STRING


def _unclosed(text: str) -> int:
    """Return where the quote or comment begins that has no end."""
    # Blanked out, so that places stay the same.
    rest = _CLOSED_QUOTES.sub(lambda match: " " * len(match[0]), text)
    found = re.search(r"""['"`]|\{#""", rest)
    return found.start() if found else 0
