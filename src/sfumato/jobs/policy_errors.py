"""A wrong policy in one line: the key, what it must be, and the nearest valid name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from pydantic import ValidationError

EXPECTED = {
    "": "a mapping with `attributes` and `method`",
    "attributes": "a mapping of every column to its role, such as `age: {role: quasi-identifier}`",
    "attributes.*": "a mapping such as {role: quasi-identifier}",
    "attributes.*.role": "a role",
    "attributes.*.hierarchy": "a file name, or a builder such as {mask: right}",
    "attributes.*.order": "a list of the values from low to high",
    "attributes.*.domain": "{min: ..., max: ...}, or a list of values",
    "attributes.*.keep": "true or false",
    "attributes.*.recode": "a list of steps such as [{top: 90}, {round: 5}]",
    "unit": "the name of a column",
    "method": "a mapping such as {name: mondrian, k: 5}",
    "method.name": "the name of a method",
    "guarantees": "a list of mappings such as {model: k-anonymity, k: 5}",
    "guarantees.*": "a mapping such as {model: k-anonymity, k: 5}",
    "output": "a mapping such as {format: parquet}",
    "output.formula_guard": "true or false",
}


def first_problem(
    error: ValidationError,
    known_keys: Mapping[str, Iterable[str]],
    choices: Mapping[str, Iterable[str]],
) -> str:
    """Return the first problem of a policy.

    `known_keys` has the valid keys of every section, and `choices` the words that a key may have;
    both go by the pattern of the place, such as `attributes.*.role`. A slip in a key comes first:
    it is often the reason why another key is missing.
    """
    problems = error.errors(include_url=False, include_context=False)
    problem = min(problems, key=lambda each: each["type"] != "extra_forbidden")
    # pydantic's own step into a union is no key of the file
    steps = [str(step) for step in problem["loc"] if step != "DomainBounds"]
    if problem["type"] == "extra_forbidden":
        known = known_keys[_pattern(steps[:-1])]
        return f"`{'.'.join(steps)}`: unknown key; {nearest(steps[-1], known)}"
    steps = steps[: 3 if steps[:1] == ["attributes"] else 2]  # below lie pydantic's own steps
    place, pattern = ".".join(steps), _pattern(steps)
    if problem["type"] == "missing":
        return f"`{place}` is missing; give {EXPECTED.get(pattern, 'a value')}"
    if pattern in choices:
        return f"`{place}`: unknown word; {nearest(problem['input'], choices[pattern])}"
    if problem["type"] == "value_error":
        return problem["msg"].removeprefix("Value error, ")
    wanted = EXPECTED.get(pattern, "a number")
    return f"`{place}` must be {wanted}" if steps else f"a policy is {wanted}"


def nearest(name: object, known: Iterable[str]) -> str:
    """Return a hint at the nearest known name, or all of them if none is near.

    >>> nearest("sensetive", ["identifier", "sensitive"])
    'did you mean `sensitive`?'
    """
    known = list(known)
    close = get_close_matches(str(name), known, n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else f"known are {', '.join(known)}"


def _pattern(steps: list[str]) -> str:
    if len(steps) > 1 and steps[0] == "attributes":
        steps = ["attributes", "*", *steps[2:]]
    if len(steps) > 1 and steps[0] == "guarantees":
        steps = ["guarantees", "*"]
    return ".".join(steps)
