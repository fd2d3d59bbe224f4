"""A folder that appears whole or not at all, whatever fails and whenever."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from sfumato.errors import InputError
from sfumato.release import atomic
from sfumato.release.atomic import beside, replacing


def is_ours(folder: Path) -> bool:
    return (folder / "mark").is_file()


def fill(folder: Path, text: str) -> None:
    (folder / "mark").write_text(text)
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_text(text)


def make(target: Path, text: str, force: bool = False) -> None:
    with replacing(target, force=force, is_ours=is_ours) as folder:
        fill(folder, text)


def found(target: Path) -> str | None:
    """Return what lies at the target, having made sure that it is whole and that nothing else is
    there."""
    assert [entry.name for entry in target.parent.iterdir()] in ([], [target.name])
    if not target.exists():
        return None
    assert (target / "mark").read_text() == (target / "deep" / "file").read_text()
    return (target / "mark").read_text()


@pytest.fixture
def target(tmp_path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "release [1]*"


@pytest.fixture(params=["one step", "two renames"])
def swap(request, monkeypatch) -> str:
    """Both ways of replacing a folder: the second is for systems that lack the first."""
    if request.param == "two renames":
        monkeypatch.setattr(atomic, "_exchange", lambda *_: False)
    return request.param


def test_a_new_folder_appears(target):
    make(target, "new")
    assert found(target) == "new"


def test_the_folder_is_readable_as_the_umask_says(target):
    before = os.umask(0o027)
    try:
        make(target, "new")
    finally:
        os.umask(before)
    assert target.stat().st_mode & 0o777 == 0o750
    assert (target / "mark").stat().st_mode & 0o777 == 0o640


def test_an_existing_folder_is_replaced_with_force_only(target, swap):
    make(target, "old")
    with pytest.raises(InputError, match=r"exists; use --force to replace it"):
        make(target, "new")
    assert found(target) == "old"
    make(target, "new", force=True)
    assert found(target) == "new"


def test_the_block_does_not_run_where_the_target_is_refused(target):
    make(target, "old")
    with (
        pytest.raises(InputError),
        replacing(target, force=False, is_ours=is_ours),
    ):
        pytest.fail("the work would be lost")


def test_force_replaces_neither_other_folders_nor_files(target):
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="is not a release"):
        make(target, "new", force=True)
    assert (target / "thesis.tex").read_text() == "years of work"
    file = target.with_name("file")
    file.write_text("mine")
    with pytest.raises(InputError, match="is not a release"):
        make(file, "new", force=True)
    assert file.read_text() == "mine"


def test_an_empty_folder_may_be_replaced_with_force(target, swap):
    target.mkdir()
    with pytest.raises(InputError, match="exists"):
        make(target, "new")
    make(target, "new", force=True)
    assert found(target) == "new"


def test_a_missing_parent_is_refused(tmp_path):
    with pytest.raises(InputError, match="is not a folder; create it first"):
        make(tmp_path / "nowhere" / "release", "new")
    assert not (tmp_path / "nowhere").exists()


def test_a_link_is_followed(tmp_path, target, swap):
    make(target, "old")
    link = tmp_path / "link"
    link.symlink_to(target)
    make(link, "new", force=True)
    assert link.is_symlink()
    assert found(target) == "new"


def test_a_dangling_link_is_refused(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nothing")
    for force in (False, True):
        with pytest.raises(InputError):
            make(link, "new", force=force)
    assert not (tmp_path / "nothing").exists()


def test_a_target_that_appears_meanwhile_is_not_overwritten(target):
    with (
        pytest.raises(InputError, match="exists"),
        replacing(target, force=False, is_ours=is_ours) as folder,
    ):
        fill(folder, "mine")
        target.mkdir()
        fill(target, "theirs")
    assert found(target) == "theirs"


FAILURES = [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize("old", [None, "old"])
def test_a_failure_while_writing_leaves_what_was_there(target, old, failure):
    if old:
        make(target, old)
    with (
        pytest.raises(type(failure)),
        replacing(target, force=True, is_ours=is_ours) as folder,
    ):
        fill(folder, "half")
        raise failure
    assert found(target) == old


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize("old", [None, "old"])
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_failure_of_any_system_call_leaves_the_old_or_the_new(
    target, swap, monkeypatch, call, old, failure
):
    real = getattr(os, call)
    for failing in range(10):
        calls = []

        def sometimes(*arguments, calls=calls, failing=failing):
            calls.append(arguments)
            if len(calls) == failing + 1:
                raise failure
            return real(*arguments)

        if old and not target.exists():
            make(target, old)
        with monkeypatch.context() as patch:
            patch.setattr(os, call, sometimes)
            try:
                make(target, "new", force=True)
            except type(failure):
                pass
        assert found(target) in ("new", old)
        if len(calls) <= failing:  # nothing failed any more: every call had its turn
            assert found(target) == "new"
            return
    pytest.fail("more calls than expected")


def test_a_leftover_of_a_dead_run_is_removed(target):
    leftover = target.with_name(f".{target.name}.tmp-0123abcd")
    leftover.mkdir()
    fill(leftover, "half")
    make(target, "new")
    assert found(target) == "new"


def test_the_folder_of_a_live_run_stays(target):
    with replacing(target, force=False, is_ours=is_ours) as folder:
        make(target, "other")
        assert folder.is_dir()
        target.rename(target.with_name("moved"))
        fill(folder, "mine")
    assert (target / "mark").read_text() == "mine"


def test_other_hidden_folders_stay(target):
    for name in (f".{target.name}.tmp-backup", ".release 1.tmp-0123abcd", ".other.tmp-0123abcd"):
        target.with_name(name).mkdir()
    unknown = target.with_name(f".{target.name}.old-0123abcd")
    unknown.mkdir()
    (unknown / "thesis.tex").write_text("years of work")
    make(target, "new")
    assert len(list(target.parent.iterdir())) == 5


def test_a_release_put_aside_by_a_crash_comes_back(target):
    aside = target.with_name(f".{target.name}.old-0123abcd")
    aside.mkdir()
    fill(aside, "old")
    with pytest.raises(InputError, match="exists"):
        make(target, "new")
    assert found(target) == "old"


def test_a_release_put_aside_is_removed_once_the_new_one_is_in_place(target):
    make(target, "new")
    aside = target.with_name(f".{target.name}.old-0123abcd")
    aside.mkdir()
    fill(aside, "old")
    make(target, "newer", force=True)
    assert found(target) == "newer"


CRASH = """
    import os, sys
    from pathlib import Path
    from sfumato.release import atomic

    target, call, nth, two_renames = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    real, calls = getattr(os, call), []

    def dying(*arguments):
        calls.append(arguments)
        if len(calls) == nth:
            os._exit(9)
        return real(*arguments)

    setattr(os, call, dying)
    if two_renames == "two renames":
        atomic._exchange = lambda *_: False
    with atomic.replacing(target, force=True, is_ours=lambda f: (f / "mark").is_file()) as folder:
        (folder / "mark").write_text("new")
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text("new")
"""


@pytest.mark.parametrize(
    ("call", "nth", "way", "after"),
    [
        ("fsync", 1, "one step", "old"),
        ("fsync", 5, "one step", "new"),
        ("replace", 1, "two renames", "old"),
        ("replace", 2, "two renames", "old"),
    ],
)
def test_a_crash_leaves_the_old_or_the_new_and_the_next_run_tidies_up(
    target, call, nth, way, after
):
    make(target, "old")
    script = textwrap.dedent(CRASH)
    died = subprocess.run(
        [sys.executable, "-c", script, str(target), call, str(nth), way], check=False
    )
    assert died.returncode == 9
    assert len(list(target.parent.iterdir())) > 1 or after == "new"
    with pytest.raises(InputError, match="exists"):
        make(target, "newer")
    assert found(target) == after


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o700), (0o002, 0o770), (0o077, 0o700)])
def test_what_is_not_published_is_closed_to_others(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        with beside(tmp_path / "release") as folder:
            assert folder.stat().st_mode & 0o777 == mode
    finally:
        os.umask(before)
    assert list(tmp_path.iterdir()) == []
