"""`sfumato report`: a file for one audience, refusals, and nothing private in the public one."""

from __future__ import annotations

import json
import stat

import pytest

from cli.cli_files import SECRET, write_policy

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

RUN = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out", "release")


@pytest.fixture
def released(place, sfumato):
    assert sfumato(*RUN)[0] == 0
    return place


def test_a_public_report(released, sfumato):
    code, out, err = sfumato("report", "release", "--audience", "public", "--out", "public.html")
    assert (code, err) == (0, [])
    assert out == "wrote public.html, for the public\nthe audit passed\n"
    html = (released / "public.html").read_text("utf-8")
    assert html.startswith("<!DOCTYPE html>")
    assert f"{SECRET}-1" not in html  # a name, which is not published
    assert str(released) not in html
    assert stat.S_IMODE((released / "public.html").stat().st_mode) & 0o044


def test_a_stewards_report_is_for_its_owner(released, sfumato):
    code, out, err = sfumato(
        "report", "release", "--original", "data.csv", "--policy", "policy.yaml", "--title", "<T>",
        "--json",
    )  # fmt: skip
    assert (code, err) == (0, [])
    told = json.loads(out)
    assert told.keys() == {"report", "audience", "audit_ok", "risks", "undone"}
    assert (told["report"], told["audience"], told["audit_ok"]) == ("report.html", "steward", True)
    html = (released / "report.html").read_text("utf-8")
    assert "<h1>&lt;T&gt;</h1>" in html
    assert "For the steward only" in html
    assert f"{SECRET}-1<" not in html  # an identifier is in no chart
    assert stat.S_IMODE((released / "report.html").stat().st_mode) == 0o600


def test_a_file_that_is_there_stays(released, sfumato):
    public = ("report", "release", "--audience", "public", "--out", "page.html")
    (released / "page.html").write_text("mine")
    code, _, err = sfumato(*public)
    assert (code, err) == (2, ["error: 'page.html' exists; use --force to replace it"])
    code, _, err = sfumato(*public, "--force")
    assert code == 2
    assert "another kind of file" in err[0]
    (released / "page.html").write_text("<!DOCTYPE html>old")
    assert sfumato(*public, "--force")[0] == 0
    assert "Guarantees" in (released / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--audience", "public", "--original", "data.csv"), "leave the original out"),
        (("--policy", "policy.yaml"), "give the original, too"),
        (("--audience", "all"), "'steward', 'public'"),
        (("--original", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_refusals_are_one_line(released, sfumato, arguments, said):
    code, out, err = sfumato("report", "release", *arguments)
    assert (code, out, len(err)) == (2, "", 1)
    assert said in err[0]
    assert not (released / "report.html").exists()


def test_a_damaged_release_has_no_report(released, sfumato):
    (released / "release" / "manifest.json").write_text("{}")
    code, _, err = sfumato("report", "release")
    assert (code, len(err)) == (2, 1)
    assert not (released / "report.html").exists()


LINKED = """
unit: name
tables:
  people:
    attributes:
      name:    {role: identifier}
      age:     {role: quasi-identifier}
      sex:     {role: quasi-identifier}
      disease: {role: sensitive, l: 2}
  visits:
    attributes:
      name:    {role: identifier}
      ward:    {role: quasi-identifier}
method: {name: mondrian, k: 3}
"""


def test_linked_tables_and_their_tokens(place, sfumato):
    rows = [f"{SECRET}-{n // 2},{'ABC'[n % 3]}" for n in range(48)]
    (place / "visits.csv").write_text("\n".join(["name,ward", *rows]) + "\n")
    (place / "linked.yaml").write_text(LINKED)
    (place / "key").write_bytes(bytes(range(60, 100)))
    (place / "key").chmod(0o600)
    asked = ("link", "people=data.csv", "visits=visits.csv", "--policy", "linked.yaml")
    assert sfumato(*asked, "--out", "linked", "--key-file", "key")[0] == 0
    for name, data in (("people", "data.csv"), ("visits", "visits.csv")):
        page = f"{name}.html"
        code, _, err = sfumato("report", f"linked/{name}", "--original", data, "--out", page)
        assert (code, err) == (0, [])
        html = (place / page).read_text("utf-8")
        assert "pseudonymised" in html
        assert "Linked tables are protected together" in html


def test_weights_and_households(place, sfumato):
    rows = [
        f"{n},{20 + n},{'FM'[n % 2]},{('Flu', 'Cold', 'Gout')[n // 2 % 3]},{1 + n % 5},{n // 2}"
        for n in range(40)
    ]
    header = "name,age,sex,disease,w,home"
    (place / "data.csv").write_text("\n".join([header, *rows]) + "\n")
    write_policy(place, more="weight: w\nhousehold: home")
    assert sfumato(*RUN)[0] == 0
    code, _, err = sfumato("report", "release", "--original", "data.csv")
    assert (code, err) == (0, [])
    html = (place / "report.html").read_text("utf-8")
    assert "Guarantees count households, not people." in html
    assert "Records have weights" in html
    assert "groups, by households" in html
