"""The workbench as a target: bytes are a request, and every request gets an answer of ours.

A case is `METHOD ADDRESS`, lines of headers, an empty line and a body. Names of what is there are
written as `@P` (a project), `@R` (a run that published), `@I` (one that inspected) and `@T` (what
forms carry). No run is started: they are asked for and wait.
"""

from __future__ import annotations

import asyncio
import shutil
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote, urlencode

from web.form_reader import forms_of
from web.visitor import BOUNDARY, HOST, PORT, call, multipart, scope_of

from sfumato.web.app import application
from sfumato.web.bench import Bench
from sfumato.web.guard import Hosts, Keys
from sfumato.web.projects import Workspace
from sfumato.web.questions import Questions
from sfumato.web.runs import Kind, Runner, runs_of

PEOPLE = "name,age,sex,disease\n" + "".join(
    f"P {n},{20 + n % 5},{'FM'[n % 2]},{['Flu', 'Gout', 'HIV'][n % 3]}\n" for n in range(24)
)
POLICY = """attributes:
  name: {role: identifier}
  age: {role: quasi-identifier}
  sex: {role: quasi-identifier}
  disease: {role: sensitive, l: 2}
method: {name: mondrian, k: 3}
"""
PAGES = ("data", "roles", "protect", "recommend", "runs", "answer", "compare", "hierarchy/1")
OF_A_RUN = ("", "/answer", "/status", "/report.html", "/command", "/public.html", "/policy.zip")
_FORM = "application/x-www-form-urlencoded"
_MOST_RUNS = 6


class Server:
    """A workbench over a copy of a workspace, which is copied anew when too much was changed."""

    def __init__(self, scratch: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.keys, self.notes = Keys(), list[str]()
        self.session = self.keys.new_session()
        self.token = self.keys.form_token(self.session)
        self.template, self.space = scratch / "template", scratch / "space"
        self.names = _prepared(self.template)
        self.open_: ExitStack | None = None
        self.renew()

    def renew(self) -> None:
        """Open a fresh copy."""
        if self.open_ is not None:
            self.open_.close()
        shutil.rmtree(self.space, ignore_errors=True)
        shutil.copytree(self.template, self.space)
        self.open_ = ExitStack()
        workspace = Workspace(self.space)
        self.open_.enter_context(workspace.opened())
        runner = Runner(workspace, at_once=0)
        self.open_.callback(runner.stop)
        bench = Bench(workspace, runner, self.keys, 50_000, questions=Questions(patience=60))
        self.app = application(bench, Hosts.of("127.0.0.1", PORT), self.notes.append)

    @property
    def is_changed(self) -> bool:
        """Whether there is more, or less, than in the template but for a few runs."""
        runs = self.space / self.names["@P"] / "runs"
        projects = [each for each in self.space.iterdir() if each.is_dir()]
        if len(projects) != 1 or not (runs / self.names["@R"]).is_dir():
            return True
        return len(list(runs.iterdir())) > _MOST_RUNS

    def answer(self, method: str, address: str, headers: dict[str, bytes], body: bytes):
        """Return what the workbench answers."""
        path, _, query = address.partition("?")
        own = {
            "host": HOST.encode(),
            "origin": f"http://{HOST}".encode(),
            "content-type": _FORM.encode(),
            "cookie": f"sfumato-{PORT}={self.session}".encode(),
        } | headers
        listed = [(key.encode(), value) for key, value in own.items()]
        scope = scope_of(method, unquote(path), path, query, listed)
        return self.loop.run_until_complete(call(self.app, scope, body, 65536))


def _prepared(folder: Path) -> dict[str, str]:
    """Make a workspace with a project that was inspected and published once."""
    workspace = Workspace(folder)
    with workspace.opened():
        runner = Runner(workspace)
        made = workspace.new_folder("people")
        (made / "data" / "table.csv").write_text(PEOPLE)
        project = workspace.finish(made, "people", "people.csv", own="table.csv")
        (project.folder / "policy.yaml").write_text(POLICY)
        for kind in (Kind.INSPECT, Kind.PUBLISH):
            status = runner.wait(runner.submit(project, kind), 120)
            assert status.state == "finished", status
        runner.stop()
    (inspected,) = runs_of(project, Kind.INSPECT)
    (published,) = runs_of(project, Kind.PUBLISH)
    return {"@P": project.id, "@R": published.id, "@I": inspected.id}


@cache
def server(scratch: Path) -> Server:
    """Return the one workbench of this process."""
    return Server(scratch)


def send(content: bytes, scratch: Path) -> int:
    """Return the status of the answer to the request that the bytes are.

    AssertionError where the answer is a fault.
    """
    house = server(scratch)
    for sign, name in {**house.names, "@T": house.token}.items():
        content = content.replace(sign.encode(), name.encode())
    head, _, body = content.partition(b"\n\n")
    first, *lines = head.split(b"\n")
    method, _, address = first.partition(b" ")
    headers = {}
    for line in lines[:20]:
        key, colon, value = line.partition(b":")
        # as servers do: a name is of letters, a value on one line
        if colon and key.replace(b"-", b"").isalnum() and b"\r" not in value and b"\0" not in value:
            headers[key.decode("ascii", "replace").lower()] = value.strip()
    # a server hands over addresses that are printable
    place = quote(address.decode("latin-1"), safe="/?&=%+-._~:@<>'()*,;!$[]")
    answer = house.answer(method.decode("latin-1"), place, headers, body)
    assert answer.status < 500, (answer.status, house.notes)
    assert house.notes == []
    kind = answer.header("content-type") or ""
    assert "html" not in kind or b"<script>alert" not in answer.body
    if method != b"GET" and house.is_changed:
        house.renew()
    return answer.status


def requests(scratch: Path) -> list[bytes]:
    """Return requests as pages make them, all their forms among them."""
    house = server(scratch)
    pages = ["/", *(f"/p/@P/{page}" for page in PAGES)]
    pages += [f"/p/@P/runs/@R{rest}" for rest in OF_A_RUN]
    found = [f"GET {page}\n\n".encode() for page in [*pages, "/static/workbench.css", "/?token=x"]]
    signs = {**{name: sign for sign, name in house.names.items()}, house.token: "@T"}
    for page in pages:
        place = page
        for sign, name in house.names.items():
            place = place.replace(sign, name)
        forms = forms_of(house.answer("GET", place, {}, b"").body.decode("utf-8", "replace"))
        for action, fields in forms.items():
            text = f"POST {action}\n\n{urlencode(fields)}"
            for name, sign in signs.items():
                text = text.replace(name, sign)
            found.append(text.encode())
    upload = multipart({"form_token": "@T"}, "table.csv", PEOPLE[:200].encode())
    kind = f"content-type: multipart/form-data; boundary={BOUNDARY}"
    for place in ("/new/upload", "/p/@P/hierarchy/1/upload"):
        found.append(f"POST {place}\n{kind}\n\n".encode() + upload)
    question = "form_token=@T&query=SELECT COUNT(*) FROM release WHERE age > 22"
    found.append(f"POST /p/@P/runs/@R/answer\n\n{question}".encode())
    return found
