"""Value labels: the texts that a codebook gives to codes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import InputError
from sfumato.schema.text import to_texts

Code = float | int | str


@dataclass(frozen=True, slots=True)
class Codebook:
    """What a file says about a column: labels by code, its measure, and its own label."""

    labels: tuple[tuple[Code, str], ...] = ()
    is_ordinal: bool = False
    is_scale: bool = False
    title: str = ""

    def to_json(self) -> str:
        """Return the codebook as JSON."""
        return json.dumps([self.labels, self.is_ordinal, self.is_scale, self.title])

    @classmethod
    def from_json(cls, content: list[Any]) -> Codebook:
        """Return the codebook that such JSON states."""
        labels, is_ordinal, is_scale, title = content
        return cls(tuple((code, text) for code, text in labels), is_ordinal, is_scale, title)

    @classmethod
    def united(cls, books: Sequence[Codebook], name: str) -> Codebook:
        """Return the codebook of all parts of a column.

        Refuses (InputError) parts that give one code two labels; `name` is the column.
        """
        labels: dict[Code, str] = {}
        for book in books:
            for code, label in book.labels:
                if labels.setdefault(code, label) != label:
                    raise InputError(
                        f"column '{name}': the files give different labels to the same code; "
                        "use one codebook for all parts"
                    )
        return cls(
            tuple(labels.items()),
            all(book.is_ordinal for book in books),
            all(book.is_scale for book in books),
            next((book.title for book in books if book.title), ""),
        )


def labelled(column: pa.ChunkedArray, book: Codebook) -> pa.ChunkedArray:
    """Return a dictionary of labels in the order of their codes, or the column where none applies.

    A code without a label is its own text. Two codes with one text keep apart: the code follows in
    brackets. The dictionary is ordered if the codebook calls the column ordinal. A column on a
    scale stays numbers if some of its values have no label.

    >>> book = Codebook(((2.0, "often"), (1.0, "never")), is_ordinal=True)
    >>> made = labelled(pa.chunked_array([[2.0, None, 1.0, 7.0]]), book)
    >>> made.to_pylist(), made.chunk(0).dictionary.to_pylist(), made.type.ordered
    (['often', None, 'never', '7'], ['never', 'often', '7'], True)
    """
    if not book.labels or not _is_code(column.type):
        return column
    labels = {_plain(code): label.strip() for code, label in book.labels}
    found = pc.unique(column).drop_null()
    found = found.take(pc.array_sort_indices(found))
    codes = [_plain(code) for code in found.to_pylist()]
    has_label = [bool(labels.get(code)) for code in codes]
    if not any(has_label) or (book.is_scale and not all(has_label)):
        return column
    plain = to_texts(found).to_pylist()
    texts = [labels.get(code) or text for code, text in zip(codes, plain, strict=True)]
    uses = Counter(texts)
    texts = [
        f"{text} ({code})" if uses[text] > 1 else text
        for text, code in zip(texts, plain, strict=True)
    ]
    entries = pa.array(texts, pa.string())
    chunks = [
        pa.DictionaryArray.from_arrays(
            pc.index_in(chunk, value_set=found), entries, ordered=book.is_ordinal
        )
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string(), book.is_ordinal))


def _is_code(dtype: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_string(dtype)
    )


def _plain(code: Code) -> Code:
    return code.rstrip() if isinstance(code, str) else float(code)
