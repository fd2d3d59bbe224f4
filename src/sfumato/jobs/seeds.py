"""Secrets of a run: its randomness (of the system, a file or a test number) and a key of tokens."""

from __future__ import annotations

import stat
from pathlib import Path

from sfumato.errors import InputError, ParameterError
from sfumato.randomness import MINIMUM_SEED_BYTES, Randomness

_MOST_BYTES = 4096
_LEAST_DIFFERENT_BYTES = 8  # of 16 random bytes fewer differ once in more than a million times


def randomness_of(
    seed_file: str | Path | None = None, test_seed: int | None = None
) -> tuple[Randomness, tuple[str, ...]]:
    """Return the randomness of a run, and warnings about it.

    Refuses (InputError, ParameterError) both at once, and a seed that is unreadable or short.
    """
    if seed_file is not None and test_seed is not None:
        raise ParameterError("give a seed file or a test seed, not both")
    if test_seed is not None:
        warning = (
            "made with a public test seed: the release is marked as a test, not to be published"
        )
        return Randomness.test(test_seed), (warning,)
    if seed_file is None:
        return Randomness.fresh(), ()
    seed, warnings = _secret(Path(seed_file), "seed")
    return Randomness.secret(seed), warnings


def key_of(key_file: str | Path | None) -> tuple[bytes | None, tuple[str, ...]]:
    """Return the key of pseudonyms, and warnings about it; None without a file.

    Refuses (InputError, ParameterError) a key that is unreadable, short or not random.
    """
    return (None, ()) if key_file is None else _secret(Path(key_file), "key")


def _secret(path: Path, what: str) -> tuple[bytes, tuple[str, ...]]:
    """Return the secret in a file, and a warning if others can read it."""
    try:
        with path.open("rb") as file:
            secret = file.read(_MOST_BYTES + 1)
            mode = path.stat().st_mode
    except OSError as error:
        raise InputError(f"{path}: the {what} cannot be read ({error.strerror})") from None
    if len(secret) > _MOST_BYTES:
        raise ParameterError(f"{path}: a {what} file holds at most {_MOST_BYTES} bytes")
    if len(secret) < MINIMUM_SEED_BYTES:
        raise ParameterError(
            f"{path}: a {what} must hold at least {MINIMUM_SEED_BYTES} random bytes, and this one "
            f"has {len(secret)}; make one with `head -c 32 /dev/urandom`"
        )
    if len(set(secret)) < _LEAST_DIFFERENT_BYTES:
        raise ParameterError(
            f"{path}: the {what} is not random; make one with `head -c 32 /dev/urandom`"
        )
    if mode & (stat.S_IRGRP | stat.S_IROTH):
        return secret, (f"{path}: others can read the {what}; restrict it with `chmod 600`",)
    return secret, ()
