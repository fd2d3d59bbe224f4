"""Projects as folders: where they lie, what names they take, and that nothing lies elsewhere."""

from __future__ import annotations

import json
import stat

import pytest

from sfumato.errors import InputError
from sfumato.web.projects import Workspace
from web.visitor import BOUNDARY, GONE, multipart

OUTSIDE = (
    "..", ".", "", "/", "../space", "a/b", "a%2f..", "A", "a.b", "-a", "a-", "a" * 60, "a\0",
    ".lock", "ä", "a\n",
)  # fmt: skip


@pytest.fixture
def space(tmp_path):
    (tmp_path / "data" / "deep").mkdir(parents=True)
    (tmp_path / "data" / "people.csv").write_text("a\n1\n")
    (tmp_path / "data" / "deep" / "more.csv").write_text("a\n1\n")
    (tmp_path / "data" / "notes.md").write_text("x")
    (tmp_path / "secret.csv").write_text("a\n1\n")
    (tmp_path / "data" / "link.csv").symlink_to(tmp_path / "secret.csv")
    space = Workspace(tmp_path / "space", [tmp_path / "data"])
    with space.opened():
        yield space


def made(space, title="People"):
    folder = space.new_folder(title)
    (folder / "data" / "table.csv").write_text("a\n1\n")
    return space.finish(folder, title, "people.csv", own="table.csv")


def test_a_project_is_found_again(space):
    project = made(space, "Patiënten 2024")
    assert project.id == "patienten-2024"
    assert Workspace(space.folder).project(project.id) == project
    assert Workspace(space.folder).projects() == [project]
    assert project.data.read_text() == "a\n1\n"


def test_two_of_one_name_are_two(space):
    first, second = made(space), made(space)
    assert first.id == "people"
    assert second.id.startswith("people-")
    assert [each.id for each in space.projects()] == [second.id, first.id]


@pytest.mark.parametrize("id", OUTSIDE)
def test_an_id_is_a_name_of_ours(space, id):
    made(space, "a")
    assert space.project(id) is None


def test_a_project_elsewhere_is_none_of_ours(space, tmp_path):
    other = Workspace(tmp_path / "other")
    with other.opened():
        project = made(other, "theirs")
    (project.folder).rename(space.folder / "Theirs")
    for id in ("Theirs", "../space/Theirs", str(space.folder / "Theirs")):
        assert (space.folder / id / "project.json").is_file()
        assert space.project(id) is None


def test_a_folder_that_is_no_project_is_none(space):
    (space.folder / "other").mkdir()
    (space.folder / "broken").mkdir()
    (space.folder / "broken" / "project.json").write_text("{")
    (space.folder / "old").mkdir()
    (space.folder / "old" / "project.json").write_text('{"format": "sfumato-project/1"}')
    (space.folder / "file").write_text("x")
    half = space.new_folder("half")
    linked = made(space)
    (space.folder / "link").symlink_to(linked.folder)
    assert [each.id for each in space.projects()] == [linked.id]
    assert space.project(half.name) is None
    assert space.project("link") is None


def test_data_of_a_project_stay_in_it_whatever_its_file_says(space):
    project = made(space)
    path = project.folder / "project.json"
    content = json.loads(path.read_text())
    content["data"] = {"own": "../../../secret.csv"}
    path.write_text(json.dumps(content))
    found = space.project(project.id)
    assert found is not None
    assert found.data == project.folder / "data" / "secret.csv"
    top = str(space.data_folders[0])
    for told in ({"folder": top, "path": "../secret.csv"}, {"path": "0:people.csv"},
                 {"folder": str(space.folder.parent), "path": "secret.csv"}):  # fmt: skip
        content["data"] = told
        path.write_text(json.dumps(content))
        assert space.project(project.id) is None


def test_files_that_may_be_opened_in_place(space):
    assert space.listed() == ["0:deep/more.csv", "0:people.csv"]
    folder = space.new_folder("x")
    project = space.finish(folder, "x", "people.csv", place="0:people.csv")
    assert project.data == space.data_folders[0] / "people.csv"


def test_a_project_never_takes_a_file_of_the_same_name_in_another_folder(space, tmp_path):
    folder = space.new_folder("x")
    project = space.finish(folder, "x", "people.csv", place="0:people.csv")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "people.csv").write_text("b\n2\n")
    both = [tmp_path / "other", tmp_path / "data"]
    assert Workspace(space.folder, both).project(project.id).data == project.data
    later = Workspace(space.folder, both[:1])
    assert later.project(project.id) is None
    assert later.astray() == [("x", str(tmp_path / "data" / "people.csv"))]
    assert space.astray() == []


def test_a_project_without_its_data_is_told_of(house, people):
    data = house.bench.workspace.data_folders[0] / "people.csv"
    data.write_bytes(people)
    visitor = house.visitor()
    visitor.post("/new/path", {"place": "0:people.csv"})
    assert "not where they were" not in visitor.get("/").words
    data.unlink()
    page = visitor.get("/")
    assert page.status == 200
    assert "not where they were" in page.words
    assert str(data) in page.words


@pytest.mark.parametrize(
    "place",
    ["0:../secret.csv", "0:/etc/passwd", "1:people.csv", "-1:people.csv", "people.csv", "",
     "0:", "0:link.csv", "0:notes.md", "0:deep", "0:none.csv", "0:people.csv\0",
     "0:deep/../../secret.csv"],
)  # fmt: skip
def test_nothing_else_can_be_opened(space, place):
    with pytest.raises(InputError):
        space.under_data_folders(place)


def test_only_projects_are_removed(space, tmp_path):
    project = made(space)
    for folder in (tmp_path, space.folder, space.folder / ".lock", project.folder / "data"):
        with pytest.raises(InputError):
            space.discard(folder)
    space.discard(project.folder)
    assert space.projects() == []


def test_a_folder_is_held_by_one(space):
    with pytest.raises(InputError, match="another workbench"), Workspace(space.folder).opened():
        pass


def test_a_data_folder_must_be_there(tmp_path):
    with pytest.raises(InputError, match="not a folder"):
        Workspace(tmp_path, [tmp_path / "none"])


def test_all_is_for_its_owner_only(space):
    project = made(space)
    for place in (space.folder, project.folder, project.folder / "data", project.runs):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert stat.S_IMODE((project.folder / "project.json").stat().st_mode) == 0o600


# --- uploads --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["../../evil.csv", "/etc/evil.csv", "..\\\\evil.csv", "a/b/c.CSV", "x\u202e.csv", "'; rm.csv",
     "con.csv", ".csv.csv", "é" * 300 + ".csv"],
)  # fmt: skip
def test_an_uploaded_file_gets_a_name_of_ours(house, people, name, tmp_path):
    before = {each for each in tmp_path.rglob("*") if "space" not in each.parts}
    visitor = house.visitor()
    project = house.opened(visitor, people, name)
    assert project.data == project.folder / "data" / "table.csv"
    assert project.data.read_bytes() == people
    assert {each for each in tmp_path.rglob("*") if "space" not in each.parts} == before
    assert visitor.get("/").status == 200


@pytest.mark.parametrize("name", ["x.exe", "x", "x.csv.html", "x.yaml", ".csv"])
def test_another_kind_of_file_is_refused(house, people, name):
    visitor = house.visitor()
    answer = visitor.upload("/new/upload", name, people)
    assert answer.status == 422
    assert "cannot be read" in answer.words
    assert [each.name for each in house.bench.workspace.folder.iterdir()] == [".lock"]


def test_an_upload_without_a_file_is_refused(house):
    visitor = house.visitor()
    for name, content in (("", b""), ("x.csv", b"")):
        answer = visitor.upload("/new/upload", name, content)
        assert answer.status == 422
        assert "choose a file" in answer.words
    assert [each.name for each in house.bench.workspace.folder.iterdir()] == [".lock"]


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_an_upload_may_arrive_in_any_pieces(house, people, chunk):
    visitor = house.visitor()
    answer = visitor.upload("/new/upload", "x.csv", people, chunk=chunk)
    assert answer.status == 200
    (project,) = house.bench.workspace.projects()
    assert project.data.read_bytes() == people


def test_an_upload_that_breaks_off_leaves_nothing(house, people):
    visitor = house.visitor()
    body = multipart({"form_token": visitor.last.form_token}, "x.csv", people)
    for cut in (len(body) // 2, 30):
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        assert visitor.send("/new/upload", body[:cut], kind).status in (403, 422)
    gone = body[:400] + GONE
    assert visitor.send("/new/upload", gone, kind, chunk=400).status == 422
    assert house.notes == []
    assert [each.name for each in house.bench.workspace.folder.iterdir()] == [".lock"]


def test_addresses_of_other_files_are_not_found(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    (run,) = (each.name for each in project.runs.iterdir())
    for path in (
        f"/p/{project.id}/policy.yaml",
        f"/p/{project.id}/data/table.csv",
        f"/p/{project.id}/runs/{run}/profile.json",
        f"/p/{project.id}/runs/{run}/private/record.json",
        f"/p/{project.id}/runs/{run}/record.json",
        f"/p/{project.id}/runs/../runs/{run}/status",
        f"/p/{project.id}/runs/..%2f{run}/status",
        f"/p/{project.id}/runs/../status",
        f"/p/../{project.id}/data",
        "/p/%2e%2e/data",
    ):
        assert visitor.get(path).status == 404, path


def test_a_project_is_removed_when_someone_is_sure(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    assert visitor.post(f"/p/{project.id}/remove").status == 422
    assert visitor.post(f"/p/{project.id}/remove", {"sure": "yes"}).status == 200
    assert house.bench.workspace.projects() == []


def test_nothing_of_an_upload_that_cannot_be_read_goes_to_a_log(house, caplog):
    visitor = house.visitor()
    body = b'--x\r\nContent-Disp"osition: secret\r\n\r\n1\r\n--x--\r\n'
    answer = visitor.send("/new/upload", body, "multipart/form-data; boundary=x")
    assert answer.status == 422
    assert caplog.records == []
    assert house.notes == []
