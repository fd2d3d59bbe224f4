"""A checksum of a table's rows, whatever their order: in a database, rows have none.

It is the SHA-256 of the table as CSV without the formula guard: the header, then the lines of the
rows in the order of their bytes, which is that of `LC_ALL=C sort` where no text has a line end.
"""

from __future__ import annotations

import hashlib

import polars as pl
import pyarrow as pa

from sfumato.release.csv_cells import csv_lines
from sfumato.release.set_cells import with_set_texts

# So few that the texts of the sets in them stay far below Arrow's limit of 2 GiB.
_ROWS = 1 << 18


def content_digest(table: pa.Table) -> str:
    """Return the checksum of a table in the form of releases.

    >>> one, other = pa.table({"age": [33, 41]}), pa.table({"age": [41, 33]})
    >>> content_digest(one) == content_digest(other)
    True
    """
    digest = hashlib.sha256()
    pieces = []
    for start in range(0, max(table.num_rows, 1), _ROWS):
        header, *lines = csv_lines(with_set_texts(table.slice(start, _ROWS)), False)
        if start == 0:
            digest.update(header[0].as_buffer())
        pieces += [pl.Series(pl.from_arrow(each)) for each in lines]
    in_order = pl.concat(pieces).sort() if pieces else pl.Series(dtype=pl.String)
    for start in range(0, len(in_order), _ROWS):
        lines = in_order.slice(start, _ROWS).to_arrow().cast(pa.large_string())
        # the texts of an Arrow array lie end to end
        _, offsets, texts = lines.buffers()
        ends = memoryview(offsets).cast("q")
        digest.update(memoryview(texts)[ends[lines.offset] : ends[lines.offset + len(lines)]])
    return digest.hexdigest()
