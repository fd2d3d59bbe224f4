"""The path of a first visit, page by page, without a browser; and what pages refuse."""

from __future__ import annotations

import io
import zipfile

import pytest
import yaml

from sfumato.web import frame
from sfumato.web.guard import REPORT_POLICY
from sfumato.web.policy_form import PolicyForm
from sfumato.web.runs import Kind, runs_of
from sfumato.web.status import State


def test_from_a_file_to_a_release(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    page = visitor.get(f"/p/{project.id}/data")
    assert "40 rows and 4 columns of people.csv" in page.words
    assert "Person 7" in page.words  # the first rows
    page = visitor.get(f"/p/{project.id}/roles")
    assert "Role of disease" in page.words
    place = list(PolicyForm.load(project).attributes).index("sex")
    answer = visitor.post(
        f"/p/{project.id}/roles", {f"role-{place}": "insensitive", "next": "protect"}
    )
    assert answer.address.endswith("/protect")
    assert PolicyForm.load(project).attributes["sex"]["role"] == "insensitive"
    answer = visitor.post(
        f"/p/{project.id}/protect", {"scheme": "mondrian", "mondrian-k": "4", "next": "publish"}
    )
    (run,) = runs_of(project, Kind.PUBLISH)
    assert answer.address == f"/p/{project.id}/runs/{run.id}"
    assert "Cancel" in answer.words
    assert 'http-equiv="refresh"' in answer.text
    assert house.bench.runner.wait(run, 180).state is State.FINISHED
    page = visitor.get(answer.address)
    assert "Download the release" in page.words
    assert "holds" in page.words
    assert "sfumato anonymize people.csv --policy policy.yaml --out release" in page.words
    packed = zipfile.ZipFile(io.BytesIO(visitor.get(f"{answer.address}/release.zip").body))
    assert "release/manifest.json" in packed.namelist()
    policy = yaml.safe_load(visitor.get(f"{answer.address}/policy.yaml").text)
    assert policy["method"] == {"name": "mondrian", "k": 4}
    report = visitor.get(f"{answer.address}/report.html")
    assert report.header("content-security-policy") == REPORT_POLICY
    command = visitor.get(f"{answer.address}/command")
    assert command.text.startswith("sfumato anonymize people.csv")
    assert "seed" not in command.text
    assert "finished" in visitor.get(f"/p/{project.id}/runs").words
    assert visitor.post(f"{answer.address}/remove").address == f"/p/{project.id}/runs"
    assert runs_of(project, Kind.PUBLISH) == []


def test_a_refused_parameter_is_told_on_its_page_and_changes_nothing(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    before = project.policy.read_text()
    refused = [{"mondrian-k": k} for k in ("0", "many", "nan", "1e999", "900")]
    for fields in (*refused, {"scheme": "other"}):
        answer = visitor.post(f"/p/{project.id}/protect", {"scheme": "mondrian", **fields})
        assert answer.status == 422
        assert 'role="alert"' in answer.text
    assert project.policy.read_text() == before
    assert visitor.post(f"/p/{project.id}/roles", {"role-0": "king"}).status == 422


def test_a_refused_run_says_why_and_can_be_run_again(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    policy = PolicyForm.load(project)
    policy.set_method("mondrian", k=900)  # the page itself would refuse it
    policy.save(project)
    run = house.bench.runner.submit(project, Kind.PUBLISH)
    assert house.bench.runner.wait(run, 60).state is State.REFUSED
    page = visitor.get(f"/p/{project.id}/runs/{run.id}")
    assert "900" in page.words
    assert "Run it again" in page.words
    visitor.post(f"/p/{project.id}/runs/{run.id}/again")
    assert len(runs_of(project, Kind.PUBLISH)) == 2


def test_a_run_is_cancelled_from_its_page(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    answer = visitor.post(
        f"/p/{project.id}/protect", {"scheme": "mondrian", "next": "publish", "mondrian-k": "4"}
    )
    page = visitor.post(f"{answer.address}/cancel")
    assert "cancelled" in page.words
    status = visitor.get(f"{answer.address}/status")
    assert '"over":true' in status.text


def test_sample_data_and_data_in_place(house, people):
    visitor = house.visitor()
    answer = visitor.post("/new/sample")
    assert answer.status == 200
    assert "Looking at the data" in answer.words
    (house.bench.workspace.data_folders[0] / "people.csv").write_bytes(people)
    assert "people.csv" in visitor.get("/").words
    answer = visitor.post("/new/path", {"place": "0:people.csv"})
    assert answer.status == 200
    assert [each.id for each in house.bench.workspace.projects()] == ["people", "sample"]
    names = visitor.get("/").words
    assert "Sample: hospital stays" in names


def test_what_comes_from_data_is_escaped(house):
    evil = "<script>alert(1)</script>"
    rows = "".join(f"{evil},{n}\n" for n in range(30))
    visitor = house.visitor()
    project = house.opened(visitor, f'"{evil}",age\n{rows}'.encode(), f"{evil}.csv")
    for path in ("/", *(f"/p/{project.id}/{each}" for each in ("data", "roles", "protect"))):
        assert "<script>alert" not in visitor.get(path).text


def test_an_unreadable_file_is_told_and_can_be_removed(house):
    visitor = house.visitor()
    answer = visitor.upload("/new/upload", "x.parquet", b"not a table")
    project = house.bench.workspace.project(answer.address.split("/")[2])
    (run,) = runs_of(project)
    assert house.bench.runner.wait(run, 60).state is State.REFUSED
    page = visitor.get(f"/p/{project.id}/data")
    assert 'role="alert"' in page.text
    assert visitor.get(f"/p/{project.id}/roles").address.endswith("/data")
    assert visitor.post(f"/p/{project.id}/remove", {"sure": "yes"}).status == 200


# --- the policy, piece by piece -------------------------------------------------------------------


@pytest.fixture
def project(house, people):
    return house.opened(house.visitor(), people)


def test_a_change_of_role_takes_its_keys_along(project):
    form = PolicyForm.load(project)
    assert "l" in form.attributes["disease"]
    form.set("disease", role="quasi-identifier")
    assert form.attributes["disease"] == {"role": "quasi-identifier", "kind": "categorical"}
    form.set("age", kind=None)
    assert form.attributes["age"] == {"role": "quasi-identifier"}


def test_what_is_saved_is_read_back_with_its_reasons(project):
    form = PolicyForm.load(project)
    form.set_method("mondrian", k=7, l=None)
    form.content["output"] = {"format": "csv"}
    form.save(project)
    again = PolicyForm.load(project)
    assert again.content == form.content
    assert again.method == {"name": "mondrian", "k": 7}
    assert all(f"# {reason}" in project.policy.read_text() for reason in form.reasons.values())


def test_every_page_names_itself_and_its_step():
    html = frame.page("Roles & more", project="people", heading="A <b>", step="roles")
    assert "<title>Roles &amp; more – A &lt;b&gt; – sfumato</title>" in html
    assert html.count("aria-current") == 1
    assert '<main id="main"' in html
    assert '<html lang="en">' in html


def test_the_policy_comes_with_the_hierarchies_that_it_names(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    for name in ("column-2.csv", "column-3.csv"):  # the second is of a tree that was given up
        (project.hierarchies / name).write_text("F;any\nM;any\n")
    form = PolicyForm.load(project)
    form.set("sex", hierarchy="hierarchies/column-2.csv")
    form.save(project, check=False)
    run = house.bench.runner.submit(project, Kind.PUBLISH)
    address = f"/p/{project.id}/runs/{run.id}"
    packed = zipfile.ZipFile(io.BytesIO(visitor.get(f"{address}/policy.zip").body))
    assert packed.namelist() == ["policy.yaml", "hierarchies/column-2.csv"]
    assert house.bench.runner.wait(run, 180).state is State.FINISHED
    assert f'href="{address}/policy.zip"' in visitor.get(address).text


def test_the_command_line_names_a_file_in_place_by_its_path(house, people):
    data = house.bench.workspace.data_folders[0] / "table.csv"
    data.write_bytes(people)
    visitor = house.visitor()
    id = visitor.post("/new/path", {"place": "0:table.csv"}).address.split("/")[2]
    project = house.bench.workspace.project(id)
    (run,) = runs_of(project, Kind.INSPECT)
    assert house.bench.runner.wait(run, 60).state is State.FINISHED
    visitor.get(f"/p/{id}/data")  # which adopts the draft
    run = house.bench.runner.submit(project, Kind.PUBLISH)
    command = visitor.get(f"/p/{id}/runs/{run.id}/command")
    assert command.text.startswith(f"sfumato anonymize {data} ")


def test_what_was_saved_is_confirmed_once_and_while_it_holds(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    roles, protect = f"/p/{project.id}/roles", f"/p/{project.id}/protect"
    tree = f"/p/{project.id}/hierarchy/1"
    said = '<p class="box good" role="status" id="told">Saved.</p>'
    for address, fields in (
        (roles, {}),
        (protect, {"scheme": "anatomy", "anatomy-l": "2"}),
        (tree, {"builder": "width", "width-width": "5", "width-levels": "2", "do": "none"}),
    ):
        assert said not in visitor.get(address).text
        answer = visitor.post(address, fields)
        assert answer.status == 200
        assert said in answer.text, address
    # a page that is loaded again says so only while it is true
    old = answer.address
    assert said in visitor.get(old).text
    visitor.post(protect, {"scheme": "anatomy", "anatomy-l": "3"})
    assert said not in visitor.get(old).text
    assert said not in visitor.get(f"{protect}?saved=").text
    # what was refused is not said to be saved
    assert said not in visitor.post(protect, {"scheme": "anatomy", "anatomy-l": "99"}).text
