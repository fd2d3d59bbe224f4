"""Counts what the audit says of changed releases against what the oracle says of them."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
from contracts.raw_release import NotApplicable
from oracles.altered import altered
from oracles.verdict import verdict

from sfumato.audit import audit
from sfumato.errors import ReleaseDamaged

from . import claims  # noqa: F401 -- registers its changes
from .cells import HARMLESS, MUTATIONS
from .releases import Good, saved

UNDECIDED = (LookupError, TypeError, ValueError, AttributeError, AssertionError, ArithmeticError)


@dataclass
class Count:
    """How many broken releases were caught and how many sound ones passed; the others by case."""

    caught: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    slipped: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    undecided: Counter[str] = field(default_factory=Counter)
    by_change: Counter[str] = field(default_factory=Counter)


def by_oracle(folder: Path) -> int | None:
    """Return the exit code that an audit must have; None where the oracle cannot say."""
    if altered(folder):
        return 2
    try:
        return verdict(folder)
    except UNDECIDED:
        return None


def by_audit(folder: Path) -> tuple[int, str]:
    """Return the audit's exit code and words; anything but a verdict or a refusal is a fault."""
    try:
        report = audit(folder)
    except ReleaseDamaged as error:
        assert str(error) and "\n" not in str(error)
        return 2, str(error)
    return report.exit_code, str(report.to_json())


def one_case(seed: int, count: Count, home: Path, changes: int = 6) -> None:
    """Make a sound release from the seed, change copies of it, and enter both judgements."""
    rng = random.Random(f"mutation {seed}")
    good = saved(rng, home / "release")
    _enter(seed, count, good, "as it was")
    for place in range(changes):
        copy = replace(good, folder=home / str(place) / "release")
        shutil.copytree(good.folder, copy.folder)
        names = [_changed(rng, copy.folder) for _ in range(rng.choice([1, 1, 1, 2]))]
        count.by_change.update(names)
        _enter(seed, count, copy, f"change {place}, " + ", ".join(names))


def _changed(rng: random.Random, folder: Path) -> str:
    """Change a release in a way that it has room for, and return which."""
    if not (folder / "manifest.json").is_file():
        return "nothing"
    for _ in range(100):
        change = rng.choice(HARMLESS if rng.random() < 0.3 else MUTATIONS)
        before = folder.parent / "before"
        shutil.copytree(folder, before, symlinks=True)
        try:
            change(rng, folder)
        except (NotApplicable, *UNDECIDED, OSError, pa.ArrowException):
            # a release that an earlier change left unreadable has no room for most others
            shutil.rmtree(folder)
            before.rename(folder)
            continue
        shutil.rmtree(before)
        return change.__name__
    return "nothing"


def _enter(seed: int, count: Count, good: Good, change: str) -> None:
    expected = by_oracle(good.folder)
    found, words = by_audit(good.folder)
    case = f"seed {seed}: {good.method} ({good.layout}), {change}: oracle {expected}, audit {found}"
    if expected is None:
        count.undecided[change.rsplit(", ", maxsplit=1)[-1]] += 1
    elif expected:
        if found:
            count.caught[good.layout] += 1
        else:
            count.slipped.append(f"{case}: {words}")
    elif found:
        count.refused.append(f"{case}: {words}")
    else:
        count.passed[good.layout] += 1


def run(seeds: range) -> Count:
    """Return the counts over all seeds."""
    count = Count()
    for seed in seeds:
        with tempfile.TemporaryDirectory() as home:
            one_case(seed, count, Path(home))
    return count
