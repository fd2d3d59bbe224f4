"""The only place that makes random generators.

Published randomness hides people: permutations, group numbers and (later) fakes and random sets
must not be guessable. So the generator is ChaCha20 with a 256-bit key drawn from the operating
system. A seed given by the user is a secret of at least 128 bits; a *test seed* is short, makes
runs repeatable for anyone, and must therefore mark the release as a test.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

import numpy as np
from randomgen import ChaCha

from sfumato.errors import ParameterError

MINIMUM_SEED_BYTES = 16
_ROUNDS = 20


@dataclass(frozen=True, slots=True, repr=False)
class Randomness:
    """The source of all random choices of one run; `is_test` says that anyone can repeat it."""

    key: bytes
    is_test: bool = False

    def __post_init__(self) -> None:
        if len(self.key) < MINIMUM_SEED_BYTES and not self.is_test:
            raise ParameterError(
                f"a seed must hold at least {MINIMUM_SEED_BYTES} random bytes: "
                "make one with `head -c 32 /dev/urandom > seed`"
            )

    def __repr__(self) -> str:
        """Say what it is without the key: representations end up in tracebacks."""
        return f"Randomness(is_test={self.is_test})"

    @classmethod
    def fresh(cls) -> Randomness:
        """Return a source keyed by the operating system."""
        return cls(secrets.token_bytes(32))

    @classmethod
    def secret(cls, seed: bytes) -> Randomness:
        """Return the repeatable source of a secret seed of at least 128 bits."""
        return cls(seed)

    @classmethod
    def test(cls, seed: int) -> Randomness:
        """Return the repeatable source of a short public seed, for tests and examples only.

        >>> first, again = (Randomness.test(7).generator("shuffle") for _ in range(2))
        >>> bool((first.permutation(5) == again.permutation(5)).all())
        True
        """
        return cls(f"test:{int(seed)}".encode(), is_test=True)

    def generator(self, purpose: str) -> np.random.Generator:
        """Return the generator of one purpose; different purposes are independent streams."""
        digest = hashlib.blake2b(
            purpose.encode(), key=hashlib.sha512(self.key).digest(), digest_size=32
        ).digest()
        return np.random.Generator(ChaCha(key=int.from_bytes(digest, "little"), rounds=_ROUNDS))

    def part(self, number: int) -> Randomness:
        """Return the source of one part of a run; those of different parts are independent.

        >>> one, other = (Randomness.test(7).part(number).generator("x") for number in (0, 1))
        >>> bool((one.permutation(9) == other.permutation(9)).all())
        False
        """
        digest = hashlib.blake2b(
            f"part {number}".encode(), key=hashlib.sha512(self.key).digest(), digest_size=32
        ).digest()
        return Randomness(digest, self.is_test)


def split(rng: np.random.Generator, count: int) -> list[np.random.Generator]:
    """Return so many independent generators, keyed by 256 bits each that the given one draws.

    Work that is shared out to threads gets one each, so that the outcome does not depend on who
    is first.
    """
    keys = (int.from_bytes(rng.bytes(32), "little") for _ in range(count))
    return [np.random.Generator(ChaCha(key=key, rounds=_ROUNDS)) for key in keys]


def repeatable(seed: int, *stream: int) -> np.random.Generator:
    """Return a fast generator that anyone can repeat: for synthetic data only, never for a release.

    Different streams of one seed are independent.

    >>> bool((repeatable(7, 1).random(3) == repeatable(7, 1).random(3)).all())
    True
    >>> bool((repeatable(7, 1).random(3) == repeatable(7, 2).random(3)).any())
    False
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=stream)))
