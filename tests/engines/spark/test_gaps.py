"""What the engine does not know, it refuses before anything is started, and says what to do."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from sfumato.engines.spark import anonymize as engine
from sfumato.engines.spark import session
from sfumato.engines.spark.anonymize import anonymize
from sfumato.engines.spark.dictionaries import RawValues
from sfumato.engines.spark.gaps import GAPS
from sfumato.engines.spark.pieces import listed
from sfumato.errors import EngineUnavailable, InputError, ParameterError
from sfumato.methods import METHODS, Method

from .conftest import QUASI, people

MONDRIAN = QUASI % ("", "{name: mondrian, k: 4}")
ASKING = {
    "unit": MONDRIAN + "unit: name\n",
    "household": MONDRIAN.replace("  hide: {role: insensitive}\n", "") + "household: hide\n",
    "weight": MONDRIAN.replace("  hide: {role: insensitive}\n", "") + "weight: hide\n",
    "pseudonym": MONDRIAN.replace("{role: identifier}", "{role: identifier, pseudonym: true}"),
    "shift": MONDRIAN.replace(
        "age: {role: quasi-identifier}",
        "age: {role: quasi-identifier, recode: {shift: {days: 30}}}",
    ),
    "on_infeasible: suppress": QUASI % (", l: 3", "{name: anatomy}") + "on_infeasible: suppress\n",
    "max_level": MONDRIAN.replace("hierarchy: town.csv", "hierarchy: town.csv, max_level: 1"),
    "max_width": MONDRIAN.replace(
        "age: {role: quasi-identifier}", "age: {role: quasi-identifier, max_width: 20}"
    ),
}


def test_every_gap_has_a_policy_here():
    assert [gap.key for gap in GAPS] == list(ASKING)


@pytest.fixture
def no_session(monkeypatch):
    """Fail where a session is asked for, a new or an active one: a refusal must come before."""

    def asked(*_):
        raise AssertionError("Spark was started")

    monkeypatch.setattr(engine, "spark_session", asked)


@pytest.mark.parametrize("key", ASKING)
def test_a_gap_is_refused_with_advice(no_session, written, tmp_path, key):
    data, policy = written(ASKING[key])
    with pytest.raises(EngineUnavailable, match="leave out --engine spark") as refused:
        anonymize(data, policy, tmp_path / "release")
    assert f"`{key}`" in str(refused.value)
    assert not (tmp_path / "release").exists()


def test_a_method_that_cannot_be_split_is_refused_before_anything_starts(
    no_session, written, tmp_path
):
    data, policy = written(QUASI % ("", "{name: full-domain, k: 4}"))
    with pytest.raises(EngineUnavailable, match="full-domain runs on one machine"):
        anonymize(data, policy, tmp_path / "release")


def test_csv_is_refused_unless_parquet_is_asked_for(no_session, written, tmp_path):
    data, policy = written(MONDRIAN + "output: {format: csv}\n")
    with pytest.raises(EngineUnavailable, match="parquet"):
        anonymize(data, policy, tmp_path / "release")
    with pytest.raises(EngineUnavailable, match="--format csv"):
        anonymize(data, policy, tmp_path / "release", format="csv")


def test_other_files_are_refused(no_session, written, tmp_path):
    _, policy = written("mondrian")
    data = tmp_path / "people.csv"
    data.write_text("age\n33\n")
    with pytest.raises(EngineUnavailable, match="Parquet"):
        anonymize(data, policy, tmp_path / "release")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="not a Parquet file"):
        listed(broken)


def test_small_shards_are_refused(no_session, written, tmp_path):
    data, policy = written("mondrian")
    with pytest.raises(ParameterError, match="--shard-rows"):
        anonymize(data, policy, tmp_path / "release", shard_rows=10)


def test_without_pyspark_or_java_there_is_advice(monkeypatch, written, tmp_path):
    data, policy = written("mondrian")
    monkeypatch.setattr(session, "find_spec", lambda name: None)
    with pytest.raises(EngineUnavailable, match=r"pip install 'sfumato\[spark\]'"):
        anonymize(data, policy, tmp_path / "release")
    monkeypatch.setattr(session, "find_spec", lambda name: object())
    monkeypatch.setattr(session.shutil, "which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(EngineUnavailable, match="Java"):
        anonymize(data, policy, tmp_path / "release")


SPLIT = {"mondrian", "anatomy", "arp", "slppa", "merging", "lgb", "sensitive-qid"}


def test_methods_that_run_on_one_machine_only_say_so():
    """The table of docs/spark.md: which methods can be split."""
    able = {name for name, method in METHODS.items() if method.splitting is not Method.splitting}
    assert able == SPLIT


def test_a_dictionary_column_keeps_its_type():
    values = RawValues(pa.array(["a", "b"]), pa.array([1, 1, 0]).to_numpy())
    dtype = pa.dictionary(pa.int8(), pa.string())
    assert values.cells(dtype).type == dtype
    assert values.cells(dtype).to_pylist() == ["a", "b"]


def test_an_order_of_categories_that_only_the_rows_tell_is_refused(no_session, written, tmp_path):
    data, policy = written(MONDRIAN)
    table = people(100)
    jobs = pa.array(["nurse", "cook", "clerk", "smith", "judge"])
    codes = pc.index_in(table["job"], jobs).combine_chunks()
    column = pa.DictionaryArray.from_arrays(codes, jobs, ordered=True)
    at = table.column_names.index("job")
    pq.write_table(table.set_column(at, "job", column), data)
    with pytest.raises(EngineUnavailable, match="order of the categories of 'job'"):
        anonymize(data, policy, tmp_path / "release")
    stated = "job: {role: quasi-identifier, order: [nurse, cook, clerk, smith, judge]}"
    policy.write_text(MONDRIAN.replace("job: {role: quasi-identifier}", stated))
    with pytest.raises(AssertionError, match="Spark was started"):
        anonymize(data, policy, tmp_path / "release")
