"""Where the randomness of a run comes from: the system, a secret file, or a public test number."""

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
    path = Path(seed_file)
    try:
        with path.open("rb") as file:
            seed = file.read(_MOST_BYTES + 1)
            mode = path.stat().st_mode
    except OSError as error:
        raise InputError(f"{path}: the seed cannot be read ({error.strerror})") from None
    if len(seed) > _MOST_BYTES:
        raise ParameterError(f"{path}: a seed file holds at most {_MOST_BYTES} bytes")
    if len(seed) < MINIMUM_SEED_BYTES:
        raise ParameterError(
            f"{path}: a seed must hold at least {MINIMUM_SEED_BYTES} random bytes, and this one "
            f"has {len(seed)}; make one with `head -c 32 /dev/urandom`"
        )
    if len(set(seed)) < _LEAST_DIFFERENT_BYTES:
        raise ParameterError(
            f"{path}: the seed is not random; make one with `head -c 32 /dev/urandom`"
        )
    warnings: tuple[str, ...] = ()
    if mode & (stat.S_IRGRP | stat.S_IROTH):
        warnings = (f"{path}: others can read the seed; restrict it with `chmod 600`",)
    return Randomness.secret(seed), warnings
