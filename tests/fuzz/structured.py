"""Input that is nearly right, by Hypothesis: the right shape with values that nobody expects.

Random bytes rarely get past a parser; these do. Each target has a strategy of whole inputs.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from arbitrary.frames import NAMES, TEXTS
from arbitrary.typed_tables import TYPES, chunked
from hypothesis import strategies as st

from . import targets
from .workbench import PAGES

_WORDS = st.sampled_from((*TEXTS, "<script>alert(1)</script>", "9" * 400, "1e999", "-inf", "0x1F"))
_TEXT = _WORDS | st.text(max_size=12)
_NUMBERS = st.integers() | st.integers(-3, 30) | st.floats() | st.just(10**400)
_SCALARS = st.none() | st.booleans() | _NUMBERS | _TEXT
_ANYTHING = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def _csv(draw: Any) -> bytes:
    separator, end = draw(st.sampled_from([",", ";", "\t"])), draw(st.sampled_from(["\n", "\r\n"]))
    width = draw(st.integers(1, 6))
    cell = _TEXT.map(lambda text: text.replace("\0", ""))

    def written(text: str) -> str:
        quoted = '"' + text.replace('"', '""') + '"'
        return quoted if draw(st.booleans()) or set(text) & set(f'{separator}"\r\n') else text

    lines = [separator.join(written(n) for n in draw(st.permutations(NAMES))[:width])]
    for _ in range(draw(st.integers(0, 6))):
        fields = draw(st.lists(cell, min_size=width, max_size=width + draw(st.booleans())))
        lines.append(separator.join(written(field) for field in fields))
    text = end.join([*lines, ""])
    return text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])), "surrogatepass")


@st.composite
def _parquet(draw: Any) -> bytes:
    rows = draw(st.integers(0, 6))
    names = draw(st.lists(_TEXT.map(_plain), min_size=1, max_size=4, unique=True))
    columns = [draw(chunked(draw(st.sampled_from(TYPES)), rows)) for _ in names]
    sink = io.BytesIO()
    try:
        pq.write_table(
            pa.table(columns, names=names),
            sink,
            compression=draw(st.sampled_from(["none", "snappy", "zstd", "gzip"])),
            use_dictionary=draw(st.booleans()),
            data_page_version=draw(st.sampled_from(["1.0", "2.0"])),
        )
    except (pa.ArrowException, ValueError):  # a type that Parquet has no form for
        return b"PAR1"
    return _spoilt(draw, sink.getvalue())


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _spoilt(draw: Any, content: bytes) -> bytes:
    """Change a byte now and then."""
    data = bytearray(content)
    for _ in range(draw(st.sampled_from([0, 0, 1, 3]))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data)


@st.composite
def _policy(draw: Any) -> bytes:
    content = yaml.safe_load(targets.POLICY)
    keys = ("role", "kind", "hierarchy", "order", "domain", "l", "t", "c", "variant", "distance")
    keys += ("recode", "missing", "keep", "min_width", "when", "flag", "weight", "alpha", "beta")
    for _ in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from(list(content["attributes"])) | _TEXT)
        rules = content["attributes"].setdefault(name, {"role": "quasi-identifier"})
        rules[draw(st.sampled_from(keys))] = draw(_rule)
    if draw(st.booleans()):
        name = draw(st.sampled_from(["anatomy", "lgb", "merging", "slppa", "arp", "dp", "pram"]))
        content["method"] = {"name": name, "k": draw(_NUMBERS), draw(_TEXT): draw(_ANYTHING)}
    if draw(st.integers(0, 3)) == 0:
        extra = st.sampled_from(
            ["unit", "weight", "output", "guarantees", "on_infeasible", "tables"]
        )
        content[draw(extra)] = draw(_ANYTHING)
    return yaml.safe_dump(content, allow_unicode=draw(st.booleans())).encode("utf-8", "replace")


_rule = _ANYTHING | st.sampled_from(
    [
        *("sensitive", "identifier", "semi-sensitive", "insensitive", "numeric", "categorical"),
        *("entropy", "recursive", "equal", "ordered", "age > 3 AND sex = 'F'", [0, 1], [[1, 2]]),
        *({"width": 0}, {"mask": "left"}, {"bins": [3, 1]}, {"dates": ["year"]}, {"quantiles": 0}),
        *([{"top": 1}], [{"round": 0}], [{"bins": []}], [{"map": {"F": 1}}], [{"shift": -1}]),
    ]
)


@st.composite
def _hierarchy(draw: Any) -> bytes:
    separator = draw(st.sampled_from([";", ","]))
    height = draw(st.integers(1, 4))
    labels = st.sampled_from(["*", "a", "b", "[1, 2[", "[2, 3]", "null", "20", "1*"]) | _TEXT
    rows = draw(st.lists(st.lists(labels, min_size=1, max_size=height), max_size=8))
    quoted = [
        separator.join(
            '"' + label.replace('"', '""') + '"' if draw(st.booleans()) else label for label in row
        )
        for row in rows
    ]
    return "\n".join(quoted).encode("utf-8", "surrogatepass")


@cache
def _good_manifest() -> str:
    return targets.TARGETS["manifest"].seeds()[0].decode()


@st.composite
def _manifest(draw: Any) -> bytes:
    """Return a manifest with some of its values, wherever they stand, replaced or taken out."""
    content = json.loads(_good_manifest())
    for _ in range(draw(st.integers(1, 3))):
        holder: Any = content
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            inner = holder[key]
            if isinstance(inner, dict | list) and inner and draw(st.integers(0, 3)):
                holder = inner
                continue
            if draw(st.integers(0, 3)):
                holder[key] = draw(_ANYTHING)
            else:
                del holder[key]
            break
    return json.dumps(content).encode()


_names = st.sampled_from(["age", "sex", '"a b"', "disease", "x", "COUNT(*)", "SUM(age)", "AVG(x)"])
_literals = st.sampled_from(
    ["1", "-2.5", "'a'", "''", "NULL", "TRUE", "1e999", "DATE '2020-02-30'", "9" * 300]
) | _TEXT.map(lambda text: "'" + text.replace("'", "''") + "'")
_conditions = st.recursive(
    st.builds("{} {} {}".format, _names, st.sampled_from(["=", "<", ">=", "<>", "LIKE"]), _literals)
    | st.builds("{} BETWEEN {} AND {}".format, _names, _literals, _literals)
    | st.builds("{} IN ({}, {})".format, _names, _literals, _literals)
    | st.builds("{} IS {}NULL".format, _names, st.sampled_from(["", "NOT "])),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR", "XOR"]), inner)
        | inner.map("NOT {}".format)
    ),
    max_leaves=8,
)
_sql = st.one_of(
    _conditions,
    st.builds(
        "SELECT {}, {} FROM release WHERE {} GROUP BY {}{}".format,
        *(_names, _names, _conditions, _names),
        st.sampled_from(["", " HAVING 1", " ORDER BY 1", " LIMIT 3", "; DROP TABLE x", " --"]),
    ),
).map(lambda text: text.encode("utf-8", "surrogatepass"))


@cache
def _forms() -> list[tuple[str, dict[str, str]]]:
    found = []
    for request in targets.TARGETS["http"].seeds():
        head, _, body = request.decode("utf-8", "replace").partition("\n\n")
        if head.startswith("POST") and "multipart" not in head:
            fields = dict(pair.partition("=")[::2] for pair in body.split("&"))
            found.append((head, fields))
    return found


@st.composite
def _http(draw: Any) -> bytes:
    if draw(st.integers(0, 2)) == 0:
        rest = draw(
            st.sampled_from(["", "/..", "/%2e%2e", "/@R", "/0", "?column=", "?saved="]) | _TEXT
        )
        return f"GET /p/@P/{draw(st.sampled_from(PAGES))}{rest}\n\n".encode("utf-8", "replace")
    head, fields = draw(st.sampled_from(_forms()))
    changed = dict(fields)
    for _ in range(draw(st.integers(1, 4))):
        key = draw(st.sampled_from(list(fields)) | _TEXT)
        if key != "form_token":
            value = draw(_TEXT | _NUMBERS.map(str))
            changed[key] = urlencode({"x": value.encode("utf-8", "replace")})[2:]
    body = "&".join(f"{key}={value}" for key, value in changed.items())
    return f"{head}\n\n{body}".encode("utf-8", "replace")


STRATEGIES: dict[str, Callable[[], st.SearchStrategy[bytes]]] = {
    "csv": _csv,
    "parquet": _parquet,
    "policy": _policy,
    "hierarchy": _hierarchy,
    "manifest": _manifest,
    "audit": _manifest,
    "sql": lambda: _sql,
    "http": _http,
}
