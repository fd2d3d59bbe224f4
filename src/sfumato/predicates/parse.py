"""From text to a predicate: SQL's conditions on one row, as far as they compare with literals."""

from __future__ import annotations

from collections.abc import Collection

from sfumato.predicates.expression import Predicate, unknown_column
from sfumato.predicates.places import refusal


def parse(text: str, columns: Collection[str] | None = None) -> Predicate:
    """Return the predicate that the text says; `columns`, if given, are all that it may name.

    The language: `=`, `!=`, `<>`, `<`, `<=`, `>`, `>=` between a column and a literal,
    `18 <= age < 65`, IN, BETWEEN, LIKE 'prefix%' with ESCAPE, IS NULL, a truth value's bare name,
    AND, OR, NOT and parentheses. Names with hyphens, dots or blanks stand in double quotes or
    backticks. Literals: texts in single quotes, numbers, TRUE, FALSE, DATE '2026-01-31',
    TIMESTAMP '2026-01-31 12:00:00'; a column of dates also compares with texts in this form.

    Refuses (ParameterError) everything else, and names its place but no literal.

    >>> parse("occupation = 'Nurse' and 30 <= age")
    And(parts=(Comparison(attribute='occupation', operator='=', value='Nurse'), \
Comparison(attribute='age', operator='>=', value=30)))
    >>> parse("age + 1 > 30")
    Traceback (most recent call last):
    sfumato.errors.ParameterError: predicate, character 5: `+` is not part of the language
    """
    # Here and not above, since loading it takes a while and most runs have no predicate.
    from sfumato.predicates.grammar import tree_of
    from sfumato.predicates.tokens import is_name, tokenize
    from sfumato.predicates.translate import translate

    tokens = tokenize(text)
    predicate = translate(tree_of(tokens, text))
    if columns is not None:
        for token in tokens:
            if is_name(token) and token.text not in columns:
                raise refusal(token.start, unknown_column(token.text, columns))
    return predicate
