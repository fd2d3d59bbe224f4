"""Bytes changed at random, starting from files of the right kind: what runs without atheris."""

from __future__ import annotations

import random

WORDS = [
    *(
        b"\0",
        b"\xff",
        b"\xed\xa0\x80",
        b"\n",
        b"\r",
        b'"',
        b"'",
        b";",
        b",",
        b"\t",
        b"{",
        b"}",
        b"[",
    ),
    *(
        b"]",
        b":",
        b"*",
        b"&a",
        b"*a",
        b"!!python/object:os.system",
        b"NaN",
        b"inf",
        b"-inf",
        b"1e999",
    ),
    *(
        b"9" * 400,
        b"-" + b"9" * 30,
        b"0x1F",
        b"null",
        b"true",
        b"\xe2\x80\xae",
        b"e\xcc\x81",
        b"=1+1",
    ),
    *(
        b"<script>alert(1)</script>",
        b"../../etc/passwd",
        b"%00",
        b"{" * 200,
        b"[" * 3000,
        b"(" * 3000,
    ),
    *(
        b"NOT " * 300,
        b"group",
        b"count",
        b"x.bucket",
        b"a" * 70_000,
        b"AND",
        b"OR",
        b"IN ()",
        b"--",
    ),
]


def changed(rng: random.Random, content: bytes) -> bytes:
    """Return the content after a few random changes."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        place = rng.randrange(len(data) + 1)
        match rng.randrange(6):
            case 0:
                data[place:place] = rng.choice(WORDS)
            case 1:
                del data[place : place + rng.choice([1, 2, 8, 64, len(data)])]
            case 2 if place < len(data):
                data[place] ^= 1 << rng.randrange(8)
            case 3:
                other = rng.randrange(len(data) + 1)
                data[place:place] = data[other : other + rng.choice([1, 8, 64])]
            case 4:
                end = place + rng.choice([1, 2, 5])
                data[place:end] = rng.choice(WORDS)
            case _:
                data[place:place] = rng.randbytes(rng.choice([1, 2, 8]))
    return bytes(data)
