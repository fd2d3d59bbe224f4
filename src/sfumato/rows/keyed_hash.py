"""A keyed hash of rows: SipHash-2-4, by which rows are put into an order that nobody can guess."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.table.groups import packed

Words = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]

KEY_BYTES = 16


def row_hashes(codes: Sequence[npt.NDArray[np.integer[Any]]], key: bytes) -> Words:
    """Return a hash of each row: of its codes, column by column, each as eight bytes.

    Give `copies` of the codes as a further column where equal rows must differ.

    *Source*: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012.
    """
    if len(key) != KEY_BYTES:
        raise ParameterError(f"the key of a hash has {KEY_BYTES} bytes")
    first, second = np.frombuffer(key, "<u8").astype(np.uint64)
    words = np.stack([np.asarray(each, np.int64).view(np.uint64) for each in codes], axis=1)
    return np.asarray(_sip_hashes(words, first, second))


def copies(codes: Sequence[npt.NDArray[np.integer[Any]]]) -> Ints:
    """Return for each row which of the rows that hold the same it is: 0, 1, ...

    >>> copies([np.array([7, 3, 7])]).tolist()
    [0, 0, 1]
    """
    keys = packed(codes)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    sizes = np.diff(np.append(starts, len(keys)))
    found = np.empty(len(keys), np.int64)
    found[order] = np.arange(len(keys)) - np.repeat(starts, sizes)
    return found


@numba.njit(cache=True, nogil=True)
def _sip_hashes(words: Words, first: np.uint64, second: np.uint64) -> Words:
    rows, length = words.shape
    hashes = np.empty(rows, np.uint64)
    last = np.uint64((length * 8 & 0xFF) << 56)
    for row in range(rows):
        v0 = first ^ np.uint64(0x736F6D6570736575)
        v1 = second ^ np.uint64(0x646F72616E646F6D)
        v2 = first ^ np.uint64(0x6C7967656E657261)
        v3 = second ^ np.uint64(0x7465646279746573)
        for place in range(length + 1):
            word = words[row, place] if place < length else last
            v3 ^= word
            v0, v1, v2, v3 = _round(v0, v1, v2, v3)
            v0, v1, v2, v3 = _round(v0, v1, v2, v3)
            v0 ^= word
        v2 ^= np.uint64(0xFF)
        for _ in range(4):
            v0, v1, v2, v3 = _round(v0, v1, v2, v3)
        hashes[row] = v0 ^ v1 ^ v2 ^ v3
    return hashes


@numba.njit(inline="always")
def _turned(word: np.uint64, bits: int) -> np.uint64:
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@numba.njit(inline="always")
def _round(
    v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    v0 += v1
    v2 += v3
    v1 = _turned(v1, 13) ^ v0
    v3 = _turned(v3, 16) ^ v2
    v0 = _turned(v0, 32)
    v2 += v1
    v0 += v3
    v1 = _turned(v1, 17) ^ v2
    v3 = _turned(v3, 21) ^ v0
    v2 = _turned(v2, 32)
    return v0, v1, v2, v3
