"""Numbers of rows: those that are fake, and those of the table behind a release."""

from __future__ import annotations

from datetime import date

import pytest

from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.release import AttributeEntry, Manifest, TableEntry
from sfumato.release.origin import fakes_of, refuse_other


def manifest(**parameters) -> Manifest:
    return Manifest(
        method="merging",
        layout="sliced",
        software="by hand",
        created=date(2026, 1, 31),
        rows=10,
        attributes=(AttributeEntry(name="a", role="sensitive", kind="categorical", type="string"),),
        tables=(TableEntry(name="records", attributes=("a",), group="group"),),
        parameters=parameters,
    )


def test_fakes_are_taken_off():
    refuse_other(manifest(fakes=2), 8)
    with pytest.raises(ParameterError, match="of 8 rows and the original has 10"):
        refuse_other(manifest(fakes=2), 10)


@pytest.mark.parametrize("fakes", [True, False, "2", 2.0, -1, 11, None])
def test_what_is_no_number_of_records_is_refused(fakes):
    with pytest.raises(ReleaseDamaged, match="fake"):
        fakes_of(manifest(fakes=fakes))
    with pytest.raises(ReleaseDamaged, match="fake"):
        refuse_other(manifest(fakes=fakes), 9)
