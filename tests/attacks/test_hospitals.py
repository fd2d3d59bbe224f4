"""The two hospitals of the paper, and what else a composition must and must not do."""

from __future__ import annotations

import json
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from oracles import composition as oracle

import sfumato as sf
from sfumato.attacks import compose, wilson
from sfumato.predicates.incompatible import Incompatible
from sfumato.randomness import Randomness
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.schema.builders import Dates, Mask

QI = "quasi-identifier"
ROLES = {"name": "identifier", "age": QI, "sex": QI, "zipcode": QI, "disease": "sensitive"}
HOSPITAL = Schema.of(**ROLES)
WOMEN_ONLY = "sex = 'M' AND disease IN ('Ovarian Cancer', 'Breast Cancer')"


@pytest.fixture(scope="module")
def hospitals(shared):
    return [sf.read_table(shared / "vectors" / f"hospital_{letter}.csv") for letter in "ab"]


@pytest.fixture(scope="module")
def releases(hospitals):
    randomness = Randomness.test(5)
    return [sf.Mondrian(k=2).publish(each, HOSPITAL, randomness=randomness) for each in hospitals]


def test_mondrian_gives_bobys_disease_away(hospitals, releases):
    shown = [oracle.show(release, {}) for release in releases]
    boby = [table.to_pylist()[0] for table in hospitals]
    assert {row["name"] for row in boby} == {"Boby"}
    left = [oracle.candidates(s, row, "disease") for s, row in zip(shown, boby, strict=True)]
    assert [len(values) > 1 for values in left] == [True, True]
    assert set(left[0]) & set(left[1]) == {"Gastritis"}
    # Boby alone is the target where the second original has him alone
    only = [hospitals[0], hospitals[1].slice(0, 1)]
    people = compose(releases, originals=only, identifier="name")["disease"].people
    assert (people.found, people.disclosed, people.alone) == (1, 1, 0)
    assert people.before == (len(left[0]), len(left[1]))
    assert (people.after, people.covered, people.guess) == (1, 1, 1)


def test_both_hospitals_in_numbers(hospitals, releases):
    outcome = compose(releases, originals=hospitals, identifier="name")
    people = outcome["disease"].people
    assert people.found == 2  # Boby and Sandy
    rows = [{row["name"]: row for row in table.to_pylist()} for table in hospitals]
    both = [tuple(each[name] for each in rows) for name in ("Boby", "Sandy")]
    shown = [oracle.show(release, {}) for release in releases]
    assert people.disclosed == oracle.attack(shown, both, "disease")["disclosed"]
    total, true, records, same = oracle.matches(*shown, both, "disease")
    matches = people.matches
    assert (matches.total, matches.true, matches.records, matches.people) == (
        total,
        true,
        records,
        same,
    )
    assert people.matches.risk == people.matches.true / people.matches.total
    assert f"'disease' of {people.disclosed} of 2 people" in outcome.sentence()
    fields = json.loads(json.dumps(outcome.to_dict(), allow_nan=False))
    assert fields["matched_by"] == "name"
    assert fields["findings"][0]["people"]["matches"]["risk"] == people.matches.risk
    assert "regions" not in fields["findings"][0]


def test_anybody_can_drop_what_a_man_cannot_have():
    """Two classes share a disease of women and another: a man has the other."""
    schema = Schema.of(age=QI, sex=QI, disease="sensitive")
    data = pa.table(
        {
            "age": [30, 30, 50, 50],
            "sex": ["M", "F", "F", "F"],
            "disease": ["Flu", "Ovarian Cancer", "Flu", "Fever"],
        }
    )
    pair = [sf.Slicing(l=2, columns=[["age", "sex"]]).publish(data, schema) for _ in range(2)]
    plain = compose(pair, originals=[data, data])["disease"].people
    for rule in (WOMEN_ONLY, Incompatible.parse(WOMEN_ONLY)):
        knowing = compose(pair, originals=[data, data], knows=[rule])["disease"].people
        assert knowing.disclosed == plain.disclosed + 1
        assert knowing.before == plain.before
        assert knowing.matches == plain.matches


def test_types_may_differ():
    """Zip codes are texts here and numbers there, ages are whole or not, days are moments."""
    one = pa.table(
        {
            "zip": ["02139", "02139", "47905", "47905"],
            "age": [20, 21, 40, 41],
            "seen": [date(2026, 1, day) for day in (1, 2, 3, 4)],
            "disease": ["Flu", "Fever", "HIV", "Flu"],
        }
    )
    other = one.set_column(0, "zip", pc.cast(one["zip"], pa.int64()))
    other = other.set_column(1, "age", pc.cast(one["age"], pa.float64()))
    other = other.set_column(2, "seen", pc.cast(one["seen"], pa.timestamp("ms")))
    schema = Schema.of(zip=QI, age=QI, seen=QI, disease="sensitive")
    for first in (sf.Anatomy(l=2), sf.Mondrian(k=2), sf.Mondrian(k=1)):
        pair = [first.publish(one, schema), sf.Mondrian(k=1).publish(other, schema)]
        people = compose(pair, originals=[one, other])["disease"].people
        assert (people.found, people.covered, people.disclosed) == (4, 1, 4)
        mixed = compose(pair, originals=[other, one])["disease"].people
        assert (mixed.found, mixed.covered, mixed.disclosed) == (4, 1, 4)


def test_labels_that_list_no_value_are_read():
    """Built hierarchies are published without leaves: masks and months say what they stand for."""
    data = pa.table(
        {
            "zip": [13001, 13002, 47301, 47302],
            "seen": [date(2026, 1, 5), date(2026, 1, 9), date(2026, 5, 1), date(2026, 6, 30)],
            "disease": ["Flu", "Fever", "HIV", "Flu"],
        }
    )
    schema = Schema(
        (
            Attribute("zip", Role.QUASI_IDENTIFIER, hierarchy=Mask()),
            Attribute("seen", Role.QUASI_IDENTIFIER, hierarchy=Dates()),
            Attribute("disease", Role.SENSITIVE),
        )
    )
    release = sf.Mondrian(k=2).publish(data, schema)
    people = compose([release, release], originals=[data, data])["disease"].people
    assert people.before == (2, 2)
    assert people.covered == 1


@pytest.mark.parametrize(
    ("doses", "labels"),
    [((0.0, 0.5, 1.0, 1.5), ("[0, 1)", "[1, 2)")), ((0.5, 1.0, 1.5, 2.0), ("]0, 1]", "]1, 2]"))],
)
def test_an_open_end_does_not_belong_to_an_interval(doses, labels):
    rows = [(f"{dose:g}", labels[place // 2]) for place, dose in enumerate(doses)]
    hierarchy = Hierarchy.from_rows(rows, "dose")
    dose = Attribute("dose", Role.QUASI_IDENTIFIER, hierarchy=hierarchy)
    data = pa.table({"dose": doses, "disease": ["Flu", "Fever", "HIV", "Cold"]})
    schema = Schema((dose, Attribute("disease", Role.SENSITIVE)))
    release = sf.Mondrian(k=2).publish(data, schema)
    cells = set(release.tables["records"]["dose"].to_pylist())
    assert {cell.strip(chr(34)) for cell in cells} == set(labels)
    people = compose([release, release], originals=[data, data])["disease"].people
    assert (people.before, people.covered) == ((2, 2), 1)
    assert compose([release, release])["disease"].regions.examined == 2


def test_a_missing_value_fits_only_cells_that_may_be_missing():
    schema = Schema.of(age=QI, disease="sensitive")
    data = pa.table({"age": [None, 20, 30, 40], "disease": ["Flu", "HIV", "Fever", "Cold"]})
    exact = sf.Mondrian(k=1).publish(data, schema)
    wide = sf.Mondrian(k=4).publish(data, schema)
    assert wide.tables["records"]["age"].to_pylist() == ["{null, [20, 40]}"] * 4
    assert compose([exact, wide], originals=[data, data])["disease"].people.disclosed == 4
    known = data.set_column(0, "age", pa.array([25, 20, 30, 40]))
    lost = compose([exact, wide], originals=[known, known])["disease"].people
    assert (lost.disclosed, lost.nothing_left, lost.covered) == (3, 1, 0.75)


def test_samples_are_stated(hospitals, releases):
    rng = Randomness.test(1).generator("sample")
    outcome = compose(releases, originals=[hospitals[0], hospitals[1]], sample=1, rng=rng)
    people = outcome["disease"].people
    assert (people.found, people.examined, people.matches.classes) == (2, 1, (1, 1))
    assert "1 people drawn from 2" in outcome.sentence()
    regions = compose(releases, sample=2)["disease"].regions
    assert (regions.is_sample, regions.classes) == (True, (2, 2))
    whole = compose(releases)["disease"].regions
    assert not whole.is_sample
    assert regions.examined <= whole.examined


def test_a_sample_comes_near_the_whole():
    rng = np.random.Generator(np.random.PCG64(3))
    data = pa.table(
        {
            "age": rng.integers(0, 90, 3000),
            "zip": rng.integers(0, 40, 3000),
            "disease": pa.array([f"d{n}" for n in rng.integers(0, 9, 3000)]),
        }
    )
    schema = Schema.of(age=QI, zip=QI, disease="sensitive")
    halves = [data.slice(0, 2000), data.slice(1000)]
    pair = [sf.Mondrian(k=4).publish(each, schema) for each in halves]
    whole = compose(pair, originals=halves)["disease"].people
    generator = Randomness.test(2).generator("sample")
    part = compose(pair, originals=halves, sample=250, rng=generator)["disease"].people
    assert whole.found == whole.examined >= 1000
    assert part.examined == 250
    assert abs(part.share - whole.share) < 0.12
    assert part.matches.total < whole.matches.total
    assert abs(part.matches.risk - whole.matches.risk) < 0.15


def test_a_sensitive_cell_that_is_not_exact_is_any_of_its_values():
    schema = Schema.of(age=QI, disease="sensitive")
    data = pa.table({"age": [20, 20], "disease": ["Flu", "Fever"]})
    release = sf.Mondrian(k=2).publish(data, schema)
    cells = pa.array(["{Fever, Flu}", "Flu"])
    records = release.tables["records"]
    place = records.column_names.index("disease")
    odd = sf.Release(release.manifest, {"records": records.set_column(place, "disease", cells)})
    people = compose([odd, odd], originals=[data.slice(0, 1)] * 2)["disease"].people
    assert people.before == (2, 2)
    assert people.guess == pytest.approx(0.75**2 / (0.75**2 + 0.25**2))


def test_several_sensitive_attributes_are_all_reported():
    schema = Schema.of(age=QI, disease="sensitive", pay="sensitive")
    data = pa.table({"age": [1, 2, 3, 4], "disease": list("abcd"), "pay": [1, 2, 3, None]})
    release = sf.Mondrian(k=2).publish(data, schema)
    outcome = compose([release, release], originals=[data, data])
    assert [each.attribute for each in outcome.findings] == ["disease", "pay"]
    assert [each.people.covered for each in outcome.findings] == [1, 1]
    picked = compose([release, release], "pay")
    assert [each.attribute for each in picked.findings] == ["pay"]


def test_what_cannot_be_composed_is_refused(hospitals, releases):
    def refused(*arguments, match, **options):
        with pytest.raises(sf.ParameterError, match=match):
            compose(*arguments, **options)

    other = Schema.of(**{**ROLES, "disease": QI, "age": "sensitive"})
    hidden = Schema.of(
        **{n: "insensitive" if r == QI else r for n, r in ROLES.items()} | {"age": QI}
    )
    zips = Schema.of(**{**ROLES, "age": "insensitive", "sex": "insensitive"})
    refused(releases[:1], match="two releases or more")
    refused([releases[0], sf.Mondrian(k=2).publish(hospitals[0], other)], match="no sensitive")
    apart = [sf.Mondrian(k=2).publish(hospitals[0], schema) for schema in (hidden, zips)]
    refused(apart, match="no quasi-identifier")
    refused(releases, "sex", match="'sex' is not a sensitive attribute of all")
    refused(releases, originals=hospitals[:1], match="one original a release")
    refused(releases, identifier="name", match="there are none")
    refused(releases, originals=hospitals, identifier="nam", match="did you mean 'name'")
    refused(releases, originals=hospitals, identifier="sex", match="several rows of one original")
    refused(
        releases, originals=[h.drop_columns(["age"]) for h in hospitals], match="no column 'age'"
    )
    refused(releases, sample=0, match="`sample`")
    refused(releases, knows=["sex = 'M'"], match="an incompatible pair")
    refused(releases, knows=["sex = 'M' AND age > 3"], match="tells nothing")
    refused(releases, knows=["sex = 1 AND disease = 'Flu'"], match="'sex'")


def test_layouts_without_groups_are_refused(releases):
    manifest = releases[0].manifest.model_copy(update={"layout": "sets"})
    odd = sf.Release(manifest, releases[0].tables)
    with pytest.raises(sf.ParameterError, match="layout 'sets' cannot be composed"):
        compose([releases[0], odd])


def test_wilson():
    assert wilson(0, 0) == (0, 1)
    assert wilson(0, 10)[0] == 0
    assert wilson(10, 10)[1] == 1
    assert wilson(0, 10)[1] == pytest.approx(0.2775, abs=1e-4)
    assert wilson(3, 10) == pytest.approx((0.1078, 0.6032), abs=1e-4)
