"""Joint attributes and ranges of a release of sets: what the manifest says of them must agree.

`parameters.joint` has, for an attribute `a & b`, the names of its parts; the attribute's values are
all combinations of theirs. `parameters.bins` has the edges of the ranges that numbers were cut
into; they are those of the labels that an attribute, or a part of a joint one, has as values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise, product
from math import isfinite, prod
from typing import Any

import pyarrow as pa

from sfumato.errors import ReleaseDamaged
from sfumato.release import Manifest
from sfumato.release.cells import Exact, Range, parse
from sfumato.release.dtypes import dtype_from_name
from sfumato.release.joint_values import BETWEEN, parts_of
from sfumato.schema.attribute import Kind
from sfumato.schema.text import to_texts

Texts = tuple[str | None, ...]

_MOST = 2**64  # beyond all whole numbers that a column can hold


def check_parameters(manifest: Manifest, protected: Collection[str]) -> None:
    """Refuse (ReleaseDamaged) joint attributes and ranges that the domains contradict."""
    values = _parts(manifest, protected)
    whole = {e.name: e.domain for e in manifest.attributes if isinstance(e.domain, tuple)}
    values |= {name: whole[name] for name in protected if name in whole}
    for name, edges in _mapping(manifest, "bins").items():
        if name not in values:
            raise ReleaseDamaged("the parameter 'bins' names something that has no sets")
        texts = [text for text in values[name] if text is not None]
        if not _agree(edges, texts):
            raise ReleaseDamaged(
                f"the parameter 'bins' has other edges of '{name}' than its ranges have"
            )
    parts = [part for listed in _mapping(manifest, "joint").values() for part in listed]
    _check_types(_mapping(manifest, "types"), {*parts, *_mapping(manifest, "bins")})


def _check_types(types: Mapping[str, Any], labelled: Collection[str]) -> None:
    """Refuse (ReleaseDamaged) types of other attributes than those whose values are labels."""
    if types.keys() != set(labelled):
        raise ReleaseDamaged("the parameter 'types' does not tell of what is binned or joint")
    for name, stated in types.items():
        try:
            if stated.keys() != {"type", "kind"}:
                raise ValueError("other keys")
            dtype_from_name(stated["type"])
            Kind(stated["kind"])
        except (AttributeError, TypeError, ValueError, ReleaseDamaged):
            raise ReleaseDamaged(
                f"the parameter 'types' does not say what '{name}' holds"
            ) from None


def _mapping(manifest: Manifest, key: str) -> Mapping[str, Any]:
    stated = manifest.parameters.get(key, {})
    if not isinstance(stated, dict):
        raise ReleaseDamaged(f"the parameter '{key}' does not tell of attributes by name")
    return stated


# Joint attributes


def _parts(manifest: Manifest, protected: Collection[str]) -> dict[str, Texts]:
    """Return the values of the parts of joint attributes, checked."""
    found: dict[str, Texts] = {}
    published = {entry.name for entry in manifest.attributes}
    for name, parts in _mapping(manifest, "joint").items():
        if name not in protected:
            raise ReleaseDamaged("the parameter 'joint' names something that has no sets")
        listed = isinstance(parts, list) and all(isinstance(part, str) for part in parts)
        if not listed or len(parts) < 2 or BETWEEN.join(parts) != name:
            raise ReleaseDamaged(f"the parameter 'joint' does not say of what '{name}' is joined")
        if len(set(parts)) < len(parts) or not published.union(found).isdisjoint(parts):
            raise ReleaseDamaged(f"a part of '{name}' is published twice")
        found |= zip(parts, _values(manifest, name, len(parts)), strict=True)
    return found


def _values(manifest: Manifest, name: str, parts: int) -> list[Texts]:
    """Return the values of each part; ReleaseDamaged unless the domain has all combinations."""
    entry = manifest.attribute(name)
    domain = entry.domain if isinstance(entry.domain, tuple) else ()
    try:
        combinations = [parts_of(text, parts) for text in domain]
    except ValueError:
        combinations = []
    values = [tuple(dict.fromkeys(column)) for column in zip(*combinations, strict=True)]
    is_whole = prod(map(len, values)) == len(domain) > 0
    if not is_whole or list(product(*values)) != combinations:
        raise ReleaseDamaged(
            f"attribute '{name}' does not list all combinations of its parts, in order"
        )
    return values


# Ranges


def _agree(edges: object, labels: Sequence[str]) -> bool:
    """Whether labels are the ranges between edges, the last of which is the end of all.

    Whole numbers have ranges that end one below the next, fractions share an edge with it; of all
    else (dates, decimals) the files do not tell what the next one is.
    """
    if not isinstance(edges, list) or len(edges) != len(labels) + 1 or len(edges) < 2:
        return False
    texts = _edge_texts(edges)
    ends = [end for end in map(_ends, labels) if end is not None]
    if texts is None or len(ends) < len(labels):
        return False
    lows, highs = ([each[side] for each in ends] for side in (0, 1))
    if lows != texts[:-1] or highs[-1] != texts[-1]:
        return False
    places = _places([*texts, *highs])
    starts, tops = places[: len(texts)], places[len(texts) :]
    if not all(one < other for one, other in pairwise(starts[:-1])):
        return False
    if all(isinstance(edge, int) for edge in edges):
        return bool(highs[:-1] == [str(edge - 1) for edge in edges[1:-1]])
    if not isinstance(edges[0], str):
        return bool(highs[:-1] == texts[1:-1])
    between = zip(pairwise(starts), tops, strict=True)
    return all(low <= top <= high for (low, high), top in between)


def _edge_texts(edges: Sequence[object]) -> list[str] | None:
    """Return the texts of edges that are all numbers, or all texts; None where they are neither."""
    if all(isinstance(edge, str) for edge in edges):
        return [str(edge) for edge in edges]
    numbers = [e for e in edges if isinstance(e, int | float) and not isinstance(e, bool)]
    if len(numbers) < len(edges):
        return None
    if all(isinstance(number, int) for number in numbers):
        return [str(number) for number in numbers] if max(map(abs, numbers)) < _MOST else None
    try:
        reals = [float(number) for number in numbers]
    except OverflowError:
        return None
    texts: list[str] = to_texts(pa.array(reals, pa.float64())).to_pylist()
    return texts if all(map(isfinite, reals)) else None


def _ends(label: str) -> tuple[str, str] | None:
    """Return the ends of a range, which are one where it has one value; None for anything else."""
    try:
        match parse(label):
            case Range(low, high, False):
                return low, high
            case Exact(text):
                return text, text
    except ReleaseDamaged:
        pass
    return None


def _places(texts: Sequence[str]) -> list[Any]:
    """Return the numbers that texts say; dates and times, in ISO form, stand as they are."""
    try:
        numbers = [Decimal(text) for text in texts]
    except InvalidOperation:
        return list(texts)
    return list(texts) if any(number.is_nan() for number in numbers) else numbers
