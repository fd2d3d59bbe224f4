"""What an analyst should know about an answer: what the release is of, and what `se` covers."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.answers.estimate import Row
from sfumato.answers.transition_notes import transition_notes
from sfumato.release import Manifest
from sfumato.release.households import counts_households
from sfumato.release.microaggregated import microaggregated
from sfumato.release.transitions import is_randomised
from sfumato.release.weights import weight_of

_RANDOM = {
    "anatomized": "the rows of different tables as matched at random within groups",
    "sliced": "the columns of different blocks as matched at random within groups",
    "local": "values as dealt at random within buckets",
    "sets": "sets as drawn at random",
}


def notes(
    manifest: Manifest,
    rows: Sequence[Row],
    open_columns: Sequence[str] = (),
    *,
    is_grouped: bool = False,
    weighted: bool = True,
) -> tuple[str, ...]:
    """Return what should be known about the answer to a query, a sentence each."""
    if is_randomised(manifest):
        return (*_about_the_release(manifest), *transition_notes(manifest, rows))
    found = [*_about_weights(manifest, weighted), *_about_the_release(manifest)]
    if any(row.estimate.se for row in rows):  # some are 0: nothing was random there
        found.append(
            f"standard errors take {_taken(manifest)}; where people's attributes go together "
            "inside groups, or lie unevenly in a range, errors may be larger; the bounds hold in "
            "any case"
        )
    if is_grouped and (hidden := _hidden(manifest)):
        found.append(f"there may be groups that are not listed: those of {', or of '.join(hidden)}")
    found += [
        f"column '{name}' may have values that the release names nowhere, and that are in no group"
        for name in open_columns
    ]
    return tuple(found)


def _about_the_release(manifest: Manifest) -> list[str]:
    found = []
    if manifest.suppressed:
        found += _about_withheld(manifest)
    if fakes := manifest.parameters.get("fakes"):
        found.append(
            f"{fakes} of the {manifest.rows} published records are fake: estimates leave them out "
            "on average, bounds whichever they are"
        )
    sample, perturb = (manifest.parameters.get(name) for name in ("sample", "perturb"))
    if _is_sample(manifest):
        found.append(
            f"the release is a sample ({sample} of the people); answers are about all of them"
        )
    if _is_redrawn(manifest):
        found.append(
            f"sensitive cells were redrawn with probability {perturb}; answers that read one "
            "sensitive column allow for it, and those that read several are a little off; standard "
            "errors are those of counts that read one, each cell being redrawn on its own"
        )
    if microaggregated(manifest):
        found.append(
            "quasi-identifiers are means of groups: estimates take everybody to have the mean, and "
            "bounds let everybody have any value of the stated domain, or any at all without one; "
            "sums over whole groups are as they were"
        )
    if any(claim.get("model") == "differential-privacy" for claim in manifest.guarantees):
        found.append("counts are noisy, and bound nothing")
    if any(table.name == "units" for table in manifest.tables):
        whose = "households" if counts_households(manifest) else "people"
        found.append(f"{whose} have several rows here, and answers count rows")
    return found


def _about_weights(manifest: Manifest, weighted: bool) -> list[str]:
    name = weight_of(manifest)
    if name is None:
        return []
    if not weighted:
        return [f"answers count records, and leave out their weights, column '{name}'"]
    found = [
        f"answers are weighted by '{name}', of which the release has the means of groups: "
        "estimates take each record to have its group's mean, and bounds know only what the "
        "weights of a group add up to"
    ]
    if manifest.suppressed:
        found.append("weighted counts have no upper bound, since those withheld have any weight")
    return found


def _about_withheld(manifest: Manifest) -> list[str]:
    found = [
        f"answers are about all rows, and nothing is known of {manifest.suppressed} that were "
        "withheld: estimates take them to be like the others, and so do standard errors, which add "
        "nothing for them; the bounds of counts hold whatever they are, and sums and averages have "
        "no bounds"
    ]
    if manifest.suppressed_by_value and "suppression" in manifest.parameters:
        found.append(
            "some of them were withheld because of the sensitive values of their groups, and so "
            "are not like the others: estimates are off for these values, and for whatever goes "
            "with them"
        )
    elif manifest.suppressed_by_value:
        found.append(
            "they were withheld because their sensitive value is too common, and so are not like "
            "the others: estimates are too low for the most common sensitive values, too high for "
            "all others, and off for whatever goes with them"
        )
    return found


def _taken(manifest: Manifest) -> str:
    """Return what standard errors take as random."""
    taken = [_RANDOM[manifest.layout]] if manifest.layout in _RANDOM else []
    if _is_sample(manifest):
        taken.append("the sample as drawn at random")
    if _is_redrawn(manifest):
        taken.append("sensitive cells as redrawn one by one")
    return ", and ".join(taken) or "nothing as random"


def _hidden(manifest: Manifest) -> list[str]:
    """Return whose groups the release may not show."""
    found = []
    if manifest.suppressed:
        found.append("withheld rows alone")
    if _is_sample(manifest):
        found.append("people who are not in the sample")
    if _is_redrawn(manifest):
        found.append("sensitive values that were all redrawn")
    return found


def _is_sample(manifest: Manifest) -> bool:
    return manifest.parameters.get("sample") not in (None, 1)


def _is_redrawn(manifest: Manifest) -> bool:
    return manifest.parameters.get("perturb") not in (None, 0)
