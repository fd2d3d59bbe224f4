"""What was measured is kept, whatever ends the run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfumato.errors import InputError
from sfumato.papers.grid import Point
from sfumato.papers.store import Store, key_of, only_read

POINT = Point("by l", {"l": 3, "rows": 10})


@pytest.fixture
def path(tmp_path, about):
    place = tmp_path / "toy.jsonl"
    with Store(place) as store:
        store.tell(about)
        store.add("one", about, POINT, {"x": 1, "pair": (1, 2)})
        store.add("two", about, POINT, {"x": 2})
    return place


def test_what_is_kept_is_read_again(path, about):
    with Store(path) as store:
        assert store.data == [about]
        assert "one" in store
        assert "three" not in store
        assert store["one"] == {"x": 1, "pair": [1, 2]}
        store.tell(about)  # told already
    assert len(path.read_bytes().splitlines()) == 3


def test_the_first_run_sees_what_the_next_will_read(tmp_path, about):
    with Store(tmp_path / "new.jsonl") as store:
        store.add("one", about, POINT, {"pair": (1, 2), "by": {3: 0.5}})
        assert store["one"] == {"pair": [1, 2], "by": {"3": 0.5}}


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_half_a_line_is_dropped_and_written_anew(path, about, cut):
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    with Store(path) as store:
        assert "one" in store
        assert "two" not in store
        store.add("two", about, POINT, {"x": 2})
    assert path.read_bytes() == whole


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path):
    place = tmp_path / "notes.jsonl"
    for text in ("hello\n", '{"a": 1}\n', "[1, 2]\n"):
        place.write_text(text)
        with pytest.raises(InputError, match="move it away"), Store(place):
            pass
        assert place.read_text() == text


def test_two_runs_do_not_write_to_one_file(path):
    with Store(path), pytest.raises(InputError, match="another run"), Store(path):
        pass
    with Store(path) as store:  # and it is free again
        assert "one" in store


def test_reading_alone_changes_nothing(path, about):
    with Store(path), only_read(path) as store:
        assert store["two"] == {"x": 2}
        assert store.data == [about]
    with pytest.raises(InputError, match="cannot be read"), only_read(path.with_name("none")):
        pass


def test_all_that_numbers_depend_on_changes_the_key(about):
    keys = {
        key_of("toy", "1", about, POINT),
        key_of("lgb", "1", about, POINT),
        key_of("toy", "2", about, POINT),
        key_of("toy", "1", replace(about, fingerprint="11"), POINT),
        key_of("toy", "1", about, Point("by k", POINT.parameters)),
        key_of("toy", "1", about, Point("by l", {"l": 4, "rows": 10})),
    }
    assert len(keys) == 6
    renamed = replace(about, title="the same cells by another name")
    turned = Point("by l", {"rows": 10, "l": 3})
    assert key_of("toy", "1", renamed, turned) == key_of("toy", "1", about, POINT)
