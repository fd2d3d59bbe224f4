"""Bad input through the real command: exit 2, one line, no cell, nothing left behind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.cli_files import SECRET, write_policy

COMMAND = [sys.executable, "-c", "from sfumato.cli import main; main()"]
RUN = ["anonymize", "data.csv", "--policy", "policy.yaml", "--out", "release"]


def nothing(place: Path) -> None:
    """Leave all as it is."""


def content(text: bytes) -> Callable[[Path], None]:
    """Return a change of the data file."""
    return lambda place: (place / "data.csv").write_bytes(text) and None


def rules(*arguments: str, **attributes: str) -> Callable[[Path], None]:
    """Return a change of the policy."""
    return lambda place: write_policy(place, *arguments, **attributes)


def bad_hierarchy(place: Path) -> None:
    (place / "age.csv").write_bytes(f"20;{SECRET}\xff\n".encode("latin-1"))
    write_policy(place, age="{role: quasi-identifier, hierarchy: age.csv}")


def short_hierarchy(place: Path) -> None:
    (place / "sex.csv").write_text("Male;*\nFemale;*\n")
    write_policy(place, sex="{role: quasi-identifier, hierarchy: sex.csv}")


def parquet(place: Path, column: pa.Array) -> None:
    others = {name: ["x"] for name in ("name", "sex", "disease")}
    pq.write_table(pa.table({**others, "age": column}), place / "data.parquet")


def bad_texts(place: Path) -> None:
    parquet(place, pa.array([f"{SECRET}\xff".encode("latin-1")]).view(pa.string()))


def unknown_zone(place: Path) -> None:
    parquet(place, pa.array([0], pa.timestamp("us", "Mars/Phobos")))


CASES: dict[str, tuple[Callable[[Path], object], list[str], str]] = {
    "missing file": (lambda place: (place / "data.csv").unlink(), RUN, "no such file"),
    "empty file": (content(b""), RUN, "the file is empty"),
    "ragged CSV": (content(f"a,b\n1,2\n{SECRET}\n".encode()), RUN, "the first on line 3"),
    "wrong encoding": (content(f"a,b\n{SECRET},é\n".encode("latin-1")), RUN, "not UTF-8"),
    "duplicate column names": (content(f"a,a\n1,{SECRET}\n".encode()), RUN, "more than once"),
    "column that is not there": (rules(agee="{role: quasi-identifier}"), RUN, "did you mean 'age'"),
    "k < 1": (rules("{name: mondrian, k: 0}"), RUN, "`k` must be a whole number of at least 1"),
    "k > rows": (rules("{name: mondrian, k: 25}"), RUN, "use k <= 24"),
    "l too large": (rules(disease="{role: sensitive, l: 5}"), RUN, "largest feasible l is 4"),
    "l too large for anatomy": (
        rules("{name: anatomy, l: 5}", disease="{role: sensitive}"),
        RUN,
        "largest feasible l is 4",
    ),
    "distinct l too large": (
        rules(disease="{role: sensitive, l: 5, variant: distinct}"),
        RUN,
        "has 4 different values",
    ),
    "unreadable hierarchy": (bad_hierarchy, RUN, "line 1 is not UTF-8"),
    "values without an entry": (short_hierarchy, RUN, "2 of 2 values have no entry"),
    "no policy": (lambda place: (place / "policy.yaml").unlink(), RUN, "no such file"),
    "no YAML": (lambda place: (place / "policy.yaml").write_text("a: [1"), RUN, "not YAML"),
    "no Parquet": (nothing, [*RUN, "--engine", "spark"], "reads Parquet files"),
    "no such option": (nothing, [*RUN, "--polcy", "x"], "No such option"),
    "no such command": (nothing, ["anonymise"], "anonymize"),
    "a release that is none": (nothing, ["audit", "nowhere"], "is not the folder of a release"),
    **{
        f"{words} of {command}": (change, [command, "data.parquet", *more], words)
        for change, words in ((bad_texts, "not UTF-8"), (unknown_zone, "time zone"))
        for command, more in (
            ("anonymize", RUN[2:]),
            ("risk", ["--policy", "policy.yaml"]),
            ("init", ["--out", "draft.yaml"]),
        )
    },
    "a short seed": (nothing, [*RUN, "--seed-file", "policy.yaml.seed"], "cannot be read"),
}


@pytest.mark.parametrize("case", CASES)
def test_one_line_and_nothing_left(place, case):
    change, arguments, expected = CASES[case]
    change(place)
    before = sorted(path.name for path in place.iterdir())
    result = subprocess.run(
        [*COMMAND, *arguments], cwd=place, capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("error: ")
    assert expected in lines[0]
    assert SECRET not in lines[0]
    assert sorted(path.name for path in place.iterdir()) == before


def test_an_existing_output_folder_stays_as_it_is(place):
    (place / "release").mkdir()
    (place / "release" / "thesis.txt").write_text("years of work")
    for more in ([], ["--force"]):
        result = subprocess.run(
            [*COMMAND, *RUN, *more], cwd=place, capture_output=True, text=True, check=False
        )
        assert result.returncode == 2
        assert len(result.stderr.splitlines()) == 1
    assert [path.name for path in (place / "release").iterdir()] == ["thesis.txt"]


def test_help_is_light():
    probe = (
        "import sys; from sfumato.cli.app import run; run(['--help']); "
        "print([m for m in ('numpy', 'polars', 'pyarrow', 'numba', 'yaml') if m in sys.modules],"
        " file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    )
    assert "anonymize" in result.stdout
    assert result.stderr.splitlines()[-1] == "[]"


def test_output_into_a_closed_pipe_is_no_fault(place):
    command = " ".join(f"'{part}'" for part in [*COMMAND, "init", "data.csv", "-o", "-"])
    result = subprocess.run(
        ["bash", "-c", f"{command} | true; echo ${{PIPESTATUS[0]}}"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stderr == ""
    assert result.stdout.strip() in {"0", "141"}
