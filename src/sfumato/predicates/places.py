"""Where in a text something stands that is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sfumato.errors import ParameterError

_OF_PREDICATE, _OF_QUERY = "predicate, ", "query, "


def refusal(start: int, what: str) -> ParameterError:
    """Return the error for what begins after `start` characters; `what` must quote no literal."""
    return ParameterError(f"{_OF_PREDICATE}character {start + 1}: {what}")


@contextmanager
def placed(places: Sequence[int], number: int = 0) -> Iterator[None]:
    """Say where a literal stands if it is refused; without places, as it is."""
    try:
        yield
    except ParameterError as error:
        if number < len(places):
            raise refusal(places[number], str(error)) from None
        raise


@contextmanager
def of_query() -> Iterator[None]:
    """Say that places are those of a query, and not of the predicate in it."""
    try:
        yield
    except ParameterError as error:
        message = str(error)
        if message.startswith(_OF_PREDICATE):
            raise ParameterError(_OF_QUERY + message.removeprefix(_OF_PREDICATE)) from None
        raise
