"""A release beside the table it was made from, which its policy recoded first.

The manifest records how (`parameters.recoding`). Whoever holds a release against its original must
recode that first, or compare ages with age groups. Dates that were shifted by secret numbers of
days cannot be brought to agree: they are left out of what is compared, on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from sfumato.errors import ParameterError, SchemaError
from sfumato.recoding import PARAMETER, Steps, recode, recorded_steps, shifted_columns
from sfumato.release.narrower import without_attributes
from sfumato.release.release import Release


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """A release and its original that can be compared as they are; `notes` say what was done."""

    release: Release
    original: pa.Table
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The columns that the original still has."""
        return frozenset(self.original.column_names)


def beside(release: Release, original: pa.Table, left_out: Sequence[str] = ()) -> Beside:
    """Return the release and its original, recoded as the manifest says, without shifted dates.

    Attributes that are named are left out as well. What comes back records no recoding any more,
    so that it can be given in again.

    Refuses (ParameterError) an original that cannot be recoded so, and a release of which nothing
    is left; (ReleaseDamaged) a manifest that does not say what was done.
    """
    steps = recorded_steps(release.manifest.parameters)
    if not steps and not left_out:
        return Beside(release, original)
    table = _aligned(original, steps, left_out, "the original")
    return Beside(comparable(release, left_out), table, tuple(_notes(steps)))


def controls_beside(release: Release, controls: pa.Table) -> pa.Table:
    """Return people who are not in a release, recoded as those in it are."""
    steps = recorded_steps(release.manifest.parameters)
    return _aligned(controls, steps, (), "the table of controls") if steps else controls


def comparable(release: Release, left_out: Sequence[str] = ()) -> Release:
    """Return the release without shifted or named attributes, or any record of recoding."""
    steps = recorded_steps(release.manifest.parameters)
    release = without_attributes(release, {*shifted_columns(steps), *left_out})
    manifest = release.manifest
    parameters = {key: value for key, value in manifest.parameters.items() if key != PARAMETER}
    plain = manifest.model_copy(update={"parameters": parameters})
    return release.restated(plain)


def _aligned(original: pa.Table, steps: Steps, left_out: Sequence[str], what: str) -> pa.Table:
    """Return a table recoded by the steps, without some columns; it may lack others."""
    gone = {*shifted_columns(steps), *left_out}
    kept = original.select([name for name in original.column_names if name not in gone])
    own = {name: step for name, step in steps.items() if name in kept.column_names}
    try:
        return recode(kept, own) if own else kept
    except SchemaError as error:
        raise ParameterError(
            f"{what} cannot be recoded as the release was ({error}); are they of the same data?"
        ) from None


def as_known_in(release: Release, people: pa.Table) -> pa.Table:
    """Return what is known of some people in the words of a release that may hold them.

    A column that cannot be put so is left out: nothing is known of it then.
    """
    steps = recorded_steps(release.manifest.parameters)
    shifted = shifted_columns(steps)
    for name, own in steps.items():
        if name not in people.column_names:
            continue
        try:
            if name not in shifted:
                people = recode(people, {name: own})
                continue
        except SchemaError:
            pass
        people = people.drop_columns([name])
    return people


def recoded_otherwise(releases: Sequence[Release]) -> tuple[str, ...]:
    """Return the attributes that some releases have and recode differently, or shift."""
    recorded = [recorded_steps(release.manifest.parameters) for release in releases]
    found = {name: None for steps in recorded for name in shifted_columns(steps)}
    for name in dict.fromkeys(name for steps in recorded for name in steps):
        words = [
            [step.to_json() for step in steps.get(name, ())]
            for release, steps in zip(releases, recorded, strict=True)
            if name in [entry.name for entry in release.manifest.attributes]
        ]
        if any(each != words[0] for each in words):
            found[name] = None
    return tuple(found)


def about_left_out(names: Sequence[str]) -> tuple[str, ...]:
    """Return a note for every attribute that several releases do not recode alike."""
    return tuple(
        f"left out: '{name}' was not recoded alike in all releases, so its values cannot be "
        "compared"
        for name in names
    )


def _notes(steps: Steps) -> list[str]:
    shifted = shifted_columns(steps)
    recoded = {name: own for name, own in steps.items() if name not in shifted}
    notes = []
    if recoded:
        told = ", ".join(
            f"'{name}' ({', '.join(step.key for step in own)})" for name, own in recoded.items()
        )
        notes.append(f"the original was recoded first, as the manifest says: {told}")
    notes += [
        f"left out: the dates of '{name}' were shifted by secret numbers of days, so the original "
        "has no dates to compare with them"
        for name in shifted
    ]
    return notes
