"""The benchmark of scaling: its data can be made again, and a run says what it took."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import big_data, scaling
from sfumato.io.read import open_table, read_table
from sfumato.jobs.check import check

ROWS = 3_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("big") / str(ROWS)
    big_data.main([str(place), "--rows", str(ROWS)])
    return place


def test_a_smaller_table_is_the_beginning_of_a_larger_one(folder, tmp_path, monkeypatch):
    table = read_table(folder / big_data.DATA)
    assert (table.num_rows, table.num_columns) == (ROWS, 9)
    monkeypatch.setattr(big_data, "BATCHES_A_PART", 1)
    big_data.write_data((1 << 18) + 5, tmp_path / "more")
    assert sorted(path.name for path in (tmp_path / "more").iterdir()) == [
        "part-00000.parquet",
        "part-00001.parquet",
    ]
    more = open_table(tmp_path / "more")
    assert more.num_rows == (1 << 18) + 5
    for name in more.column_names:
        assert more[name].slice(0, ROWS).to_pylist() == table[name].to_pylist()
    assert not any(pa.types.is_dictionary(field.type) for field in more.schema)


@pytest.mark.parametrize("method", big_data.METHODS)
def test_the_policies_fit_the_data(folder, method):
    assert check(folder / big_data.DATA, folder / f"{method}.yaml").problems == ()


def test_a_run_is_measured_kept_and_shown(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(scaling, "_WARM_ROWS", 500)
    run = scaling.measure("anatomy", folder)
    assert (run["rows"], run["method"]) == (ROWS, "anatomy")
    assert run["peak_bytes"] == max(run["stage_peak_bytes"].values()) > 0
    assert set(run["stage_peak_bytes"]) == set(run["stage_seconds"])
    out = tmp_path / "scaling.json"
    scaling.keep(run, out)
    scaling.keep({**run, "seconds": 7.0}, out)
    (kept,) = json.loads(out.read_text())["runs"]
    assert kept["seconds"] == 7.0
    scaling.keep({**run, "engine": "spark"}, out)
    scaling.main(["--table", "--out", str(out)])
    assert capsys.readouterr().out.count("anatomy") == 1
    assert {path.name for path in folder.parent.iterdir()} == {str(ROWS)}  # nothing is left over


def test_files_are_plain_parquet(folder):
    (part,) = (folder / big_data.DATA).iterdir()
    assert pq.ParquetFile(part).metadata.num_rows == ROWS
