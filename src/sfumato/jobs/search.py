"""The search of `recommend`: candidates in turn, fewer and fewer on more and more rows, in time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sfumato.jobs.asked import AskedQueries
from sfumato.jobs.attempt import Attempt, Confirmed, Workbench
from sfumato.jobs.candidates import Candidate, first_candidates, neighbours, stricter
from sfumato.jobs.clock import Clock, OutOfTime
from sfumato.jobs.pace import Pace
from sfumato.utility.workload import Probe

# Up to so many rows every candidate is tried on all of them; of more, first on a sample.
ALL_AT_ONCE: Final = 50_000
_GROWTH: Final = 4  # from one sample to the next
_KEPT: Final = 0.5  # of the candidates, from one sample to the next
_FEWEST: Final = 6
_REFINED: Final = 2  # good candidates whose neighbours are tried, in each round
_ROUNDS: Final = 3
_BEST_OF_METHODS: Final = 3  # methods that are tried at more protection, for the frontier
# A method that errs so much more than the best is not tried in all its ways.
_HOPELESS: Final = 4.0
_CHANCES: Final = 2
_SIEVING: Final = 0.4  # of the time, at most, goes to samples
_LAST: Final = 8  # attempts that the last steps take as long as


@dataclass(slots=True)
class Search:
    """A search under way; `tried` has the attempts on all rows, in their order.

    `left` counts candidates that there was no time for, `set_aside` those of methods that had done
    far worse than others, `on_sample` attempts on samples.
    """

    bench: Workbench
    asked: AskedQueries
    clock: Clock
    tell: Callable[[str], None]
    tried: dict[str, Attempt] = field(default_factory=dict)
    on_sample: int = 0
    left: int = 0
    set_aside: int = 0
    _pace: Pace = field(default_factory=Pace)

    def run(self) -> None:
        """Try the first candidates, then neighbours of the best, then more protection."""
        content, limits = self.bench.policy.content, self.bench.limits
        candidates = self._sieved(first_candidates(content, limits))
        self._try_all(candidates)
        for _ in range(_ROUNDS):
            leaders = self.best()[:_REFINED]
            fresh = self._fresh(c for each in leaders for c in neighbours(each.candidate, content))
            if not fresh:
                break
            self._try_all(fresh)
            if self.best()[0] is leaders[0]:
                break
        by_method: dict[str, Attempt] = {}
        for each in self.best():
            by_method.setdefault(each.candidate.method, each)
        for each in list(by_method.values())[:_BEST_OF_METHODS]:
            self._try_all(self._fresh(stricter(each.candidate, limits)))

    def best(self) -> list[Attempt]:
        """Return the attempts within all limits, that of the least error first."""
        within = [each for each in self.tried.values() if each.is_within and not each.beaten_by]
        return sorted(within, key=lambda each: (each.error, each.candidate.label))

    def chosen(self) -> tuple[Attempt, Confirmed] | None:
        """Return the best attempt that keeps the limits when it is published anew; None without.

        Linkage attacks on the new release must stay below the limits, too; attempts on which they
        do not are marked. OutOfTime is raised when the time is up before any is confirmed.
        """
        while best := self.best():
            self.tell(f"attacking {best[0].candidate.method}")
            with self.clock.cutting():
                found = self.bench.confirm(best[0])
            if found.problem is None:
                return best[0], found
            self.tried[best[0].candidate.label] = replace(best[0], beaten_by=found.problem)
        return None

    def frontier(self) -> list[Attempt]:
        """Return the attempts within the limits that no other beats in both risks and the error."""
        best = self.best()
        return [each for each in best if not any(_dominates(other, each) for other in best)]

    def _is_hopeless(self, method: str) -> bool:
        """Return whether a method has had its chances, and erred far more than the best did."""
        own = [each for each in self.tried.values() if each.candidate.method == method]
        best = self.best()
        if len(own) < _CHANCES or not best:
            return False
        return min(each.error for each in own) > _HOPELESS * best[0].error

    def _fresh(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Return those that have not been tried, each once."""
        found = {each.label: each for each in candidates}
        return [each for label, each in found.items() if label not in self.tried]

    def _try_all(self, candidates: Sequence[Candidate]) -> None:
        for number, candidate in enumerate(candidates, start=1):
            if self._is_hopeless(candidate.method):
                self.set_aside += 1
                continue
            attempt = self._attempt(self.bench, candidate, self.asked.search, number, candidates)
            if attempt is not None:
                self.tried[candidate.label] = attempt

    def _attempt(
        self,
        bench: Workbench,
        candidate: Candidate,
        probes: Sequence[Probe],
        number: int,
        of: Sequence[Candidate],
    ) -> Attempt | None:
        """Return an attempt; None, and the candidate is left, where the time would not do."""
        rows, whole = bench.raw.num_rows, self.bench.raw.num_rows
        # the first on all rows is tried in any case: it is cut when the time is up
        is_first = rows == whole and not self.tried
        expected = 0.0 if is_first else self._pace.expected(candidate.method, rows)
        if not self.clock.allows(expected):
            self.left += 1
            return None
        self.tell(f"trying {candidate.method} ({number} of {len(of)}, {rows:,} rows)")
        try:
            with self.clock.cutting():
                attempt = bench.attempt(candidate, probes)
        except OutOfTime:
            self.left += 1
            return None
        self._pace.took(candidate.method, rows, attempt.seconds)
        # what comes last publishes the choice again: for attacks, and for what is held out
        self.clock.keep(_LAST * self._pace.usual(whole))
        return attempt

    def _sieved(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return the candidates that do best on samples of the rows, if there are many rows."""
        rows = self.bench.raw.num_rows
        if rows <= ALL_AT_ONCE:
            return candidates
        size = ALL_AT_ONCE // _GROWTH
        while size < rows and len(candidates) > _FEWEST:
            sample = self.bench.sampled(size)
            probes = self.asked.on(sample.base.table)
            found = []
            for number, candidate in enumerate(candidates, start=1):
                if self.clock.share_spent > _SIEVING:
                    self.left += len(candidates) - number + 1
                    break
                attempt = self._attempt(sample, candidate, probes, number, candidates)
                if attempt is not None:
                    self.on_sample += 1
                    found.append(attempt)
            if not found:
                break
            # what a sample refuses, all rows may have room for: it comes after the others
            found.sort(key=lambda each: (not each.is_within, each.error))
            many = max(_FEWEST, int(len(found) * _KEPT))
            candidates = [each.candidate for each in found[:many]]
            size *= _GROWTH
        return candidates


def _dominates(one: Attempt, other: Attempt) -> bool:
    """Return whether one attempt is as good as another in all respects, and better in one."""
    assert one.exposed is not None and other.exposed is not None
    of_risks = (
        other.exposed.reidentification - one.exposed.reidentification,
        other.exposed.highest_inference - one.exposed.highest_inference,
    )
    of_error = other.error - one.error
    is_as_good = min(of_risks) >= 0 and of_error >= 0
    return is_as_good and (max(of_risks) > 0 or of_error > 0)
