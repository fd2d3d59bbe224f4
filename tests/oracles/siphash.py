"""SipHash-2-4 to the letter of its paper, on Python's numbers."""

from __future__ import annotations

_MASK = 2**64 - 1


def siphash(key: bytes, message: bytes) -> int:
    """Return the hash of a message.

    >>> hex(siphash(bytes(range(16)), bytes(range(15))))  # the example of the paper's appendix A
    '0xa129ca6149be45e5'
    """
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]
    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) % 256])
    for start in range(0, len(padded), 8):
        word = int.from_bytes(padded[start : start + 8], "little")
        v[3] ^= word
        _rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xFF
    _rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _rounds(v: list[int], count: int) -> None:
    for _ in range(count):
        _half(v, 0, 1, 13, True)
        _half(v, 2, 3, 16, False)
        _half(v, 0, 3, 21, False)
        _half(v, 2, 1, 17, True)


def _half(v: list[int], a: int, b: int, bits: int, turn: bool) -> None:
    v[a] = (v[a] + v[b]) & _MASK
    v[b] = _left(v[b], bits) ^ v[a]
    if turn:
        v[a] = _left(v[a], 32)


def _left(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & _MASK
