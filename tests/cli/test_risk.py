"""`sfumato risk`: tables, JSON, charts, populations, weights and households, and refusals."""

from __future__ import annotations

import json

import pytest

from cli.cli_files import SECRET, write_policy

ASK = ("risk", "data.csv", "--policy", "policy.yaml")


def test_a_table_without_a_population(place, sfumato):
    code, out, err = sfumato(*ASK)
    assert (code, err) == (0, [])
    lines = out.splitlines()
    assert lines[0].endswith("by what may be known of them: age, sex")
    assert "population: not stated" in lines
    assert "1 (unique)           24       100.00%" in lines
    assert any(line.startswith("prosecutor") and "1.0000   1.0000" in line for line in lines)
    assert not any(line.startswith("journalist") for line in lines)
    assert lines[-1].startswith("note: nothing is known of a population")
    assert SECRET not in out


def test_json_has_it_all(place, sfumato):
    code, out, err = sfumato(*ASK, "--json")
    assert (code, err) == (0, [])
    found = json.loads(out)
    assert found["columns"] == ["age", "sex"]
    assert found["sampling"] == {"source": "none", "fraction": None, "population": None}
    assert found["sample_uniques"]["records"] == 24
    assert found["prosecutor"]["above"].keys() == {"1/2", "1/3", "1/5", "1/11", "1/20"}
    assert (found["journalist"], found["k_map"], found["households"]) == ([], [], None)
    assert found["uniques"]["combinations"][0] == {"columns": ["age"], "uniques": 24, "minimal": 24}
    assert found["uniques"]["suda"]["contributions"] == {"age": 1.0, "sex": 0.0}
    assert found["chart"] is None
    assert SECRET not in out
    size = json.loads(sfumato(*ASK, "--json", "--max-size", "1")[1])["uniques"]["max_size"]
    assert size == 1


def coarse(place):
    """Write ages of which some are shared."""
    lines = (place / "data.csv").read_text().splitlines()
    cells = [line.split(",") for line in lines[1:]]
    rows = [",".join([c[0], str(20 + int(c[1]) % 7), *c[2:]]) for c in cells]
    (place / "data.csv").write_text("\n".join([lines[0], *rows]) + "\n")


def test_a_fraction_gives_estimates(place, sfumato):
    coarse(place)
    code, out, err = sfumato(*ASK, "--fraction", "0.25")
    assert (code, err) == (0, [])
    assert "population: 96 records, of which the data are 0.25 (from the stated fraction)" in out
    for word in ("estimate: pitman", "estimate: zayatz", "k-map", "marketer"):
        assert word in out
    found = json.loads(sfumato(*ASK, "--population-size", "96", "--json")[1])
    assert found["sampling"] == {"source": "size", "fraction": 0.25, "population": 96}
    names = [each["estimator"] for each in found["population_uniques"]["estimates"]]
    assert names == ["pitman", "zayatz", "slide-negative-binomial"]
    assert all(each["estimated"] for each in (*found["journalist"], *found["k_map"]))


def test_an_estimator_without_a_solution_says_why(place, sfumato):
    found = json.loads(sfumato(*ASK, "--fraction", "0.25", "--json")[1])
    first = found["population_uniques"]["estimates"][0]
    assert first["uniques"] is None
    assert "every record of the sample is unique" in first["reason"]
    assert "none: every record" in sfumato(*ASK, "--fraction", "0.25")[1]


def test_a_population_is_counted(place, sfumato):
    lines = (place / "data.csv").read_text().splitlines()
    everyone = [line.split(",")[1:3] for line in lines[1:]]
    text = "\n".join(["sex,age", *(f"{sex},{age}" for age, sex in everyone + everyone[:6])])
    (place / "everyone.csv").write_text(text + "\n")
    found = json.loads(sfumato(*ASK, "--population", "everyone.csv", "--json")[1])
    (k_map,) = found["k_map"]
    assert (k_map["how"], k_map["smallest"], k_map["contradicted"]) == ("counted", 1, 0)
    assert found["population_uniques"]["counted"] == 18
    assert found["marketer"] == pytest.approx((18 + 6 / 2) / 24)


def test_weights_and_households(place, sfumato):
    coarse(place)
    lines = (place / "data.csv").read_text().splitlines()
    rows = [f"{line},{10 + n},{n // 3}" for n, line in enumerate(lines[1:])]
    (place / "data.csv").write_text("\n".join([f"{lines[0]},w,home", *rows]) + "\n")
    write_policy(place, more="weight: w\nhousehold: home")
    code, out, err = sfumato(*ASK)
    assert (code, err) == (0, [])
    assert "(from the weights)" in out
    assert "share, weighted" in out
    assert "Households: 8 (risks of members: negative-binomial)" in out
    found = json.loads(sfumato(*ASK, "--json")[1])
    assert found["sampling"]["population"] == sum(range(10, 34))
    assert found["households"]["count"] == 8
    assert found["journalist"][0]["how"] == "negative-binomial"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("weight: nowhere", "the weights are column 'nowhere', which is not in the table"),
        ("weight: disease", "the weight is column 'disease', which is sensitive and published"),
        ("weight: age", "the weight is column 'age', which is quasi-identifier and published"),
        ("household: sex", "the household is column 'sex'"),
        ("weight: name", "holds string and no numbers"),
        ("weight: name\nhousehold: name", "cannot hold weights and also say who a row is of"),
    ],
)
def test_wrong_weights_take_one_line(place, sfumato, more, message):
    write_policy(place, more=more)
    code, out, err = sfumato(*ASK)
    assert (code, out, len(err)) == (2, "", 1)
    assert message in err[0]
    assert SECRET not in err[0]


@pytest.mark.parametrize("weight", ["0", "-3", ""])
def test_weights_are_above_0(place, sfumato, weight):
    lines = (place / "data.csv").read_text().splitlines()
    rows = [f"{line},{weight if n == 3 else 2.5}" for n, line in enumerate(lines[1:])]
    (place / "data.csv").write_text("\n".join([f"{lines[0]},w", *rows]) + "\n")
    write_policy(place, more="weight: w")
    code, out, err = sfumato(*ASK)
    assert (code, out, len(err)) == (2, "", 1)
    assert "in 1 of 24 rows" in err[0]


@pytest.mark.parametrize("suffix", ["svg", "png", "html"])
def test_charts_are_written_once(place, sfumato, suffix):
    pytest.importorskip("vl_convert")
    chart = place / f"chart.{suffix}"
    code, out, err = sfumato(*ASK, "--chart", chart.name)
    assert (code, err) == (0, [])
    assert out.endswith(f"wrote chart.{suffix}\n")
    assert chart.stat().st_size > 1_000
    assert SECRET.encode() not in chart.read_bytes()
    code, out, err = sfumato(*ASK, "--chart", chart.name)
    assert (code, out) == (2, "")
    assert f"'chart.{suffix}' exists" in err[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fraction", "0"], "sampling fraction"),
        (["--fraction", "0.1", "--population-size", "900"], "stated twice"),
        (["--population-size", "3"], "said to have 3 people"),
        (["--population", "nowhere.csv"], "nowhere.csv"),
        (["--chart", "chart.pdf"], ".svg, .png, .html"),
        (["--max-size", "0"], "at least 1"),
    ],
)
def test_usage_errors_take_one_line(place, sfumato, arguments, message):
    code, out, err = sfumato(*ASK, *arguments)
    assert (code, out, len(err)) == (2, "", 1)
    assert message in err[0]


def test_a_population_without_a_known_column_is_refused(place, sfumato):
    (place / "everyone.csv").write_text("age\n1\n")
    code, _, err = sfumato(*ASK, "--population", "everyone.csv")
    assert (code, len(err)) == (2, 1)
    assert "the population has no column 'sex'" in err[0]


def test_the_risk_after_recoding_is_lower(place, sfumato):
    policy = (place / "policy.yaml").read_text()
    (place / "recoded.yaml").write_text(
        policy.replace(
            "age: {role: quasi-identifier", "age: {recode: [{round: 20}], role: quasi-identifier"
        )
    )
    uniques = []
    for options in ([], ["--recoded"]):
        code, out, _ = sfumato("risk", "data.csv", "--policy", "recoded.yaml", "--json", *options)
        assert code == 0
        uniques.append(json.loads(out)["sample_uniques"]["records"])
    assert uniques[1] < uniques[0]
