"""The cuts of an earlier release on new data: same groups, same cells, same claims."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.csv import write_csv
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

import sfumato as sf
from sfumato.cli.app import run
from sfumato.errors import Infeasible, ParameterError
from sfumato.jobs.same_cuts import reapply
from sfumato.randomness import Randomness

ATTRIBUTES = (
    sf.Attribute("age", sf.Role.QUASI_IDENTIFIER),
    sf.Attribute("town", sf.Role.QUASI_IDENTIFIER, hierarchy=sf.Mask("right")),
    sf.Attribute("job", sf.Role.QUASI_IDENTIFIER),
    sf.Attribute("disease", sf.Role.SENSITIVE),
)
SCHEMA = sf.Schema(ATTRIBUTES)
SECRET = "Kuru-1234"


def people(seed: int, rows: int, missing: bool = True) -> pa.Table:
    rng = np.random.default_rng(seed)
    ages = rng.integers(0, 60, rows).tolist()
    if missing:
        ages = [None if rng.random() < 0.05 else age for age in ages]
    return pa.table(
        {
            "age": pa.array(ages, pa.int32()),
            "town": rng.choice(["1011", "1012", "1021", "2011", "2012"], rows),
            "job": rng.choice(["Cook", "Nurse", "Clerk", "Judge"], rows),
            "disease": rng.choice(["Flu", "Fever", "HIV", "Gout", SECRET], rows),
        }
    )


def covers(cell: str | None, value: object) -> bool:
    """Read a cell by hand: of this table's columns no value needs quotes."""
    if cell == "*":
        return True
    if cell is None or value is None:
        return (cell is None) == (value is None) or (cell or "").startswith("{null")
    inner = cell.removeprefix("{null, ").rstrip("}") if cell.startswith("{null") else cell
    if match := re.fullmatch(r"\[(\d+), (\d+)\]", inner):
        return int(match[1]) <= int(str(value)) <= int(match[2])
    if "*" in inner:
        return str(value).startswith(inner.rstrip("*"))
    return str(value) in [part.strip() for part in inner.strip("{}").split(",")]


def fits_somebody(release: sf.Release, data: pa.Table) -> bool:
    """Whether records and people can be paired so that every cell covers its person's value."""
    names = ["age", "town", "job", "disease"]
    records = release.tables["records"].select(names).to_pylist()
    rows = data.to_pylist()
    fits = [[all(covers(record[n], row[n]) for n in names) for row in rows] for record in records]
    matching = maximum_bipartite_matching(csr_matrix(np.array(fits)), perm_type="column")
    return bool((matching >= 0).all())


def test_the_own_data_fall_into_their_own_groups() -> None:
    data = people(1, 400, missing=False).drop_columns(["town"])
    schema = sf.Schema(tuple(each for each in ATTRIBUTES if each.name != "town"))
    release = sf.Mondrian(k=5).publish(data, schema)
    again = reapply(release, data, schema)
    for name in ("age", "job", "disease"):
        one, other = (each.tables["records"][name].to_pylist() for each in (release, again))
        assert Counter(one) == Counter(other)
    sizes = [
        sorted(Counter(each.tables["records"]["group"].to_pylist()).values())
        for each in (release, again)
    ]
    assert sizes[0] == sizes[1]
    assert again.manifest.guarantees == release.manifest.guarantees


@pytest.mark.parametrize("seed", range(5))
def test_other_data_lie_in_the_cells_and_keep_the_claims(seed: int) -> None:
    models = (sf.LDiversity("disease", 2),)
    release = sf.Mondrian(k=8, models=models).publish(people(seed, 300), SCHEMA)
    new = people(100 + seed, 300)
    again = reapply(release, new, SCHEMA, suppression=0.9)
    assert sf.audit(again).ok
    kept = again.manifest.rows
    assert kept + again.manifest.suppressed == 300
    assert kept > 0
    assert [claim["model"] for claim in again.manifest.guarantees] == ["k-anonymity", "l-diversity"]


@given(st.integers(0, 2**32))
def test_every_record_is_somebodys(seed: int) -> None:
    release = sf.Mondrian(k=3).publish(people(seed, 60), SCHEMA)
    new = people(seed + 1, 80)
    again = reapply(release, new, SCHEMA, suppression=0.99, randomness=Randomness.test(seed))
    assert fits_somebody(again, new)


def test_cells_stay_as_they_were_where_they_cover_the_new_values() -> None:
    may = people(3, 500, missing=False)
    release = sf.Mondrian(k=10).publish(may, SCHEMA)
    half = may.slice(0, 420)
    again = reapply(release, half, SCHEMA, suppression=0.9)
    shown = {tuple(row[n] for n in ("age", "town", "job")) for row in _records(release)}
    assert {tuple(row[n] for n in ("age", "town", "job")) for row in _records(again)} <= shown


def _records(release: sf.Release) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = release.tables["records"].to_pylist()
    return rows


def test_groups_that_would_break_a_claim_are_named_and_nothing_else() -> None:
    release = sf.Mondrian(k=10).publish(people(4, 300), SCHEMA)
    with pytest.raises(Infeasible, match=r"k-anonymity would break in \d+ groups: \d+ \(\d+ rec"):
        reapply(release, people(5, 150), SCHEMA)
    one_value = people(4, 300).set_column(3, "disease", pa.array([SECRET] * 300))
    diverse = sf.Mondrian(k=10, models=(sf.LDiversity("disease", 2),)).publish(
        people(4, 300), SCHEMA
    )
    with pytest.raises(Infeasible, match="l-diversity of 'disease' would break") as caught:
        reapply(diverse, one_value, SCHEMA)
    assert SECRET not in str(caught.value)


def test_records_without_a_place_are_counted_or_withheld() -> None:
    data = people(6, 300, missing=False)
    release = sf.Mondrian(k=10).publish(data, SCHEMA)
    strange = pa.concat_tables(
        [data, data.slice(0, 3).set_column(1, "town", pa.array(["9999"] * 3))]
    )
    with pytest.raises(Infeasible, match=r"no group has a place for [123] of 303 records"):
        reapply(release, strange, SCHEMA)
    again = reapply(release, strange, SCHEMA, suppression=0.02)
    assert 1 <= again.manifest.suppressed <= 6
    assert not again.manifest.suppressed_by_value
    assert sf.audit(again).ok


@pytest.mark.parametrize("earlier", [0.0, 0.01])
def test_the_stated_share_is_that_of_the_new_policy(earlier: float) -> None:
    data = people(6, 300, missing=False)
    release = sf.Mondrian(k=10, suppression=earlier).publish(data, SCHEMA)
    assert release.manifest.parameters.get("suppression", 0) == earlier
    town = pa.array(["9999"] * 30 + data["town"].to_pylist()[30:])
    again = reapply(release, data.set_column(1, "town", town), SCHEMA, suppression=0.9)
    assert again.manifest.suppressed > 3  # more than the earlier share
    assert again.manifest.parameters["suppression"] == 0.9
    assert sf.audit(again).ok
    assert "suppression" not in reapply(release, data, SCHEMA).manifest.parameters


def test_withholding_for_a_sensitive_value_is_said() -> None:
    models = (sf.LDiversity("disease", 3),)
    release = sf.Mondrian(k=6, models=models).publish(people(7, 200), SCHEMA)
    again = reapply(release, people(8, 400), SCHEMA, suppression=0.9)
    assert again.manifest.suppressed_by_value
    assert any("not protected" in problem for problem in sf.audit(again).problems)


def test_people_with_several_rows_are_counted_once() -> None:
    data = people(9, 300).append_column("name", pa.array([n // 2 for n in range(300)]))
    schema = sf.Schema((*ATTRIBUTES, sf.Attribute("name", sf.Role.IDENTIFIER)), unit="name")
    release = sf.Mondrian(k=4).publish(data, schema)
    again = reapply(release, data, schema, suppression=0.5)
    assert sf.audit(again).ok
    alone = data.set_column(4, "name", pa.array([1] * 150 + [2] * 150))
    with pytest.raises(Infeasible, match="k-anonymity would break"):
        reapply(release, alone, schema)


def test_what_cannot_be_applied_is_refused() -> None:
    data = people(10, 200)
    release = sf.Mondrian(k=5).publish(data, SCHEMA)
    with pytest.raises(ParameterError, match=r"'job' is insensitive|'job' is not published"):
        other = tuple(
            sf.Attribute("job", sf.Role.INSENSITIVE) if each.name == "job" else each
            for each in ATTRIBUTES
        )
        reapply(release, data, sf.Schema(other))
    for method in (sf.Anatomy(l=2), sf.Merging(l=2), sf.Probabilistic(k=3, sample=0.5)):
        with pytest.raises(ParameterError, match="no cuts"):
            reapply(method.publish(data, SCHEMA), data, SCHEMA)
    with pytest.raises(ParameterError, match="`suppression` is a share"):
        reapply(release, data, SCHEMA, suppression=2)


FULL = sf.Schema(
    (
        sf.Attribute("age", sf.Role.QUASI_IDENTIFIER, hierarchy=sf.EqualWidth(width=10)),
        sf.Attribute("town", sf.Role.QUASI_IDENTIFIER, hierarchy=sf.Mask("right")),
        sf.Attribute("job", sf.Role.QUASI_IDENTIFIER),
        sf.Attribute("disease", sf.Role.SENSITIVE),
    )
)


def test_full_domain_keeps_its_levels_and_labels() -> None:
    release = sf.FullDomain(k=5, suppression=0.05).publish(people(13, 600, missing=False), FULL)
    again = reapply(release, people(14, 600, missing=False), FULL, suppression=0.2)
    assert again.manifest.parameters["levels"] == release.manifest.parameters["levels"]
    for name in ("age", "town", "job"):
        one, other = (set(each.tables["records"][name].to_pylist()) for each in (release, again))
        assert other <= one
    assert sf.audit(again).ok


def test_full_domain_keeps_labels_that_the_new_data_could_do_without() -> None:
    release = sf.FullDomain(k=5, levels={"town": 2}).publish(people(13, 600, missing=False), FULL)
    some = people(14, 600, missing=False)
    north = some.filter(pa.compute.equal(some["town"], "1011"))
    again = reapply(release, north, FULL, suppression=0.9)
    assert set(again.tables["records"]["town"].to_pylist()) == {"10**"}


def test_full_domain_names_the_groups_that_would_be_too_small() -> None:
    release = sf.FullDomain(k=5, suppression=0.05).publish(people(13, 600, missing=False), FULL)
    with pytest.raises(Infeasible, match=r"\d+ groups: .*\(\d records\)") as caught:
        reapply(release, people(15, 60, missing=False), FULL)
    assert SECRET not in str(caught.value)
    following = sf.Schema(
        (replace(FULL["age"], hierarchy=sf.Quantiles(4)), *(a for a in FULL if a.name != "age"))
    )
    release = sf.FullDomain(k=5).publish(people(13, 600, missing=False), following)
    with pytest.raises(ParameterError, match="follow the data"):
        reapply(release, people(14, 600, missing=False), following)


def test_tokens_are_those_of_the_earlier_delivery() -> None:
    key = bytes(range(32))
    schema = sf.Schema((*ATTRIBUTES, sf.Attribute("name", sf.Role.IDENTIFIER, pseudonym="person")))
    data = people(16, 200).append_column("name", pa.array([f"N{n}" for n in range(200)]))
    release = sf.Mondrian(k=4).publish(data, schema, key=key)
    again = reapply(release, data, schema, suppression=0.5, key=key)
    one, other = (set(each.tables["records"]["name"].to_pylist()) for each in (release, again))
    assert other <= one
    assert sf.audit(again).ok
    with pytest.raises(ParameterError, match="give a key"):
        reapply(release, data, schema, suppression=0.5)


def test_the_command_publishes_or_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(people(11, 600), "may.csv")
    write_csv(people(12, 600), "june.csv")
    text = """
attributes:
  age: {role: quasi-identifier}
  town: {role: quasi-identifier, hierarchy: {mask: right}}
  job: {role: quasi-identifier}
  disease: {role: sensitive, l: 2}
method: {name: mondrian, k: 30}
"""
    Path("strict.yaml").write_text(text)
    assert run(["anonymize", "may.csv", "--policy", "strict.yaml", "--out", "may"]) == 0
    refused = run(["apply", "may", "june.csv", "--policy", "strict.yaml", "--out", "june"])
    captured = capsys.readouterr()
    assert refused == 2
    assert "groups" in captured.err
    assert SECRET not in captured.err
    assert not Path("june").exists()
    Path("loose.yaml").write_text(text.replace("k: 30", "k: 30, suppression: 0.8"))
    arguments = ["apply", "may", "june.csv", "--policy", "loose.yaml", "--out", "june"]
    assert run([*arguments, "--record", "run.json", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] + told["suppressed"] == 600
    assert len(json.loads(Path("run.json").read_text())["suppressed_rows"]) == told["suppressed"]
    assert run(["audit", "june"]) == 0


# --- data and policies that are not those of the release ------------------------------------------

POLICY = """
attributes:
  age: {role: quasi-identifier}
  disease: {role: sensitive}
method: {name: mondrian, k: 2, suppression: 0.4}
"""


def table_of(ages: list[object]) -> str:
    return "age,disease\n" + "".join(f"{age},d{n % 3}\n" for n, age in enumerate(ages))


@pytest.fixture
def may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with May's release, whose groups have the ages 20 to 21, 22 to 23, …"""
    monkeypatch.chdir(tmp_path)
    Path("p.yaml").write_text(POLICY)
    Path("may.csv").write_text(table_of([20, 21, 22, 23, 30, 31, 32, 33]))
    assert run(["anonymize", "may.csv", "--policy", "p.yaml", "--out", "may"]) == 0
    return tmp_path


def applied_to(ages: list[object], policy: str = POLICY) -> int:
    Path("june.csv").write_text(table_of(ages))
    Path("q.yaml").write_text(policy)
    return run(["apply", "may", "june.csv", "--policy", "q.yaml", "--out", "june", "--json"])


def test_ranges_may_end_at_values_that_nobody_has_now(
    may: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert applied_to([20, 20, 22, 22, 30, 30]) == 0
    assert json.loads(capsys.readouterr().out)["ncp"]["mean"] == pytest.approx(1 / 11)
    records = pa.parquet.read_table("june/records.parquet")
    assert set(records["age"].to_pylist()) == {"[20, 21]", "[22, 23]", "[30, 31]"}
    assert run(["utility", "june", "--original", "june.csv"]) == 0


def test_what_cannot_be_measured_is_not_written(may: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ParameterError("no measure")

    monkeypatch.setattr("sfumato.jobs.apply.ncp", fails)
    assert applied_to([20, 20, 22, 22, 30, 30]) == 2
    assert not Path("june").exists()


def test_columns_of_another_type_are_refused(may: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert applied_to(["x20", "x20", "x22", "x22"]) == 2
    assert "column 'age' holds string and is int64 in the earlier" in capsys.readouterr().err
    assert applied_to([20.5, 20.5, 22, 22]) == 2
    assert "'age' holds double and is int64" in capsys.readouterr().err
    assert not Path("june").exists()
    assert applied_to([20.0, 20.0, 22, 22]) == 0
    records = pa.parquet.read_table("june/records.parquet")
    assert set(records["age"].to_pylist()) == {"[20, 21]", "[22, 23]"}


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (pa.int64(), pa.int8()),
        (pa.float64(), pa.int64()),
        (pa.float32(), pa.float64()),
        (pa.decimal128(9, 2), pa.int32()),
        (pa.int16(), pa.dictionary(pa.int8(), pa.float64())),
        (pa.int64(), pa.null()),
    ],
)
def test_harmless_differences_of_types_pass(before: pa.DataType, now: pa.DataType) -> None:
    schema = sf.Schema.of(age="quasi-identifier", disease="sensitive")

    def table(ages: list[int | None], dtype: pa.DataType) -> pa.Table:
        plain = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
        own = (
            pa.array(ages, pa.int64()).cast(pa.string()).cast(plain)
            if plain != pa.null()
            else (pa.nulls(len(ages)))
        )
        if pa.types.is_dictionary(dtype):
            own = own.dictionary_encode()
        return pa.table({"age": own, "disease": list("abcdefgh")[: len(ages)]})

    first = sf.Mondrian(k=2).publish(table([20, 21, 22, 23, None, None], before), schema)
    again = reapply(first, table([20, 20, 23, 23, None, None], now), schema)
    assert again.manifest.suppressed == 0
    if not pa.types.is_null(now):
        assert again.manifest.attributes[0].type == str(before)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("mondrian", "full-domain", "made by mondrian and the policy is for full-domain"),
        ("k: 2", "k: 3", "does not claim the k-anonymity that the policy asks for"),
        ("sensitive}", "sensitive, l: 2}", "does not claim the l-diversity of 'disease'"),
    ],
)
def test_a_policy_that_asks_for_something_else_is_refused(
    may: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, told: str
) -> None:
    assert applied_to([20, 20, 22, 22], POLICY.replace(old, new)) == 2
    assert told in capsys.readouterr().err
    assert not Path("june").exists()


def test_what_the_release_claims_is_kept_under_a_policy_that_asks_for_less(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.yaml").write_text(
        POLICY.replace("k: 2", "k: 4").replace("sensitive}", "sensitive, l: 2}")
    )
    Path("may.csv").write_text(table_of([20, 21, 22, 23, 30, 31, 32, 33]))
    assert run(["anonymize", "may.csv", "--policy", "p.yaml", "--out", "may"]) == 0
    capsys.readouterr()
    assert applied_to([20, 20, 22, 22, 30, 30]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [(each["model"], each.get("k")) for each in made["guarantees"]] == [
        ("k-anonymity", 4),
        ("l-diversity", None),
    ]
    assert made["suppressed"] == 2
    assert any("asks for less than the earlier release claims" in each for each in made["warnings"])


def test_fixed_levels_are_those_of_the_release(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = POLICY.replace("quasi-identifier}", "quasi-identifier, hierarchy: {width: 5}}")
    text = text.replace("mondrian, k: 2", "full-domain, k: 2, levels: {age: 1}")
    Path("p.yaml").write_text(text)
    Path("may.csv").write_text(table_of([20, 21, 22, 23, 30, 31, 32, 33]))
    assert run(["anonymize", "may.csv", "--policy", "p.yaml", "--out", "may"]) == 0
    assert applied_to([20, 21, 22, 23], text.replace("{age: 1}", "{age: 0}")) == 2
    assert "another level than the earlier release" in capsys.readouterr().err


@pytest.mark.parametrize("out", ["may", "may/june", "."])
def test_the_release_that_is_read_is_not_replaced(
    may: Path, capsys: pytest.CaptureFixture[str], out: str
) -> None:
    before = sorted((path.name, path.read_bytes()) for path in Path("may").iterdir())
    arguments = ["apply", "may", "may.csv", "--policy", "p.yaml", "--out", out, "--force"]
    assert run(arguments) == 2
    assert sorted((path.name, path.read_bytes()) for path in Path("may").iterdir()) == before


def test_cells_of_local_suppression_stay_exact_or_withheld() -> None:
    names = ("age", "town", "job")
    plain = sf.Schema(tuple(replace(each, hierarchy=None) for each in ATTRIBUTES))
    young = people(17, 200, missing=False)
    young = young.set_column(0, "age", pa.array([n % 5 for n in range(200)], pa.int32()))
    release = sf.LocalSuppression(k=3).publish(young, plain)
    new = people(18, 200, missing=False)
    new = new.set_column(0, "age", pa.array([n % 7 for n in range(200)], pa.int32()))
    again = reapply(release, new, plain, suppression=0.95)
    assert sf.audit(again).ok
    values = {name: {str(each) for each in new[name].to_pylist()} for name in names}
    shown = Counter(name for row in _records(again) for name in names if row[name] == "*")
    for row in _records(again):
        assert all(row[name] == "*" or str(row[name]) in values[name] for name in names)
    counted = again.manifest.parameters["suppressed_cells"]
    assert isinstance(counted, dict)
    assert counted == {"total": shown.total(), "by": {name: shown[name] for name in names}}


def test_categories_keep_the_order_of_the_release() -> None:
    order = ["small", "medium", "large", "huge"]
    schema = sf.Schema.of(size="quasi-identifier", disease="sensitive")

    def table(sizes: list[int], categories: list[str]) -> pa.Table:
        size = pa.DictionaryArray.from_arrays(pa.array(sizes), categories, ordered=True)
        return pa.table({"size": size, "disease": [f"d{n}" for n in range(len(sizes))]})

    release = sf.Mondrian(k=2).publish(table([0, 1, 2, 3], order), schema)
    again = reapply(release, table([0, 0, 1, 1], ["small", "huge"]), schema)
    assert {row["size"] for row in _records(again)} == {"[small, medium]", "[large, huge]"}
    more = reapply(release, table([4, 4, 0, 0], [*order, "vast"]), schema, suppression=0.5)
    shown = {row["size"] for row in _records(more)}  # what is not listed may be in any group
    assert shown <= {"[small, medium]", "[large, vast]", "[small, vast]"}
    with pytest.raises(ParameterError, match="orders its values otherwise"):
        reapply(release, table([0, 0, 1, 1], ["small", "new"]), schema)
