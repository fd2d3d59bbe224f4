"""Publishing as a whole: the release, the record, and that failures leave nothing behind."""

from __future__ import annotations

import hashlib
import json
import stat

import pytest

from sfumato.audit import audit
from sfumato.errors import ClaimBroken, InputError, ParameterError, SfumatoError
from sfumato.jobs.anonymize import anonymize
from sfumato.jobs.record import RecordPlace
from sfumato.jobs.seeds import randomness_of
from sfumato.methods import Mondrian
from sfumato.randomness import Randomness
from sfumato.release import Release


def test_a_release_that_its_audit_confirms(patients, policy, tmp_path):
    stages = []

    class Progress:
        def stage(self, name):
            stages.append(name)

    made = anonymize(patients, policy(), tmp_path / "out", progress=Progress())
    assert made.manifest.rows == 40
    assert made.groups == len(
        set(Release.load(tmp_path / "out").tables["records"]["group"].to_pylist())
    )
    assert 0 < made.ncp.mean < 1
    assert made.warnings == ()
    assert audit(tmp_path / "out").ok
    assert list(made.timings) == stages
    assert stages[0] == "reading the policy"


def test_anatomy(patients, policy, tmp_path):
    made = anonymize(patients, policy("{name: anatomy}"), tmp_path / "out")
    assert made.ncp is None
    assert made.manifest.layout == "anatomized"
    assert audit(tmp_path / "out").ok


def test_the_format_of_the_policy_and_of_the_call(patients, policy, tmp_path):
    path = policy(more="output: {format: csv, formula_guard: false}")
    anonymize(patients, path, tmp_path / "one")
    assert (tmp_path / "one" / "records.csv").exists()
    assert Release.load(tmp_path / "one").manifest.parameters["formula_guard"] is False
    anonymize(patients, path, tmp_path / "two", format="parquet", formula_guard=True)
    assert (tmp_path / "two" / "records.parquet").exists()
    assert "formula_guard" not in Release.load(tmp_path / "two").manifest.parameters


def test_declared_guarantees_are_in_the_manifest(patients, policy, tmp_path):
    more = "guarantees: [{model: delta-presence, minimum: 0.1, maximum: 0.5}]"
    for method in ("{name: mondrian, k: 4}", "{name: anatomy}"):
        made = anonymize(patients, policy(method, more), tmp_path / "out", force=True)
        assert made.manifest.guarantees[-1]["model"] == "delta-presence"
        verdict = audit(tmp_path / "out").guarantees[-1]
        assert verdict.holds is None
        assert verdict.note == "declared, not checked"


def test_withheld_rows_are_counted_recorded_and_warned_of(patients, policy, tmp_path):
    text = patients.read_text()
    lines = text.splitlines()
    # Flu becomes too common for l = 3: 26 of 40 rows
    common = [line.replace("Fever", "Flu").replace("HIV", "Flu") for line in lines]
    patients.write_text("\n".join(common) + "\n")
    flu = {number for number, line in enumerate(common) if ",Flu," in line}
    record = tmp_path / "record.json"
    path = policy("{name: anatomy}", "on_infeasible: suppress")
    made = anonymize(patients, path, tmp_path / "out", record=record)
    # 16 rows are not Flu, so 8 with Flu may stay
    withheld = json.loads(record.read_text())["suppressed_rows"]
    assert made.manifest.suppressed == len(withheld) == len(flu) - 8
    assert made.manifest.suppressed_by_value
    assert made.manifest.rows == 24
    assert set(withheld) < flu
    assert any("not protected" in warning for warning in made.warnings)
    report = audit(tmp_path / "out")
    assert report.ok
    assert any("withheld" in problem for problem in report.problems)


def test_without_need_nothing_is_withheld(patients, policy, tmp_path):
    path = policy("{name: anatomy}", "on_infeasible: suppress")
    made = anonymize(patients, path, tmp_path / "out")
    assert (made.manifest.suppressed, made.manifest.suppressed_by_value) == (0, False)


def test_nearly_exact_numbers_draw_a_warning(patients, policy, tmp_path):
    roles = dict.fromkeys(["sex", "zip", "disease"], "{role: insensitive}")
    roles["income"] = "{role: sensitive, t: 1}"
    path = policy("{name: mondrian, k: 2}", **roles)
    # two neighbours in age earn almost the same
    lines = patients.read_text().splitlines()
    rows = [line.split(",") for line in lines[1:]]
    for row in rows:
        row[5] = str(1000 * int(row[1]))
    patients.write_text("\n".join([lines[0], *(",".join(row) for row in rows)]) + "\n")
    made = anonymize(patients, path, tmp_path / "out")
    (warning,) = made.warnings
    assert warning.startswith("'income': in ")
    assert "nearly exact" in warning
    roles["income"] = "{role: sensitive, t: 1, min_width: 5000}"
    path = policy("{name: mondrian, k: 2}", **roles)
    assert anonymize(patients, path, tmp_path / "out", force=True).warnings == ()


def test_nearly_exact_numbers_draw_a_warning_under_anatomy_too(patients, policy, tmp_path):
    path = policy(
        "{name: anatomy, l: 3}", disease="{role: insensitive}", income="{role: sensitive}"
    )
    lines = patients.read_text().splitlines()
    rows = [line.rsplit(",", 1)[0] + f",{1000 + n}" for n, line in enumerate(lines[1:])]
    patients.write_text("\n".join([lines[0], *rows]) + "\n")
    made = anonymize(patients, path, tmp_path / "out")
    (warning,) = made.warnings
    assert warning.startswith(f"'income': in {made.groups} of {made.groups} groups")


def test_dates_and_wide_numbers_draw_no_warning(patients, policy, tmp_path):
    path = policy(income="{role: sensitive, l: 2}", disease="{role: insensitive}")
    warnings = anonymize(patients, path, tmp_path / "out").warnings
    assert warnings == ()
    lines = patients.read_text().splitlines()
    days = [
        line.rsplit(",", 1)[0] + f",2026-01-{1 + n % 28:02}" for n, line in enumerate(lines[1:])
    ]
    patients.write_text("\n".join([lines[0], *days]) + "\n")
    assert anonymize(patients, path, tmp_path / "out", force=True).warnings == ()


def test_wrong_intervals_of_a_hierarchy_draw_a_warning(patients, policy, tmp_path):
    (tmp_path / "age.csv").write_text(
        "\n".join(f"{age};{'10-30' if age < 40 else '10-50'};*" for age in range(20, 43))
    )
    path = policy(age="{role: quasi-identifier, hierarchy: age.csv}")
    (warning,) = anonymize(patients, path, tmp_path / "out").warnings
    assert warning.startswith("'age': 9 entries of its hierarchy")


def test_a_record_says_of_which_release_it_is(patients, policy, tmp_path, monkeypatch):
    out, record = tmp_path / "out", tmp_path / "record.json"

    def told() -> bool:
        own = hashlib.sha256((out / "manifest.json").read_bytes()).hexdigest()
        return json.loads(record.read_text())["manifest_sha256"] == own

    anonymize(patients, policy(), out, record=record)
    assert told()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(RecordPlace, "fill", killed)  # right after the release took its place
        anonymize(patients, policy(), out, record=record, force=True)
    assert not told()
    anonymize(patients, policy(), out, record=record, force=True)
    assert told()


def test_the_record_is_private_and_complete(patients, policy, tmp_path):
    record = tmp_path / "record.json"
    randomness = Randomness.secret(b"0123456789abcdef")
    anonymize(patients, policy(), tmp_path / "out", record=record, randomness=randomness)
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    fields = json.loads(record.read_text())
    assert fields["seed"] == b"0123456789abcdef".hex()
    assert fields["data"] == str(patients)
    assert fields["suppressed_rows"] == []
    assert fields["withheld_cells"] is None
    assert fields["timings"].keys() >= {"reading the data", "encoding", "writing"}
    everything = b"".join(f.read_bytes() for f in (tmp_path / "out").rglob("*") if f.is_file())
    assert fields["seed"].encode() not in everything
    assert str(patients).encode() not in everything
    with pytest.raises(InputError, match="exists"):
        anonymize(patients, policy(), tmp_path / "other", record=record)
    assert not (tmp_path / "other").exists()
    anonymize(patients, policy(), tmp_path / "out", record=record, force=True)
    assert json.loads(record.read_text())["seed"] != fields["seed"]


def test_a_record_replaces_nothing_but_records_and_is_never_public(patients, policy, tmp_path):
    path = policy()
    with pytest.raises(InputError, match="another kind of file"):
        anonymize(patients, path, tmp_path / "out", record=patients, force=True)
    with pytest.raises(InputError, match="inside the release"):
        anonymize(patients, path, tmp_path / "out", record=tmp_path / "out" / "record.json")
    with pytest.raises(InputError, match="is not a folder"):
        anonymize(patients, path, tmp_path / "out", record=tmp_path / "no" / "record.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["patients.csv", "policy.yaml"]


def test_the_same_seed_gives_the_same_bytes(patients, policy, tmp_path):
    def run(name, seed):
        anonymize(patients, policy(), tmp_path / name, randomness=Randomness.secret(seed))
        return (tmp_path / name / "records.parquet").read_bytes()

    seed = b"a secret of sixteen bytes or more"
    assert run("a", seed) == run("b", seed) != run("c", seed + b"!")


def test_a_test_seed_marks_the_release(patients, policy, tmp_path):
    made = anonymize(patients, policy(), tmp_path / "out", randomness=randomness_of(None, 7)[0])
    assert made.manifest.test
    assert audit(tmp_path / "out").exit_code == 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"method": "{name: mondrian, k: 41}"}, "k = 41 is more than the 40 people"),
        ({"disease": "{role: sensitive, l: 6}"}, "largest feasible l is 5"),
        ({"disease": ""}, "columns without a role: 'disease'"),
        ({"sx": "{role: quasi-identifier}"}, "column 'sx' is not in the table; did you mean 'sex'"),
        ({"zip": "{role: quasi-identifier, hierarchy: none.csv}"}, "no such file"),
        ({"age": "{role: quasi-identifier, domain: {min: 0, max: 30}}"}, "outside its stated"),
    ],
)
def test_failures_leave_nothing_behind(patients, policy, tmp_path, change, expected):
    path = policy(**change)
    before = sorted(p.name for p in tmp_path.iterdir())
    with pytest.raises(SfumatoError) as refused:
        anonymize(patients, path, tmp_path / "out", record=tmp_path / "record.json")
    assert expected in str(refused.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_an_interrupt_leaves_nothing_behind(patients, policy, tmp_path, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    path = policy()
    before = sorted(p.name for p in tmp_path.iterdir())
    monkeypatch.setattr("sfumato.release.files.write_manifest", interrupt)
    with pytest.raises(KeyboardInterrupt):
        anonymize(patients, path, tmp_path / "out", record=tmp_path / "record.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_an_existing_folder_is_refused_before_the_data_are_read(policy, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(InputError, match="exists; use --force"):
        anonymize(tmp_path / "none.csv", policy(), out)
    (out / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match="not a release and is not replaced"):
        anonymize(tmp_path / "none.csv", policy(), out, force=True)
    assert (out / "thesis.txt").exists()
    with pytest.raises(InputError, match="is not a folder"):
        anonymize(tmp_path / "none.csv", policy(), tmp_path / "no" / "out")


def test_seeds_come_from_files_of_enough_bytes(tmp_path):
    seed = tmp_path / "seed"
    seed.write_bytes(b"x" * 15)
    with pytest.raises(ParameterError, match=r"at least 16 random bytes, and this one has 15"):
        randomness_of(seed)
    seed.write_bytes(b"x" * 16)
    with pytest.raises(ParameterError, match="the seed is not random"):
        randomness_of(seed)
    key = bytes(range(16))
    seed.write_bytes(key)
    seed.chmod(0o600)
    randomness, warnings = randomness_of(seed)
    assert (randomness.key, randomness.is_test, warnings) == (key, False, ())
    seed.chmod(0o644)
    assert "chmod 600" in randomness_of(seed)[1][0]
    seed.write_bytes(b"x" * 5000)
    with pytest.raises(ParameterError, match="at most 4096"):
        randomness_of(seed)
    with pytest.raises(InputError, match="cannot be read"):
        randomness_of(tmp_path / "none")
    with pytest.raises(ParameterError, match="not both"):
        randomness_of(seed, 7)
    assert not randomness_of()[0].is_test


def test_a_column_without_any_value_may_have_a_hierarchy(tmp_path):
    (tmp_path / "data.csv").write_text("age,empty,disease\n30,,Flu\n31,,Cold\n")
    (tmp_path / "empty.csv").write_text("1;low;*\n2;low;*\n")
    (tmp_path / "policy.yaml").write_text(
        "attributes:\n"
        "  age: {role: quasi-identifier}\n"
        "  empty: {role: quasi-identifier, hierarchy: empty.csv}\n"
        "  disease: {role: sensitive, l: 2}\n"
        "method: {name: mondrian, k: 2}\n"
    )
    made = anonymize(tmp_path / "data.csv", tmp_path / "policy.yaml", tmp_path / "out")
    assert audit(made.path).ok


def test_a_release_that_its_own_audit_refuses_is_not_written(
    patients, policy, tmp_path, monkeypatch
):
    honest = Mondrian.release

    def boastful(self, table, randomness):
        release = honest(self, table, randomness)
        claims = ({"model": "k-anonymity", "k": table.rows},)
        manifest = release.manifest.model_copy(update={"guarantees": claims})
        return type(release)(manifest, release.tables, release.hierarchies)

    seen = []

    def looking(release):
        seen.extend(path.name for path in tmp_path.rglob("*"))
        return audit(release)

    monkeypatch.setattr(Mondrian, "release", boastful)
    monkeypatch.setattr("sfumato.jobs.publication.audit", looking)
    path = policy()
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ClaimBroken, match="nothing was written"):
        anonymize(patients, path, tmp_path / "out")
    assert sorted(tmp_path.iterdir()) == before
    # tables are written meanwhile, out of sight, and no manifest makes a release of them
    assert any(name.startswith(".out.tmp-") for name in seen)
    assert "manifest.json" not in seen


def lone_flags(folder, method="{name: lgb, k: 3, l: 2}"):
    """Write people of whom one alone hides their age, and return the data and the policy."""
    rows = [f"{20 + n},{'true' if n == 0 else 'false'},d{n % 3}" for n in range(9)]
    (folder / "data.csv").write_text("\n".join(["age,age_private,disease", *rows]) + "\n")
    (folder / "policy.yaml").write_text(
        "attributes:\n"
        "  age: {role: semi-sensitive, flag: age_private}\n"
        "  disease: {role: sensitive}\n"
        f"method: {method}\n"
    )
    return folder / "data.csv", folder / "policy.yaml"


def test_the_record_says_how_many_cells_are_withheld(tmp_path):
    record = tmp_path / "record.json"
    made = anonymize(*lone_flags(tmp_path), tmp_path / "out", record=record)
    assert made.manifest.parameters["withheld_cells"] == 5  # one, and a group of four
    assert json.loads(record.read_text())["withheld_cells"] == 5


def test_flags_drawn_at_random_are_for_tests(tmp_path):
    data, path = lone_flags(tmp_path)
    text = path.read_text().replace("flag: age_private", "density: 1")
    path.write_text(text.replace("method", "  age_private: {role: insensitive}\nmethod"))
    warnings = anonymize(data, path, tmp_path / "out").warnings
    assert [each for each in warnings if "drawn at random" in each]
    tried = anonymize(data, path, tmp_path / "test", randomness=Randomness.test(1)).warnings
    assert not [each for each in tried if "drawn at random" in each]


def test_a_release_without_any_quasi_identifier_left_is_warned_of(tmp_path):
    (tmp_path / "data.csv").write_text("sex,town,ill\nF,a,x\nM,b,y\nF,c,z\nM,d,x\n")
    (tmp_path / "policy.yaml").write_text(
        "attributes:\n"
        "  sex: {role: quasi-identifier}\n"
        "  town: {role: quasi-identifier}\n"
        "  ill: {role: sensitive}\n"
        "method: {name: full-domain, k: 4}\n"
    )
    made = anonymize(tmp_path / "data.csv", tmp_path / "policy.yaml", tmp_path / "out")
    assert made.ncp is not None
    assert made.ncp.mean == 1
    assert any("nothing of the quasi-identifiers is left" in each for each in made.warnings)
    text = (tmp_path / "policy.yaml").read_text().replace("k: 4", "k: 2")
    (tmp_path / "policy.yaml").write_text(text)
    made = anonymize(tmp_path / "data.csv", tmp_path / "policy.yaml", tmp_path / "two")
    assert not any("nothing of the quasi-identifiers" in each for each in made.warnings)
