"""Link: files and a policy in, a folder of releases out, all of them or none."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from oracles.linked import rows_by_token, smallest_crowd
from oracles.release import read_release

from sfumato.audit import audit
from sfumato.audit.joined import joined_view
from sfumato.errors import Infeasible, InputError, ParameterError, SchemaError, SfumatoError
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.link import link, linked_policies
from sfumato.randomness import Randomness
from sfumato.release import Release

KEY = bytes(range(7, 47))
SECRET = "Zaugg-7f3a"
PEOPLE = 40
POLICY = """
unit: patient
tables:
  patients:
    attributes:
      patient: {role: identifier}
      age:     {role: quasi-identifier}
      town:    {role: quasi-identifier, kind: categorical, hierarchy: {mask: right}}
      disease: {role: sensitive, l: 2, variant: distinct}
  visits:
    unit: who
    attributes:
      who:     {role: identifier}
      ward:    {role: quasi-identifier}
      drug:    {role: sensitive}
method: {name: mondrian, k: 3, suppression: 0.4}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two tables and their policy; some people have no visits, some have many."""
    rng = random.Random(4)
    lines = ["patient,age,town,disease"]
    for n in range(PEOPLE):
        ill = rng.choice(["Flu", "Gout", "Kuru", "Rash"])
        lines.append(f"{SECRET}-{n},{rng.randint(20, 80)},{rng.randint(1010, 1050)},{ill}")
    (tmp_path / "patients.csv").write_text("\n".join(lines) + "\n")
    lines = ["who,ward,drug"]
    for n in range(PEOPLE):
        for _ in range((0, 1, 1, 2, 2, 3)[n % 6] if n else 9):
            lines.append(f"{SECRET}-{n},{rng.choice('ABC')},{rng.choice('xyz')}")
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "policy.yaml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(out: str = "linked", **more):
    data = {"patients": "patients.csv", "visits": "visits.csv"}
    given = {"key": KEY, "randomness": Randomness.secret(bytes(range(20))), **more}
    return link(given.pop("data", data), "policy.yaml", out, **given)


def written(out: str = "linked") -> dict[str, Release]:
    return {name: Release.load(Path(out, name)) for name in ("patients", "visits")}


def tokens(out: str, table: str) -> set[str]:
    release = Release.load(Path(out, table))
    (name,) = release.manifest.table("records").pseudonyms or ()
    return set(release.tables["records"][name].to_pylist())


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_join_of_what_is_written_is_k_anonymous(place, format):
    made = run(format=format)
    tables = {name: read_release(place / "linked" / name) for name in ("patients", "visits")}
    assert smallest_crowd(tables) >= 3
    assert [verdict.holds for verdict in made.joined] == [True, True]
    assert [v.holds for v in joined_view(list(written().values()))] == [True, True]
    assert all(audit(place / "linked" / name).ok for name in tables)
    lost = {name: table.manifest["suppressed"] for name, table in tables.items()}
    assert (lost["patients"], lost["visits"] > 0) == (0, True)
    assert tables["visits"].manifest["parameters"]["linked"] == ["patients", "visits"]
    assert len(rows_by_token(tables)) == PEOPLE
    assert made.releases["visits"].manifest.rows == len(tables["visits"].tables["records"])
    assert any("not anonymised" in warning for warning in made.warnings)
    assert any("does not protect 'drug'" in warning for warning in made.warnings)


def test_tokens_link_tables_and_deliveries_made_with_the_same_key(place):
    run("may")
    run("june", randomness=Randomness.secret(bytes(range(30, 60))))
    run("other", key=bytes(range(8, 48)))
    assert tokens("may", "visits") < tokens("may", "patients") == tokens("june", "patients")
    assert not tokens("may", "patients") & tokens("other", "patients")
    (place / "policy.yaml").write_text(
        POLICY.replace("unit: patient", "unit: other").replace("patient: {", "other: {")
    )
    text = (place / "patients.csv").read_text()
    (place / "patients.csv").write_text(text.replace("patient,", "other,", 1))
    run("word")
    assert not tokens("may", "patients") & tokens("word", "patients")


def everything(folder: Path) -> str:
    """Return all that can be read in a folder, cells of Parquet files included."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            found.append(path.read_bytes().decode("latin-1"))
            if path.suffix == ".parquet":
                found.append(json.dumps(pq.read_table(path).to_pylist(), default=str))
    return "\n".join(found)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_no_name_key_or_number_of_a_row_is_written(place, format):
    run(format=format)
    text = everything(place / "linked")
    assert "Gout" in text  # so there is something to find
    for part in (SECRET, KEY.decode("latin-1"), KEY[:8].decode("latin-1"), KEY.hex()):
        assert part not in text
    for release in written().values():
        names = set(release.tables["records"].column_names)
        assert names.isdisjoint({"row", "index", "__index_level_0__"})
        assert b"index" not in release.manifest.to_json()


def test_rows_lie_in_no_order_of_the_input(place):
    run()
    release = Release.load(place / "linked" / "patients")
    lines = (place / "patients.csv").read_text().splitlines()[1:]
    diseases = [line.split(",")[3] for line in lines]
    assert release.tables["records"]["disease"].to_pylist() != diseases


def test_one_table_with_several_rows_a_person_will_do(place):
    rest = POLICY[POLICY.index("  visits:") :]
    (place / "policy.yaml").write_text("unit: patient\ntables:\n" + rest)
    run(data={"visits": "visits.csv"})
    assert smallest_crowd({"visits": read_release(place / "linked" / "visits")}) >= 3


def test_recoding_happens_before_and_is_recorded(place):
    (place / "policy.yaml").write_text(
        POLICY.replace("age:     {role: quasi-identifier", "age: {role: quasi-identifier, "
                       "recode: [{top: 60}, {round: 10}]")
    )  # fmt: skip
    run()
    manifest = Release.load(place / "linked" / "patients").manifest
    assert manifest.parameters["recoding"] == {"age": [{"top": 60}, {"round": 10}]}
    assert audit(place / "linked" / "patients").ok


def test_too_many_rows_to_withhold_are_refused_with_the_numbers(place):
    (place / "policy.yaml").write_text(POLICY.replace("0.4", "0.01"))
    with pytest.raises(Infeasible, match=r"of 'visits'.* would have to be withheld.*suppression: "):
        run()
    assert not (place / "linked").exists()
    advised = {}
    try:
        run()
    except Infeasible as error:
        advised["share"] = str(error).split("suppression: ")[1].split("`")[0]
    (place / "policy.yaml").write_text(POLICY.replace("0.4", advised["share"]))
    run()  # the advice is enough


def test_a_table_of_which_nothing_would_be_left_is_refused(place):
    (place / "visits.csv").write_text(f"who,ward,drug\n{SECRET}-1,A,x\n")
    with pytest.raises(Infeasible, match="all rows of table 'visits'"):
        run()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("unit: patient\n", "", "need a `unit`"),
        ("tables:", "table:", "need `tables`"),
        ("method:", "weight: age\nmethod:", "`weight` is not a key of linked tables"),
        ("method:", "on_infeasible: suppress\nmethod:", "`on_infeasible` is not a key"),
        ("    unit: who\n", "    units: who\n", "`tables.visits.units` is unknown"),
        ("  visits:", "  ../visits:", "it names a folder"),
        (
            "mondrian, k: 3, suppression: 0.4",
            "full-domain, k: 3",
            "by mondrian, not by full-domain",
        ),
        ("suppression: 0.4", "strict: false", "do not know `strict`"),
        ("who:     {role: identifier}", "who: {role: identifier, pseudonym: who}", "in all tables"),
        ("who:     {role: identifier}", "who: {role: identifier, pseudonym: false}", "in all"),
        ("who:     {role: identifier}", "who: {role: insensitive}", "is for identifiers"),
        (
            "ward:    {role: quasi-identifier}",
            "ward: {role: quasi-identifier, recode: [{shift: {days: 3}}]}",
            "cannot be shifted",
        ),
        ("age:     {role: quasi-identifier", "age: {role: quasi-identifier, max_width: 5", "`max_"),
    ],
)
def test_policies_that_make_no_sense_here_are_refused(place, old, new, message):
    assert old in POLICY
    (place / "policy.yaml").write_text(POLICY.replace(old, new))
    with pytest.raises(SfumatoError) as refusal:
        run()
    assert message in str(refusal.value)
    assert SECRET not in str(refusal.value)
    assert not (place / "linked").exists()


def test_what_is_asked_of_all_sensitive_attributes_passes_over_tables_without_any(place):
    text = POLICY.replace("drug:    {role: sensitive}", "drug: {role: insensitive}")
    (place / "policy.yaml").write_text(text.replace("k: 3,", "k: 3, l: 2, variant: distinct,"))
    run()
    claimed = [[c["model"] for c in release.manifest.guarantees] for release in written().values()]
    assert claimed == [["k-anonymity", "l-diversity"], ["k-anonymity"]]
    text = text.replace(
        "disease: {role: sensitive, l: 2, variant: distinct}", "disease: {role: insensitive}"
    )
    (place / "policy.yaml").write_text(text.replace("k: 3,", "k: 3, l: 2,"))
    with pytest.raises(
        SchemaError, match=r"`method.l` is about sensitive attributes, and no table"
    ):
        run("other")


def test_a_pseudonym_that_is_said_aloud_has_the_common_word(place):
    text = POLICY.replace("who:     {role: identifier}", "who: {role: identifier, pseudonym: true}")
    (place / "policy.yaml").write_text(text)
    rules = linked_policies(place / "policy.yaml")
    assert {own.schema().pseudonyms[0].pseudonym for own in rules.values()} == {"patient"}


def test_each_command_names_the_other(place):
    with pytest.raises(SchemaError, match="use `sfumato link`"):
        anonymize("patients.csv", "policy.yaml", "out")
    (place / "policy.yaml").write_text(
        "attributes: {patient: {role: identifier}}\nmethod: {name: mondrian, k: 2}\n"
    )
    with pytest.raises(SchemaError, match="use `sfumato anonymize`"):
        run()


def test_tables_and_files_must_be_the_same(place):
    with pytest.raises(InputError, match="no data are given for table 'visits'"):
        run(data={"patients": "patients.csv"})
    with pytest.raises(InputError, match="the policy has no table 'visit'; did you mean `visits`"):
        run(data={"patients": "patients.csv", "visit": "visits.csv"})


def test_a_missing_unit_is_refused(place):
    with (place / "visits.csv").open("a") as file:
        file.write(",A,x\n")
    with pytest.raises(SchemaError, match="missing in 1 of"):
        run()


def test_a_test_seed_marks_every_release(place):
    run(randomness=Randomness.test(1))
    assert all(release.manifest.test for release in written().values())


def test_min_width_is_kept_and_claimed(place):
    (place / "policy.yaml").write_text(
        POLICY.replace("age:     {role: quasi-identifier}", "age: {role: sensitive, min_width: 15}")
    )
    run()
    claims = Release.load(place / "linked" / "patients").manifest.guarantees
    assert {"model": "minimum-width", "attribute": "age", "width": 15} in claims
    assert all(verdict.holds for verdict in audit(place / "linked" / "patients").guarantees)


# The folder


def test_a_folder_is_replaced_with_force_only(place):
    run()
    before = everything(place / "linked")
    with pytest.raises(InputError, match="exists; use --force"):
        run()
    assert everything(place / "linked") == before
    run(force=True, key=bytes(range(8, 48)))
    assert everything(place / "linked") != before


@pytest.mark.parametrize("other", ["note", "extension", "link", "release"])
def test_what_is_not_a_folder_of_releases_is_never_replaced(place, other):
    run()
    folder = place / "linked"
    if other == "note":
        (folder / "note.txt").write_text("mine")
    elif other == "extension":  # many other programs have a manifest.json
        (folder / "addon").mkdir()
        (folder / "addon" / "manifest.json").write_text('{"name": "mine"}')
    elif other == "link":
        (folder / "visits").rename(place / "elsewhere")
        (folder / "visits").symlink_to(place / "elsewhere")
    else:
        (folder / "visits" / "mine.csv").write_text("mine")
    before = sorted(str(path) for path in place.rglob("*"))
    with pytest.raises(InputError, match="is not replaced"):
        run(force=True)
    assert sorted(str(path) for path in place.rglob("*")) == before


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_all_tables_are_written_or_none(place, monkeypatch, force, fault):
    if force:
        run()
    before = everything(place / "linked") if force else None
    names = sorted(path.name for path in place.iterdir())
    saving, calls = Release.saving, []

    def failing(self, *args, **kwargs):
        calls.append(1)
        if len(calls) == 2:
            raise fault
        return saving(self, *args, **kwargs)

    monkeypatch.setattr(Release, "saving", failing)
    expected = InputError if isinstance(fault, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        run(force=force, key=bytes(range(8, 48)))
    assert len(calls) == 2
    assert sorted(path.name for path in place.iterdir()) == names
    if force:
        assert everything(place / "linked") == before


def test_a_taken_place_is_refused_before_anything_is_read(place):
    (place / "linked").write_text("mine")
    (place / "visits.csv").unlink()
    with pytest.raises(InputError, match="exists; use --force"):
        run()


def test_a_short_key_is_refused(place):
    with pytest.raises(ParameterError, match="at least 16 random bytes"):
        run(key=b"short")


def test_a_table_of_units_alone_is_refused(place):
    head, _, tail = POLICY.partition("      ward:    {role: quasi-identifier}\n")
    tail = tail.replace("      drug:    {role: sensitive}\n", "")
    Path("policy.yaml").write_text(head + tail)
    Path("visits.csv").write_text("who\n" + "".join(f"{SECRET}-{n}\n" for n in range(PEOPLE)))
    with pytest.raises(ParameterError, match="'visits' has nothing to publish besides its unit"):
        run()
    assert not Path("linked").exists()
