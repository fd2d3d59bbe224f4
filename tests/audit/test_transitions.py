"""The audit of replaced cells: what is stated must be possible, and is never confirmed."""

from __future__ import annotations

import copy

import pyarrow as pa
import pytest

from sfumato.audit import audit
from sfumato.errors import ReleaseDamaged
from sfumato.methods.pram import PRAM
from sfumato.randomness import Randomness
from sfumato.release import Manifest, Release
from sfumato.schema import Attribute, Role, Schema

SCHEMA = Schema(
    (
        Attribute("sex", Role.QUASI_IDENTIFIER, domain=("F", "M")),
        Attribute("disease", Role.SENSITIVE, domain=("Flu", "Cold", "HIV")),
    )
)
SEED = Randomness.secret(b"a seed of 32 bytes for the tests")


def released(rows=600, **parameters):
    data = pa.table(
        {"sex": ["F", "M"] * (rows // 2), "disease": ["Flu", "Cold", "HIV"] * (rows // 3)}
    )
    return PRAM(**parameters).publish(data, SCHEMA, randomness=SEED)


def spoilt(release, change, tables=None):
    """Return the release with its manifest changed as JSON is."""
    fields = copy.deepcopy(release.manifest.model_dump(mode="json"))
    change(fields)
    return Release(Manifest(**fields), tables or release.tables, release.hierarchies)


def test_what_is_stated_is_worked_out_and_not_confirmed():
    report = audit(released(keep=0.75))
    assert report.exit_code == 1 and not report.ok
    assert [verdict.holds for verdict in report.guarantees] == [None, None]
    assert report.guarantees[0].worst == pytest.approx(1.0986, abs=1e-4)
    assert "makes no value likelier than 0.75" in report.guarantees[0].note
    assert any("no claim could be checked" in problem for problem in report.problems)
    assert not any("follow the data" in problem for problem in report.problems)
    assert any("follow the data" in p for p in audit(released(kind="invariant")).problems)


def test_a_smaller_epsilon_than_the_matrix_gives_is_contradicted():
    def smaller(fields):
        fields["guarantees"][0]["epsilon"] = 1.0

    report = audit(spoilt(released(keep=0.75), smaller))
    assert report.guarantees[0].holds is False
    assert report.exit_code == 1


def test_nothing_is_claimed_of_an_attribute_that_is_not_replaced():
    report = audit(released(attributes=["sex"]))
    assert any("nothing is claimed about the values of 'disease'" in p for p in report.problems)


def matrix_of(name):
    def change(edit):
        return lambda fields: edit(fields["parameters"]["transitions"][name])

    return change


def _set(key, value):
    return lambda own: own.update({key: value})


SPOILS = {
    "rows that do not add up to 1": matrix_of("sex")(_set("matrix", [[0.8, 0.1], [0.2, 0.8]])),
    "not probabilities": matrix_of("sex")(_set("matrix", [[1.2, -0.2], [0.2, 0.8]])),
    "condition number": matrix_of("sex")(_set("matrix", [[0.5, 0.5], [0.5, 0.5]])),
    "not one of numbers": matrix_of("sex")(_set("matrix", [["0.8", 0.2], [0.2, 0.8]])),
    "of another size": matrix_of("sex")(_set("matrix", [[0.8, 0.2]])),
    "no others": matrix_of("sex")(lambda own: own.update(extra=1)),
    "lists a value twice": matrix_of("sex")(_set("values", ["F", "F"])),
    "outside its domain": matrix_of("sex")(_set("values", ["F", "X"])),
    "not a list of texts": matrix_of("sex")(_set("values", ["F", 2])),
    "names what is not published": lambda f: f["parameters"]["transitions"].update(
        age={"values": ["1"], "matrix": [[1.0]]}
    ),
    "was not replaced|were not replaced": lambda f: f["parameters"]["transitions"].pop("sex"),
    "no kind of matrix": lambda f: f["parameters"].update(kind="magic"),
    "does not tell of attributes": lambda f: f["parameters"].update(transitions=[1]),
    "names no attribute": lambda f: f["parameters"].update(transitions={}),
    "and no others": lambda f: f["guarantees"][0].update(delta=0.1),
    "must be a number": lambda f: f["guarantees"][0].update(epsilon="1"),
    "the manifest says 601": lambda f: f.update(rows=601),
}


@pytest.mark.parametrize("message", SPOILS)
def test_a_manifest_that_cannot_be_is_damaged(message):
    release = released(keep=0.75)
    with pytest.raises(ReleaseDamaged, match=message):
        audit(spoilt(release, SPOILS[message]))


def with_cells(release, **columns):
    table = release.tables["records"]
    for name, values in columns.items():
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array(values, pa.string()))
    return Release(release.manifest, {"records": table}, {})


def test_cells_that_the_matrix_does_not_list_are_damage():
    release = released()
    with pytest.raises(ReleaseDamaged, match="outside its domain"):
        audit(with_cells(release, sex=["X"] * 600))
    with pytest.raises(ReleaseDamaged, match="does not list"):
        audit(with_cells(release, sex=[None] + ["F", "M"] * 299 + ["F"]))
    with pytest.raises(ReleaseDamaged, match="does not follow the cell grammar"):
        audit(with_cells(release, sex=["{F | M}"] * 600))


def test_shares_that_no_original_gives_are_damage():
    """With `keep` 0.75 a quarter of all cells at least shows F, whatever the original."""
    release = released(6_000, keep=0.75)
    for shown, is_possible in ((1_500, True), (1_400, True), (900, False), (0, False)):
        table = with_cells(release, sex=["F"] * shown + ["M"] * (6_000 - shown))
        if is_possible:
            assert audit(table).exit_code == 1
        else:
            with pytest.raises(ReleaseDamaged, match="no original has under the stated matrix"):
                audit(table)


def test_groups_have_no_place_and_k_anonymity_fails():
    def grouped(fields):
        fields["tables"][0]["group"] = "group"

    release = released()
    table = release.tables["records"].add_column(0, "group", pa.array([1] * 600))
    with pytest.raises(ReleaseDamaged, match="has groups or counts"):
        audit(spoilt(release, grouped, {"records": table}))

    def k_anonymous(fields):
        fields["guarantees"].append({"model": "k-anonymity", "k": 2})

    report = audit(spoilt(release, k_anonymous))
    assert report.guarantees[-1].holds is False
