"""Every way to spoil a release is noticed, in releases of methods and in worked examples."""

from __future__ import annotations

import shutil

import pytest
from contracts.raw_release import NotApplicable
from contracts.spoil import SPOILS
from oracles import samples

from sfumato.audit import audit
from sfumato.errors import ReleaseDamaged

SAMPLES = {"generalized": samples.hospital, "anatomized": samples.transactions}
CASES = [
    pytest.param(
        spoil, layout, file_format, origin, id=f"{spoil.name}-{layout}-{file_format}-{origin}"
    )
    for spoil in SPOILS
    for layout in SAMPLES
    if layout in spoil.layouts
    for file_format in ("parquet", "csv")
    for origin in ("method", "sample")
]


@pytest.fixture(scope="module")
def good(tmp_path_factory, request):
    """Sound releases by layout, file format and origin."""
    home = tmp_path_factory.mktemp("good")
    folders = {}
    for layout, write in SAMPLES.items():
        for file_format in ("parquet", "csv"):
            folder = home / f"{layout}-{file_format}"
            request.getfixturevalue(layout).save(folder, format=file_format)
            folders[layout, file_format, "method"] = folder
            folders[layout, file_format, "sample"] = write(home / f"s-{folder.name}", file_format)
    return folders


def exit_code(folder) -> int:
    """Return what the command line would answer; damage has one line."""
    try:
        return audit(folder).exit_code
    except ReleaseDamaged as error:
        assert str(error)
        assert "\n" not in str(error)
        return 2


@pytest.mark.parametrize(("spoil", "layout", "file_format", "origin"), CASES)
def test_a_spoilt_release_is_refused(spoil, layout, file_format, origin, good, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(good[layout, file_format, origin], folder)
    assert exit_code(folder) == 0
    try:
        spoil.apply(folder)
    except NotApplicable as reason:
        assert layout == "anatomized"  # whose cells are exact, and whose makers claim no closeness
        pytest.skip(str(reason))
    assert exit_code(folder) == spoil.code
