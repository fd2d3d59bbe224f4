"""Trees changed by hand: what is ticked goes under a label or out, and nothing else moves."""

from __future__ import annotations

import pytest

from sfumato.errors import HierarchyError, InputError
from sfumato.schema import Hierarchy
from sfumato.web.tree_edit import file_text, grouped, released, rows_of

VALUES = [("Peru",), ("Laos",), ("Cuba",), ("Iran",)]


def test_groups_grow_level_by_level():
    rows = grouped(VALUES, 1, {"Peru", "Cuba"}, "America")
    rows = grouped(rows, 1, {"Laos"}, "Asia")
    rows = grouped(rows, 1, {"Iran"}, "Asia")  # a label that is there takes more
    assert rows == [
        ("Peru", "America"), ("Laos", "Asia"), ("Cuba", "America"), ("Iran", "Asia")
    ]  # fmt: skip
    rows = grouped(rows, 2, {"America", "Asia"}, "World")
    assert {row[2] for row in rows} == {"World"}


def test_a_group_keeps_what_stands_above_it():
    rows = [("a", "A", "X"), ("b", "A", "X"), ("c", "C", "Y"), ("d", "d", "d")]
    moved = grouped(rows, 1, {"d"}, "A")
    assert moved[3] == ("d", "A", "X")
    cut = grouped(rows, 1, {"b"}, "B")  # out of A, and still in X
    assert cut[1] == ("b", "B", "X")


def test_what_is_taken_out_stands_alone_and_empty_levels_go():
    rows = [("a", "A"), ("b", "A"), ("c", "c")]
    assert released(rows, 1, {"a"}) == [("a", "a"), ("b", "A"), ("c", "c")]
    assert released(rows, 1, {"a", "b"}) == [("a",), ("b",), ("c",)]


@pytest.mark.parametrize("label", ["", "  ", "*", "x" * 200, "a\nb"])
def test_labels_that_are_none_are_refused(label):
    with pytest.raises(InputError, match="label"):
        grouped(VALUES, 1, {"Peru"}, label)


def test_nothing_ticked_is_refused():
    with pytest.raises(InputError, match="tick"):
        grouped(VALUES, 1, set(), "A")
    with pytest.raises(InputError, match="tick"):
        released(VALUES, 1, set())


def test_the_file_reads_back_whatever_values_hold(tmp_path):
    odd = ['a;b', ' blank ', 'quo"te', "new\nline", "-1", "=1+1"]  # fmt: skip
    rows = grouped([(value,) for value in odd], 1, set(odd[:3]), "A; B")
    path = tmp_path / "tree.csv"
    path.write_text(file_text(rows, "odd"), "utf-8")
    assert rows_of(Hierarchy.read_csv(path), odd) == rows


def test_a_label_that_means_two_things_is_refused():
    with pytest.raises(HierarchyError):
        file_text(grouped(VALUES, 1, {"Peru"}, "Laos"), "country")
