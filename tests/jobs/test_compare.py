"""Methods side by side: every one is a row, audited or refused with the right reason."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.datasets import hospital
from sfumato.errors import InputError, ParameterError, SchemaError
from sfumato.jobs import compare as job
from sfumato.jobs import trial as trials
from sfumato.jobs.compare import CHART, PAGE, RESULTS, ROWS, Comparison, compare, write
from sfumato.jobs.policy import Policy
from sfumato.jobs.prepared import prepare
from sfumato.methods import METHODS
from sfumato.randomness import Randomness

STAYS = hospital(900)
QUASI = {"role": "quasi-identifier"}
# What a run measures and no seed decides.
MEASURED = ("seconds", "megabytes")


def policy(method: dict[str, Any], **attributes: dict[str, Any]) -> Policy:
    others = {name: {"role": "insensitive"} for name in STAYS.column_names}
    return Policy.of(
        {"attributes": others | {"name": {"role": "identifier"}} | attributes, "method": method}
    )


MIXED = policy(
    {"name": "mondrian", "k": 5},
    age=QUASI,
    sex=QUASI,
    zipcode={**QUASI, "hierarchy": {"mask": "right"}},
    disease={"role": "sensitive", "l": 3},
)
ILLNESSES = sorted(set(STAYS["disease"].drop_null().to_pylist()))
# Numbers with stated domains and no missing value: what the others need, too.
NUMBERS = policy(
    {"name": "mondrian", "k": 5},
    age={**QUASI, "domain": {"min": 0, "max": 120}},
    disease={"role": "sensitive", "l": 3, "domain": ILLNESSES},
)


def run(data: pa.Table, rules: Policy, **more: Any) -> Comparison:
    given = {"queries": 10, "people": 80, "randomness": Randomness.test(7)} | more
    return compare(data, rules, **given)


@pytest.fixture(scope="module")
def mixed() -> Comparison:
    return run(STAYS, MIXED)


def test_every_method_is_a_row_audited_or_refused_for_a_reason(mixed):
    assert [trial.method for trial in mixed.trials] == list(METHODS)
    refused = {trial.method: trial.refused for trial in mixed.trials if trial.refused}
    reasons = {
        "full-domain": "full-domain needs a hierarchy for 'age'",
        "ng": "a ring needs every value of `disease`",
        "dp": "the policy does not say which",
        "pram": "a matrix has 200 at most",
        "mdav": "'sex' is categorical",
    }
    assert refused.keys() == reasons.keys()
    for name, reason in reasons.items():
        assert reason in refused[name]
    audits = {trial.method: trial.audit for trial in mixed.trials if not trial.refused}
    assert set(audits.values()) == {"holds"}
    assert mixed.ok


def test_the_methods_that_need_more_are_rows_where_they_have_it():
    pytest.importorskip("opendp")
    whole = STAYS.filter(pc.is_valid(STAYS["disease"]))
    whole = whole.filter(pc.is_valid(whole["age"]))
    found = run(whole, NUMBERS, methods="ng,dp,pram,mdav")
    assert [trial.refused for trial in found.trials] == [None] * 4
    unshown = "nothing to check"
    assert [trial.audit for trial in found.trials] == [unshown, unshown, unshown, "holds"]
    for name in ("ng", "dp", "pram"):
        assert found[name].kept == ()
        assert len(found[name].not_promised) == 2
    assert "another kind of promise" in found["dp"].notes[0]
    wide = {**QUASI, "hierarchy": {"width": 10}}
    rules = policy({"name": "anatomy", "l": 3}, age=wide, disease={"role": "sensitive"})
    assert run(whole, rules, methods="full-domain")["full-domain"].audit == "holds"


def test_what_each_keeps_of_the_stated_protection(mixed):
    kept = {
        trial.method: sorted(claim["model"] for claim in trial.kept)
        for trial in mixed.trials
        if not trial.refused
    }
    both = {name for name, models in kept.items() if models == ["k-anonymity", "l-diversity"]}
    assert both == {"mondrian", "lgb"}
    assert {name for name, models in kept.items() if models == ["k-anonymity"]} == {
        "top-down",
        "composition",
        "probabilistic",
        "hybrid",
        "local-suppression",
    }
    assert {name for name, models in kept.items() if not models} == {"sensitive-qid", "rating"}
    for trial in mixed.trials:
        if not trial.refused:
            assert len(trial.kept) + len(trial.not_promised) == 2


def test_numbers_say_what_they_should(mixed):
    for name in ("mondrian", "lgb", "top-down", "local-suppression"):
        assert mixed[name].linkage.highest <= 1 / 5 + 1e-9
    # exact quasi-identifiers hide nobody who is the only one of their kind
    assert mixed["anatomy"].linkage.highest == 1
    assert mixed["anatomy"].linkage.mean > 0.5
    for name in ("mondrian", "anatomy", "aip", "slicing"):
        assert mixed[name].strongest.highest <= 1 / 3 + 1e-9
    for trial in mixed.trials:
        if trial.refused:
            continue
        worth = trial.utility
        assert worth.asked == mixed.queries == 30
        assert worth.missed == 0
        assert (worth.ncp is None) == ("ncp" in trial.undefined)
        assert 0 <= worth.margin <= 1 and 0 <= worth.association <= 1
        assert trial.seconds > 0
    # who publishes exact values loses no margin; who generalises does
    assert mixed["anatomy"].utility.margin == 0
    assert mixed["mondrian"].utility.margin > 0
    assert mixed["mondrian"].utility.ncp > 0


def test_a_method_that_is_infeasible_is_a_row():
    rules = policy({"name": "anatomy", "l": 80}, age=QUASI, disease={"role": "sensitive"})
    found = run(STAYS, rules, methods=["anatomy", "pram"])
    assert "l = 80 is infeasible" in found["anatomy"].refused
    assert (found["anatomy"].audit, found["anatomy"].seconds) == ("not published", None)
    assert found["pram"].refused is None
    assert found.ok


def test_a_fault_is_a_row_without_cells_and_not_ok(monkeypatch):
    def fail(self, table, randomness):
        raise KeyError("somebody's cell")

    monkeypatch.setattr(METHODS["anatomy"], "_release", fail)
    found = run(STAYS, MIXED, methods="anatomy,top-down")
    assert found["anatomy"].refused == "a fault of sfumato (KeyError); please report it"
    assert found["top-down"].audit == "holds"
    assert not found.ok


def test_a_broken_claim_is_told(monkeypatch):
    real = METHODS["top-down"]._release

    def overstate(self, table, randomness):
        made = real(self, table, randomness)
        claims = ({"model": "k-anonymity", "k": 400},)
        changed = made.manifest.model_copy(update={"guarantees": claims})
        return sf.Release(changed, made.tables, made.hierarchies)

    monkeypatch.setattr(METHODS["top-down"], "_release", overstate)
    found = run(STAYS, MIXED, methods="top-down")
    assert found["top-down"].audit == "broken"
    assert found["top-down"].kept == ()
    assert not found.ok


def test_the_same_seed_gives_the_same_numbers():
    names = "mondrian,anatomy,merging,rating"
    one, other = (run(STAYS, MIXED, methods=names).to_dict() for _ in range(2))
    for found in (one, other):
        for trial in found["trials"]:
            for key in MEASURED:
                del trial[key]
    assert one == other
    third = run(STAYS, MIXED, methods=names, randomness=Randomness.test(8)).to_dict()
    assert third["trials"][0]["utility"] != one["trials"][0]["utility"]


def test_results_are_the_same_in_all_files(mixed, tmp_path):
    pytest.importorskip("altair")
    write(mixed, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {RESULTS, ROWS, PAGE, CHART}
    plain = json.loads((tmp_path / "out" / RESULTS).read_text())
    assert plain == mixed.to_dict()
    rows = pq.read_table(tmp_path / "out" / ROWS)
    assert rows.equals(mixed.table())
    for row, trial in zip(rows.to_pylist(), plain["trials"], strict=True):
        for key in ("method", "refused", "audit", "rows", "groups", "seconds", "megabytes"):
            assert row[key] == trial[key]
        assert json.loads(row["guarantees"]) == trial["guarantees"]
        linkage, worth = trial["linkage"] or {}, trial["utility"] or {}
        assert row["reidentification_mean"] == linkage.get("mean")
        assert row["reidentification_highest"] == linkage.get("highest")
        assert row["count_error_mean"] == worth.get("count_mean")
        assert row["association_change"] == worth.get("association")
        successes = [each["success"] for each in trial["inference"]]
        assert row["inference_success"] == (max(successes) if successes else None)


def test_pages_fetch_nothing_and_have_every_method(mixed, tmp_path):
    pytest.importorskip("altair")
    write(mixed, tmp_path / "out")
    page = (tmp_path / "out" / PAGE).read_text()
    assert (
        "http://" not in page.replace("http://www.w3.org/2000/svg", "") and "https://" not in page
    )
    assert not re.search(r"<(script|link|iframe|img)\b", page)
    assert "<svg" in page
    for name in METHODS:
        assert page.count(name) >= 2
    assert "a ring needs every value" in page


def test_names_are_escaped(tmp_path):
    evil = '<img src=x onerror="alert(1)">'
    data = pa.table(
        {evil: np.arange(60) % 12, "b<i>": [f"v{n % 5}" for n in range(60)], "c": ["a"] * 60}
    )
    roles = {evil: QUASI, "b<i>": {"role": "sensitive", "l": 2}, "c": {"role": "semi-sensitive"}}
    roles["c"]["density"] = 0.5
    rules = Policy.of({"attributes": roles, "method": {"name": "lgb", "k": 3, "l": 2}})
    found = run(data, rules, methods="lgb,mondrian,dp")
    write(found, tmp_path / "out")
    for text in ((tmp_path / "out" / PAGE).read_text(), found._repr_html_()):
        assert "<img" not in text and "b<i>" not in text
        assert "onerror=" not in text.replace("onerror=&quot;", "")
    assert "b&lt;i&gt;" in (tmp_path / "out" / PAGE).read_text()


def test_without_the_extra_all_but_the_chart_is_written(mixed, tmp_path, monkeypatch):
    def missing(suffix):
        raise sf.EngineUnavailable("charts need the extra `reports`")

    monkeypatch.setattr(job, "refuse_missing", missing)
    monkeypatch.setattr("sfumato.reports.comparison.refuse_missing", missing)
    write(mixed, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {RESULTS, ROWS, PAGE}
    assert "charts need the extra" in (tmp_path / "out" / PAGE).read_text()


def test_a_folder_of_something_else_is_not_replaced(mixed, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    for force in (False, True):
        with pytest.raises(InputError):
            write(mixed, tmp_path / "out", force=force)
    assert (tmp_path / "out" / "thesis.txt").read_text() == "mine"


def test_from_python(mixed):
    found = sf.compare(STAYS, MIXED, methods=["anatomy"], queries=3, people=40)
    assert isinstance(found, sf.Comparison)
    assert found.table()["method"].to_pylist() == ["anatomy"]
    assert not found.is_test
    with pytest.raises(KeyError):
        found["mondrian"]
    fragment = mixed._repr_html_()
    assert fragment.startswith("<div>") and "21 methods on 900 rows" in fragment


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"methods": "mondrain"}, ParameterError, "mondrian"),
        ({"methods": ","}, ParameterError, "name the methods"),
        ({"queries": 0}, ParameterError, "1 query or more"),
        ({"people": 0}, ParameterError, "1 person or more"),
        ({"sample": 0}, ParameterError, "1 row or more"),
    ],
)
def test_bad_numbers_and_names_are_refused(change, error, says):
    with pytest.raises(error, match=says):
        run(STAYS, MIXED, **change)


def test_data_that_do_not_fit_are_refused():
    with pytest.raises(SchemaError, match="disease"):
        run(STAYS.drop_columns(["disease"]), MIXED, methods="anatomy")


# --- the pieces -----------------------------------------------------------------------------------


def test_a_sample_keeps_people_whole():
    people = pa.table({"who": [n // 3 for n in range(90)], "age": range(90), "ill": ["a"] * 90})
    roles = {"who": {"role": "identifier"}, "age": QUASI, "ill": {"role": "sensitive"}}
    rules = Policy.of({"attributes": roles, "method": {"name": "mondrian", "k": 2}, "unit": "who"})
    ready = prepare(people, rules, Randomness.test(3), sample=31)
    assert ready.raw.num_rows == 30
    assert set(np.bincount(ready.raw["who"].to_numpy())) == {0, 3}
    assert ready.table.rows == 30
    found = run(STAYS, MIXED, methods="anatomy", sample=300)
    assert (found.rows, found.of_rows, found["anatomy"].rows) == (300, 900, 300)


def test_rows_that_are_withheld_are_counted():
    many = pa.concat_tables([STAYS, *[STAYS.slice(0, 40)] * 3])
    names = pa.array([f"person {n}" for n in range(many.num_rows)])
    many = many.set_column(many.column_names.index("name"), "name", names)
    common = pc.if_else(pa.array(np.arange(many.num_rows) < 600), "Flu", many["disease"])
    many = many.set_column(many.column_names.index("disease"), "disease", common)
    content = {**MIXED.content.model_dump(exclude_unset=True), "on_infeasible": "suppress"}
    content["method"] = {"name": "anatomy"}
    found = run(many, Policy.of(content), methods="anatomy,mondrian")
    assert found["anatomy"].suppressed > 0
    assert "infeasible" in found["mondrian"].refused


def test_recoded_data_are_compared_with_recoded_answers():
    rules = policy(
        {"name": "mondrian", "k": 5},
        age={**QUASI, "recode": [{"top": 85}, {"round": 5}]},
        admitted={**QUASI, "recode": {"shift": {"days": 9}}},
        disease={"role": "sensitive", "l": 3},
    )
    found = run(STAYS, rules, methods="mondrian,anatomy")
    # exact values of the recoded table have the recoded margins, shifted dates included
    assert found["anatomy"].utility.margin == 0
    assert found["mondrian"].audit == "holds"
    assert found["anatomy"].linkage is not None


def test_attacks_look_at_the_same_people_whatever_the_method(monkeypatch):
    seen = []
    real = trials.attack

    def watched(release, original, **given):
        seen.append(given["rng"].integers(2**62))
        return real(release, original, **given)

    monkeypatch.setattr(trials, "attack", watched)
    run(STAYS, MIXED, methods="anatomy,top-down")
    assert len(seen) == 2 and seen[0] == seen[1]
