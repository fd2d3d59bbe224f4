"""What goes wrong in a task is told without a value, once, and leaves nothing behind."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.spark import coding, dictionaries, pieces
from sfumato.engines.spark.anonymize import anonymize
from sfumato.engines.spark.exchange import each_task, exchange
from sfumato.errors import EngineUnavailable, Infeasible, InputError, SchemaError

from .conftest import QUASI, people

SECRET = "a cell that nobody may see"


def test_a_refusal_in_a_task_is_raised_once_and_as_it_is(spark, tmp_path):
    session, _ = spark
    tries = tmp_path / "tries"

    def refuse(task):
        with tries.open("a") as file:
            file.write(".")
        raise SchemaError("column 'age' is not there")

    with pytest.raises(SchemaError, match=r"^column 'age' is not there$"):
        each_task(session, 1, refuse)
    assert tries.read_text() == "."


def test_a_refusal_while_rows_are_handed_out_is_raised(spark):
    session, _ = spark

    def hand_out(task):
        yield 0, pa.table({"a": [1]})
        raise SchemaError("not this one")

    with pytest.raises(SchemaError, match="not this one"):
        exchange(session, 2, hand_out, 2, lambda bucket, parts: sum(p.num_rows for p in parts))


def test_a_failure_is_told_without_a_value(spark, capfd):
    session, _ = spark

    def fail(task):
        raise ValueError(SECRET)

    with pytest.raises(EngineUnavailable, match="Spark gave up a job") as told:
        each_task(session, 1, fail)
    assert SECRET not in str(told.value)
    said = capfd.readouterr()
    assert SECRET not in said.out + said.err


def test_rows_are_neither_lost_nor_doubled_on_their_way(spark):
    session, _ = spark

    def hand_out(task):
        for bucket in range(3):
            yield bucket, pa.table({"row": [task * 10 + bucket, task * 10 + bucket + 5]})

    found = exchange(
        session,
        4,
        hand_out,
        3,
        lambda b, parts: sorted(x for p in parts for x in p["row"].to_pylist()),
    )
    assert found == [sorted(t * 10 + b + s for t in range(4) for s in (0, 5)) for b in range(3)]


@pytest.mark.parametrize(
    ("name", "message"),
    [("repeated", "repeats in 1 of 100 rows"), ("missing", "is missing in 1 of 100 rows")],
)
def test_rows_that_are_not_people_are_refused(spark, small_tasks, written, tmp_path, name, message):
    _, policy = written("mondrian")
    table = people(100)
    names = table["name"].to_pylist()
    names[70] = names[3] if name == "repeated" else None
    table = table.set_column(0, "name", pa.array(names))
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=30)
    with pytest.raises(SchemaError, match=message):
        anonymize(tmp_path / "people.parquet", policy, tmp_path / "release")
    assert not (tmp_path / "release").exists()
    assert not list(tmp_path.glob(".release*"))


def test_what_has_no_solution_is_refused_as_by_the_local_engine(
    spark, small_tasks, written, tmp_path
):
    data, policy = written(QUASI % (", l: 8", "{name: anatomy}"), rows=200)
    with pytest.raises(Infeasible):
        anonymize(data, policy, tmp_path / "release", shard_rows=50)
    assert not list(tmp_path.glob(".release*"))


def test_more_values_than_a_driver_should_hold_are_refused(
    spark, small_tasks, written, tmp_path, monkeypatch
):
    data, policy = written("mondrian", rows=200)
    monkeypatch.setattr(dictionaries, "MOST_VALUES", 20)
    with pytest.raises(EngineUnavailable, match="different values together"):
        anonymize(data, policy, tmp_path / "release")


def test_data_that_change_on_the_way_are_refused(written):
    recoded = coding.Recoded(pa.array(["a"]), pa.array(["a", None]), None)
    table = coding.TableCoding(None, {}, {"job": recoded}, ("job",))
    with pytest.raises(coding.InputError, match="has changed"):
        table._coded(pa.table({"job": ["b"]}))


def test_a_file_that_is_replaced_between_two_readings_is_refused(written):
    data, _ = written("mondrian", rows=100)
    source = pieces.listed(data)
    assert sum(rows.num_rows for rows in source.read(0, ["age"])) == 100
    # as many rows and the same values, in which two people have one name
    names = people(100)["name"].to_pylist()
    again = people(100).set_column(0, "name", pa.array([names[1], *names[1:]]))
    pq.write_table(again, data, row_group_size=300)
    with pytest.raises(InputError, match="changed while it was read"):
        next(source.read(0, ["age"]))
    data.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        next(source.read(0, ["age"]))
