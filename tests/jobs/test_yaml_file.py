"""YAML without its surprises, and refusals that name the line."""

from __future__ import annotations

import pytest

from sfumato.errors import SchemaError
from sfumato.jobs.yaml_file import MAX_BYTES, read_yaml


@pytest.fixture
def read(tmp_path):
    def read(text: str | bytes):
        path = tmp_path / "policy.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_yaml(path)

    return read


def test_values_of_lists_stay_what_they_look_like(read):
    values = read("[no, yes, on, off, 01234, 12:30, 1_000, 0x1F, .inf, 2026-01-31, NO]")
    assert values == [
        "no", "yes", "on", "off", "01234", "12:30", "1_000", "0x1F", ".inf", "2026-01-31", "NO",
    ]  # fmt: skip


def test_plain_numbers_truth_values_and_null(read):
    values = read("[0, -12, 1.5, 1e3, .3, -.5e1, true, False, null, ~, '1', ., .e1, -]")
    assert values == [
        0, -12, 1.5, 1000.0, 0.3, -5.0, True, False, None, None, "1", ".", ".e1", "-",
    ]  # fmt: skip


def test_keys_are_texts(read):
    assert read("{1990: a, true: b, 1.10: c, no: d}") == {
        "1990": "a", "true": "b", "1.10": "c", "no": "d",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: [1,\nc: 2", "line 3: this is not YAML"),
        ("a: 1\n\tb: 2", "line 2: this is not YAML"),
        ("a: 1\nb: 2\na: 3", "line 3: the key `a` occurs twice"),
        ("x: {a: 1, a: 2}", "line 1: the key `a` occurs twice"),
        ("a: &x [1]\nb: *x", "line 1: anchors and aliases"),
        ("a: !!python/object/apply:os.system [ls]", "line 1: tags"),
        ("? [a, b]\n: c", "line 1: a key must be a plain name"),
        ("[" * 40 + "]" * 40, "nested more than"),
        ("{a: " * 2000 + "1" + "}" * 2000, "nested more than"),
        (b"a: 1\nb: \xff\n", "line 2 is not UTF-8"),
        (b"a: \0", "not a YAML file"),
        ("a: 1\n---\nb: 2", "this is not YAML"),
        (" " * (MAX_BYTES + 1), "larger than"),
    ],
)
def test_refusals(read, text, expected):
    with pytest.raises(SchemaError, match=r"policy\.yaml") as refused:
        read(text)
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


def test_places_that_are_no_file(tmp_path):
    with pytest.raises(SchemaError, match="no such file; draft one"):
        read_yaml(tmp_path / "none.yaml")
    with pytest.raises(SchemaError, match="cannot be read"):
        read_yaml(tmp_path)
