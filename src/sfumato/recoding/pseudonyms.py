"""Pseudonyms: identifiers replaced by tokens that only the holder of a key can make.

The same person has the same token wherever the same key and the same word are used, so tables and
deliveries can be linked. That is the purpose, and the risk: whoever has the key, or a guess at it,
can name everybody. A table with pseudonyms is pseudonymised, not anonymised.
"""

from __future__ import annotations

import base64
import hmac
from dataclasses import replace
from typing import Final

import pyarrow as pa

from sfumato.errors import ParameterError
from sfumato.schema.distinct import distinct
from sfumato.schema.lazy_table import Columns
from sfumato.schema.text import to_texts
from sfumato.table import Table

LEAST_KEY_BYTES: Final = 16
_PURPOSE = b"sfumato pseudonyms, version 1"


def tokens(column: pa.ChunkedArray, name: str, word: str, key: bytes) -> pa.Array:
    """Return a token for every cell; missing ones stay missing.

    Equal texts of values have equal tokens wherever `word` and `key` are equal, and no token tells
    anything of its value without the key (HMAC-SHA256, cut to 128 bits).

    Refuses (ParameterError) a short key, (SchemaError) cells that have no text.

    >>> names = pa.chunked_array([["Ann", "Bob", None, "Ann"]])
    >>> made = tokens(names, "name", "patient", bytes(range(16))).to_pylist()
    >>> made[0] == made[3], made[0] == made[1], made[2] is None, len(made[0])
    (True, False, True, 26)
    """
    if len(key) < LEAST_KEY_BYTES:
        raise ParameterError(f"a key of pseudonyms has at least {LEAST_KEY_BYTES} random bytes")
    own = hmac.digest(key, _PURPOSE + b"\0" + word.encode(), "sha256")
    found = distinct(column, name)
    texts = to_texts(found.values).to_pylist()
    made = pa.array([_token(own, text) for text in texts] + [None], pa.string())
    return made.take(pa.array(found.codes))


def with_tokens(table: Table, data: Columns, key: bytes | None) -> Table:
    """Return a coded table with the pseudonyms of its identifiers, read from its input.

    Refuses (ParameterError) pseudonyms without a key, and a key without pseudonyms.
    """
    asked = table.schema.pseudonyms
    if asked and key is None:
        raise ParameterError(
            f"column '{asked[0].name}' is published as a pseudonym: give a key, such as "
            "`--key-file key` of one made by `head -c 32 /dev/urandom > key`"
        )
    if key is None:
        return table
    if not asked:
        raise ParameterError(
            "a key of pseudonyms is given, and no identifier has `pseudonym: true`"
        )
    made = {
        each.name: tokens(data[each.name], each.name, each.pseudonym or each.name, key)
        for each in asked
    }
    return replace(table, tokens=made)


def refuse_linking(table: Table) -> None:
    """Refuse (ParameterError) tokens that would show which of several rows are one person's."""
    if table.tokens and table.units is not None:
        raise ParameterError(
            "people have several rows, which pseudonyms would link: groups of rows do not protect "
            "whoever is known by all of theirs; use `sfumato link`, or leave `pseudonym` out"
        )


def _token(key: bytes, text: str) -> str:
    digest = hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256")[:16]
    return base64.b32encode(digest).decode().rstrip("=").lower()
