"""What comes of runs: judged, compared, asked and handed over. Two runs are published once."""

from __future__ import annotations

import html
import io
import json
import re
import time
import zipfile
from html.parser import HTMLParser

import pytest

from sfumato.web.app import application
from sfumato.web.bench import Bench
from sfumato.web.guard import REPORT_POLICY, Hosts, Keys
from sfumato.web.judgement import Judgement
from sfumato.web.projects import Workspace
from sfumato.web.questions import Questions
from sfumato.web.runs import Kind, Runner, load_run
from web.conftest import MOST, House
from web.visitor import PORT

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

HOSTILE = "<script>alert(1)</script>"
POLICY = """\
attributes:
  age: {{role: quasi-identifier}}
  "<i>job": {{role: quasi-identifier}}
  disease: {{role: sensitive}}
method: {{name: mondrian, k: {k}}}
"""
PATIENCE = 240  # the first use of a kernel compiles it


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A workbench with two finished runs of one project, k = 3 and k = 10."""
    space = Workspace(tmp_path_factory.mktemp("results") / "space")
    with space.opened():
        folder = space.new_folder("people")
        jobs, diseases = (HOSTILE, "Nurse", "Cook"), ("Flu", "Fever", "Gout")
        rows = [f"{20 + n},{jobs[n % 3]},{diseases[n * 7 % 3]}" for n in range(60)]
        (folder / "data" / "table.csv").write_text("\n".join(["age,<i>job,disease", *rows, ""]))
        (folder / "policy.yaml").write_text(POLICY.format(k=3))
        project = space.finish(folder, "people", "people.csv", own="table.csv")
        runner = Runner(space)
        found = []
        for k in (3, 10):
            (folder / "policy.yaml").write_text(POLICY.format(k=k))
            found.append(runner.submit(project, Kind.PUBLISH))
        for run in found:
            status = runner.wait(run, PATIENCE)
            assert status.state == "finished", status
        bench = Bench(space, runner, Keys(), MOST, questions=Questions(patience=PATIENCE))
        house = House(bench, application(bench, Hosts.of("127.0.0.1", PORT)), [])
        yield house, project, found
        runner.stop()


@pytest.fixture
def visitor(results):
    return results[0].visitor()


@pytest.fixture
def base(results):
    return f"/p/{results[1].id}"


def kept(answer):
    """Check what holds for every page: nothing inline, nothing unescaped, names for fields."""
    assert answer.status in (200, 422), answer.words
    reader = Reader()
    reader.feed(answer.text)
    assert HOSTILE not in answer.text
    assert "<i>" not in answer.text
    ids = [each["id"] for _, each in reader.elements if "id" in each]
    assert len(ids) == len(set(ids))
    for name, each in reader.elements:
        assert "style" not in each, (name, each)
        assert not any(key.startswith("on") for key in each), (name, each)
        assert name != "style"
        if name == "script":
            assert each.get("src") == "/static/workbench.js"
        if name == "a" and each["href"].startswith("#"):
            assert each["href"][1:] in ids
    assert not reader.unlabelled
    return answer


class Reader(HTMLParser):
    """All elements with their attributes, and the fields outside of labels."""

    def __init__(self):
        super().__init__()
        self.elements, self.unlabelled, self._labels = [], [], 0

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._labels += tag == "label"
        is_field = tag in ("select", "textarea") or (
            tag == "input" and dict(attrs).get("type") != "hidden"
        )
        if is_field and not self._labels:
            self.unlabelled.append(dict(attrs))

    def handle_endtag(self, tag):
        self._labels -= tag == "label"


def test_a_finished_run_is_judged(results, visitor, base):
    page = kept(visitor.get(f"{base}/runs/{results[2][0].id}"))
    assert "audit passed" in page.words
    tried = Judgement.of(results[2][0]).content["attacks"]
    assert f"{tried['risks']} of {len(tried['outcomes'])} outcomes" in page.words
    assert "At least 3 share every published combination" in page.words
    for title in ("Simulated attacks", "Sizes of groups", "before and after", "is worth"):
        assert title in page.words
    charts = re.findall(r"<svg[^>]*role=.img", page.text)
    assert len(charts) >= 4
    assert 'fill="var(--series-1)"' in page.text
    assert HOSTILE in page.words  # as a text


def test_the_list_has_a_map_of_all_runs(results, visitor, base):
    page = kept(visitor.get(f"{base}/runs"))
    assert "Compare two runs" in page.words
    maps = re.findall(r'<svg[^>]*class="map".*?</svg>', page.text, re.DOTALL)
    assert len(maps) == 2
    for each in maps:
        for run in results[2]:
            assert f'href="{base}/runs/{run.id}"' in each


def test_two_runs_stand_side_by_side(results, visitor, base):
    a, b = (run.id for run in results[2])
    page = kept(visitor.get(f"{base}/compare?a={a}&b={b}"))
    row = re.search(r"<tr><th[^>]*>k-anonymity</th>(.*?)</tr>", page.text, re.DOTALL)
    assert row
    assert re.findall(r"k = \d+", row[1]) == ["k = 3", "k = 10"]
    numbers = re.search(r"<tr><th[^>]*>Groups</th>(.*?)</tr>", page.text, re.DOTALL)
    told = [Judgement.of(run).content["groups"] for run in results[2]]
    assert re.findall(r">(\d+)<", numbers[1]) == [str(each) for each in told]
    assert page.text.count("<h3>Run A</h3>") == page.text.count("<h3>Run B</h3>") == 2


@pytest.mark.parametrize("query", ["", "?a=../../x&b=1", "?a=20260101-000000-abcdef"])
def test_other_runs_are_not_compared(visitor, base, query):
    page = kept(visitor.get(f"{base}/compare{query}"))
    assert "Choose two runs" in page.words


def test_the_step_answer_leads_to_the_newest_release(results, visitor, base):
    page = kept(visitor.get(f"{base}/answer"))
    assert page.words.count("k = 10") == 1
    assert "Ask another release" in page.words


def ask(visitor, base, run, **fields):
    address = f"{base}/runs/{run.id}/answer"
    visitor.get(address)
    return kept(visitor.post(address, fields))


def test_a_query_is_answered_with_bounds(results, visitor, base):
    page = ask(visitor, base, results[2][0], what="query", q="SELECT COUNT(*)\r\nWHERE age >= 20")
    row = re.search(r"<caption>the answer</caption>.*?<tbody>(.*?)</tbody>", page.text, re.DOTALL)
    assert re.findall(r">(\d+)<", row[1])[:3] == ["60", "60", "60"]
    assert "SELECT COUNT(*)&#10;WHERE age &gt;= 20</textarea>" in page.text


def test_a_refused_query_is_shown_with_its_place(results, visitor, base):
    page = ask(visitor, base, results[2][0], what="query", q="SELECT COUNT(*)\r\nWHERE agee > 3")
    assert page.status == 422
    assert "Character 23: there is no column 'agee'" in page.words
    assert "SELECT COUNT(*)\nWHERE <mark>a</mark>gee &gt; 3</code>" in page.text
    assert 'aria-invalid="true"' in page.text


def test_what_is_typed_comes_back_as_text(results, visitor, base):
    hostile = f"</textarea>{HOSTILE}<i>"
    page = ask(visitor, base, results[2][0], what="query", q=hostile)
    assert page.status == 422


def test_a_slow_answer_is_waited_for_on_a_page_that_is_there_at_once(
    results, visitor, base, monkeypatch
):
    house, _, (run, _) = results
    monkeypatch.setattr(house.bench.questions, "patience", 0.01)
    address = f"{base}/runs/{run.id}/answer"
    visitor.get(address)
    with house.bench.shelf.take(run).turn:  # as a question before it would
        sent = visitor.post(address, {"what": "query", "q": "SELECT COUNT(*)"}, follow=False)
        assert sent.status == 303
        page = kept(visitor.get(sent.header("location")))
        assert "in the background" in page.words
        assert 'http-equiv="refresh"' in page.text
        (poll,) = re.findall('data-poll="([^"]+)"', page.text)
        assert json.loads(visitor.get(poll).body)["over"] is False
    deadline = time.monotonic() + PATIENCE
    while not json.loads(visitor.get(poll).body)["over"]:
        assert time.monotonic() < deadline, "the answer never came"
        time.sleep(0.02)
    page = kept(visitor.get(sent.header("location")))
    assert re.search(r"value low high se bounds 60 60 60", page.words)
    other = f"{base}/runs/{results[2][1].id}/answer?{sent.header('location').partition('?')[2]}"
    assert "was not kept" in kept(visitor.get(other)).words  # it is not that run's


def test_a_slow_refusal_stands_under_what_was_typed(results, visitor, base, monkeypatch):
    house, _, (run, _) = results
    monkeypatch.setattr(house.bench.questions, "patience", 0.01)
    address = f"{base}/runs/{run.id}/answer"
    visitor.get(address)
    with house.bench.shelf.take(run).turn:
        sent = visitor.post(address, {"what": "query", "q": "SELECT AVG(x)"}, follow=False)
    deadline = time.monotonic() + PATIENCE
    while "data-poll" in (page := visitor.get(sent.header("location"))).text:
        assert time.monotonic() < deadline, "the refusal never came"
    assert kept(page).status == 422
    assert "SELECT AVG(x)</textarea>" in page.text
    assert 'id="refusal"' in page.text


def test_the_examples_are_answered(results, visitor, base):
    address = f"{base}/runs/{results[2][0].id}/answer"
    listed = re.findall(r'name="example" value="([^"]*)"', visitor.get(address).text)
    assert len(listed) == 5  # all rows, three columns, the mean of a number
    for each in listed:
        page = ask(visitor, base, results[2][0], what="query", q="x", example=html.unescape(each))
        assert page.status == 200, page.words


@pytest.mark.parametrize(
    "fields", [{"q": ""}, {}, {"what": "cross"}, {"what": "cross", "one": "age"}]
)
def test_a_form_without_a_question_is_refused(results, visitor, base, fields):
    assert ask(visitor, base, results[2][0], **fields).status == 422


@pytest.mark.parametrize("way", ["bounds", "table"])
def test_two_columns_are_tabulated(results, visitor, base, way):
    page = ask(visitor, base, results[2][1], what="cross", one="<i>job", other="disease", way=way)
    assert page.status == 200
    body = re.search(r"<i>job by disease".replace("<", "&lt;").replace(">", "&gt;"), page.text)
    assert body
    table = page.text[body.start() : page.text.index("</table>", body.start())]
    counts = [float(each) for each in re.findall(r"<td[^>]*>(\d+(?:\.\d+)?)", table)]
    assert len(counts) == 9
    assert sum(counts) == pytest.approx(60, abs=1)
    assert ("–" in table) == (way == "bounds")


def test_a_cross_table_of_no_column_is_refused(results, visitor, base):
    page = ask(visitor, base, results[2][0], what="cross", one="nobody", other="age")
    assert page.status == 422
    assert "nobody" in page.words


def test_a_release_is_read_once(results, visitor, base, monkeypatch):
    from sfumato.release import Release

    read = []
    load = Release.load
    monkeypatch.setattr(Release, "load", lambda path: read.append(path) or load(path))
    results[0].bench.shelf.forget(results[2][0])
    for _ in range(3):
        assert ask(visitor, base, results[2][0], what="query", q="SELECT COUNT(*)").status == 200
    assert len(read) == 1


def test_what_is_handed_over(results, visitor, base):
    run = results[2][0]
    packed = visitor.get(f"{base}/runs/{run.id}/release.zip")
    with zipfile.ZipFile(io.BytesIO(packed.body)) as archive:
        assert "release/manifest.json" in archive.namelist()
    assert b"mondrian" in visitor.get(f"{base}/runs/{run.id}/policy.yaml").body
    report = visitor.get(f"{base}/runs/{run.id}/report.html")
    assert report.header("content-security-policy") == REPORT_POLICY
    lines = visitor.get(f"{base}/runs/{run.id}/command").text
    assert "sfumato anonymize" in lines
    assert "seed" not in lines


def test_the_public_report_knows_nothing_of_the_original(results, visitor, base):
    house, project, (run, _) = results
    visitor.get(f"{base}/runs/{run.id}")
    answer = visitor.post(f"{base}/runs/{run.id}/public")
    made = load_run(project.runs / answer.address.rsplit("/", 1)[1])
    assert made.kind is Kind.REPORT
    assert house.bench.runner.wait(made, PATIENCE).state == "finished"
    page = visitor.get(f"{base}/runs/{made.id}")
    assert page.address == f"{base}/runs/{run.id}"
    assert "Read the public report" in kept(page).words
    report = visitor.get(f"{base}/runs/{run.id}/public.html")
    assert report.header("content-security-policy") == REPORT_POLICY
    assert "Public: made from the published files alone" in report.words
    assert visitor.get(f"{base}/runs/{made.id}/report.html").status == 404


def test_nothing_is_asked_of_a_run_that_published_nothing(results, visitor, base):
    house, project, (run, _) = results
    broken = house.bench.runner.submit(project, Kind.REPORT, {"run": "../.."}, rules=run.folder)
    assert house.bench.runner.wait(broken, PATIENCE).state == "refused"
    assert visitor.get(f"{base}/runs/{broken.id}/answer").status == 404
    assert visitor.get(f"{base}/runs/{broken.id}/public.html").status == 404
    assert "no more" in kept(visitor.get(f"{base}/runs/{broken.id}")).words


def test_a_run_is_removed_with_its_reports(results, visitor, base):
    house, project, (run, _) = results
    again = house.bench.runner.submit(project, Kind.PUBLISH, rules=run.folder)
    assert house.bench.runner.wait(again, PATIENCE).state == "finished"
    report = house.bench.runner.submit(project, Kind.REPORT, {"run": again.id}, rules=run.folder)
    house.bench.runner.wait(report, PATIENCE)
    deadline = time.monotonic() + PATIENCE  # until both processes have gone
    while house.bench.runner._processes and time.monotonic() < deadline:
        time.sleep(0.02)
    visitor.get(f"{base}/runs/{again.id}")
    assert visitor.post(f"{base}/runs/{again.id}/remove").status == 200
    assert not again.folder.exists()
    assert not report.folder.exists()
