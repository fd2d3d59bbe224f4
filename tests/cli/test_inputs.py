"""Workbooks, SPSS files and ARX folders on the command line: from a draft to an audit."""

from __future__ import annotations

import json
import sys

import pandas as pd
import pyreadstat
import pytest
import xlsxwriter

from cli.cli_files import SECRET

PAIN = {1.0: "none", 2.0: "mild", 3.0: "bad"}


@pytest.fixture
def book(place):
    """A workbook with the patients in one sheet and notes in another."""
    workbook = xlsxwriter.Workbook(place / "data.xlsx")
    sheet = workbook.add_worksheet("Ward 3")
    lines = (place / "data.csv").read_text().splitlines()
    for row, line in enumerate(lines):
        for column, cell in enumerate(line.split(",")):
            sheet.write(row, column, int(cell) if cell.isdigit() else cell)
    workbook.add_worksheet("Notes").write(0, 0, SECRET)
    workbook.close()
    return "data.xlsx#Ward 3"


def test_a_sheet_from_a_draft_to_an_audit(book, sfumato):
    code, out, err = sfumato("init", book, "-o", "draft.yaml")
    assert (code, err) == (0, [])
    assert "sfumato anonymize 'data.xlsx#Ward 3' --policy draft.yaml" in out
    assert sfumato("check", book, "--policy", "policy.yaml")[0] == 0
    run = ("anonymize", book, "--policy", "policy.yaml", "--out", "release")
    code, out, err = sfumato(*run)
    assert (code, err) == (0, [])
    assert "24 rows" in out
    assert sfumato("audit", "release")[0] == 0


def test_several_sheets_are_refused_in_one_line(book, sfumato):
    code, out, err = sfumato("init", "data.xlsx", "-o", "draft.yaml")
    assert (code, out, len(err)) == (2, "", 1)
    assert "'Ward 3', 'Notes'" in err[0]
    assert SECRET not in err[0]


def test_a_missing_reader_is_told_with_its_command(book, sfumato, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    code, out, err = sfumato("init", book, "-o", "draft.yaml")
    assert (code, out, len(err)) == (2, "", 1)
    assert "pip install 'sfumato[excel]'" in err[0]


def test_labels_of_spss_reach_the_release_and_the_draft(place, sfumato):
    rows = range(24)
    frame = pd.DataFrame(
        {
            "age": [float(20 + n) for n in rows],
            "pain": [float(1 + n // 8) for n in rows],
            "disease": [float(1 + n % 4) for n in rows],
        }
    )
    diseases = {1.0: "Flu", 2.0: "Fever", 3.0: "HIV", 4.0: "Angina"}
    pyreadstat.write_sav(
        frame,
        "data.sav",
        column_labels={"pain": "How much\ndoes it hurt?"},
        variable_value_labels={"pain": PAIN, "disease": diseases},
        variable_measure={"pain": "ordinal", "disease": "nominal"},
    )
    assert sfumato("init", "data.sav", "-o", "draft.yaml")[0] == 0
    text = (place / "draft.yaml").read_text()
    assert '  # "How much?does it hurt?": ' in text
    assert "pain: {role: quasi-identifier, kind: ordinal" in text
    run = ("anonymize", "data.sav", "--policy", "draft.yaml", "--out", "release")
    assert sfumato(*run, "--format", "csv")[0] == 0
    assert sfumato("audit", "release")[0] == 0
    released = (place / "release" / "records.csv").read_text()
    assert "Angina" in released
    manifest = json.loads((place / "release" / "manifest.json").read_text())
    (pain,) = (each for each in manifest["attributes"] if each["name"] == "pain")
    assert pain["kind"] == "ordinal"


def test_from_arx(place, sfumato):
    (place / "arx").mkdir()
    lines = [f"{age};[{age // 10 * 10}, {age // 10 * 10 + 10}[;*" for age in range(20, 43)]
    (place / "arx" / "data_hierarchy_age.csv").write_text("\n".join(lines))
    (place / "arx" / "data_hierarchy_shoes.csv").write_text(f"{SECRET};*\n")
    code, _, err = sfumato("init", "data.csv", "--from-arx", "arx", "-o", "draft.yaml")
    assert code == 0
    assert [line.partition(";")[0] for line in err] == [
        "warning: no column of the data belongs to data_hierarchy_shoes.csv",
        "warning: column 'age': 1 of its 24 values have no entry in data_hierarchy_age.csv",
    ]
    assert 'hierarchy: "arx/data_hierarchy_age.csv"' in (place / "draft.yaml").read_text()
    code, out, _ = sfumato("check", "data.csv", "--policy", "draft.yaml")
    assert code == 1
    assert "without an entry in its hierarchy (1):\n  43\n" in out
    code, out, err = sfumato("init", "data.csv", "--from-arx", "none", "-o", "other.yaml")
    assert (code, out, len(err)) == (2, "", 1)
