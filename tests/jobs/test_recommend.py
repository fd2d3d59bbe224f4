"""Recommended policies: limits that releases keep, advice that is true, time, and repetition."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracles.exposure import worst_cases

import sfumato as sf
from sfumato.errors import ParameterError, SfumatoError
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.candidates import Candidate, first_candidates
from sfumato.jobs.limits import PRESETS, limits_of
from sfumato.jobs.recommend import recommend_file
from sfumato.jobs.search import Search
from sfumato.randomness import Randomness

QUASI = ["age", "sex", "job"]
ROLES = {
    "age": {"role": "quasi-identifier", "hierarchy": {"width": 5, "levels": 4}},
    "sex": {"role": "quasi-identifier"},
    "job": {"role": "quasi-identifier"},
    "disease": {"role": "sensitive"},
}
POLICY = """\
attributes:
  age:     {role: quasi-identifier, hierarchy: {width: 5, levels: 4}}
  sex:     {role: quasi-identifier}
  job:     {role: quasi-identifier}
  disease: {role: sensitive}
method: {name: mondrian, k: 2}
"""


def people(rows: int = 400, common: float = 0.0) -> pa.Table:
    """Return a table; a share `common` of it has one disease, beside an equal part of the rest."""
    rng = np.random.default_rng(5)
    disease = rng.permutation(np.arange(rows) % 8)
    disease[rng.permutation(rows)[: round(common * rows)]] = 0
    return pa.table(
        {
            "age": rng.integers(20, 80, rows),
            "sex": np.array(["F", "M"])[rng.integers(0, 2, rows)],
            "job": np.array([f"job{n}" for n in range(5)])[rng.integers(0, 5, rows)],
            "disease": np.array([f"d{n}" for n in range(8)])[disease],
        }
    )


@pytest.fixture
def place(tmp_path: Path) -> Path:
    pq.write_table(people(), tmp_path / "data.parquet")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try few candidates: what is looked at does not depend on how many there are."""
    chosen = ("lgb", "mondrian", "full-domain", "arp", "anatomy", "slicing")

    def few(content, limits):
        found: dict[tuple[str, bool], Candidate] = {}
        for each in first_candidates(content, limits):
            if each.method in chosen or each.withholds:
                found.setdefault((each.method, each.withholds), each)
        return list(found.values())

    monkeypatch.setattr("sfumato.jobs.search.first_candidates", few)
    monkeypatch.setattr("sfumato.jobs.asked.QUERIES", 12)
    monkeypatch.setattr("sfumato.jobs.search._ROUNDS", 0)
    monkeypatch.setattr("sfumato.jobs.search._BEST_OF_METHODS", 1)


def asked(place: Path, **options):
    given = {"randomness": Randomness.test(3), **options}
    return recommend_file(place / "data.parquet", place / "policy.yaml", **given)


@pytest.mark.parametrize(
    ("people_limit", "values_limit"), [(0.09, 0.25), (None, 0.3), ("1/11", None), (0.2, "1/3")]
)
def test_what_the_policy_publishes_keeps_the_limits(place, short, people_limit, values_limit):
    found = asked(
        place,
        max_reidentification=people_limit,
        max_inference=values_limit,
        out=place / "out.yaml",
    )
    assert found.ok
    for seed in (11, 12):
        release = place / f"release{seed}"
        anonymize(
            place / "data.parquet",
            place / "out.yaml",
            release,
            randomness=Randomness.test(seed),
        )
        recognised, concluded = worst_cases(release, QUASI, "disease")
        if people_limit is not None:
            assert recognised <= Fraction(str(people_limit))
        if values_limit is not None:
            assert concluded <= Fraction(str(values_limit))
    assert sf.Policy.load(place / "out.yaml").content == found.policy.content


def test_the_choice_says_what_was_measured(place, short):
    found = asked(place, max_reidentification=0.09, max_inference=0.25)
    plain = found.to_dict()
    assert plain["choice"]["reidentification"] <= 0.09
    assert plain["choice"]["inference"] <= 0.25
    assert plain["choice"]["error_held_out"] > 0
    assert plain["choice"]["error"] == min(each["error"] for each in plain["frontier"])
    for each in plain["choice"]["linkage"]:
        limit = 0.09 if "record" in each["attack"] else 0.25
        if each["attack"].startswith(("record linkage (prosecutor)", "attribute linkage (skew")):
            assert each["interval"][0] <= limit
    words = " ".join(plain["choice"]["reasons"])
    assert "'disease'" in words
    assert "limit of re-identification" in words
    assert plain["choice"]["candidate"] in found._repr_html_()
    for n in range(8):
        assert f"d{n}" not in words.replace("data", "")


def test_roles_are_those_of_the_steward(place, short):
    found = asked(place, max_inference=0.25)
    roles = {name: a.role for name, a in found.policy.content.attributes.items()}
    assert roles == {name: keys["role"] for name, keys in ROLES.items()}


def test_the_frontier_holds_what_none_beats(place, short):
    found = asked(place, max_reidentification=0.2, max_inference=0.25)
    points = [
        (each.exposed.reidentification, each.exposed.highest_inference, each.error)
        for each in found.frontier
    ]
    for one in points:
        for other in points:
            assert one == other or any(a < b for a, b in zip(one, other, strict=True))
    for each in found.tried:
        own = (each.exposed.reidentification, each.exposed.highest_inference, each.error)
        if each.is_within and not each.beaten_by:
            assert any(all(a <= b for a, b in zip(p, own, strict=True)) for p in points)


def test_limits_in_whole_numbers():
    assert limits_of(None, 0.09, 0.25).k == 12  # 1/11 is above 0.09
    assert limits_of("cms").k == 11
    assert limits_of("ema").k == 12
    assert (limits_of("strict").k, limits_of("strict").l) == (20, 5)
    assert limits_of("cms", max_reidentification="1/5").k == 5
    assert limits_of(None, "1/11").reidentification == Fraction(1, 11)
    assert all(preset.source for preset in PRESETS.values())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "no limit is stated"),
        ({"max_inference": 0}, "above 0"),
        ({"max_inference": 1.5}, "1 at most"),
        ({"max_reidentification": "often"}, "a number such as 0.09"),
        ({"max_reidentification": "1/0"}, "a number such as 0.09"),
        ({"max_inference": 0.5, "max_withheld": 1}, "below 1"),
        ({"preset": "emma"}, "`ema`"),
        ({"max_inference": 0.5, "minutes": 0}, "--minutes"),
    ],
)
def test_what_is_no_limit_is_refused(place, options, says):
    with pytest.raises(ParameterError, match=says):
        asked(place, **options)


def test_when_a_value_is_too_common_the_advice_is_true(place, short):
    pq.write_table(people(common=0.1), place / "data.parquet")
    share = pq.read_table(place / "data.parquet")["disease"].to_pylist().count("d0") / 400
    found = asked(place, max_inference=0.2, out=place / "out.yaml")
    assert not found.ok
    assert found.policy is None
    assert not (place / "out.yaml").exists()
    assert "'disease'" in found.binds[0]
    options = {way.option.split()[0]: way.option.split()[1] for way in found.relaxations}
    assert float(options["--max-inference"]) >= share
    assert float(options["--max-inference"]) < share + 0.001
    assert asked(place, max_inference=options["--max-inference"]).ok
    relaxed = asked(place, max_inference=0.2, max_withheld=options["--max-withheld"])
    assert relaxed.ok
    assert 0 < relaxed.choice.attempt.withheld <= Fraction(options["--max-withheld"])
    assert any("not protected" in reason for reason in relaxed.choice.reasons)


def test_when_people_are_too_few_the_advice_is_true(place, short):
    pq.write_table(people(15), place / "data.parquet")
    found = asked(place, max_reidentification=0.05)
    assert not found.ok
    assert found.binds[0].startswith("re-identification: 20 people")
    assert found.relaxations
    limit = found.relaxations[0].option.split()[1]
    assert float(limit) >= 1 / 15
    assert asked(place, max_reidentification=limit).ok


def test_rows_stay_unless_they_may_be_left_out(place, short):
    found = asked(place, max_reidentification=0.09, max_inference=0.25)
    assert all(each.withheld == 0 for each in found.frontier)
    assert not any(each.candidate.withholds for each in found.tried)


def test_a_workload_of_ones_own(place, short):
    lines = [f"SELECT COUNT(*) WHERE age > {20 + 5 * n} AND sex = 'F';" for n in range(9)]
    (place / "workload.sql").write_text("-- of interest\n" + "\n".join(lines) + "\n")
    found = asked(place, max_inference=0.25, queries=place / "workload.sql")
    assert found.ok
    assert found.queries == "9 COUNT queries of workload.sql, 3 of them held out"
    (place / "workload.sql").write_text("\n".join(lines[:2]) + "\n")
    found = asked(place, max_inference=0.25, queries=place / "workload.sql")
    assert any("used in the search" in note for note in found.notes)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("SELECT SUM(age) WHERE age > 3", "line 1: a workload counts rows"),
        ("SELECT sex, COUNT(*) WHERE age > 3 GROUP BY sex", "without GROUP BY"),
        ("SELECT COUNT(*)", "a workload counts rows"),
        ("SELECT COUNT(*) WHERE agee > 3", "line 1: .*age"),
        ("SELECT COUNT(*) WHERE age > 300", "no row meets any"),
    ],
)
def test_a_workload_that_is_none_is_refused(place, line, says):
    (place / "workload.sql").write_text(line + "\n")
    with pytest.raises(SfumatoError, match=says):
        asked(place, max_inference=0.25, queries=place / "workload.sql")


def test_a_search_without_time_is_refused_and_does_not_say_that_nothing_keeps_the_limits(place):
    with pytest.raises(ParameterError, match="did not do for a single candidate"):
        asked(place, max_inference=0.25, minutes=1e-6)


def test_a_search_that_runs_out_of_time_recommends_the_best_so_far(place, monkeypatch):
    """The clock stands still until the third attempt, and then is nearly at its end."""
    real = Search._attempt

    def late(self, bench, candidate, probes, number, of):
        if len(self.tried) == 3:
            self.clock._end = self.clock._begin  # the time is up
        return real(self, bench, candidate, probes, number, of)

    monkeypatch.setattr(Search, "_attempt", late)
    monkeypatch.setattr("sfumato.jobs.clock.Clock.release", _more_time)
    found = asked(place, max_reidentification=0.2, max_inference=0.25)
    assert len(found.tried) == 3
    assert found.left > 0
    assert found.choice.attempt.error == min(each.error for each in found.tried)


def _more_time(clock) -> None:
    clock._end = clock._begin + 600


def test_the_same_seed_finds_the_same(place, short):
    first, again = (
        asked(place, max_reidentification=0.2, max_inference=0.25).to_dict() for _ in range(2)
    )
    for found in (first, again):
        del found["seconds"]
        found["choice"]["trial"] = None
        for each in (found["choice"], *found["tried"], *found["frontier"]):
            del each["seconds"]
    assert first == again


def test_large_data_are_sieved_on_samples(place, short, monkeypatch):
    monkeypatch.setattr("sfumato.jobs.search.ALL_AT_ONCE", 200)
    monkeypatch.setattr("sfumato.jobs.search._FEWEST", 2)
    found = asked(place, max_inference=0.25)
    assert found.on_sample > len(found.tried) > 0
    assert all(each.rows == 400 for each in found.tried)
    assert found.ok


def test_what_attributes_ask_for_is_kept(place, short):
    text = POLICY.replace("{role: sensitive}", "{role: sensitive, l: 6}")
    (place / "policy.yaml").write_text(text)
    found = asked(place, max_reidentification=0.2, max_inference=0.25)
    assert all(each.exposed.highest_inference <= Fraction(1, 6) for each in found.frontier)


def test_an_attack_above_a_limit_passes_a_candidate_over(place, short, monkeypatch):
    """Whatever comes first is said to be attacked with success; the next is taken."""
    from sfumato.jobs import attempt as module

    calls = []

    def first_fails(outcomes, limits):
        calls.append(1)
        return "record linkage (prosecutor)" if len(calls) == 1 else None

    monkeypatch.setattr(module, "_above", first_fails)
    found = asked(place, max_reidentification=0.2, max_inference=0.25)
    beaten = [each for each in found.tried if each.beaten_by]
    assert len(beaten) == 1
    assert beaten[0].error <= found.choice.attempt.error
    assert any("passed over" in reason for reason in found.choice.reasons)


def test_from_python(short):
    rules = sf.Policy.of({"attributes": ROLES, "method": {"name": "mondrian", "k": 2}})
    found = sf.recommend(
        people(), rules, preset="strict", max_inference=0.25, randomness=Randomness.test(1)
    )
    assert isinstance(found, sf.Recommendation)
    assert found.limits.k == 20
    assert isinstance(found.policy, sf.Policy)


def test_pseudonyms_are_refused(place):
    (place / "policy.yaml").write_text(
        POLICY.replace("  sex:", "  name:    {role: identifier, pseudonym: true}\n  sex:")
    )
    with pytest.raises(SfumatoError):
        asked(place, max_inference=0.25)
