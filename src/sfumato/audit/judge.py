"""The audit: every guarantee of a release re-derived from its published files alone."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike

from sfumato.audit.claims import UNKNOWN, judge
from sfumato.audit.layouts import examine
from sfumato.audit.lookalikes import spelt_in_several_ways
from sfumato.audit.report import AuditReport, Verdict
from sfumato.audit.stated_method import is_known
from sfumato.audit.unique_values import values_of_their_own
from sfumato.models import SetAnonymity, SetDiversity
from sfumato.release import Manifest, Release
from sfumato.release.households import counts_households
from sfumato.release.transitions import is_randomised
from sfumato.schema.attribute import SECRET_ROLES

_OF_SIZES = (SetDiversity.name, SetAnonymity.name)


def audit(release: Release | str | PathLike[str]) -> AuditReport:
    """Return a verdict on every claim of a release, given as such or as its folder.

    *Guarantee*: nothing is taken from the makers but the files; a claim is only said to hold if
    every published group satisfies it.
    *Refuses* (ReleaseDamaged): a release that is incomplete, altered, inconsistent with itself, or
    of a layout that this version cannot judge.

    >>> import pyarrow as pa
    >>> from sfumato.release import AttributeEntry, Bounds, TableEntry
    >>> manifest = Manifest(
    ...     method="mondrian", layout="generalized", software="sfumato 0.1.0",
    ...     created="2026-01-31", rows=2,
    ...     attributes=(AttributeEntry(name="age", role="quasi-identifier", kind="numeric",
    ...                                type="int64", domain=Bounds(min=20, max=40)),),
    ...     tables=(TableEntry(name="records", attributes=("age",), group="group"),),
    ...     guarantees=({"model": "k-anonymity", "k": 2},),
    ... )
    >>> records = pa.table({"group": [1, 1], "age": ["[25, 28]", "[25, 28]"]})
    >>> audit(Release(manifest, {"records": records})).to_json()["guarantees"]
    [{'model': 'k-anonymity', 'k': 2, 'holds': True, 'worst': 2.0}]
    """
    if not isinstance(release, Release):
        release = Release.load(release)
    evidence = examine(release)
    verdicts = tuple(judge(claim, evidence) for claim in release.manifest.guarantees)
    if counts_households(release.manifest):
        apart = all(table.name != "units" for table in release.manifest.tables)
        verdicts = tuple(_of_households(verdict, apart) for verdict in verdicts)
    doubts = _doubts(release.manifest, verdicts)
    ok = not doubts and all(verdict.holds is not False for verdict in verdicts)
    remarks = (
        *_remarks(release.manifest, verdicts),
        *evidence.remarks,
        *values_of_their_own(release),
        *spelt_in_several_ways(release),
    )
    return AuditReport(ok, verdicts, (*doubts, *remarks))


def _of_households(verdict: Verdict, apart: bool) -> Verdict:
    """Return the verdict, and that it is one on households: who lives together counts once.

    Without tables of unit counts the release says that no two rows live together (`apart`).
    """
    if verdict.holds is None:
        return verdict
    note = verdict.note.replace("unit counts", "counts")
    if apart:
        note = "; ".join(filter(None, (note, "given that no two rows share one")))
    return replace(verdict, note="; ".join(filter(None, ("counts households", note))))


def _doubts(manifest: Manifest, verdicts: tuple[Verdict, ...]) -> list[str]:
    """Return why the release cannot be relied on, whatever its groups are like."""
    doubts = []
    if not verdicts:
        doubts.append("the release claims nothing, so there is nothing to confirm")
    if verdicts and all(verdict.holds is None for verdict in verdicts):
        doubts.append("no claim could be checked: the published files cannot show any of them")
    if any(verdict.note == UNKNOWN for verdict in verdicts):
        doubts.append("a claim is of a model that this version does not know")
    if not is_known(manifest):
        doubts.append(
            "the release is of a method that this version does not know, so nothing says whether "
            "it may state what it states"
        )
    if manifest.test:
        doubts.append(
            "the release was made with a public test seed: anyone can undo its randomness; "
            "publish again without a test seed"
        )
    return doubts


def _remarks(manifest: Manifest, verdicts: tuple[Verdict, ...]) -> list[str]:
    """Return what must be said although the claims stand."""
    remarks = []
    if manifest.suppressed_by_value:
        # a limit of suppression is also for groups that are too small, whatever their values
        some = ", some of them" if "suppression" in manifest.parameters else ""
        remarks.append(
            f"{manifest.suppressed} records were withheld{some} because of their sensitive values: "
            "their absence tells these values, so those people are not protected"
        )
    remarks += [
        f"nothing is claimed about the values of '{entry.name}', so nothing says that they are "
        "protected"
        for entry in manifest.attributes
        if (manifest.layout in ("local", "anatomized", "sliced", "sets") or is_randomised(manifest))
        and entry.role in SECRET_ROLES
        and entry.name not in [verdict.claim.get("attribute") for verdict in verdicts]
    ]
    # rating deals records into groups, so that its sets hold for people who know the shares, too
    of_sizes = (SetAnonymity.name,) if manifest.method == "rating" else _OF_SIZES
    if any(verdict.claim["model"] in of_sizes for verdict in verdicts):
        remarks.append(
            "set-diversity is a bound for people who hold all values equally likely: the shares "
            "of values can be reconstructed from the release, and then a common value in a set "
            "may be far likelier than 1/l; set-closeness bounds what is learnt"
        )
    return remarks
