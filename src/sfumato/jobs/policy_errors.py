"""A wrong policy in one line: the key, what it must be, and the nearest valid name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from pydantic import ValidationError
from pydantic_core import ErrorDetails


def first_problem(
    error: ValidationError,
    known_keys: Mapping[str, Iterable[str]],
    expected: Mapping[str, str],
    choices: Mapping[str, Iterable[str]],
) -> str:
    """Return the first problem of a policy.

    `known_keys` has the valid keys by section (`""`, `attributes`, ...), `expected` what a key's
    value must be, and `choices` the words that it may be. A slip in a key comes first: it is often
    the reason why another key is missing.
    """
    problems = error.errors(include_url=False, include_context=False)
    problem = min(problems, key=lambda each: each["type"] != "extra_forbidden")
    keys = [str(step) for step in problem["loc"]]
    if problem["type"] == "extra_forbidden":
        section = keys[0] if len(keys) > 1 else ""
        return f"`{'.'.join(keys)}`: unknown key; {nearest(keys[-1], known_keys[section])}"
    return _wrong_value(problem, keys, expected, choices)


def nearest(name: object, known: Iterable[str]) -> str:
    """Return a hint at the nearest known name, or all of them if none is near.

    >>> nearest("sensetive", ["identifier", "sensitive"])
    'did you mean `sensitive`?'
    """
    known = list(known)
    close = get_close_matches(str(name), known, n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else f"known are {', '.join(known)}"


def _wrong_value(
    problem: ErrorDetails,
    keys: list[str],
    expected: Mapping[str, str],
    choices: Mapping[str, Iterable[str]],
) -> str:
    depth = next((i for i in range(len(keys), 0, -1) if keys[i - 1] in expected), len(keys))
    place, key = ".".join(keys[:depth]), keys[depth - 1] if keys else ""
    if not keys:
        return f"a policy is a mapping: {expected['']}"
    if problem["type"] == "missing":
        return f"`{place}` is missing; give {expected.get(key, 'a value')}"
    if key in choices:
        return f"`{place}`: {nearest(problem['input'], choices[key])}"
    if problem["type"] == "value_error":
        return f"`{place}`: {problem['msg'].removeprefix('Value error, ')}"
    return f"`{place}` must be {expected.get(key, 'a mapping such as {role: quasi-identifier}')}"
