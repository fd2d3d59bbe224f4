"""Recoding from the policy to the judges: every layout, the manifest, and what is compared."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.audit import audit
from sfumato.errors import Infeasible, ParameterError, ReleaseDamaged, SchemaError
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.apply import apply
from sfumato.jobs.attack import attack
from sfumato.jobs.check import check
from sfumato.jobs.compose import compose
from sfumato.jobs.policy import Policy
from sfumato.jobs.utility import utility
from sfumato.randomness import Randomness
from sfumato.recoding.dates import UNITS
from sfumato.release import Release
from sfumato.release.beside import beside

STEPS = {
    "age": "[{bottom: 16}, {top: 80}, {round: 5}]",
    "zipcode": "{mask: 3}",
    "admitted": "[{shift: {days: 30}}]",
    "stay_days": "[{bins: [0, 3, 7, 14, null]}]",
    "disease": "[{map: {Diabetes: Chronic disease, Hypertension: Chronic disease}}]",
}
RECORDED = {
    "age": [{"bottom": 16}, {"top": 80}, {"round": 5}],
    "zipcode": [{"mask": 3}],
    "admitted": [{"shift": {"days": 30}}],
    "stay_days": [{"bins": [0, 3, 7, 14, None]}],
    "disease": [{"map": {"Diabetes": "Chronic disease", "Hypertension": "Chronic disease"}}],
}
KEYS = ("top", "bottom", "round", "bins", "truncate", "shift", "mask", "map")
LAYOUTS = {
    "generalized": ("{name: mondrian, k: 4}", {"disease": "sensitive, l: 2"}),
    "anatomized": ("{name: anatomy, l: 3}", {}),
    "sliced": ("{name: slicing, l: 2}", {}),
    "local": (
        "{name: lgb, k: 4, l: 3}",
        {"age": "semi-sensitive, when: \"zipcode = '130*' or stay_days = '0 to 2'\""},
    ),
    "sets": (
        "{name: sensitive-qid, l: 3, joint: [[stay_days, disease]]}",
        {"age": "sensitive-quasi-identifier", "stay_days": "sensitive-quasi-identifier"},
    ),
}


@pytest.fixture(scope="module")
def stays():
    names = ["name", "age", "zipcode", "admitted", "stay_days", "disease", "salary"]
    return sf.datasets.hospital(300).select(names)


@pytest.fixture
def data(stays, tmp_path):
    pq.write_table(stays, tmp_path / "stays.parquet")
    return tmp_path / "stays.parquet"


def written(folder, method, steps=STEPS, more="", **roles):
    known = {
        "name": "identifier",
        "age": "quasi-identifier",
        "zipcode": "quasi-identifier",
        "admitted": "quasi-identifier",
        "stay_days": "quasi-identifier",
        "disease": "sensitive",
        "salary": "insensitive",
        **roles,
    }
    lines = []
    for name, role in known.items():
        recode = f", recode: {steps[name]}" if name in steps else ""
        lines.append(f"  {name}: {{role: {role}{recode}}}")
    path = folder / "policy.yaml"
    path.write_text("\n".join(["attributes:", *lines, f"method: {method}", more]) + "\n")
    return path


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_from_policy_to_judges(layout, data, stays, tmp_path):
    method, roles = LAYOUTS[layout]
    policy = written(tmp_path, method, **roles)
    assert check(data, policy).problems == ()
    made = anonymize(data, policy, tmp_path / "out", format="csv")
    assert made.manifest.layout == layout
    assert made.manifest.parameters["recoding"] == RECORDED
    assert audit(tmp_path / "out").ok
    # what the files hold is recoded: no exact stay, no full code, no age beyond its bounds
    text = "".join(path.read_text() for path in (tmp_path / "out").glob("*.csv"))
    codes = set(stays["zipcode"].drop_null().to_pylist())
    assert not any(code in text for code in codes)
    assert "14 and over" in text
    assert "Diabetes" in stays["disease"].to_pylist()
    assert "Diabetes" not in text
    for rules in (None, policy):
        found = utility(tmp_path / "out", data, policy=rules, queries=5)
        assert found.missed == 0
        assert any("recoded first" in note and "'age'" in note for note in found.notes)
        assert any("left out" in note and "'admitted'" in note for note in found.notes)
        judged = {name for margin in found.margins for name in margin.attributes}
        assert "age" in judged and "admitted" not in judged
        if layout == "anatomized":
            assert all(margin.l1 == 0 for margin in found.margins)  # exact: truly aligned
    report = attack(tmp_path / "out", data, sample=30, attacks=["record-linkage", "leaks"])
    assert len(report.notes) == 2
    assert report.to_dict()["notes"] == list(report.notes)


def test_nothing_of_the_shifts_is_written_down(data, tmp_path):
    policy = written(tmp_path, "{name: anatomy, l: 3}", {"admitted": STEPS["admitted"]})
    randomness = Randomness.fresh()
    anonymize(data, policy, tmp_path / "a", randomness=randomness, record=tmp_path / "record.json")
    anonymize(data, policy, tmp_path / "b")
    first, second = (json.loads((tmp_path / x / "manifest.json").read_text()) for x in "ab")
    assert first["parameters"] == second["parameters"]  # whatever was drawn
    record = json.loads((tmp_path / "record.json").read_text())
    assert record.keys().isdisjoint({"shift", "shifts", "recoding", "days"})
    # the private seed gives the same shifts again
    anonymize(data, policy, tmp_path / "c", randomness=randomness)
    one, again = (Release.load(tmp_path / x).tables["qi_1"] for x in "ac")
    assert one["admitted"].to_pylist() == again["admitted"].to_pylist()


def test_a_step_of_a_column_that_is_not_published_is_not_recorded(data, tmp_path):
    steps = {"salary": "{round: 1000}"}
    made = anonymize(data, written(tmp_path, "{name: mondrian, k: 4}", steps), tmp_path / "out")
    assert "recoding" not in made.manifest.parameters


def test_rules_of_flags_read_recoded_values(data, stays, tmp_path):
    roles = {"age": 'semi-sensitive, when: "salary >= 40000"', "salary": "insensitive"}
    steps = {"salary": "[{bins: [null, 40000, null]}, {map: {40000 and over: high}}]"}
    policy = written(tmp_path, "{name: lgb, k: 4, l: 3}", steps, **roles)
    assert check(data, policy).problems  # a number is no label
    roles["age"] = "semi-sensitive, when: \"salary = 'high'\""
    policy = written(tmp_path, "{name: lgb, k: 4, l: 3}", steps, **roles)
    made = anonymize(data, policy, tmp_path / "out", record=tmp_path / "record.json")
    records = Release.load(made.path).tables["records"]
    hidden = len(records) - records["age.bucket"].null_count
    rich = sum(salary >= 40000 for salary in stays["salary"].drop_null().to_pylist())
    withheld = json.loads((tmp_path / "record.json").read_text())["withheld_cells"]
    assert rich - withheld <= hidden <= rich
    assert hidden > 0


def test_a_person_with_several_rows_has_one_shift(tmp_path):
    day = dt.date(2026, 1, 31)
    rows = [(f"P{n // 3}", day, "abc"[n % 3]) for n in range(60)]
    names, days, diseases = zip(*rows, strict=True)
    table = pa.table({"name": names, "seen": days, "disease": diseases})
    pq.write_table(table, tmp_path / "rows.parquet")
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "attributes:\n  name: {role: identifier}\n"
        "  seen: {role: sensitive, recode: {shift: {days: 365}}}\n"
        "  disease: {role: quasi-identifier}\n"
        "unit: name\nmethod: {name: mondrian, k: 2}\n"
    )
    made = anonymize(tmp_path / "rows.parquet", policy, tmp_path / "out")
    counts = {}
    for seen in Release.load(made.path).tables["records"]["seen"].to_pylist():
        counts[seen] = counts.get(seen, 0) + 1
    assert all(count % 3 == 0 for count in counts.values())
    assert len(counts) > 10


def test_unshifted_dates_beside_shifted_ones_are_warned_of(data, stays, tmp_path):
    both = stays.append_column("left", stays["admitted"])
    pq.write_table(both, data)
    policy = written(tmp_path, "{name: mondrian, k: 4}", left="quasi-identifier")
    assert any("'left' are not" in warning for warning in check(data, policy).warnings)
    made = anonymize(data, policy, tmp_path / "out")
    assert any("'left' are not" in warning for warning in made.warnings)


def test_dates_that_give_their_shift_away_are_warned_of(data, stays, tmp_path):
    firsts = sf.recode(stays, {"admitted": {"truncate": "month"}})
    pq.write_table(firsts, data)
    policy = written(tmp_path, "{name: mondrian, k: 4}")
    assert any("read off" in warning for warning in check(data, policy).warnings)
    later = {**STEPS, "admitted": "[{shift: {days: 30}}, {truncate: month}]"}
    policy = written(tmp_path, "{name: mondrian, k: 4}", later)
    assert not any("read off" in warning for warning in check(data, policy).warnings)


@pytest.mark.parametrize("steps", ["[{top: 20}, {bottom: 30}]", "{round: 1e20}"])
def test_steps_that_leave_one_value_are_warned_of(data, tmp_path, steps):
    policy = written(tmp_path, "{name: mondrian, k: 4}", {"age": steps})
    told = "'age', `recode`: its values differ before the steps and are all the same after"
    assert any(told in warning for warning in check(data, policy).warnings)
    assert any(told in each for each in anonymize(data, policy, tmp_path / "out").warnings)


def test_a_missing_value_cannot_be_mapped(data, tmp_path):
    with pytest.raises(SchemaError, match="a key cannot be null"):
        check(data, written(tmp_path, "{name: mondrian, k: 4}", {"age": "{map: {null: 5}}"}))


def test_bins_state_the_domain_whichever_occur(data, tmp_path):
    steps = {"age": "{bins: [0, 18, 65, 200, null]}"}
    made = anonymize(data, written(tmp_path, "{name: mondrian, k: 4}", steps), tmp_path / "out")
    entry = made.manifest.attribute("age")
    assert entry.kind == "ordinal"
    assert entry.domain == ("0 to 17", "18 to 64", "65 to 199", "200 and over")
    found = Release.load(made.path)
    assert found.count("age >= '65 to 199'").value >= 0  # labels have an order


def test_check_counts_keys_that_do_not_occur(data, tmp_path):
    steps = {"disease": "{map: {Diabetes: x, Nonsense: y, Worse: z}}"}
    warnings = check(data, written(tmp_path, "{name: anatomy, l: 2}", steps)).warnings
    assert any("'disease'" in each and "2 values" in each for each in warnings)
    assert "Nonsense" not in "".join(warnings)


@pytest.mark.parametrize(
    ("steps", "named"),
    [
        ({"zipcode": "{top: 5}"}, "'zipcode', `recode`: `top` is for numbers"),
        ({"age": "{truncate: month}"}, "'age', `recode`: `truncate` is for dates"),
        ({"age": "{bins: [0, 5]}"}, "'age', `recode`: `bins` has edges that leave out"),
    ],
)
def test_a_step_that_does_not_fit_the_data(data, tmp_path, steps, named):
    policy = written(tmp_path, "{name: mondrian, k: 4}", steps)
    assert named in check(data, policy).problems[0]
    with pytest.raises(SchemaError, match="recode"):
        anonymize(data, policy, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "role", "recode", "message"),
    [
        ("name", "identifier", {"mask": 3}, "column 'name': `recode` has no use"),
        ("age", "insensitive", {"top": 5}, "column 'age': `recode` has no use"),
        ("x", "sensitive", [{"topp": 5}], "unknown step 'topp'; did you mean 'top'"),
        ("x", "sensitive", 5, "`attributes.x.recode` must be a list of steps"),
        ("x", "sensitive", [5], "`attributes.x.recode` must be a list of steps"),
        ("x", "sensitive", [{"round": 0}], "`round` needs a number above 0"),
    ],
)
def test_a_wrong_policy(name, role, recode, message):
    content = {
        "attributes": {
            "age": {"role": "insensitive"},
            name: {"role": role, "recode": recode},
        },
        "unit": "age",
        "method": {"name": "mondrian", "k": 2},
    }
    with pytest.raises(SchemaError, match="policy") as refusal:
        Policy.of(content)
    assert message in str(refusal.value)


def test_an_original_that_cannot_be_recoded_so_is_another_one(data, stays, tmp_path):
    policy = written(tmp_path, "{name: mondrian, k: 4}")
    anonymize(data, policy, tmp_path / "out")
    older = stays.set_column(1, "age", pa.array([str(n) for n in stays["age"].to_pylist()]))
    pq.write_table(older, data)
    for judge in (utility, attack):
        with pytest.raises(ParameterError, match="cannot be recoded as the release was"):
            judge(tmp_path / "out", data)


def test_controls_are_recoded_too(data, stays, tmp_path):
    policy = written(tmp_path, "{name: mondrian, k: 4}")
    anonymize(data, policy, tmp_path / "out")
    others = sf.datasets.hospital(700).select(stays.column_names).slice(300)
    pq.write_table(others, tmp_path / "others.parquet")
    report = attack(
        tmp_path / "out",
        data,
        controls=tmp_path / "others.parquet",
        attacks=["attribute-linkage"],
        sample=50,
    )
    assert report.controls == 50


def test_learning_from_recoded_rows(data, tmp_path):
    policy = written(tmp_path, "{name: mondrian, k: 4}")
    anonymize(data, policy, tmp_path / "out")
    found = utility(tmp_path / "out", data, policy=policy, queries=1, learn="stay_days")
    assert found.learned is not None
    found = utility(tmp_path / "out", data, policy=policy, queries=1, learn="admitted")
    assert "shifted" in found.undefined["learning"]


def test_releases_that_recode_alike_are_composed_and_others_in_part(data, tmp_path):
    method = "{name: mondrian, k: 4, l: 2}"
    made = {}
    for place, steps in {"a": STEPS, "b": STEPS, "c": {**STEPS, "age": "{round: 10}"}}.items():
        made[place] = anonymize(data, written(tmp_path, method, steps), tmp_path / place).path
    alike = compose([made["a"], made["b"]], originals=[data, data])
    assert alike.quasi_identifiers == ("age", "zipcode", "stay_days")
    assert alike.findings[0].people.found == 300  # everybody is recognised
    assert alike.findings[0].people.covered == 1.0
    assert ["'admitted'" in note for note in alike.notes] == [True]
    others = compose([made["a"], made["c"]], originals=[data, data])
    assert others.quasi_identifiers == ("zipcode", "stay_days")
    assert others.findings[0].people.covered == 1.0
    assert any("'age'" in note for note in others.notes)
    assert compose([made["a"], made["c"]]).quasi_identifiers == ("zipcode", "stay_days")
    again = attack(made["a"], data, earlier=(made["c"], data), attacks=["republication"], sample=40)
    assert any("'age'" in note for note in again.notes)


def test_secrets_that_are_recoded_otherwise_are_not_compared(data, tmp_path):
    method = "{name: mondrian, k: 4, l: 2}"
    one = anonymize(data, written(tmp_path, method), tmp_path / "a").path
    plain = {name: STEPS[name] for name in ("age", "zipcode")}
    other = anonymize(data, written(tmp_path, method, plain), tmp_path / "b").path
    with pytest.raises(ParameterError, match="do not recode 'disease' alike"):
        compose([one, other], attribute="disease")
    with pytest.raises(ParameterError, match="share no sensitive"):
        compose([one, other])
    made = anonymize(data, written(tmp_path, method), tmp_path / "c", against=[other])
    assert any("recodes 'disease' otherwise" in warning for warning in made.warnings)


def test_against_an_earlier_release_in_its_own_words(tmp_path):
    """Groups of two years in one release, and of others in the next, leave somebody one value."""
    ages = [20 + n for n in range(40)]
    table = pa.table({"age": ages, "disease": [f"D{n % 20}" for n in range(40)]})
    pq.write_table(table, tmp_path / "rows.parquet")
    policy = tmp_path / "policy.yaml"

    def publish(recode, place, **more):
        policy.write_text(
            f"attributes:\n  age: {{role: quasi-identifier{recode}}}\n"
            "  disease: {role: sensitive, l: 2}\nmethod: {name: mondrian, k: 2}\n"
        )
        return anonymize(tmp_path / "rows.parquet", policy, tmp_path / place, **more)

    earlier = publish("", "a").path
    # one and the same group for everybody leaves all that the earlier release leaves
    alone = publish(", recode: {map: {'20': 20}, otherwise: 20}", "b", against=[earlier])
    assert not any("not held" in warning for warning in alone.warnings)
    later = publish(", recode: [{round: 3}]", "c")
    with pytest.raises(Infeasible, match="people"):
        publish(", recode: [{round: 3}]", "d", against=[earlier])
    assert later.manifest.parameters["recoding"] == {"age": [{"round": 3}]}


@pytest.mark.parametrize(
    "stated",
    [
        {"nobody": [{"top": 5}]},
        {"salary": [{"top": 5}]},
        {"age": [{"topp": 5}]},
        {"age": "top"},
        {"zipcode": [{"top": 5}]},
        {"age": [{"truncate": "month"}]},
        {"age": [{"mask": 3}]},
        {"age": [{"top": 60}]},
        {"age": [{"bottom": 60}]},
        {"age": [{"round": 7}]},
        {"age": [{"round": 7}, {"top": 80}]},
        {"admitted": [{"truncate": "year"}]},
        {"admitted": [{"top": "2024-01-01"}]},
        {"stay_days": [{"bins": [0, 4, None]}]},
        {"zipcode": [{"mask": 2}]},
        {"disease": [{"map": {"Diabetes": "Cold"}}]},
        {"disease": [{"map": {"Flu": "Cold"}, "otherwise": "Other"}]},
        {"admitted": [{"shift": {"days": 3}}], "age": [{"shift": {"days": 4}}]},
    ],
)
def test_the_audit_finds_a_broken_or_forged_recoding(stated, anatomized):
    manifest = anatomized.manifest
    forged = {**manifest.parameters["recoding"], **stated}
    changed = manifest.model_copy(
        update={"parameters": {**manifest.parameters, "recoding": forged}}
    )
    with pytest.raises(ReleaseDamaged):
        audit(Release(changed, anatomized.tables, anatomized.hierarchies))


@pytest.mark.parametrize(
    "stated",
    [
        {"age": [{"round": 5}]},
        {"age": [{"top": 78}, {"round": 5}]},
        {"age": [{"top": 99}]},
        {"age": [{"round": 7}, {"map": {"99": None}}]},
        {"admitted": [{"truncate": "month"}]},
        {"admitted": [{"shift": {"days": 400}}, {"truncate": "month"}]},
        {"stay_days": [{"bins": [0, 3, 7, 14, None]}, {"map": {"x": "y"}}]},
        {"zipcode": [{"mask": 4}]},
    ],
)
def test_the_audit_believes_what_the_cells_do_not_deny(stated, anatomized):
    manifest = anatomized.manifest
    told = {**manifest.parameters["recoding"], **stated}
    changed = manifest.model_copy(update={"parameters": {**manifest.parameters, "recoding": told}})
    assert audit(Release(changed, anatomized.tables, anatomized.hierarchies)).ok


@pytest.fixture(scope="module")
def anatomized(stays, tmp_path_factory):
    folder = tmp_path_factory.mktemp("anatomized")
    pq.write_table(stays, folder / "stays.parquet")
    steps = {**STEPS, "admitted": "{truncate: month}", "disease": "{map: {Nobody: null}}"}
    policy = written(folder, "{name: anatomy, l: 3}", steps)
    anonymize(folder / "stays.parquet", policy, folder / "out")
    return Release.load(folder / "out")


def test_the_audit_asks_ranges_for_a_value_that_is_left(data, tmp_path):
    steps = {"age": "[{round: 10}, {top: 85}]"}
    made = anonymize(data, written(tmp_path, "{name: mondrian, k: 4}", steps), tmp_path / "out")
    release = Release.load(made.path)
    assert audit(release).ok
    records = release.tables["records"]
    cells = records["age"].cast(pa.string()).to_pylist()
    ranged = next(cell for cell in cells if cell.startswith("["))
    for forged, is_left in [("[21, 29]", False), ("[21, 33]", True), ("[86, 89]", False)]:
        lied = pa.array([forged if cell == ranged else cell for cell in cells])
        place = records.column_names.index("age")
        tables = {"records": records.set_column(place, "age", lied)}
        changed = Release(release.manifest, tables, release.hierarchies)
        if is_left:
            audit(changed)
        else:
            with pytest.raises(ReleaseDamaged, match="'age'"):
                audit(changed)


def test_the_example_of_the_policy_page(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "policy.md").read_text("utf-8")
    told = page.partition("\n## Recoding\n")[2].partition("\n## ")[0]
    assert all(f"`{key}`" in told for key in (*KEYS, "otherwise", *UNITS))
    lines = told.partition("```yaml\n")[2].partition("```")[0].splitlines()
    stays = sf.datasets.hospital(1_000)
    named = [line.partition(":")[0] for line in lines]
    rest = [f"{name}: {{role: insensitive}}" for name in stays.column_names if name not in named]
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "\n  ".join(["attributes:", *lines, *rest]) + "\nmethod: {name: mondrian, k: 5}\n"
    )
    pq.write_table(stays, tmp_path / "stays.parquet")
    report = check(tmp_path / "stays.parquet", policy)
    assert (report.problems, report.warnings) == ((), ())
    made = anonymize(tmp_path / "stays.parquet", policy, tmp_path / "out")
    assert audit(made.path).ok
    assert set(made.manifest.parameters["recoding"]) == set(named)


def test_next_months_data_are_recoded_alike(data, tmp_path):
    steps = {"age": "[{top: 60}, {round: 10}]", "disease": STEPS["disease"]}
    roles = {"zipcode": "insensitive", "admitted": "insensitive", "stay_days": "insensitive"}
    policy = written(tmp_path, "{name: mondrian, k: 4}", steps, **roles)
    may = anonymize(data, policy, tmp_path / "may").path
    june = apply(may, data, policy, tmp_path / "june")
    assert june.manifest.parameters["recoding"] == {
        "age": [{"top": 60}, {"round": 10}],
        "disease": RECORDED["disease"],
    }
    assert "Diabetes" not in Release.load(june.path).tables["records"]["disease"].to_pylist()
    assert audit(june.path).ok
    policy = written(tmp_path, "{name: mondrian, k: 4}", {}, **roles)
    with pytest.raises(ParameterError, match="does not recode as the earlier release"):
        apply(may, data, policy, tmp_path / "july")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_can_be_compared_can_be_given_in_again(layout, data, stays, tmp_path):
    method, roles = LAYOUTS[layout]
    made = anonymize(data, written(tmp_path, method, **roles), tmp_path / "out")
    whole = Release.load(made.path)
    pair = beside(whole, stays)
    again = beside(pair.release, pair.original)
    assert again.release is pair.release and again.original is pair.original
    assert again.notes == ()
    assert "admitted" not in [entry.name for entry in pair.release.manifest.attributes]
    assert "admitted" not in pair.original.column_names
    for name, table in pair.release.tables.items():
        for column in table.column_names:  # all other cells are those of the whole
            assert table[column].equals(whole.tables[name][column])
    # a release of nothing else has nothing to compare
    names = [entry.name for entry in whole.manifest.attributes]
    with pytest.raises(ParameterError, match="no attribute"):
        beside(whole, stays, names)
