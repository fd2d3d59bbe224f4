"""Recoding on the command line: what is printed, and that no value ends up in a message."""

from __future__ import annotations

import json

from cli.cli_files import SECRET, write_policy

RUN = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out", "release")
AGE = "{role: quasi-identifier, recode: [{top: 40}, {round: 5}]}"


def test_from_a_policy_to_the_judges(place, sfumato):
    write_policy(place, age=AGE)
    assert sfumato("check", "data.csv", "--policy", "policy.yaml")[0] == 0
    assert sfumato(*RUN)[0] == 0
    manifest = json.loads((place / "release" / "manifest.json").read_text())
    assert manifest["parameters"]["recoding"] == {"age": [{"top": 40}, {"round": 5}]}
    assert sfumato("audit", "release")[0] == 0
    note = "the original was recoded first, as the manifest says: 'age' (top, round)"
    code, out, _ = sfumato("utility", "release", "--original", "data.csv", "--queries", "3")
    assert code == 0 and note in out
    code, out, _ = sfumato("attack", "release", "--original", "data.csv", "--sample", "9")
    assert code == 0 and note in out
    code, out, _ = sfumato("attack", "release", "--original", "data.csv", "--sample", "9", "--json")
    assert json.loads(out)["notes"] == [note]


def test_a_forged_step_is_damage(place, sfumato):
    write_policy(place, age=AGE)
    assert sfumato(*RUN)[0] == 0
    path = place / "release" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["parameters"]["recoding"]["age"][0]["top"] = 30
    path.write_text(json.dumps(manifest))
    code, out, err = sfumato("audit", "release")
    assert code != 0
    assert "'age' has cells beyond its recorded `top`" in "".join([out, *err])


def test_releases_that_recode_otherwise(place, sfumato):
    write_policy(place, age=AGE)
    assert sfumato(*RUN)[0] == 0
    write_policy(place)
    assert sfumato(*RUN[:-1], "other")[0] == 0
    code, out, _ = sfumato("compose", "release", "other")
    assert code == 0
    assert "left out: 'age' was not recoded alike in all releases" in out


def test_refusals_name_column_and_step_and_no_value(place, sfumato):
    for key, recode in {
        "sex": "{top: 5}",
        "age": "{truncate: month}",
        "disease": "{bins: [0, 5]}",
    }.items():
        role = "{role: sensitive, l: 2, " if key == "disease" else "{role: quasi-identifier, "
        write_policy(place, **{key: f"{role}recode: {recode}}}"})
        code, out, err = sfumato(*RUN)
        assert code == 2
        assert f"column '{key}', `recode`: `{recode[1:].partition(':')[0]}`" in err[0]
        assert SECRET not in "".join([out, *err])
        assert not (place / "release").exists()


def test_slips_are_told_with_the_nearest_step(place, sfumato):
    write_policy(place, age="{role: quasi-identifier, recode: {rond: 5}}")
    code, _, err = sfumato("check", "data.csv", "--policy", "policy.yaml")
    assert code == 2
    assert err[0].endswith("unknown step 'rond'; did you mean 'round'?")
    write_policy(place, name="{role: identifier, recode: {mask: 3}}")
    code, _, err = sfumato("check", "data.csv", "--policy", "policy.yaml")
    assert code == 2
    assert "column 'name': `recode` has no use" in err[0]
