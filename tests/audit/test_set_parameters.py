"""Joint attributes and ranges of numbers: the manifest must say of them what the domains show."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from sfumato.audit import audit
from sfumato.errors import ReleaseDamaged
from sfumato.methods import Rating, SensitiveQID
from sfumato.release import Release
from sfumato.schema import Attribute, Role, Schema

from .conftest import with_attribute, with_manifest

JOINT = "town & age"
TOWNS = ("Ulm", "Bonn & Köln", None)
ROWS = 60


@pytest.fixture(scope="module")
def release() -> Release:
    """Towns joined with ranges of ages, and ranges of costs beside them."""
    data = pa.table(
        {
            "town": [TOWNS[i % 3] for i in range(ROWS)],
            "age": [i % 91 for i in range(ROWS)],
            "cost": [i * 0.5 for i in range(ROWS)],
            "job": [f"job {i % 4}" for i in range(ROWS)],
        }
    )
    secret = Role.SENSITIVE_QUASI_IDENTIFIER
    schema = Schema(
        (
            Attribute("town", secret),
            Attribute("age", secret, domain=(0, 99)),
            Attribute("cost", Role.SENSITIVE, domain=(0, 30)),
            Attribute("job", Role.SENSITIVE),
        )
    )
    return SensitiveQID(t=0.4, bins=5, joint=[["town", "age"]]).publish(data, schema)


def changed(release: Release, **parameters: object) -> Release:
    return with_manifest(release, parameters={**release.manifest.parameters, **parameters})


def texts(*names: str) -> dict[str, dict[str, str]]:
    return {name: {"type": "string", "kind": "categorical"} for name in names}


@pytest.mark.parametrize("types", [None, 3, {}, {"age": {}}, {"other": {}}])
def test_types_that_say_nothing_are_told(release, types):
    stated = release.manifest.parameters["types"]
    assert stated == {
        "town": {"type": "string", "kind": "categorical"},
        "age": {"type": "int64", "kind": "numeric"},
        "cost": {"type": "double", "kind": "numeric"},
    }
    with pytest.raises(ReleaseDamaged, match="the parameter 'types'"):
        audit(
            changed(
                release, types={**stated, **types} if isinstance(types, dict) and types else types
            )
        )


def test_what_methods_say_agrees(release):
    assert audit(release).ok
    stated = release.manifest.parameters
    assert stated["bins"] == {"age": [0, 20, 40, 60, 80, 99], "cost": [0, 6, 12, 18, 24, 30]}
    assert stated["joint"] == {JOINT: ["town", "age"]}
    # nothing is said where there is nothing to say
    plain = {key: value for key, value in stated.items() if key == "sets"}
    assert audit(with_manifest(release, parameters=plain)).ok


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_it_is_read_from_files_too(release, file_format, tmp_path):
    release.save(tmp_path / "release", format=file_format)
    assert audit(tmp_path / "release").ok


DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(days=3 * i) for i in range(ROWS)]
MOMENTS = [datetime.datetime(2020, 1 + i % 12, 1, i % 24, i, i) for i in range(ROWS)]
TIMES = [moment.time() for moment in MOMENTS]
UNITS = ("s", "ms", "us", "ns")
TYPES = {
    "small numbers": pa.array([i - 30 for i in range(ROWS)], pa.int8()),
    "large numbers": pa.array([2**64 - 1 - i for i in range(ROWS)], pa.uint64()),
    "floats": pa.array([0.1 * i - 2 for i in range(ROWS)]),
    "narrow floats": pa.array([0.1 * i for i in range(ROWS)], pa.float32()),
    "tiny floats": pa.array([5e-324 * i for i in range(ROWS)]),
    "far floats": pa.array([1.7e308 * (i / ROWS - 0.5) for i in range(ROWS)]),
    "decimals": pa.array([Decimal(i - 30) / 100 for i in range(ROWS)], pa.decimal128(8, 2)),
    "dates": pa.array(DAYS),
    "dates in milliseconds": pa.array(DAYS, pa.date64()),
    **{f"moments to the {unit}": pa.array(MOMENTS, pa.timestamp(unit)) for unit in UNITS},
    "moments of a zone": pa.array(MOMENTS, pa.timestamp("us", "Europe/Berlin")),
    "coarse moments of a zone": pa.array(MOMENTS, pa.timestamp("s", "Europe/Berlin")),
    **{f"times to the {unit}": pa.array(TIMES, pa.time32(unit)) for unit in UNITS[:2]},
    **{f"times to the {unit}": pa.array(TIMES, pa.time64(unit)) for unit in UNITS[2:]},
    "spans": pa.array([datetime.timedelta(hours=i) for i in range(ROWS)]),
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("method", [SensitiveQID(t=0.3, bins=7), Rating(l=2, bins=7)])
def test_ranges_of_all_types_agree(name, method, tmp_path):
    data = pa.table({"x": TYPES[name], "y": list(range(ROWS))})
    made = method.publish(data, Schema.of(x="sensitive", y="quasi-identifier"))
    edges = made.manifest.parameters["bins"]["x"]
    assert 2 <= len(edges) <= 8
    made.save(tmp_path / "release", format="csv")
    assert audit(tmp_path / "release").ok
    for place in range(len(edges)):
        other = [*edges[:place], edges[(place + 1) % len(edges)], *edges[place + 1 :]]
        with pytest.raises(ReleaseDamaged, match="other edges of 'x'"):
            audit(changed(made, bins={"x": other}))


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ([], "by name"),
        ({"age": None}, "other edges of 'age'"),
        ({"age": "0, 99"}, "other edges of 'age'"),
        ({"age": []}, "other edges of 'age'"),
        ({"age": [0, 20, 40, 60, 80]}, "other edges of 'age'"),
        ({"age": [0, 20, 40, 60, 80, 100]}, "other edges of 'age'"),
        ({"age": [0, 20, 41, 60, 80, 99]}, "other edges of 'age'"),
        ({"age": [False, 20, 40, 60, 80, 99]}, "other edges of 'age'"),
        ({"age": [0, 20, 40, 60, 80, 10**5000]}, "other edges of 'age'"),
        ({"age": [0.5, 20, 40, 60, 80, 10**5000]}, "other edges of 'age'"),
        ({"age": [0, 20, 40, 60, 80, "99"]}, "other edges of 'age'"),
        ({"age": ["0", "20", "NaN", "60", "80", "99"]}, "other edges of 'age'"),
        ({"cost": [0.0, 6.0, 12.5, 18.0, 24.0, 30.0]}, "other edges of 'cost'"),
        ({"cost": [0, 6, 12, 18, 24, 30]}, "other edges of 'cost'"),
        ({"job": [0, 1, 2, 3, 4]}, "other edges of 'job'"),
        ({JOINT: [0, 20, 40, 60, 80, 99]}, f"other edges of '{JOINT}'"),
        ({"shoe size": [1, 2]}, "has no sets"),
        ({"two\nlines": [1, 2]}, "has no sets"),
    ],
)
def test_other_edges_are_told(release, bins, message):
    with pytest.raises(ReleaseDamaged, match=message) as refusal:
        audit(changed(release, bins=bins))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("label", "other"),
    [
        ("[20, 39]", "[20, 38]"),
        ("[20, 39]", "[20, 45]"),
        ("[20, 39]", "[21, 39]"),
        ("[20, 39]", "20"),
        ("[20, 39]", "some"),
        ("[20, 39]", "{null, [20, 39]}"),
        ("[20, 39]", "[20, 39"),
    ],
)
def test_other_ranges_are_told(release, label, other):
    def relabelled(text: str) -> str:
        return text.replace(f'"{label}"', f'"{other}"')

    domain = tuple(map(relabelled, release.manifest.attribute(JOINT).domain))
    assert domain != release.manifest.attribute(JOINT).domain
    records = release.tables["records"]
    sets = [[relabelled(text) for text in each] for each in records[JOINT].to_pylist()]
    place = records.column_names.index(JOINT)
    tables = {"records": records.set_column(place, JOINT, pa.array(sets))}
    with pytest.raises(ReleaseDamaged, match=r"other edges of 'age'|all combinations"):
        audit(with_attribute(Release(release.manifest, tables), JOINT, domain=domain))


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ([], "by name"),
        ({JOINT: None}, "of what"),
        ({JOINT: ["town & age"]}, "of what"),
        ({JOINT: ["age", "town"]}, "of what"),
        ({JOINT: ["town", 3]}, "of what"),
        ({JOINT: [["town"], "age"]}, "of what"),
        ({"job": ["job"]}, "of what"),
        ({"pay & rank": ["pay", "rank"]}, "has no sets"),
    ],
)
def test_other_parts_are_told(release, joint, message):
    with pytest.raises(ReleaseDamaged, match=message):
        audit(changed(release, joint=joint))


def combined(domain: tuple[str, ...], *names: str) -> Release:
    """Return a release of one joint attribute with such values."""
    values = [str(place) for place in range(len(domain))]
    data = pa.table({" & ".join(names): values * 5})
    made = SensitiveQID(t=0.5, max_eta=1).publish(data, Schema.of({" & ".join(names): "sensitive"}))
    records = {" & ".join(names): pa.array([[text] for text in domain] * 5)}
    told = Release(made.manifest, {"records": pa.table(records)})
    told = with_attribute(told, " & ".join(names), domain=domain)
    return changed(told, joint={" & ".join(names): list(names)}, types=texts(*names))


def test_combinations_are_those_of_all_values_in_order():
    whole = ("x & 1", "x & null", '"y & z" & 1', '"y & z" & null')
    assert audit(combined(whole, "a", "b")).ok
    assert audit(combined(tuple(f"{text} & 7" for text in whole), "a", "b", "c")).ok
    for wrong in (
        whole[:3],
        (whole[1], whole[0], *whole[2:]),
        (whole[0], whole[2], whole[1], whole[3]),
        (*whole[:3], "y & null"),
        (*whole[:3], "z"),
        (*whole[:3], '"y & z" & null & 2'),
        ('"x" & 1', '"x" & null', *whole[2:]),  # a second spelling
        ('"\\q" & 1', '"\\q" & null', *whole[2:]),
        ("x  & 1", "x  & null", *whole[2:]),
    ):
        with pytest.raises(ReleaseDamaged, match="does not list all combinations"):
            audit(combined(wrong, "a", "b"))


def test_many_parts_of_many_values_are_refused_at_once():
    """There would be 3**30 combinations."""
    names = [f"a{place}" for place in range(30)]
    texts = tuple(" & ".join([str(value)] * 30) for value in range(3))
    with pytest.raises(ReleaseDamaged, match="does not list all combinations"):
        audit(combined(texts, *names))


def beside(other: str, **joint: list[str]) -> Release:
    """Return a release of `a & b` and another attribute, both with the same values."""
    whole = ["x & 1", "x & 2", "y & 1", "y & 2"] * 5
    data = pa.table({"a & b": whole, other: whole})
    schema = Schema.of({"a & b": "sensitive", other: "sensitive"})
    made = SensitiveQID(t=0.5).publish(data, schema)
    parts = [part for parts in joint.values() for part in parts]
    return changed(made, joint={"a & b": ["a", "b"], **joint}, types=texts("a", "b", *parts))


def test_a_part_is_not_published_beside_its_joint():
    """Who sees both narrows each down by the other."""
    assert audit(beside("c")).ok
    assert audit(beside("c & d", **{"c & d": ["c", "d"]})).ok
    with pytest.raises(ReleaseDamaged, match="a part of 'a & b' is published twice"):
        audit(beside("a"))
    with pytest.raises(ReleaseDamaged, match="a part of 'a & c' is published twice"):
        audit(beside("a & c", **{"a & c": ["a", "c"]}))
    with pytest.raises(ReleaseDamaged, match="a part of 'c & c' is published twice"):
        audit(beside("c & c", **{"c & c": ["c", "c"]}))
