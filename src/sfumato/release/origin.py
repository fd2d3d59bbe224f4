"""What numbers of rows tell of the table behind a release, and whether one may be it."""

from __future__ import annotations

from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.release.manifest import Manifest

# No table has more rows than 1 in this share: of all of them it would be nobody. Answers are
# divided by it, and by smaller ones they would not be finite.
LEAST_SAMPLE = 1e-12


def is_noisy(manifest: Manifest) -> bool:
    """Return whether a release claims differential privacy: its numbers of rows are noise."""
    return any(claim.get("model") == "differential-privacy" for claim in manifest.guarantees)


def fakes_of(manifest: Manifest) -> int:
    """Return how many records of a release are fake.

    Refuses (ReleaseDamaged) what is no number of its records, and fakes in other layouts than
    `sliced`, which have no place for them.
    """
    fakes = manifest.parameters.get("fakes", 0)
    if isinstance(fakes, bool) or not isinstance(fakes, int):
        raise ReleaseDamaged("the number of fake records (`fakes`) is not a number")
    if not 0 <= fakes <= manifest.rows:
        raise ReleaseDamaged("the release states more fake records (`fakes`) than it has")
    if fakes and manifest.layout != "sliced":
        raise ReleaseDamaged(f"the layout '{manifest.layout}' has no place for fake records")
    return fakes


def refuse_other(manifest: Manifest, rows: int) -> None:
    """Refuse (ParameterError) a table of so many rows that is not the one behind the release.

    Of a sample the whole is not known, but it has no fewer rows. Refuses (ReleaseDamaged) what
    `fakes_of` refuses.
    """
    if is_noisy(manifest):
        return
    behind = manifest.rows - fakes_of(manifest) + manifest.suppressed
    is_sample = manifest.parameters.get("sample", 0) not in (0, 1)
    if rows < behind or (rows > behind and not is_sample):
        raise ParameterError(
            f"the release is of {behind} rows and the original has {rows}; give the table that "
            "the release was made from"
        )
