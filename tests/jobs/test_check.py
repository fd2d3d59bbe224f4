"""Checking a policy against data: the values that errors must not name are listed here."""

from __future__ import annotations

import pytest

from sfumato.errors import InputError
from sfumato.jobs.check import check


def test_a_policy_that_fits(patients, policy):
    report = check(patients, policy())
    assert report.fits
    assert report.to_json() == {
        "fits": True,
        "problems": [],
        "warnings": [],
        "missing": {},
        "wrong_intervals": {},
    }


def test_values_without_an_entry_are_listed(patients, policy, tmp_path):
    (tmp_path / "age.csv").write_text("\n".join(f"{age};*" for age in range(22, 43)))
    (tmp_path / "sex.csv").write_text("F;*\nX;*\n")
    report = check(
        patients,
        policy(
            age="{role: quasi-identifier, hierarchy: age.csv}",
            sex="{role: quasi-identifier, hierarchy: sex.csv}",
        ),
    )
    assert not report.fits
    assert report.missing == {"age": ("20", "21"), "sex": ("M",)}
    assert [problem.split(":")[0] for problem in report.problems] == [
        "hierarchy 'age.csv'",
        "hierarchy 'sex.csv'",
    ]


def test_wrong_intervals_are_listed_and_no_obstacle(patients, policy, tmp_path):
    (tmp_path / "age.csv").write_text("\n".join(f"{age};20-41;*" for age in range(20, 43)))
    report = check(patients, policy(age="{role: quasi-identifier, hierarchy: age.csv}"))
    assert report.fits
    assert report.wrong_intervals == {"age": (("42", "20-41"),)}


def test_the_real_hierarchy_with_wrong_labels(shared, policy, tmp_path):
    names = ("age", "workclass", "fnlwgt", "education", "education-num", "marital-status",
             "occupation", "relationship", "race", "sex", "capital-gain", "capital-loss",
             "hours-per-week", "native-country", "salary-class")  # fmt: skip
    source = shared / "data" / "hierarchies" / "adult_age.csv"
    roles = dict.fromkeys(["name", "zip", "disease", "income"], "")
    roles |= dict.fromkeys(names, "{role: insensitive}")
    roles["age"] = f"{{role: quasi-identifier, hierarchy: '{source}'}}"
    report = check(shared / "data" / "adult.parquet", policy("{name: mondrian, k: 5}", **roles))
    assert report.fits
    wrong = {int(value) for value, _ in report.wrong_intervals["age"]}
    assert wrong == {age for age in range(1, 101) if age % 5 == 0}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"method": "{name: mondrian, k: 41}"}, "k = 41 is more than"),
        ({"method": "{name: anatomy, l: 9}", "disease": "{role: sensitive}"}, "feasible l is 5"),
        ({"income": ""}, "columns without a role: 'income'"),
        ({"incom": "{role: insensitive}"}, "did you mean 'income'"),
        ({"age": "{role: quasi-identifier, hierarchy: {bins: [30, 50]}}"}, "10 of 23 values"),
        ({"sex": "{role: quasi-identifier, order: [M]}"}, "1 of its 2 distinct values"),
    ],
)
def test_other_problems(patients, policy, change, expected):
    report = check(patients, policy(**change))
    assert not report.fits
    assert any(expected in problem for problem in report.problems)


def test_what_suppression_can_mend_is_no_problem(patients, policy):
    assert check(
        patients,
        policy("{name: anatomy}", "on_infeasible: suppress", disease="{role: sensitive, l: 5}"),
    ).fits


def test_data_that_cannot_be_read(policy, tmp_path):
    with pytest.raises(InputError):
        check(tmp_path / "none.csv", policy())


@pytest.mark.parametrize(
    ("method", "age", "expected"),
    [
        ("{name: lgb, k: 4, l: 900}", "{role: quasi-identifier}", "l = 900 is infeasible"),
        (
            "{name: lgb, k: 4, l: 2}",
            "{role: semi-sensitive, when: \"disease = 'Flu'\"}",
            "may read only quasi-identifiers",
        ),
        ("{name: top-down, k: 900}", "{role: quasi-identifier}", "use k <= 40"),
    ],
)
def test_what_a_method_needs_is_checked_too(patients, policy, method, age, expected):
    disease = "{role: sensitive}"
    report = check(patients, policy(method, age=age, disease=disease))
    assert not report.fits
    assert expected in report.problems[0]


@pytest.fixture
def flagged(tmp_path):
    """Six people, all of whom hide their age, with two diseases."""
    rows = "\n".join(f"{20 + n},true,d{n % 2}" for n in range(6))
    (tmp_path / "data.csv").write_text(f"age,private,disease\n{rows}\n")
    return tmp_path / "data.csv"


def lgb_policy(folder, age="role: semi-sensitive, flag: private", disease="role: sensitive, l: 2"):
    path = folder / "policy.yaml"
    path.write_text(
        f"attributes:\n  age: {{{age}}}\n  disease: {{{disease}}}\n"
        "method: {name: lgb, k: 2, l: 2}\n"
    )
    return path


def test_the_reason_is_not_sought_in_flags_that_are_there(flagged, tmp_path):
    assert check(flagged, lgb_policy(tmp_path)).fits
    report = check(flagged, lgb_policy(tmp_path, disease="role: sensitive, l: 5"))
    (problem,) = report.problems
    assert problem.startswith("l = 5 is infeasible for 'disease'")


def test_flags_that_are_not_there_are_a_problem_beside_others(flagged, tmp_path):
    age = "role: semi-sensitive, flag: pivate, domain: {min: 30, max: 40}"
    report = check(flagged, lgb_policy(tmp_path, age=age))
    assert [problem.split(":")[0] for problem in report.problems] == [
        "column 'age'",
        "the flags of column 'age' are column 'pivate', which is not in the table; "
        "did you mean 'private'?",
    ]


@pytest.mark.parametrize(
    ("method", "age", "expected"),
    [
        ("mondrian, k: 2", "sensitive-quasi-identifier", "mondrian cannot protect 'age'"),
        ("mondrian, k: 2", "semi-sensitive, density: 0.5", "mondrian cannot protect 'age'"),
        ("anatomy", "sensitive-quasi-identifier", "anatomy cannot protect 'age'"),
        ("sensitive-qid", "semi-sensitive, density: 0.5", "sensitive-qid cannot protect 'age'"),
        ("rating", "semi-sensitive, density: 0.5", "rating cannot protect 'age'"),
    ],
)
def test_roles_that_a_method_cannot_protect_are_a_problem(patients, policy, method, age, expected):
    report = check(patients, policy(f"{{name: {method}}}", age=f"{{role: {age}}}"))
    (problem,) = report.problems
    assert problem.startswith(expected)
    assert problem.endswith("choose another method or role")


def test_what_sets_cannot_keep_and_what_is_doubtful_of_them(patients, policy):
    roles = {"sex": "{role: sensitive, t: 0.3}", "disease": "{role: sensitive, l: 4}"}
    report = check(patients, policy("{name: sensitive-qid, l: 2}", **roles))
    assert report.fits
    assert any("go together" in warning for warning in report.warnings)
    two = roles | {"sex": "{role: sensitive}"}
    report = check(patients, policy("{name: sensitive-qid, l: 2}", **two))
    assert report.problems == (
        "'sex': an attribute with 2 values has no set of 2 that would tell anything; give it `t` "
        "instead of `l`",
    )


def test_records_that_rating_leaves_over(tmp_path, policy):
    rows = [f"P{n},{n},F,1,{'Flu' if n < 6 else 'Gout' if n < 8 else 'HIV'},1" for n in range(9)]
    data = tmp_path / "few.csv"
    data.write_text("\n".join(["name,age,sex,zip,disease,income", *rows]) + "\n")
    roles = {"disease": "{role: sensitive}", "zip": "{role: insensitive}"}
    (problem,) = check(data, policy("{name: rating, l: 2}", **roles)).problems
    assert problem.startswith("l = 2 is infeasible for 'disease': 3 records")
    report = check(data, policy("{name: rating, l: 2, left_over: repeat}", **roles))
    assert report.fits
    assert any(w.startswith("3 of 9 records of 'disease' are left") for w in report.warnings)
