"""Recommend a policy: the best utility of methods and parameters under limits in plain terms."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Final

from sfumato.errors import ParameterError
from sfumato.io.read import read_table
from sfumato.jobs.asked import AskedQueries, mean_error, queries_in, random_queries
from sfumato.jobs.attempt import Attempt, Confirmed, Workbench
from sfumato.jobs.clock import Clock, OutOfTime
from sfumato.jobs.limits import Limits, Share, limits_of, stated
from sfumato.jobs.policy import Policy
from sfumato.jobs.private_file import new_file, refuse_occupied
from sfumato.jobs.progress import Progress, Stages
from sfumato.jobs.recommend_words import reasons_for
from sfumato.jobs.recommendation import Choice, Recommendation
from sfumato.jobs.relax import Relaxation, binding, relaxations
from sfumato.jobs.search import Search
from sfumato.jobs.trial import try_out
from sfumato.jobs.written_policy import written
from sfumato.randomness import Randomness
from sfumato.schema.frames import as_arrow

MINUTES: Final = 5.0
# Kept for the end: to publish the choice anew, attack it, and write it down.
_RESERVE: Final = 0.1


def recommend(
    data: Any,
    policy: Policy | str | os.PathLike[str],
    *,
    max_reidentification: Share | None = None,
    max_inference: Share | None = None,
    preset: str | None = None,
    max_withheld: Share = 0,
    queries: str | os.PathLike[str] | None = None,
    minutes: float = MINUTES,
    folder: str | os.PathLike[str] | None = None,
    randomness: Randomness | None = None,
    progress: Progress | None = None,
    start: float | None = None,
) -> Recommendation:
    """Return the policy of the least mean error of COUNT queries that keeps limits on a frame.

    The roles, hierarchies and recoding are those of `policy`; its method is replaced. A limit is a
    probability such as 0.09 or "1/11"; `preset` names some (`cms`, `ema`, `strict`), and what is
    stated beside it wins. Rows are left out only if `max_withheld` allows a share of them.
    `queries` is a file of COUNT queries to be good at; without it they are random. The search ends
    within `minutes`, counted from `start` (of `time.monotonic`). `folder` is where the policy's
    file will lie, for the paths in it. Nothing is written.

    *Guarantee*: a release that the recommended policy publishes keeps the limits: its method
    promises k and l that suffice, and a release published anew was measured to keep them.

    Refuses (SfumatoError) limits that are none, a policy that is wrong or does not fit the data,
    and queries that are no counts.
    """
    begin = time.monotonic() if start is None else start
    limits = limits_of(preset, max_reidentification, max_inference, max_withheld)
    if not 0 < minutes <= 24 * 60:
        raise ParameterError("`--minutes` must be above 0, and a day at most")
    rules = policy if isinstance(policy, Policy) else Policy.load(Path(policy))
    randomness = randomness or Randomness.fresh()
    clock = Clock(60 * minutes, reserve=_RESERVE * 60 * minutes, start=begin)
    stages = Stages(progress)
    with stages.stage("encoding"):
        bench = Workbench(as_arrow(data), rules, limits, randomness)
        _refuse_tokens(rules)
        table = bench.base.table
    if not table.rows:
        raise ParameterError("the data have no rows, so there is nothing to publish")
    with stages.stage("drawing queries"):
        if queries is None:
            asked = random_queries(table, randomness)
        else:
            asked = queries_in(queries, table, randomness)
    tell = progress.stage if progress is not None else _tell_nobody
    search = Search(bench, asked, clock, tell)
    search.run()
    clock.release()
    if not search.tried:
        raise ParameterError(
            f"{minutes:g} minutes did not do for a single candidate, so nothing is known of the "
            "limits; give more --minutes (the first runs after an installation also compile)"
        )
    notes = list(_notes(limits, rules, asked, search, minutes))
    place = rules.folder if folder is None else Path(folder)
    choice: Choice | None = None
    try:
        found = search.chosen()
        if found is not None:
            tell("measuring the choice")
            choice = _choice(search, *found, place, minutes)
    except OutOfTime:
        notes.append(
            "no time was left to publish the best candidate anew and to attack it, so that none "
            "is recommended; give more --minutes"
        )
    binds: list[str] = []
    ways: tuple[Relaxation, ...] = ()
    if choice is None and search.tried and not search.best():
        tell("looking for what would help")
        tried = list(search.tried.values())
        binds = binding(table, limits, tried)
        ways = tuple(relaxations(bench, asked.search, tried, clock))
    return Recommendation(
        limits=limits,
        rows=table.rows,
        queries=asked.source,
        choice=choice,
        frontier=tuple(search.frontier()),
        tried=tuple(search.tried.values()),
        left=search.left,
        set_aside=search.set_aside,
        on_sample=search.on_sample,
        seconds=clock.spent,
        binds=tuple(binds),
        relaxations=ways,
        notes=tuple(notes),
        is_test=randomness.is_test,
    )


def recommend_file(
    data: str | os.PathLike[str],
    policy: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    chart: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
    **asked: Any,
) -> Recommendation:
    """Return the recommendation for the table of a file; `out` gets the policy, if there is one.

    `chart` gets the frontier, drawn (.svg, .png or .html). Other arguments are those of
    `recommend`.

    Refuses (SfumatoError) what `recommend` refuses, what cannot be read, and names that are taken.
    """
    target = None if out is None else Path(out)
    picture = None if chart is None else Path(chart)
    if target is not None:
        refuse_occupied(target, force=force, is_ours=_is_policy)
    if picture is not None:
        _refuse_unusable(picture, force)
    rules = Policy.load(Path(policy))
    stages = Stages(progress)
    with stages.stage("reading the data"):
        rows = read_table(data)
    folder = Path(policy).parent if target is None else target.parent
    found = recommend(rows, rules, folder=folder, progress=progress, **asked)
    if target is not None and found.choice is not None:
        with new_file(target, force=force, is_ours=_is_policy, private=False) as file:
            file.write(found.choice.text.encode())
    if picture is not None:
        from sfumato.reports.frontier import as_picture

        with new_file(picture, force=force, is_ours=_is_chart, private=False) as file:
            file.write(as_picture(found.to_dict(), picture.suffix))
    return found


def _choice(
    search: Search, attempt: Attempt, confirmed: Confirmed, folder: Path, minutes: float
) -> Choice:
    """Return the choice with all that is to be said of a release that it published anew."""
    assert attempt.policy is not None and attempt.stated is not None
    bench, policy = search.bench, attempt.policy
    held_out = mean_error(confirmed.made.plain, bench.base.table, search.asked.held_out)
    trial = try_out(
        confirmed.prepared,
        policy,
        stated=attempt.stated,
        probes=search.asked.held_out,
        randomness=bench.randomness,
        warm_up=False,
    )
    limits = bench.limits
    comments = [
        f"Recommended by `sfumato recommend`: the least error of {len(search.tried)} candidates",
        f"that keep re-identification at {stated(limits.reidentification)} and inference at "
        f"{stated(limits.inference)}.",
    ]
    return Choice(
        attempt,
        policy,
        written(policy, comments, folder),
        trial,
        held_out,
        confirmed.linkage,
        reasons_for(search, attempt, confirmed, trial),
    )


def _notes(
    limits: Limits, rules: Policy, asked: AskedQueries, search: Search, minutes: float
) -> list[str]:
    """Return what is to be known of limits that are not stated, and of what was not done."""
    notes = []
    if limits.reidentification is None:
        notes.append(
            "no limit of re-identification was stated: people's records may be recognised by "
            "their quasi-identifiers"
        )
    if limits.inference is None and rules.content.protected:
        notes.append(
            "no limit of inference was stated: a group may share one sensitive value, beyond what "
            "the policy's attributes ask for; state --max-inference"
        )
    if not asked.is_split:
        notes.append("all queries were used in the search, so that the stated error is its own")
    if search.left:
        notes.append(
            f"the time of {minutes:g} minutes did not do for {search.left} more candidates"
        )
    return notes


def _refuse_tokens(rules: Policy) -> None:
    for name, attribute in rules.content.attributes.items():
        if attribute.pseudonym:
            raise ParameterError(
                f"column '{name}' has a `pseudonym`, which makes records of a person linkable "
                "whatever the method: leave it out to be recommended a policy, and add it after"
            )


def _refuse_unusable(target: Path, force: bool) -> None:
    from sfumato.reports.charts import refuse_missing

    refuse_missing(target.suffix)
    refuse_occupied(target, force=force, is_ours=_is_chart)


def _is_chart(path: Path) -> bool:
    from sfumato.reports.charts import SUFFIXES

    return path.suffix.lower() in SUFFIXES


def _is_policy(path: Path) -> bool:
    return path.suffix.lower() in (".yaml", ".yml")


def _tell_nobody(stage: str) -> None:
    """Show nothing."""
