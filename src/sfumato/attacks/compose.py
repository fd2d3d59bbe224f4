"""The composition attack: what several releases tell together that none tells alone.

An adversary who knows a person's quasi-identifiers looks up, in each release, the groups that the
person may be in. Their sensitive values are the candidates. If the person is in all releases, only
values that are candidates in each are left. A missing value counts as a value like any other.

*Source*: Hasan, Jiang, Chen, Wang, "A New Approach to Privacy-Preserving Multiple Independent Data
Publishing", section 5.2 (the privacy risk).

A semi-sensitive attribute is a secret of those whose cells are in buckets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.attacks.matches import count_matches
from sfumato.attacks.people import by_identifier, by_values
from sfumato.attacks.regions import examine_regions
from sfumato.attacks.result import CompositionReport, Finding, Matches
from sfumato.attacks.rules import check_rules, exclusions, read_rules
from sfumato.attacks.stage import Secret, Side, set_stage
from sfumato.attacks.targets import Ints, draw, examine_people
from sfumato.attacks.view import View
from sfumato.errors import ParameterError
from sfumato.predicates.incompatible import Incompatible
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.release.beside import about_left_out, beside, comparable, recoded_otherwise
from sfumato.schema.frames import as_arrow

SAMPLE = 5_000


def compose(
    releases: Sequence[Release],
    attribute: str | None = None,
    *,
    originals: Sequence[Any] | None = None,
    identifier: str | None = None,
    knows: Iterable[Incompatible | str] = (),
    sample: int = SAMPLE,
    rng: np.random.Generator | None = None,
) -> CompositionReport:
    """Return what the releases together tell of a sensitive attribute, or of all that they share.

    With `originals`, one table a release, it counts the people who are in all of them: recognised
    by the column `identifier`, or else by equal values of all shared quasi-identifiers and of the
    sensitive attribute. A person's quasi-identifiers in a release are those in its original.
    Without originals it counts the combinations of classes that overlap. `knows` are rules such as
    `sex = 'M' AND disease = 'Ovarian Cancer'` for what no person is. At most `sample` people, and
    as many classes of each release, are looked at; more are drawn from at random.

    Values whose types differ between tables are compared as `attacks.values` says. Originals are
    as they were before their policies recoded them. Attributes that the releases do not recode
    alike, and those with shifted dates, are left out.

    Refuses (ParameterError) fewer than two releases, layouts whose groups tell nothing, releases
    that share no sensitive attribute or no quasi-identifier, and originals that do not fit them.
    """
    if len(releases) < 2:
        raise ParameterError("a composition needs two releases or more")
    if sample < 1:
        raise ParameterError("`sample` must be 1 or more")
    if originals is not None and len(originals) != len(releases):
        raise ParameterError(
            f"give one original a release: there are {len(releases)} releases and "
            f"{len(originals)} originals"
        )
    if identifier is not None and originals is None:
        raise ParameterError("`identifier` is a column of the originals, and there are none")
    tables = None if originals is None else [as_arrow(each) for each in originals]
    odd = recoded_otherwise(releases)
    if attribute in odd:
        raise ParameterError(
            f"the releases do not recode '{attribute}' alike, so its values cannot be compared"
        )
    if tables is not None:
        pairs = [beside(*pair, odd) for pair in zip(releases, tables, strict=True)]
        tables = [pair.original for pair in pairs]
    releases = [comparable(release, odd) for release in releases]
    views = [View.of(release) for release in releases]
    secrets = _shared_secrets(views, attribute)
    shared = [n for n in views[0].known if all(n in view.known for view in views)]
    # what is to be learned links nobody
    secrets = [name for name in secrets if any(known != name for known in shared)]
    if not secrets:
        raise ParameterError("the releases share no quasi-identifier, so nothing links them")
    stage = set_stage(views, tables)
    rules = read_rules(knows)
    check_rules(rules, secrets, stage)
    rng = rng or Randomness.fresh().generator("sample of a composition")
    classes = [draw(view.groups, sample, rng) for view in views]
    findings = []
    for name in secrets:
        sides = stage
        if any(name in view.known for view in views):
            # who wants to learn an attribute does not know it, though some people do not hide it
            sides = set_stage([_ignorant_of(name, view) for view in views], tables)
        secret = Secret.of(name, sides)
        excluded = exclusions(rules, secret, sides)
        if tables is None:
            regions = examine_regions(releases, sides, secret, excluded, classes, rng=rng)
            findings.append(Finding(name, regions=regions))
            continue
        matches = _matches(sides, secret, classes, identifier)
        rows = _people(sides, secret, range(len(sides)), identifier)
        people = examine_people(sides, secret, rows, excluded, matches, sample=sample, rng=rng)
        findings.append(Finding(name, people=people))
    matched_by = None if tables is None else identifier or "values"
    notes = about_left_out(odd)
    return CompositionReport(
        len(releases), tuple(shared), matched_by, sample, tuple(findings), notes
    )


def _ignorant_of(name: str, view: View) -> View:
    if name not in view.known:
        return view
    return view.of_one_who_knows([known for known in view.known if known != name])


def _matches(
    sides: Sequence[Side], secret: Secret, classes: Sequence[Ints], identifier: str | None
) -> Matches:
    counted = []
    for places in combinations(range(len(sides)), 2):
        rows = _people(sides, secret, places, identifier)
        chosen = [classes[place] for place in places]
        counted.append(count_matches(sides, secret, places, rows, chosen))
    total, true, records, people = (sum(each) for each in zip(*counted, strict=True))
    return Matches(total, true, records, people, tuple(len(own) for own in classes))


def _people(
    sides: Sequence[Side], secret: Secret, places: Iterable[int], identifier: str | None
) -> list[Ints]:
    """Return the rows of people who are in the originals at some places."""
    places = list(places)
    if identifier is None:
        return by_values(sides, secret, places)
    return by_identifier([sides[place].original for place in places], identifier)


def _shared_secrets(views: Sequence[View], attribute: str | None) -> list[str]:
    shared = [name for name in views[0].held if all(name in view.held for view in views)]
    if not shared:
        raise ParameterError("the releases share no sensitive attribute, so nothing is told twice")
    if attribute is None:
        return shared
    if attribute not in shared:
        raise ParameterError(
            f"'{attribute}' is not a sensitive attribute of all releases; these are "
            + ", ".join(f"'{name}'" for name in shared)
        )
    return [attribute]
