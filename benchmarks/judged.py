"""What judging a release costs: processor seconds of audit, utility, attacks and a query."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from sfumato.audit import audit
from sfumato.errors import SfumatoError
from sfumato.jobs.attack import attack
from sfumato.jobs.query import query
from sfumato.jobs.utility import utility
from sfumato.randomness import Randomness

_SEED = 1
COUNT_QUERIES = 10

Seconds = dict[str, float | None]


def judge_seconds(
    release: Path, source: Path, column: str, *, times: int = 1, each: bool = True
) -> tuple[Seconds, Seconds]:
    """Return the processor seconds of each judge, and those of `each` attack by name.

    Medians of so many `times`: fresh memory makes single ones differ by half. None where a judge
    refuses the release. Attacks share what they read and find out of people: that is in the seconds
    of all of them, and in those of none, or of the first that asks. They run side by side, but for
    a last time, in which each is timed.
    """
    steps: dict[str, Callable[[], Any]] = {
        "audit": lambda: audit(release),
        "utility": lambda: utility(
            release, source, queries=COUNT_QUERIES, randomness=Randomness.test(_SEED)
        ),
        "attack": lambda: attack(release, source, randomness=Randomness.test(_SEED)),
        "query": lambda: query(release, f'SELECT COUNT(*) WHERE "{column}" IS NOT NULL'),
    }
    seconds: Seconds = {}
    for step, run in steps.items():
        try:
            seconds[step] = median(_seconds(run) for _ in range(times))
        except SfumatoError:
            seconds[step] = None
    if not each:
        return seconds, {}
    with _timed_attacks() as by_attack, suppress(SfumatoError):
        steps["attack"]()
    return seconds, by_attack


def _seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


@contextmanager
def _timed_attacks() -> Iterator[Seconds]:
    """Time every attack that is run, by its name in the registry, one after the other."""
    module = import_module("sfumato.attacks.attack")
    registry, at_a_time = module.ATTACKS, module.AT_A_TIME
    found: Seconds = {}

    def timed(name: str, run: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def do(scene: Any) -> Any:
            start = time.process_time()
            outcomes = run(scene)
            if outcomes:  # else it has no meaning for the release
                found[name] = time.process_time() - start
            return outcomes

        return do

    before = dict(registry)
    registry.update({name: timed(name, run) for name, run in before.items()})
    module.AT_A_TIME = 1
    try:
        yield found
    finally:
        registry.update(before)
        module.AT_A_TIME = at_a_time
