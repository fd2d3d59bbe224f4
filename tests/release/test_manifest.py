"""The manifest: what is written, and what is refused on reading."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal

import pytest
from pydantic import ValidationError

from sfumato.errors import ReleaseDamaged
from sfumato.release.manifest import FORMAT, MAX_BYTES, AttributeEntry, Bounds, Manifest
from sfumato.schema.attribute import Kind, Role


@pytest.fixture
def manifest(generalized) -> Manifest:
    return generalized.manifest


def test_reads_back(manifest):
    again = Manifest.from_json(manifest.to_json())
    assert again == manifest
    assert again.to_json() == manifest.to_json()


def test_keys_stand_in_the_order_of_the_format_and_silent_ones_are_left_out(manifest):
    written = json.loads(manifest.to_json())
    assert list(written) == [
        *("format", "method", "layout", "software", "created", "rows", "suppressed"),
        *("attributes", "tables", "guarantees", "parameters"),
    ]
    assert written["format"] == FORMAT
    assert written["created"] == "2026-01-31"
    assert written["suppressed"] == 0
    assert written["attributes"][0]["domain"] == {"min": 15, "max": 90}
    assert "domain" not in written["attributes"][1]
    assert list(written["tables"][0]) == ["name", "attributes", "group"]


def test_flags_are_written_when_true(manifest):
    flags = {"test": True, "suppressed": 2, "suppressed_by_value": True}
    flagged = manifest.model_copy(update=flags)
    written = json.loads(flagged.to_json())
    assert written["test"] is True
    assert written["suppressed_by_value"] is True
    assert Manifest.from_json(flagged.to_json()) == flagged


def test_parameters_keep_their_nulls_and_falsehoods(manifest):
    parameters = {"cap": None, "relaxed": False, "zero": 0, "sets": {"age": {"p": 0.5}}}
    changed = manifest.model_copy(update={"parameters": parameters})
    assert json.loads(changed.to_json())["parameters"] == parameters


def test_bounds_of_dates_and_decimals_are_texts():
    assert Bounds(min=datetime.date(1931, 1, 1), max=datetime.date(2008, 12, 31)).model_dump() == {
        "min": "1931-01-01",
        "max": "2008-12-31",
    }
    assert Bounds(min=Decimal("1.50"), max=Decimal(20)).model_dump() == {"min": "1.50", "max": "20"}
    moment = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC)
    assert Bounds(min=moment, max=moment).min == "2020-01-01T12:00:00.000000Z"


def test_entries_are_found_by_name(manifest):
    assert manifest.attribute("age").kind is Kind.NUMERIC
    assert manifest.table("records").group == "group"
    with pytest.raises(ReleaseDamaged, match="no attribute 'size'"):
        manifest.attribute("size")
    with pytest.raises(ReleaseDamaged, match="no table 'qi_1'"):
        manifest.table("qi_1")


def test_an_error_in_code_does_not_show_the_values():
    with pytest.raises(ValidationError) as refusal:
        AttributeEntry(
            name="age", role=Role.SENSITIVE, kind=Kind.ORDINAL, type="int32", domain=["secret", 3]
        )
    assert "secret" not in str(refusal.value)


def _set(path, value):
    """Return a change that puts a value into the JSON at a path of keys."""

    def change(fields):
        *way, last = path
        for key in way:
            fields = fields[key]
        fields[last] = value

    return change


def _drop(key):
    return lambda fields: fields.pop(key)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set(["seed"], 7), "seed: Extra inputs"),
        (_set(["attributes", 0, "flag"], "x"), r"attributes\.0\.flag: Extra inputs"),
        (_set(["tables", 0, "rows"], 4), r"tables\.0\.rows: Extra inputs"),
        (_set(["rows"], "4"), "rows: Input should be a valid integer"),
        (_set(["rows"], True), "rows: Input should be a valid integer"),
        (_set(["rows"], -1), "rows: Input should be greater"),
        (_set(["test"], "yes"), "test: Input should be a valid boolean"),
        (_set(["created"], "yesterday"), "created: "),
        (_set(["layout"], "diagonal"), "layout: Input should be"),
        (_set(["attributes", 0, "role"], "spy"), r"attributes\.0\.role"),
        (_set(["attributes", 0, "role"], "identifier"), "an identifier is never published"),
        (_set(["attributes", 0, "name"], "group"), "the format uses this name itself"),
        (_set(["attributes", 0, "name"], "zip code"), "two attributes have the same name"),
        (_set(["attributes", 0, "name"], "size"), "table 'records' has an attribute that is not"),
        (_set(["attributes", 0, "type"], "float128"), "unknown data type"),
        (_set(["attributes", 0, "domain"], {"min": 3}), r"attributes\.0\.domain"),
        (_set(["tables", 0, "name"], "../records"), r"tables\.0\.name"),
        (_set(["tables", 0, "file"], "../records.parquet"), "must be named after the table"),
        (_set(["tables", 0, "file"], "/etc/passwd"), "must be named after the table"),
        (_set(["tables", 0, "sha256"], "abc"), r"tables\.0\.sha256"),
        (_set(["tables", 0, "group"], "class"), r"tables\.0\.group"),
        (_set(["tables", 0, "attributes"], ["age", "age"]), "two attributes have the same name"),
        (_set(["tables", 0, "attributes"], []), "'records' has neither attributes nor counts"),
        (_set(["tables"], []), "tables: "),
        (_set(["guarantees"], [{"k": 5}]), "a guarantee does not name its model"),
        (_set(["guarantees"], [{"model": "m", "attribute": "x"}]), "attribute that is not listed"),
        (_set(["guarantees"], [{"model": "m", "attribute": []}]), "attribute that is not listed"),
        (_set(["format"], "sfumato-release/2"), "format is sfumato-release/2, and this version"),
        (_set(["format"], "other"), "format is an unknown one"),
        (_set(["format"], 1), "not the manifest of a release"),
        (_drop("format"), "not the manifest of a release"),
        (_drop("rows"), "rows: Field required"),
        (_drop("attributes"), "attributes: Field required"),
    ],
)
def test_a_changed_manifest_is_refused_in_one_line(manifest, change, message):
    fields = json.loads(manifest.to_json())
    change(fields)
    with pytest.raises(ReleaseDamaged, match=message) as refusal:
        Manifest.from_json(json.dumps(fields).encode())
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


def test_two_tables_of_one_name_are_refused(manifest):
    fields = json.loads(manifest.to_json())
    fields["tables"] *= 2
    with pytest.raises(ReleaseDamaged, match="two tables have the same name"):
        Manifest.from_json(json.dumps(fields).encode())


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"format": "\xe9"}',
        b'{"format": NaN}',
        b'{"rows": 1e999}',
        b'{"rows": 1, "rows": 2}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
    ids=repr,
)
def test_what_is_not_plain_json_is_refused(text):
    with pytest.raises(ReleaseDamaged, match=r"manifest\.json is not valid JSON"):
        Manifest.from_json(text)


@pytest.mark.parametrize("text", [b"null", b"[]", b"{}", b'"sfumato-release/1"'])
def test_json_that_is_no_manifest_is_refused(text):
    with pytest.raises(ReleaseDamaged, match="not the manifest of a release"):
        Manifest.from_json(text)


def test_deep_parameters_are_refused(manifest):
    deep = '{"a": ' * 250 + "1" + "}" * 250
    text = manifest.to_json().replace(b'"recoding": "local"', b'"deep": ' + deep.encode())
    with pytest.raises(ReleaseDamaged):
        Manifest.from_json(text)


def test_a_huge_manifest_is_refused_before_it_is_read():
    with pytest.raises(ReleaseDamaged, match="larger than 256 MiB"):
        Manifest.from_json(bytes(MAX_BYTES + 1))


@pytest.mark.parametrize("key", ["rows", "suppressed", "parameters", "guarantees"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_huge_number_is_not_repeated(manifest, key, sign):
    fields = json.loads(manifest.to_json())
    huge = sign * 10**4000
    stated = {"parameters": {"k": huge}, "guarantees": [{"model": "x", "k": huge}]}
    text = json.dumps({**fields, key: stated.get(key, huge)})
    with pytest.raises(ReleaseDamaged, match="more than 40 digits") as caught:
        Manifest.from_json(text.encode())
    assert len(str(caught.value)) < 100
