"""What a composition attack found: plain numbers, and a sentence for each attribute."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Matches:
    """What two releases have in common: classes that overlap and a value of both, and records.

    A match of classes is true if someone who is in both originals may be in both classes and has
    the value. `records` pairs of records match, being in such classes with the value; `people` of
    them are the same person's. Over more than two releases, all pairs are counted. `classes` were
    examined of each release.
    """

    total: int
    true: int
    records: float
    people: int
    classes: tuple[int, ...]

    @property
    def risk(self) -> float | None:
        """The share of true matches of classes; None where nothing matches."""
        return self.true / self.total if self.total else None

    @property
    def record_risk(self) -> float | None:
        """The share of matching records that are of one person; None where nothing matches."""
        return self.people / self.records if self.records else None


@dataclass(frozen=True, slots=True)
class People:
    """People who are in all originals, and what all releases together tell of them.

    Of `found` people `examined` were looked at. For `disclosed` of them exactly one candidate is
    left, their own value, with a 95 % `interval` of the share; `alone` of these had but one
    candidate in one of the releases already. For `nothing_left` no value is in all releases, and
    `changed` have different values in the originals. `before` is the mean number of candidates in
    each release, `after` that in all at once, where any is left. `covered` is the share of people
    whose own value is among the candidates of each release, `guess` the mean chance to guess it.
    """

    found: int
    examined: int
    disclosed: int
    interval: tuple[float, float]
    alone: int
    nothing_left: int
    changed: int
    before: tuple[float, ...]
    after: float
    covered: float
    guess: float
    matches: Matches

    @property
    def share(self) -> float:
        """The share of people whose value is given away."""
        return self.disclosed / self.examined if self.examined else 0.0


@dataclass(frozen=True, slots=True)
class Regions:
    """Combinations of classes, one of each release, that overlap each other in pairs.

    Of `examined` such regions, `collapsed` leave one candidate although every class has more, and
    `nothing_left` none. `before` is the mean number of candidates in each release, `after` that in
    all at once, where any is left. `classes` were examined of each release.
    """

    examined: int
    is_sample: bool
    collapsed: int
    interval: tuple[float, float]
    nothing_left: int
    before: tuple[float, ...]
    after: float
    classes: tuple[int, ...]

    @property
    def share(self) -> float:
        """The share of regions that collapse."""
        return self.collapsed / self.examined if self.examined else 0.0


@dataclass(frozen=True, slots=True)
class Finding:
    """What the releases together tell of one sensitive attribute."""

    attribute: str
    people: People | None = None
    regions: Regions | None = None

    def sentence(self) -> str:
        """Return the finding in words."""
        if self.people is not None:
            found = self.people
            if not found.examined:
                return f"nobody is in all originals, so nobody's '{self.attribute}' is given away"
            who = f"{found.examined} people who are in all originals"
            if found.examined < found.found:
                who = f"{found.examined} people drawn from {found.found} who are in all originals"
            return (
                f"together the releases give away the '{self.attribute}' of {found.disclosed} of "
                f"{who}: {found.share:.1%} ({_range(found.interval)})"
            )
        assert self.regions is not None
        regions = self.regions
        if not regions.examined:
            return f"no classes overlap, so combining them tells nothing of '{self.attribute}'"
        what = "combinations of overlapping classes"
        drawn = f"sampled {what}" if regions.is_sample else what
        return (
            f"together the releases leave one '{self.attribute}' in {regions.collapsed} of "
            f"{regions.examined} {drawn}, where each class has several: {regions.share:.1%} "
            f"({_range(regions.interval)})"
        )


@dataclass(frozen=True, slots=True)
class CompositionReport:
    """The outcome of a composition attack on some releases.

    `matched_by` says how people were recognised in several originals: by the column of this name,
    or (`values`) by equal quasi-identifiers and sensitive value; None without originals. `notes`
    say what was left out.
    """

    releases: int
    quasi_identifiers: tuple[str, ...]
    matched_by: str | None
    sample: int
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, attribute: str) -> Finding:
        """Return the finding on an attribute."""
        return next(each for each in self.findings if each.attribute == attribute)

    def sentence(self) -> str:
        """Return all findings in words."""
        return "; ".join(finding.sentence() for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values that JSON can hold."""
        fields = asdict(self)
        for finding, plain in zip(self.findings, fields["findings"], strict=True):
            if finding.people is not None:
                plain["people"]["share"] = finding.people.share
                plain["people"]["matches"]["risk"] = finding.people.matches.risk
                plain["people"]["matches"]["record_risk"] = finding.people.matches.record_risk
            if finding.regions is not None:
                plain["regions"]["share"] = finding.regions.share
            plain["sentence"] = finding.sentence()
            for part in ("people", "regions"):
                if plain[part] is None:
                    del plain[part]
        return fields


def _range(interval: tuple[float, float]) -> str:
    return f"95 % interval {interval[0]:.1%} to {interval[1]:.1%}"
