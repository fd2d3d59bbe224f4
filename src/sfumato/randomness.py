"""The only place that makes random generators.

Published randomness hides people: permutations, group numbers and (later) fakes and random sets
must not be guessable. So the generator is ChaCha20 with a 256-bit key drawn from the operating
system. A seed given by the user is a secret of at least 128 bits; a *test seed* is short, makes
runs repeatable for anyone, and must therefore mark the release as a test.

Where many words are needed, OpenSSL computes what the generator would have drawn.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from randomgen import ChaCha

from sfumato.errors import ParameterError

MINIMUM_SEED_BYTES = 16
_ROUNDS = 20
_BLOCK_WORDS = 16  # of 32 bits, that ChaCha computes at a time
_MOST_WORDS = _BLOCK_WORDS << 32  # OpenSSL counts blocks by 32 bits
_SHARE_BITS = 53  # of a random number from 0 to 1
_MANY_WORDS = 1 << 10  # from here on OpenSSL is worth its while
_PIECE = 1 << 18  # bytes that stay in the cache


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


def random_words(rng: np.random.Generator, count: int) -> npt.NDArray[np.uint32]:
    """Return so many random words of 32 bits: those of `rng.integers(0, 2**32, count, np.uint32)`.

    OpenSSL computes them in a twentieth of the time, and the generator is set behind them. No other
    thread may draw from it meanwhile.

    >>> one, other = (Randomness.test(7).generator("words") for _ in range(2))
    >>> bool((random_words(one, 5_000) == other.integers(0, 2**32, 5_000, np.uint32)).all())
    True
    >>> bool((one.permutation(9) == other.permutation(9)).all())
    True
    """
    source = rng.bit_generator
    if count < _MANY_WORDS or not isinstance(source, ChaCha):
        return rng.integers(0, 1 << 32, count, np.uint32)
    state = source.state
    inner = state["state"]
    drawn, beyond = (int(each) for each in inner["ctr"])
    end = drawn + count
    if beyond or end > _MOST_WORDS or inner["rounds"] != _ROUNDS:
        return rng.integers(0, 1 << 32, count, np.uint32)
    block, before = divmod(drawn, _BLOCK_WORDS)
    stream = _keystream(inner["keysetup"], block, before + count)
    if stream is None:
        return rng.integers(0, 1 << 32, count, np.uint32)
    found = stream[before:]
    # the generator computes a block when it comes to it, and goes on within the last one
    rest = end % _BLOCK_WORDS
    inner["ctr"] = np.array([end - rest, 0], np.uint64)
    source.state = state
    rng.integers(0, 1 << 32, rest, np.uint32)
    return found


def random_shares(rng: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    """Return so many random numbers from 0 to below 1: those of `rng.random(count)`.

    As `random_words`, two of which are a number.

    >>> one, other = (Randomness.test(7).generator("shares") for _ in range(2))
    >>> bool((random_shares(one, 5_000) == other.random(5_000)).all())
    True
    """
    if not isinstance(rng.bit_generator, ChaCha):  # others make numbers in other ways
        return rng.random(count)
    words = random_words(rng, 2 * count).astype("<u4", copy=False).view("<u8")
    words >>= np.uint64(64 - _SHARE_BITS)
    return words * 2.0**-_SHARE_BITS


def _keystream(
    key: npt.NDArray[np.uint32], block: int, count: int
) -> npt.NDArray[np.uint32] | None:
    """Return so many words of ChaCha20's stream of a key, from a block on.

    None where OpenSSL has no ChaCha20, as where it is restricted to what a standard lists.
    """
    # late, for it takes a hundredth of a second
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

    start = block.to_bytes(8, "little") + bytes(8)
    try:
        cipher = Cipher(algorithms.ChaCha20(key.tobytes(), start), mode=None).encryptor()
    except UnsupportedAlgorithm:
        return None
    found = np.empty(count, np.uint32)
    nothing = bytes(min(found.nbytes, _PIECE))
    for first in range(0, found.nbytes, _PIECE):
        piece = memoryview(found.view(np.uint8).data)[first : first + _PIECE]
        cipher.update_into(nothing[: len(piece)], piece)
    return found


def repeatable(seed: int, *stream: int) -> np.random.Generator:
    """Return a fast generator that anyone can repeat: for synthetic data only, never for a release.

    Different streams of one seed are independent.

    >>> bool((repeatable(7, 1).random(3) == repeatable(7, 1).random(3)).all())
    True
    >>> bool((repeatable(7, 1).random(3) == repeatable(7, 2).random(3)).any())
    False
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=stream)))
