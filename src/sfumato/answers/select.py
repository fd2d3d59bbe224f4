"""From the text of a query to what it asks: SELECT one aggregate, WHERE, GROUP BY, and no more.

The text is cut into words as that of a predicate is. The list after SELECT and the names after
GROUP BY are read here; what stands after WHERE goes to the parser of predicates, in its place.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import Token, TokenType

from sfumato.answers.estimate import Asked, Average, Count, Query, Sum
from sfumato.errors import ParameterError
from sfumato.predicates.expression import Predicate, unknown_column
from sfumato.predicates.parse import parse
from sfumato.predicates.places import of_query, refusal
from sfumato.predicates.tokens import check_alone, describe, is_name, words

EXAMPLE = "SELECT COUNT(*) WHERE age >= 30"
TABLE = "release"  # the one name that FROM may have

_AGGREGATES = "COUNT(*), SUM(column) or AVG(column)"
_JOINS = ("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "NATURAL", "ON", "USING")
_SETS = ("UNION", "INTERSECT", "EXCEPT")
_COUNTS = ("LIMIT", "OFFSET", "FETCH", "TOP", "SAMPLE", "TABLESAMPLE", "QUALIFY")
# Words that begin what SQL has and a query here has not, with what to do instead.
_ELSEWHERE = {
    **dict.fromkeys(_JOINS, "a release is asked alone, and has one table: leave out joins"),
    **dict.fromkeys(_SETS, "one SELECT a query: ask once for each of them"),
    **dict.fromkeys(_COUNTS, "every group is listed: narrow WHERE instead"),
    "HAVING": "every group is listed: leave out HAVING and choose among the answers",
    "ORDER": "groups are listed in the order of their values: leave out ORDER BY",
    "AS": "columns keep their names: leave out AS",
    "OVER": "windows are not answered: use GROUP BY",
    "FILTER": "leave out FILTER and write its condition after WHERE",
    "WITH": "leave out WITH: there are no other tables",
    "GROUP": "GROUP is followed by BY, and stands once, at the end",
    "SELECT": "one SELECT a query: there are no queries in queries",
    "FROM": f"FROM {TABLE} stands once, before WHERE",
    "WHERE": "WHERE stands once, before GROUP BY",
}
_CALCULATES = frozenset(
    (TokenType.PLUS, TokenType.DASH, TokenType.STAR, TokenType.SLASH, TokenType.MOD)
)
# After one of these, or a name, no other name can stand: what looks like one begins a clause.
_OPERAND_ENDS = frozenset(
    (
        TokenType.NUMBER,
        TokenType.STRING,
        TokenType.R_PAREN,
        TokenType.NULL,
        TokenType.TRUE,
        TokenType.FALSE,
    )
)


def select(text: str, columns: Collection[str] | None = None) -> Query:
    """Return what the query asks; `columns`, if given, are all that it may name.

    `SELECT COUNT(*) | SUM(x) | AVG(x) [, columns] [FROM release] [WHERE …] [GROUP BY columns]`,
    the columns being the same in both places, in any order. What may stand after WHERE is said by
    `sfumato.predicates.parse`. A semicolon may stand at the end.

    Refuses (ParameterError) everything else, and names its place but no literal.

    >>> print(select("SELECT sex, AVG(age) FROM release WHERE age > 17 GROUP BY sex"))
    SELECT "sex", AVG("age") WHERE age > 17 GROUP BY "sex"
    >>> select("SELECT MAX(age)")
    Traceback (most recent call last):
    sfumato.errors.ParameterError: query, character 8: `MAX` is not answered; \
write COUNT(*), SUM(column) or AVG(column)
    """
    with of_query():
        return _Reader(text, columns).query()


class _Reader:
    """The words of a query, read from left to right, each once."""

    def __init__(self, text: str, columns: Collection[str] | None) -> None:
        self._text = text
        self._columns = columns
        end = Token(TokenType.SEMICOLON, "the end", start=len(text), end=len(text))
        self._tokens = [*words(text), end, end]
        self._at = 0

    def query(self) -> Query:
        """Return the whole query."""
        if not self._takes_word("SELECT"):
            raise self._refusal(f"a query begins with SELECT, as in {EXAMPLE}")
        start = self._token.start
        if self._is_word("DISTINCT", "ALL") and is_name(self._next):
            raise self._refusal("leave this out: GROUP BY lists every group once")
        aggregate, selected = self._items()
        if self._takes_word("FROM"):
            self._table()
        where = self._condition() if self._takes_word("WHERE") else None
        grouped = self._groups() if self._is_group_by(self._at) else []
        if self._is(TokenType.SEMICOLON) and len(self._tokens) - self._at > 2:
            self._at += 1
        if len(self._tokens) - self._at > 2:
            raise self._refusal_of_clause()
        if aggregate is None:
            raise refusal(start, f"no aggregate is asked for; write {_AGGREGATES}")
        _compare(selected, grouped)
        names = tuple(token.text for token in selected)
        starts = {token.text: token.start for token in grouped}
        return Query(aggregate, names, where, tuple(starts[name] for name in names))

    def _items(self) -> tuple[Asked | None, list[Token]]:
        """Return what the list after SELECT has: an aggregate, and columns."""
        aggregate: Asked | None = None
        columns: list[Token] = []
        while True:
            if self._is(TokenType.STAR):
                raise self._refusal("a release has no rows to show; write COUNT(*)")
            if is_name(self._token) and self._next.token_type is TokenType.L_PAREN:
                if aggregate is not None:
                    raise self._refusal("one aggregate a query: ask once for each of them")
                aggregate = self._aggregate()
            else:
                columns.append(self._column(f"a column or {_AGGREGATES} belongs here"))
            if self._token.token_type in _CALCULATES:
                hint = "a name with a hyphen in it needs double quotes"
                is_hyphen = self._is(TokenType.DASH) and columns and is_name(self._next)
                what = hint if is_hyphen else "calculate with the answers"
                raise self._refusal(f"{describe(self._token)} does not calculate here; {what}")
            if not self._takes(TokenType.COMMA):
                return aggregate, columns

    def _aggregate(self) -> Asked:
        token = self._token
        name = token.text.upper() if token.token_type is TokenType.VAR else ""
        if name not in ("COUNT", "SUM", "AVG"):
            shown = f"`{token.text}`" if name else "a name in quotes"
            raise self._refusal(f"{shown} is not answered; write {_AGGREGATES}")
        self._at += 2
        if self._is_word("DISTINCT", "ALL") and is_name(self._next):
            raise self._refusal("different values are not told apart here; GROUP BY lists them")
        aggregate: Asked
        if name == "COUNT":
            if not self._takes(TokenType.STAR):
                raise self._refusal(
                    "rows are counted: write COUNT(*), and WHERE column IS NOT NULL for those that "
                    "have a value"
                )
            aggregate = Count()
        else:
            column = self._column(f"{name} takes the name of a column")
            aggregate = (Sum if name == "SUM" else Average)(column.text, column.start)
        if not self._takes(TokenType.R_PAREN):
            raise self._refusal(f"{name} takes nothing more; calculate with the answers")
        return aggregate

    def _table(self) -> None:
        if not is_name(self._token) or self._token.text.lower() != TABLE:
            raise self._refusal(f"there is one table: leave out FROM, or write FROM {TABLE}")
        self._at += 1
        if self._is(TokenType.COMMA):
            raise self._refusal(_ELSEWHERE["JOIN"])

    def _condition(self) -> Predicate:
        """Return what WHERE says; the rest of the text is blanked out, so that places stay."""
        first, opened = self._at, 0
        if self._is_group_by(first):
            raise self._refusal(f"a condition belongs after WHERE, as in {EXAMPLE}")
        while not self._is(TokenType.SEMICOLON):
            before = self._tokens[self._at - 1]
            opened += self._is(TokenType.L_PAREN) - self._is(TokenType.R_PAREN)
            is_inner_select = self._is_word("SELECT") and before.token_type is TokenType.L_PAREN
            if is_inner_select and not _joins(self._next):
                raise self._refusal(_ELSEWHERE["SELECT"])
            if self._is_word("DISTINCT") and self._follows_is(first):
                raise self._refusal(
                    "IS DISTINCT FROM is not part of the language; write = or !=, and IS NULL"
                )
            if self._at > first and self._is_clause(before):
                if opened == 0 and self._is_group_by(self._at):
                    break
                raise self._refusal_of_clause()
            self._at += 1
        start, end = self._tokens[first].start, self._token.start
        if not self._text[start:end].strip():
            raise refusal(start, f"a condition belongs after WHERE, as in {EXAMPLE}")
        return parse(" " * start + self._text[start:end], self._columns)

    def _groups(self) -> list[Token]:
        """Return the names after GROUP BY."""
        self._at += 2
        names = [self._column("the name of a column belongs here")]
        while self._takes(TokenType.COMMA):
            names.append(self._column("the name of a column belongs here"))
        return names

    def _column(self, otherwise: str) -> Token:
        token = self._token
        if not is_name(token):
            raise self._refusal(otherwise)
        check_alone(token)
        if self._next.token_type is TokenType.DOT:
            raise refusal(self._next.start, "a name with a dot in it needs double quotes")
        if self._next.token_type is TokenType.L_PAREN:
            raise self._refusal(f"{describe(token)} is no column; {otherwise}")
        if self._is_word("FROM", "WHERE", "GROUP") and is_name(self._next):
            raise self._refusal(f"something is missing before {describe(token)}")
        if self._columns is not None and token.text not in self._columns:
            raise self._refusal(unknown_column(token.text, self._columns))
        self._at += 1
        return token

    # --- single words -----------------------------------------------------------------------------

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    @property
    def _next(self) -> Token:
        return self._tokens[self._at + 1]

    def _is(self, kind: TokenType) -> bool:
        return self._token.token_type is kind

    def _takes(self, kind: TokenType) -> bool:
        found = self._is(kind)
        self._at += found
        return found

    def _is_word(self, *known: str) -> bool:
        return _is_word(self._token, *known)

    def _takes_word(self, word: str) -> bool:
        found = self._is_word(word)
        self._at += found
        return found

    def _is_group_by(self, at: int) -> bool:
        return _is_word(self._tokens[at], "GROUP") and _is_word(self._tokens[at + 1], "BY")

    def _is_clause(self, before: Token) -> bool:
        """Return whether a word, which could also be a column's name, begins something else."""
        ends = is_name(before) or before.token_type in _OPERAND_ENDS
        return ends and self._is_word(*_ELSEWHERE)

    def _follows_is(self, first: int) -> bool:
        """Return whether IS or IS NOT stands before the word, after the first one."""
        kinds = [token.token_type for token in self._tokens[first : self._at]]
        return TokenType.IS in (kinds[-2:-1] if kinds[-1:] == [TokenType.NOT] else kinds[-1:])

    def _refusal(self, what: str) -> ParameterError:
        return refusal(self._token.start, what)

    def _refusal_of_clause(self) -> ParameterError:
        if self._is_word(*_ELSEWHERE):
            return self._refusal(_ELSEWHERE[self._token.text.upper()])
        rest = f"nothing follows but FROM {TABLE}, WHERE and GROUP BY, in this order"
        return self._refusal(f"{describe(self._token)} cannot stand here; {rest}")


def _is_word(token: Token, *known: str) -> bool:
    return token.token_type is TokenType.VAR and token.text.upper() in known


def _joins(token: Token) -> bool:
    """Return whether the word before this one can be a column's name."""
    return not is_name(token) and token.token_type not in (TokenType.STAR, TokenType.NUMBER)


def _compare(selected: list[Token], grouped: list[Token]) -> None:
    """Refuse columns that stand twice, or in one of two places only."""
    for listed, others, place in (
        (grouped, selected, "add it after SELECT"),
        (selected, grouped, "add it after GROUP BY"),
    ):
        names = [token.text for token in listed]
        known = {token.text for token in others}
        for number, token in enumerate(listed):
            if token.text in names[:number]:
                raise refusal(token.start, "this column is named twice")
            if token.text not in known:
                raise refusal(token.start, f"this column is in one of two places: {place}")
