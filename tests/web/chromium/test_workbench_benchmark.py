"""The benchmark of the workbench walks every page and has a time of each; times are not judged."""

from __future__ import annotations

from benchmarks.workbench import measure

PAGES = {
    "open the printed address", "upload the file", "open the file in place", "roles", "protect",
    "preview", "publish (arp)", "judge (arp)", "report (arp)", "answer (arp)",
    "ask for counts by group (arp)", "reconstructed cross table (arp)", "runs", "compare two runs",
    "recommend", "search for a policy", "cancel the search",
}  # fmt: skip


def test_every_page_has_its_time(browser, tmp_path):
    said = []
    found = measure(browser, tmp_path, 400, ["arp"], said.append)
    actions = {each["name"]: each for each in found["actions"]}
    assert actions.keys() >= PAGES
    assert len(said) == len(found["actions"])
    assert all(each["interactive"] > 0 for each in actions.values())
    upload = actions["upload the file"]
    assert upload["interactive"] <= upload["first"] <= upload["whole"]
    assert found["slowest"] == max(each["interactive"] for each in actions.values())
