"""What a manifest says of its making must be possible: method, parameters, declared models."""

from __future__ import annotations

import pyarrow as pa
import pytest
from oracles import making

from sfumato.audit import audit
from sfumato.audit.stated_method import is_known
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.methods import METHODS, Anatomy, FullDomain, Mondrian
from sfumato.release import Manifest, Release
from sfumato.schema import Attribute, EqualWidth, Mask, Role, Schema

from .conftest import with_claims, with_manifest

PRIVATE = {"model": "differential-privacy", "epsilon": 1.0}
PRESENT = {"model": "delta-presence", "minimum": 0.1, "maximum": 0.5}


def refused(release: Release, reason: str) -> str:
    with pytest.raises(ReleaseDamaged, match=reason) as caught:
        audit(release)
    return str(caught.value)


def with_parameters(release: Release, **parameters: object) -> Release:
    return with_manifest(release, parameters={**release.manifest.parameters, **parameters})


def test_every_method_is_known_to_the_audit(generalized):
    for name in METHODS:
        assert is_known(generalized.manifest.model_copy(update={"method": name})), name
    assert set(making.METHODS) == set(METHODS)


@pytest.mark.parametrize("epsilon", [1.0, -1, 0, True, "1", None])
def test_differential_privacy_is_not_mondrians(generalized, epsilon):
    claims = [*generalized.manifest.guarantees, {**PRIVATE, "epsilon": epsilon}]
    refused(with_claims(generalized, *claims), "differential privacy is claimed")


@pytest.mark.parametrize(
    "claim",
    [
        {**PRIVATE, "epsilon": -1},
        {**PRIVATE, "epsilon": True},
        {**PRIVATE, "delta": 0.1},
        {"model": "differential-privacy"},
    ],
)
def test_an_epsilon_that_no_mechanism_has(generalized, claim):
    release = with_manifest(generalized, method="dp", parameters={}, guarantees=(claim,))
    refused(release, "no sensible claim")


def test_noise_is_not_confirmed_by_groups_that_happen_to_be_there(generalized):
    forged = with_manifest(generalized, method="dp")
    refused(with_claims(forged, PRIVATE, {"model": "k-anonymity", "k": 2}), "nobody's")
    assert audit(with_claims(forged, PRIVATE)).exit_code == 1


@pytest.mark.parametrize(
    "ends", [(0.5, 0.1), (-1, 0.5), (0, 2), (False, True), ("0", "1"), (0, 0), (None, None)]
)
def test_a_presence_that_cannot_be(generalized, ends):
    claim = {**PRESENT, "minimum": ends[0], "maximum": ends[1]}
    refused(with_claims(generalized, *generalized.manifest.guarantees, claim), "no sensible claim")


def test_a_possible_presence_is_declared(generalized):
    assert audit(with_claims(generalized, *generalized.manifest.guarantees, PRESENT)).ok


@pytest.mark.parametrize("method", ["anatomy", "slppa", "lgb", "merging", "rating"])
def test_a_method_of_another_layout(generalized, method):
    refused(with_manifest(generalized, method=method), "does not publish the layout")


@pytest.mark.parametrize(
    ("method", "reason"), [("pram", "'transitions'"), ("mdav", "'microaggregated'")]
)
def test_a_method_that_would_say_more(generalized, method, reason):
    refused(with_manifest(generalized, method=method), reason)


@pytest.mark.parametrize("key", ["suppression", "linked", "hierarchies", "household"])
def test_null_states_nothing(generalized, key):
    refused(with_parameters(generalized, **{key: None}), f"'{key}' cannot be")


def test_means_that_are_stated_as_null(generalized):
    release = with_manifest(generalized, method="mdav", parameters={"microaggregated": None})
    refused(release, "'microaggregated'")
    with pytest.raises(ReleaseDamaged, match="'microaggregated'"):
        release.count("age < 40")


@pytest.mark.parametrize("method", ["probabilistic", "hybrid"])
@pytest.mark.parametrize("sample", [5e-324, 1e-300, 9e-13])
def test_a_sample_that_is_nobody_of_any_table(generalized, method, sample):
    extra = {"perturb": 0.1} if method == "hybrid" else {}
    release = with_manifest(generalized, method=method, parameters={"sample": sample, **extra})
    refused(release, "'sample' cannot be")
    with pytest.raises(ReleaseDamaged, match="nothing of it comes from the data"):
        release.count()
    with pytest.raises(ParameterError, match="`sample` must be at least"):
        METHODS[method](k=2, sample=sample)
    assert audit(with_parameters(release, sample=1e-12)).ok


def test_a_method_that_nobody_knows_is_not_confirmed(generalized):
    report = audit(with_manifest(generalized, method="strange"))
    assert report.exit_code == 1
    assert any("does not know" in line for line in report.problems)


@pytest.mark.parametrize("key", ["seed", "path", "k", "secret", "input_sha256", "columns", "note"])
def test_parameters_that_the_method_does_not_have(generalized, key):
    said = refused(with_parameters(generalized, **{key: "canary"}), "a parameter that")
    assert "canary" not in said
    assert key not in said.split()


@pytest.mark.parametrize("value", [-0.1, 1, True, "0.5", [0.5], 0.001])
def test_a_share_of_withheld_records_that_cannot_be(generalized, value):
    release = with_manifest(generalized, suppressed=10)
    refused(with_parameters(release, suppression=value), "'suppression' cannot be")


def test_a_share_of_withheld_records_that_can_be(generalized):
    release = with_manifest(generalized, suppressed=10)
    assert audit(with_parameters(release, suppression=0.05)).ok


def test_levels_are_of_quasi_identifiers():
    data = pa.table({"age": [21, 22, 31, 32], "illness": ["Flu", "Gout", "Flu", "Gout"]})
    schema = Schema(
        (
            Attribute("age", Role.QUASI_IDENTIFIER, hierarchy=EqualWidth(width=10)),
            Attribute("illness", Role.SENSITIVE),
        )
    )
    release = FullDomain(k=2).publish(data, schema)
    assert audit(release).ok
    for levels in ({"illness": 1}, {"age": -1}, {"age": True}, {"/home": 1}, [1], {"age": 10**9}):
        refused(with_parameters(release, levels=levels), "'levels' cannot be")


def test_a_mask_may_have_as_many_levels_as_characters():
    codes = [f"{'x' * 20}{i}{'y' * 1_100}" for i in range(4)]
    data = pa.table({"code": codes, "illness": ["Flu", "Gout", "Flu", "Gout"]})
    quasi = Attribute("code", Role.QUASI_IDENTIFIER, hierarchy=Mask("right"))
    release = FullDomain(k=2).publish(data, Schema((quasi, Attribute("illness", Role.SENSITIVE))))
    assert release.manifest.parameters["levels"]["code"] > 1_000
    assert audit(release).ok


def test_anatomy_has_no_blocks(anatomized):
    release = with_manifest(anatomized, method="arp", parameters={"columns": [["age"]]})
    refused(release, "only sliced records have blocks")


@pytest.mark.parametrize(
    "software", ["sfumato /home/me", "people.csv from me", "C:\\me", "~me", "", "x" * 200, "a\nb"]
)
def test_software_is_a_program_and_its_version(generalized, software):
    said = refused(with_manifest(generalized, software=software), "`software`")
    assert not software or software not in said


@pytest.mark.parametrize("key", ["rows", "suppressed"])
def test_a_number_of_records_that_no_table_has(generalized, key):
    text = generalized.manifest.model_copy(update={key: 10**30}).to_json()
    with pytest.raises(ReleaseDamaged, match=key) as caught:
        Manifest.from_json(text)
    assert "0000" not in str(caught.value).replace("1000000000000", "")


def named(values: list[object] | None, method: Mondrian | Anatomy, table: str) -> list[str]:
    """Return what is said of a column `note` into which somebody wrote these values, if any."""
    wards = ["east", "west"] * 20
    data = pa.table({"age": list(range(40)), "ill": ["Flu", "Gout"] * 20, "note": wards})
    schema = Schema(
        (
            Attribute("age", Role.QUASI_IDENTIFIER),
            Attribute("ill", Role.SENSITIVE),
            Attribute("note", Role.INSENSITIVE, keep=True),
        )
    )
    release = method.publish(data, schema)
    own = release.tables[table]
    column = own["note"].cast(pa.string()) if values is None else pa.array(values)
    changed = own.set_column(own.column_names.index("note"), "note", column)
    entry = release.manifest.attribute("note")
    update = {"domain": None, "type": str(column.type)}
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        update["kind"] = "numeric"
    others = [e for e in release.manifest.attributes if e.name != "note"]
    forged = with_manifest(release, attributes=(*others, entry.model_copy(update=update)))
    report = audit(Release(forged.manifest, {**release.tables, table: changed}))
    assert report.ok
    return [line for line in report.problems if "another value" in line]


@pytest.mark.parametrize(
    ("method", "table"), [(Mondrian(k=5), "records"), (Anatomy(l=2), "kept_1")]
)
def test_a_column_of_unique_names_is_told(method, table):
    assert named([f"Person {i}" for i in range(40)], method, table)
    assert named([*(f"Person {i}" for i in range(39)), None], method, table)
    assert named([*range(1000, 1040)], method, table)
    assert not named(None, method, table)
