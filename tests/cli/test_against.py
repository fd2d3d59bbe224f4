"""`sfumato anonymize --ledger --against`: what a steward sees, and the exit codes."""

from __future__ import annotations

import json

from cli.cli_files import SECRET, write_policy

RUN = ("anonymize", "data.csv", "--policy", "policy.yaml", "--out")


def test_a_second_release_is_held_against_the_first(place, sfumato):
    write_policy(place, method="{name: merging, l: 2, collapse: 0.5}", disease="{role: sensitive}")
    both = ("--ledger", "ledger.jsonl", "--against", "ledger.jsonl")
    code, out, err = sfumato(*RUN, "one", *both)
    assert code == 0
    assert "fakes: 1 of the rows, which are nobody's" in out
    assert any("the ledger lists none" in line for line in err)
    code, out, err = sfumato(*RUN, "two", *both, "--repartition")
    assert code == 0
    lines = (place / "ledger.jsonl").read_text().splitlines()
    assert [json.loads(line)["release"] for line in lines] == ["one", "two"]
    assert SECRET not in out and not any(SECRET in line for line in err)


def test_the_same_release_twice_is_refused_by_the_ledger(place, sfumato):
    assert sfumato(*RUN, "one", "--ledger", "ledger.jsonl")[0] == 0
    code, _, err = sfumato(*RUN, "one", "--force", "--ledger", "ledger.jsonl")
    assert code == 2
    assert len(err) == 1 and "as handed out" in err[0]


def test_repartition_without_against_is_a_mistake(place, sfumato):
    code, _, err = sfumato(*RUN, "one", "--repartition")
    assert code == 2
    assert len(err) == 1 and "--against" in err[0]
    code, _, err = sfumato(*RUN, "one", "--against", "nowhere")
    assert code == 2
    assert len(err) == 1 and "nowhere" in err[0]
    assert not (place / "one").exists()
