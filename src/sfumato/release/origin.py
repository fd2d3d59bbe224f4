"""Whether a table may be the one that a release was made from, as far as numbers of rows tell."""

from __future__ import annotations

from sfumato.errors import ParameterError
from sfumato.release.manifest import Manifest


def is_noisy(manifest: Manifest) -> bool:
    """Return whether a release claims differential privacy: its numbers of rows are noise."""
    return any(claim.get("model") == "differential-privacy" for claim in manifest.guarantees)


def refuse_other(manifest: Manifest, rows: int) -> None:
    """Refuse (ParameterError) a table of so many rows that is not the one behind the release.

    Of a sample the whole is not known, but it has no fewer rows.
    """
    fakes, sample = (manifest.parameters.get(name, 0) for name in ("fakes", "sample"))
    if is_noisy(manifest) or not isinstance(fakes, int):
        return
    behind = manifest.rows - fakes + manifest.suppressed
    is_sample = sample not in (0, 1)
    if rows < behind or (rows > behind and not is_sample):
        raise ParameterError(
            f"the release is of {behind} rows and the original has {rows}; give the table that "
            "the release was made from"
        )
