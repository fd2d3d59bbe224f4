"""What an analyst should know about an answer: what the release is of, and what `se` covers."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.answers.estimate import Row
from sfumato.release import Manifest

_RANDOM = {
    "anatomized": "the rows of different tables as matched at random within groups",
    "sliced": "the columns of different blocks as matched at random within groups",
    "local": "values as dealt at random within buckets",
    "sets": "nothing as random but the sets",
}


def notes(
    manifest: Manifest, rows: Sequence[Row], open_columns: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return what should be known about the answer to a query, a sentence each."""
    found = [*_about_the_release(manifest)]
    if any(row.estimate.se for row in rows):  # some are 0: nothing was random there
        taken = _RANDOM.get(manifest.layout, "nothing as random but the sample")
        found.append(
            f"standard errors take {taken}; where people's attributes go together inside groups, "
            "or lie unevenly in a range, errors may be larger; the bounds hold in any case"
        )
    found += [
        f"column '{name}' may have values that the release names nowhere, and that are in no group"
        for name in open_columns
    ]
    return tuple(found)


def _about_the_release(manifest: Manifest) -> list[str]:
    found = []
    if manifest.suppressed:
        found.append(
            f"answers are about the {manifest.rows} published rows; nothing is known of "
            f"{manifest.suppressed} that were withheld: were they like the others, counts and sums "
            f"of all would be {1 + manifest.suppressed / max(manifest.rows, 1):.3f} times as large"
        )
    if fakes := manifest.parameters.get("fakes"):
        found.append(
            f"{fakes} of the {manifest.rows} published records are fake: estimates leave them out "
            "on average, bounds whichever they are"
        )
    sample, perturb = (manifest.parameters.get(name) for name in ("sample", "perturb"))
    if sample not in (None, 1):
        found.append(
            f"the release is a sample ({sample} of the people); answers are about all of them"
        )
    if perturb not in (None, 0):
        found.append(
            f"sensitive cells were redrawn with probability {perturb}; answers allow for it"
        )
    if any(claim.get("model") == "differential-privacy" for claim in manifest.guarantees):
        found.append("counts are noisy, and bound nothing")
    if any(table.name == "units" for table in manifest.tables):
        found.append("people have several rows here, and answers count rows")
    return found
