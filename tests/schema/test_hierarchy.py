"""Hierarchies: reading, refusing, reporting, binding to codes, pruning."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError
from sfumato.schema.hierarchy import ROOT, Hierarchy, Tree
from sfumato.schema.intervals import read_interval, read_number
from sfumato.schema.text import to_texts

COUNTRIES = [
    ("Peru", "America", "*"),
    ("Laos", "Asia", "*"),
    ("Cuba", "America", "*"),
    ("Iran", "Asia", "*"),
]


def lowest_common_ancestor(tree: Tree, codes) -> int:
    """Walk up from one leaf until the node's range covers all the codes."""
    node = min(codes)
    while not (tree.first[node] <= min(codes) and max(codes) <= tree.last[node]):
        node = int(tree.parent[node])
    return node


def label_sets(hierarchy: Hierarchy) -> dict[str, set[str]]:
    sets: dict[str, set[str]] = {}
    for row in hierarchy.rows():
        for label in row:
            sets.setdefault(label, set()).add(row[0])
    return sets


# --- files -----------------------------------------------------------------------------------

ADULT = {  # values, levels with value and root, entries the data lacks in the file
    "age": (100, 5, []),
    "age_anjana": (73, 7, ["89"]),
    "education": (16, 4, []),
    "marital-status": (7, 3, []),
    "native-country": (41, 3, []),
    "occupation": (14, 3, []),
    "race": (5, 2, []),
    "salary-class": (2, 2, []),
    "sex": (2, 2, []),
    "workclass": (8, 3, []),
}


def adult_texts(shared, name):
    column = name.removesuffix("_anjana")
    table = pq.read_table(shared / "data" / "adult.parquet", columns=[column])
    return to_texts(pc.unique(table[column]).drop_null()).to_pylist()


def test_every_shared_hierarchy_is_listed_here(shared):
    files = {path.stem for path in (shared / "data" / "hierarchies").glob("*.csv")}
    assert files == {f"adult_{name}" for name in ADULT}


@pytest.mark.parametrize("name", ADULT)
def test_shared_hierarchies_read_and_bind(shared, name):
    hierarchy = Hierarchy.read_csv(shared / "data" / "hierarchies" / f"adult_{name}.csv")
    values, levels, lacking = ADULT[name]
    assert hierarchy.name == f"adult_{name}.csv"
    assert hierarchy.supplied
    assert len(hierarchy.leaves) == values
    assert {len(row) for row in hierarchy.rows()} == {levels}
    texts = adult_texts(shared, name)
    assert list(hierarchy.report(texts).missing) == lacking
    tree = hierarchy.bind([text for text in texts if text not in lacking])
    assert tree.domain_size == values == tree.leaves[-1]
    assert tree.labels[-1] == ROOT
    assert len(set(tree.labels)) == len(tree.labels)


def test_adult_age_reports_its_wrong_intervals(shared):
    folder = shared / "data" / "hierarchies"
    report = Hierarchy.read_csv(folder / "adult_age.csv").report(adult_texts(shared, "age"))
    assert report.missing == ()
    # Multiples of 5 at level 1, of 10 at level 2, of 20 at level 3, from 1 to 100.
    assert len(report.wrong_intervals) == 20 + 10 + 5
    assert ("20", "15-19") in report.wrong_intervals
    assert {int(leaf) % 5 for leaf, _ in report.wrong_intervals} == {0}
    in_data = {leaf for leaf, _ in report.wrong_intervals} & set(adult_texts(shared, "age"))
    assert len(in_data) == 15


def test_anjana_ages_are_right_but_lack_one(shared):
    hierarchy = Hierarchy.read_csv(shared / "data" / "hierarchies" / "adult_age_anjana.csv")
    texts = adult_texts(shared, "age_anjana")
    report = hierarchy.report(texts)
    assert report.wrong_intervals == ()
    assert report.missing == ("89",)
    with pytest.raises(HierarchyError, match=r"adult_age_anjana\.csv': 1 of 74 values") as caught:
        hierarchy.bind(texts)
    assert "89" not in str(caught.value)
    assert "sfumato check" in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        "Peru;America;*\nLaos;Asia;*\n",
        "Peru,America,*\nLaos,Asia,*\n",
        "\ufeffPeru;America;*\r\nLaos;Asia;*",
        '"Peru";"America";*\n\n"Laos";Asia;*\n;;\n',
        "Peru;America\nLaos;Asia\n",
        "Peru;America;World\nLaos;Asia;World\n",
        "Peru;America;*;\nLaos;Asia;*;\n",
    ],
    ids=["semicolon", "comma", "bom-crlf", "quotes-blanks", "no-root", "other-root", "trailing"],
)
def test_forms_of_a_file(tmp_path, content):
    path = tmp_path / "country.csv"
    path.write_bytes(content.encode())
    rows = Hierarchy.read_csv(path).rows()
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        ("Peru", "America", "*"),
        ("Laos", "Asia", "*"),
    ]
    assert set(rows[0][2:]) == {"*"}


def test_quoted_fields_may_hold_the_other_separator(tmp_path):
    path = tmp_path / "age.csv"
    path.write_text('17,"[15, 20[; young",*\n18,"[15, 20[; young",*\n', "utf-8")
    assert Hierarchy.read_csv(path).leaves == ("17", "18")
    path.write_text("17;[15, 20[;*\n18;[15, 20[;*\n", "utf-8")
    assert Hierarchy.read_csv(path).paths[0] == ("[15, 20[", "*")


# Every value is written as secretN, so that a message that tells one can be caught.
BAD_FILES = {
    "empty": (b"", "the file is empty"),
    "blank": (b"\n\n;;\n", "the file is empty"),
    "ragged": (b"secret1;secretA;*\nsecret2;*\n", "line 2 has 2 fields and line 1 has 3"),
    "ragged-top": (b"secret1;secretA;*\nsecret2\n", "line 2 has 1 fields and line 1 has 3"),
    "encoding": ("secret1;*\nsecretß;*\n".encode("latin-1"), "line 2 is not UTF-8"),
    "utf-16": ("secret1;*\nsecret2;*\n".encode("utf-16"), "line 1 is not UTF-8"),
    "zero-bytes": ("secret1;*\nsecret2;*\n".encode("utf-16-le"), "line 1 is not UTF-8"),
    "quotes": (b'secret1;*\n"secret2;*\n', "line 2 is not proper CSV"),
    "one-field": (b"secret1\nsecret2\n", "single field"),
    "not-nested": (
        b"secret1;secretA;secretX;*\n\nsecret2;secretA;secretY;*\n",
        "line 3 and line 1 have the same label at level 1 and different ones at level 2",
    ),
    "duplicate": (b"secret1;*\nsecret2;*\nsecret1;*\n", "line 3 repeats the value of line 1"),
    "value-as-label": (
        b"secret1;secret2;*\nsecret2;secretB;*\n",
        "the label at level 1 of line 1 is also a value in line 2",
    ),
    "two-meanings": (
        b"secret1;secretA;secretB;*\nsecret2;secretB;secretC;*\n",
        "the label at level 2 of line 1 is also a label at level 1 in line 2",
    ),
    "header": (b"secret0;secretA;secretB\nsecret1;secretC;*\n", "is one of the two a header"),
    "empty-label": (b"secret1;;*\nsecret2;secretA;*\n", "line 1 has an empty label"),
    "root-entry": (b"secret1;*\n*;*\n", "line 2 is an entry for `*`"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_refused_in_one_line_without_values(tmp_path, case):
    content, expected = BAD_FILES[case]
    path = tmp_path / "zip.csv"
    path.write_bytes(content)
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.read_csv(path)
    message = str(caught.value)
    assert expected in message
    assert message.startswith("hierarchy 'zip.csv': ")
    assert "\n" not in message
    assert "secret" not in message


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(HierarchyError, match=r"hierarchy 'none\.csv': no such file"):
        Hierarchy.read_csv(tmp_path / "none.csv")
    with pytest.raises(HierarchyError, match="cannot be read"):
        Hierarchy.read_csv(tmp_path)


# --- rows ------------------------------------------------------------------------------------


def test_rows_are_checked_however_they_come():
    with pytest.raises(HierarchyError, match="row 2 repeats the value of row 1"):
        Hierarchy("x", ("a", "a"), (("*",), ("*",)))
    with pytest.raises(HierarchyError, match="row 1 does not end in `\\*`"):
        Hierarchy("x", ("a",), (("b",),))
    with pytest.raises(HierarchyError, match="it is empty"):
        Hierarchy.from_rows([], "x")
    with pytest.raises(HierarchyError, match="row 2 is empty"):
        Hierarchy.from_rows([("a", "*"), ()], "x")
    with pytest.raises(HierarchyError, match="row 1 is empty"):
        Hierarchy.from_rows([(), ()], "x")
    with pytest.raises(HierarchyError, match="not text"):
        Hierarchy.from_rows([(17, "young")], "x")  # type: ignore[list-item]


def test_a_label_may_come_back_only_for_the_same_values():
    repeated = [("80", ">=80", ">=80", "*"), ("81", ">=80", ">=80", "*"), ("7", "7", "<80", "*")]
    assert Hierarchy.from_rows(repeated, "age").rows() == repeated
    with pytest.raises(HierarchyError, match="stands for other values"):
        Hierarchy.from_rows([("a", "X", "Y", "X", "*"), ("b", "Z", "Z", "Z", "*")], "x")


def test_input_rows_stay_as_they_are():
    rows = [["Peru", "America"], ["Laos", "Asia"]]
    Hierarchy.from_rows(rows, "country").bind(["Laos"])
    assert rows == [["Peru", "America"], ["Laos", "Asia"]]


def test_a_list_of_values_gets_a_root():
    assert Hierarchy.from_rows([("a",), ("b",)], "x").rows() == [("a", "*"), ("b", "*")]
    assert Hierarchy.from_rows([("a",)], "x").rows() == [("a", "*")]


# --- intervals -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "inside", "outside"),
    [
        ("15-19", ["15", "17", "19"], ["14", "20", "19.5"]),
        ("15 – 19", ["15", "19"], ["20"]),
        ("-5--1", ["-5", "-1"], ["0", "-6"]),
        ("[15, 20[", ["15", "19.99"], ["20", "14.99"]),
        ("[25, 30)", ["25", "29"], ["30"]),
        ("[25, 30]", ["25", "30"], ["31"]),
        ("]10, 20]", ["11", "20"], ["10", "21"]),
        ("(10,20)", ["11"], ["10", "20"]),
        ("[0.5; 1e3]", ["0.5", "1000"], ["0.49", "1000.1"]),
        (">=80", ["80", "1e9"], ["79"]),
        (">80", ["80.1"], ["80"]),
        ("< 18", ["17", "-3"], ["18"]),
        ("<=18", ["18"], ["19"]),
        ("≥80", ["80"], ["79"]),
        ("80+", ["80", "90"], ["79"]),
    ],
)
def test_interval_labels(label, inside, outside):
    interval = read_interval(label)
    assert interval is not None
    assert all(Decimal(number) in interval for number in inside)
    assert not any(Decimal(number) in interval for number in outside)


@pytest.mark.parametrize(
    "label", ["*", "Europe", "2020-01", "130**", "11th", "5th-6th", ">50K", ""]
)
def test_labels_that_are_no_intervals(label):
    assert read_interval(label) is None


@pytest.mark.parametrize("text", ["nan", "inf", "1_000", "0x1", "", " 5", "１"])
def test_texts_that_are_no_numbers(text):
    assert read_number(text) is None


def test_a_wrong_interval_is_reported_once_and_not_refused():
    rows = [("20", "15-19", "15-19", "*"), ("x", "15-19", "15-19", "*")]
    hierarchy = Hierarchy.from_rows(rows, "age")
    assert hierarchy.report([]).wrong_intervals == (("20", "15-19"),)
    assert hierarchy.report(["y", "20", "y"]).missing == ("y",)


# --- binding ---------------------------------------------------------------------------------


def test_bind_orders_codes_by_leaf_order():
    tree = Hierarchy.from_rows(COUNTRIES, "country").bind(["Iran", "Laos", "Cuba"])
    assert tree.labels == ("Cuba", "Laos", "Iran", "America", "Asia", "*")
    assert tree.order.tolist() == [2, 1, 0]
    assert tree.parent.tolist() == [3, 4, 4, 5, 5, 5]
    assert tree.first.tolist() == [0, 1, 2, 0, 1, 0]
    assert tree.last.tolist() == [0, 1, 2, 0, 2, 2]
    assert tree.leaves.tolist() == [1, 1, 1, 2, 2, 4]
    assert tree.domain_size == 4
    assert (tree.order.dtype, tree.parent.dtype) == (np.int64, np.int32)
    assert {a.dtype for a in (tree.first, tree.last, tree.leaves)} == {np.dtype(np.int32)}


def test_a_tree_cannot_be_changed():
    tree = Hierarchy.from_rows(COUNTRIES, "country").bind(["Iran"])
    with pytest.raises(ValueError, match="read-only"):
        tree.parent[0] = 0


def test_bind_without_values_is_the_bare_root():
    tree = Hierarchy.from_rows(COUNTRIES, "country").bind([])
    assert tree.labels == (ROOT,)
    assert (tree.parent.tolist(), tree.leaves.tolist()) == ([0], [4])
    assert (tree.first.tolist(), tree.last.tolist()) == ([0], [-1])
    assert len(tree.order) == 0


def test_bind_counts_the_values_without_entry():
    with pytest.raises(HierarchyError, match="'country': 2 of 3 values have no entry") as caught:
        Hierarchy.from_rows(COUNTRIES, "country").bind(["Cuba", "Atlantis", "Mu"])
    assert "Atlantis" not in str(caught.value)


@st.composite
def nested_rows(draw) -> list[tuple[str, ...]]:
    """Random nested trees, in random row order; some labels repeat the one below them."""
    size = draw(st.integers(1, 12))
    columns = [[f"v{number}" for number in range(size)]]
    for level in range(draw(st.integers(0, 4))):
        below = columns[-1]
        groups = sorted(set(below))
        placed = {group: draw(st.integers(0, len(groups) - 1)) for group in groups}
        members = list(placed.values())
        repeat = draw(st.booleans())
        name = {
            group: group if repeat and members.count(place) == 1 else f"L{level}.{place}"
            for group, place in placed.items()
        }
        columns.append([name[group] for group in below])
    columns.append([ROOT] * size)
    return draw(st.permutations(list(zip(*columns, strict=True))))


@st.composite
def bound_trees(draw):
    hierarchy = Hierarchy.from_rows(draw(nested_rows()), "random")
    texts = draw(st.lists(st.sampled_from(hierarchy.leaves), unique=True, min_size=1))
    return hierarchy, texts, hierarchy.bind(texts)


@given(bound_trees())
def test_nodes_are_code_ranges_of_what_their_labels_name(case):
    hierarchy, texts, tree = case
    sets = label_sets(hierarchy)
    by_code = [texts[place] for place in tree.order]
    assert sorted(by_code) == sorted(texts)
    assert tree.labels[: len(texts)] == tuple(by_code)
    assert set(tree.labels) == {label for label, named in sets.items() if named & set(texts)}
    assert len(set(tree.labels)) == len(tree.labels)
    for node, label in enumerate(tree.labels):
        in_range = set(by_code[tree.first[node] : tree.last[node] + 1])
        assert in_range == sets[label] & set(texts)
        assert tree.leaves[node] == len(sets[label])
    assert tree.leaves[-1] == tree.domain_size == len(hierarchy.leaves)


@given(bound_trees())
def test_parents_follow_their_children_and_contain_them(case):
    hierarchy, texts, tree = case
    above = {row[0]: list(dict.fromkeys(row)) for row in hierarchy.rows()}
    assert tree.parent[-1] == len(tree.labels) - 1
    assert all(tree.parent[node] > node for node in range(len(tree.labels) - 1))
    for code, place in enumerate(tree.order):
        path, node = [tree.labels[code]], code
        while tree.parent[node] != node:
            node = int(tree.parent[node])
            path.append(tree.labels[node])
        assert path == above[texts[place]]


@given(bound_trees(), st.data())
def test_walking_up_finds_the_literal_lowest_common_ancestor(case, data):
    hierarchy, texts, tree = case
    codes = data.draw(st.sets(st.integers(0, len(texts) - 1), min_size=1))
    picked = {texts[tree.order[code]] for code in codes}
    sets = label_sets(hierarchy)
    row = next(row for row in hierarchy.rows() if row[0] in picked)
    literal = next(label for label in row if picked <= sets[label])
    assert tree.labels[lowest_common_ancestor(tree, codes)] == literal


@given(nested_rows())
def test_rows_survive_a_round_trip(rows):
    assert Hierarchy.from_rows(rows, "random").rows() == list(rows)


@given(nested_rows(), st.data())
def test_a_label_moved_to_another_branch_is_refused(rows, data):
    sets = label_sets(Hierarchy.from_rows(rows, "random"))
    shared = [label for label, named in sets.items() if 1 < len(named) < len(rows)]
    if not shared:
        return
    label = data.draw(st.sampled_from(sorted(shared)))
    stray = next(number for number, row in enumerate(rows) if row[0] not in sets[label])
    level = next(row.index(label) for row in rows if label in row)
    spoilt = list(rows)
    spoilt[stray] = (*rows[stray][:level], label, *rows[stray][level + 1 :])
    # Taking a row into the label is sound only where the labels around it agree; see by sets.
    levels = [dict[str, set[str]]() for _ in spoilt[0]]
    for row in spoilt:
        for named, name in zip(levels, row, strict=True):
            named.setdefault(name, set()).add(row[0])
    nested = all(
        any(small <= big for big in coarse.values())
        for fine, coarse in pairwise(levels)
        for small in fine.values()
    )
    means_one = all(
        one[name] == two[name] for one in levels for two in levels for name in one.keys() & two
    )
    if nested and means_one:
        Hierarchy.from_rows(spoilt, "random")
    else:
        with pytest.raises(HierarchyError):
            Hierarchy.from_rows(spoilt, "random")


# --- pruning ---------------------------------------------------------------------------------


def test_pruned_keeps_what_is_published_and_nothing_below():
    rows = [
        ("12345", "123**", "12***", "*"),
        ("12388", "123**", "12***", "*"),
        ("12444", "124**", "12***", "*"),
        ("99999", "999**", "99***", "*"),
    ]
    hierarchy = Hierarchy.from_rows(rows, "zip", supplied=False)
    pruned = hierarchy.pruned({"12444", "123**", "99***"})
    assert pruned.rows() == [
        ("123**", "123**", "12***", "*"),
        ("12444", "124**", "12***", "*"),
        ("99***", "99***", "99***", "*"),
    ]
    assert not pruned.supplied
    assert hierarchy.rows() == rows
    assert hierarchy.pruned({"*"}).rows() == [("*", "*", "*", "*")]
    assert hierarchy.pruned(()).rows() == [("*", "*")]


def test_pruned_node_with_a_published_value_below_is_no_value_itself():
    rows = [("12345", "123**", "*"), ("12388", "123**", "*")]
    pruned = Hierarchy.from_rows(rows, "zip", supplied=False).pruned({"12345", "123**"})
    assert pruned.rows() == [("12345", "123**", "*")]


@given(nested_rows(), st.data())
def test_pruned_tells_no_label_that_a_published_one_does_not_imply(rows, data):
    hierarchy = Hierarchy.from_rows(rows, "random", supplied=False)
    labels = sorted({label for row in hierarchy.rows() for label in row})
    published = data.draw(st.sets(st.sampled_from(labels), min_size=1))
    pruned = hierarchy.pruned(published)
    kept = {label for row in pruned.rows() for label in row}
    implied = {
        label
        for row in hierarchy.rows()
        for start, low in enumerate(row)
        if low in published
        for label in row[start:]
    }
    assert kept == implied
    assert set(pruned.leaves) <= published
    assert Hierarchy.from_rows(pruned.rows(), "random").rows() == pruned.rows()
    assert hierarchy.pruned(hierarchy.leaves).rows() == hierarchy.rows()
