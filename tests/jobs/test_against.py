"""A release held against earlier ones: person by person, with an oracle that shares no code."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracles import composition as oracle

import sfumato as sf
from sfumato.attacks.narrowed import narrowed
from sfumato.errors import Infeasible, ParameterError
from sfumato.jobs.anonymize import anonymize
from sfumato.randomness import Randomness

SCHEMA = sf.Schema.of(age="quasi-identifier", sex="quasi-identifier", disease="sensitive")
METHODS = [
    sf.Mondrian(k=3, models=(sf.LDiversity("disease", 2),)),
    sf.Anatomy(l=2),
    sf.Slicing(l=2),
    sf.Merging(l=2, collapse=None),
    sf.SLPPA(beta=0.5, tables=1),
]


def people(seed: int, rows: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 40, rows),
            "sex": rng.choice(["F", "M"], rows),
            "disease": rng.choice(["Flu", "Fever", "HIV", "Gout", "Cold", None], rows),
        }
    )


def literal(new, earlier, rows, fewest):
    """Return people in both, those with too few candidates left, and the fewest."""
    shown = [oracle.show(release, {}) for release in (new, earlier)]
    counted = broken = 0
    least = None
    for row in rows.to_pylist():
        if row["disease"] is None:
            continue
        sets = []
        for each in shown:
            groups = [g for g in each.groups if oracle.may_be_in(each, g, row)]
            held = {v for g in groups for v in each.values["disease"][g]}
            sets.append({value for value in held if value is not None})
        left = {str(value) for value in sets[0] & sets[1]}
        if not any(row["disease"] in value for value in left):
            continue
        counted += 1
        broken += len(left) < fewest
        least = len(left) if least is None else min(least, len(left))
    return counted, broken, least


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("first", METHODS, ids=lambda m: m.name)
@pytest.mark.parametrize("second", METHODS, ids=lambda m: m.name)
def test_who_keeps_too_few_candidates_is_as_the_oracle_says(first, second, seed):
    shared = people(seed, 12)
    old = pa.concat_tables([shared, people(seed + 100, 18)])
    new = pa.concat_tables([shared, people(seed + 200, 18)])
    earlier = first.publish(old, SCHEMA, randomness=Randomness.test(seed))
    release = second.publish(new, SCHEMA, randomness=Randomness.test(seed + 1))
    for fewest in (2, 3):
        found = narrowed(release, [earlier], new, "disease", fewest)
        counted, broken, least = literal(release, earlier, new, fewest)
        assert (found.people, found.broken, found.fewest) == (counted, broken, least)
        assert found.alone <= found.broken
        assert 0 < found.likeliest <= 1


def test_who_learns_nothing_from_one_release_believes_the_other():
    data = people(1, 60)
    whole = sf.Mondrian(k=60).publish(data, SCHEMA)
    earlier = sf.Anatomy(l=3).publish(data, SCHEMA)
    found = narrowed(whole, [earlier], data, "disease", 3)
    assert found.broken == 0 and found.fewest >= 3
    assert found.likeliest <= 1 / 3 + 1e-9


# Runs

POLICY = """
attributes:
  age: {role: quasi-identifier}
  sex: {role: quasi-identifier}
  disease: {role: sensitive}
method: {name: %s}
"""


@pytest.fixture
def home(tmp_path):
    shared = people(3, 150)
    for name, seed in (("spring", 4), ("autumn", 5)):
        rows = pa.concat_tables([shared, people(seed, 150)])
        pq.write_table(rows.drop_null(), tmp_path / f"{name}.parquet")
    return tmp_path


def run(home, name, method, **options):
    (home / "policy.yaml").write_text(POLICY % method)
    return anonymize(
        home / f"{name}.parquet", home / "policy.yaml", home / f"{name}-out", **options
    )


def test_a_release_that_breaks_the_l_beside_an_earlier_one_is_refused_or_made_coarser(home):
    ledger = home / "ledger.jsonl"
    run(home, "spring", "mondrian, k: 2, l: 2", ledger=ledger)
    with pytest.raises(Infeasible, match=r"nothing was written.*too few candidates.*--repartition"):
        run(home, "autumn", "mondrian, k: 2, l: 2", against=[home / "spring-out"])
    assert not (home / "autumn-out").exists()
    made = run(home, "autumn", "mondrian, k: 2, l: 2", against=[ledger], repartition=True)
    alone = run(home, "autumn", "mondrian, k: 2, l: 2", force=True)
    assert made.groups < alone.groups
    # judged again by the oracle's own reading of the files
    run(home, "autumn", "mondrian, k: 2, l: 2", against=[ledger], repartition=True, force=True)
    releases = [sf.Release.load(home / f"{name}-out") for name in ("autumn", "spring")]
    counted, broken, least = literal(*releases, pq.read_table(home / "autumn.parquet"), 2)
    assert counted > 100 and broken == 0 and least >= 2


def test_the_first_claim_counts_however_coarse_the_partition_becomes(home):
    run(home, "spring", "merging, l: 2")
    made = run(home, "autumn", "slicing, l: 2", against=[home / "spring-out"], repartition=True)
    assert made.manifest.guarantees[0]["l"] >= 2


def test_what_an_earlier_release_gives_away_alone_cannot_be_mended(home):
    alone = people(6, 40).drop_null()
    alone = alone.set_column(0, "age", pa.array(range(alone.num_rows)))
    for name in ("spring", "autumn"):
        pq.write_table(alone, home / f"{name}.parquet")
    run(home, "spring", "mondrian, k: 1")
    with pytest.raises(Infeasible, match="by the earlier releases alone"):
        run(home, "autumn", "anatomy, l: 2", against=[home / "spring-out"], repartition=True)


def test_without_an_l_there_is_nothing_to_hold(home):
    run(home, "spring", "mondrian, k: 2")
    with pytest.raises(ParameterError, match="claims none"):
        run(home, "autumn", "mondrian, k: 2", against=[home / "spring-out"])
    with pytest.raises(ParameterError, match="--repartition is for"):
        run(home, "autumn", "mondrian, k: 2", repartition=True)


def test_earlier_releases_of_other_attributes_do_not_matter(home):
    other = pa.table({"town": ["A", "B"] * 10, "income": [1, 2] * 10})
    schema = sf.Schema.of(town="quasi-identifier", income="sensitive")
    sf.Anatomy(l=2).publish(other, schema).save(home / "other")
    made = run(home, "autumn", "anatomy, l: 2", against=[home / "other"])
    assert len(made.warnings) == 1
    assert "does not tell 'disease' as a secret" in made.warnings[0]


def test_three_releases_are_held_against_each_other_at_once(tmp_path):
    """Any two leave two candidates, and all three only one."""
    classes = [("HIV", "Flu", "Gout"), ("HIV", "Flu", "Cold"), ("HIV", "Gout", "Cold")]
    (tmp_path / "policy.yaml").write_text(
        "attributes: {age: {role: quasi-identifier}, disease: {role: sensitive}}\n"
        "method: {name: mondrian, k: 3, l: 2}\n"
    )
    ledger = tmp_path / "ledger.jsonl"
    for number, diseases in enumerate(classes):
        ages = [30] * 3 + [60] * 3
        data = pa.table({"age": ages, "disease": [*diseases, "Zoster", "Asthma", "Fever"]})
        pq.write_table(data, tmp_path / f"{number}.parquet")

        def publish(number=number):
            return anonymize(
                tmp_path / f"{number}.parquet",
                tmp_path / "policy.yaml",
                tmp_path / f"out-{number}",
                ledger=ledger,
                against=[ledger],
            )

        if number < 2:
            publish()
        else:
            with pytest.raises(Infeasible, match=r"of 6 people .* \(as few as 1\)"):
                publish()


def test_secrets_of_semi_sensitive_attributes_are_held_too(tmp_path):
    (tmp_path / "policy.yaml").write_text(
        "attributes: {zip: {role: quasi-identifier}, age: {role: semi-sensitive, flag: private}}\n"
        "method: {name: lgb, k: 3, l: 3}\n"
    )
    for name, ages in (("one", [30, 20, 41]), ("two", [30, 33, 37]), ("three", [30, 20, 41])):
        data = pa.table({"zip": ["a"] * 3, "age": ages, "private": [True] * 3})
        pq.write_table(data, tmp_path / f"{name}.parquet")

    def publish(name, **options):
        policy, out = tmp_path / "policy.yaml", tmp_path / f"{name}-out"
        return anonymize(tmp_path / f"{name}.parquet", policy, out, **options)

    publish("one")
    with pytest.raises(Infeasible, match=r"1 of 1 people .* `age` \(as few as 1\)"):
        publish("two", against=[tmp_path / "one-out"])
    publish("three", against=[tmp_path / "one-out"])
    releases = [sf.Release.load(tmp_path / f"{name}-out") for name in ("one", "three")]
    data = [pq.read_table(tmp_path / f"{name}.parquet") for name in ("one", "three")]
    people = sf.compose(releases, originals=data)["age"].people
    assert people.after == 3 and people.disclosed == 0


def test_what_the_new_data_do_not_tell_is_reckoned_with_at_its_worst():
    """The earlier release tells jobs; who knows the cook's knows the cook's group."""
    old = pa.table(
        {
            "age": [30] * 6,
            "job": ["Cook"] * 3 + ["Judge"] * 3,
            "disease": ["HIV", "Flu", "Asthma", "Gout", "Cold", "Zoster"],
        }
    )
    new = pa.table({"age": [30] * 4, "disease": ["HIV", "Gout", "Cold", "Zoster"]})
    schema = sf.Schema.of(age="quasi-identifier", job="quasi-identifier", disease="sensitive")
    earlier = sf.Mondrian(k=3).publish(old, schema)
    release = sf.Mondrian(k=4).publish(
        new, sf.Schema.of(age="quasi-identifier", disease="sensitive")
    )
    found = narrowed(release, [earlier], new, "disease", 2)
    assert (found.people, found.broken, found.fewest) == (4, 1, 1)


def test_random_sets_are_not_held_against_others(home):
    """Neither as the new release nor as an earlier one; nothing is then written."""
    run(home, "spring", "anatomy, l: 2")
    with pytest.raises(ParameterError, match=r"layout 'sets' cannot be composed"):
        run(home, "autumn", "sensitive-qid, l: 2", against=[home / "spring-out"])
    assert not (home / "autumn-out").exists()
    run(home, "spring", "rating, l: 2", force=True)
    with pytest.raises(ParameterError, match=r"layout 'sets' cannot be composed"):
        run(home, "autumn", "anatomy, l: 2", against=[home / "spring-out"])
    assert not (home / "autumn-out").exists()
