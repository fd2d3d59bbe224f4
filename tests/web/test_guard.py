"""What reaches the workbench and what does not, and the headers of all that leaves it."""

from __future__ import annotations

import asyncio
import re

import pytest
from starlette.routing import Route

from sfumato.web.app import PAGES
from sfumato.web.guard import CONTENT_POLICY, REPORT_POLICY, Guard, Hosts, Keys, is_loopback
from web.conftest import MOST
from web.visitor import BOUNDARY, PORT, Visitor, multipart

FORM = "application/x-www-form-urlencoded"
POSTS = [each.path for each in PAGES if isinstance(each, Route) and "POST" in each.methods]


# --- coming in ------------------------------------------------------------------------------------


def test_without_a_cookie_there_is_nothing_to_see(house):
    for path in ("/", "/p/sample/data", "/p/x/runs/20260101-000000-abcdef/release.zip", "/none"):
        answer = house.stranger().get(path)
        assert (answer.status, "Locked" in answer.text) == (403, True)


@pytest.mark.parametrize("token", ["", "x", "é"])
def test_a_wrong_token_opens_nothing(house, token):
    stranger = house.stranger()
    answer = stranger.get(f"/?token={token}", follow=False)
    assert answer.status == 403
    assert answer.header("set-cookie") is None
    assert house.bench.keys.token not in answer.text


def test_a_wrong_token_beside_the_right_one_opens_nothing(house):
    token = house.bench.keys.token
    assert house.stranger().get(f"/?token={token}&token=x").status == 403
    assert house.stranger().get(f"/?token=x&token={token}").status == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(house):
    stranger = house.stranger()
    answer = stranger.get(f"/p/a/data?a=1&token={house.bench.keys.token}&b=2", follow=False)
    assert answer.status == 303
    assert answer.header("location") == "/p/a/data?a=1&b=2"
    name, *flags = answer.header("set-cookie").split("; ")
    assert name.startswith(f"sfumato-{PORT}=")
    assert house.bench.keys.token not in name
    assert set(flags) == {"Path=/", "HttpOnly", "SameSite=Strict"}
    assert stranger.get("/").status == 200


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "///evil.example"])
def test_the_way_in_leads_to_no_other_host(house, path):
    scope_path = f"{path}?token={house.bench.keys.token}"
    stranger = house.stranger()
    # urlsplit would take the host away: the path is given as servers give it
    answer = _raw(stranger, "GET", path, f"token={house.bench.keys.token}")
    assert answer.status == 303, scope_path
    assert re.match(r"/[^/\\]", answer.header("location"))


def _raw(visitor: Visitor, method: str, path: str, query: str = "", **headers: str):
    from web.visitor import call

    listed = {"host": visitor.host, **headers}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(k.encode(), v.encode()) for k, v in listed.items()],
    }
    return asyncio.run(call(visitor.app, scope, b"", 1))


def test_a_made_up_cookie_opens_nothing(house):
    for cookie in (f"sfumato-{PORT}=guess", f"sfumato-{PORT}=", "=;=;", f"sfumato-{PORT}=\x01"):
        assert house.stranger().get("/", cookie=cookie).status == 403


def test_a_session_of_another_server_opens_nothing(house):
    visitor = house.visitor()
    other = Guard(visitor.app._app, Keys(), Hosts.of("127.0.0.1", PORT))
    assert Visitor(other, cookies=visitor.cookies).get("/").status == 403


def test_the_style_is_open_to_all_and_nothing_else_is(house):
    stranger = house.stranger()
    assert stranger.get("/static/workbench.css").status == 200
    assert stranger.get("/static/workbench.js").status == 200
    for path in ("/static/../guard.py", "/static/%2e%2e/guard.py", "/static/x", "/static/"):
        assert stranger.get(path).status == 404


# --- hosts and origins ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80", "localhost:8766", "",
     "127.0.0.1:8765.evil.example", "127.0.0.1.evil.example:8765", "127.0.0.1:8765:8765"],
)  # fmt: skip
def test_a_foreign_host_is_refused_even_with_the_token(house, host):
    visitor = house.visitor()
    assert visitor.get("/", host=host).status == 400
    assert visitor.get(f"/?token={house.bench.keys.token}", host=host).status == 400
    assert visitor.get("/static/workbench.css", host=host).status == 400


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "LOCALHOST:8765", "[::1]:8765"])
def test_names_of_this_machine_are_its_own(house, host):
    visitor = house.visitor()
    assert visitor.get("/", host=host).status == 200


def test_hosts_of_a_server_for_others():
    named = Hosts.of("data.example", 9000)
    assert named.allow("data.example:9000")
    assert not named.allow("127.0.0.1:9000")
    every = Hosts.of("0.0.0.0", 9000, ["box"])
    assert every.allow("192.168.1.7:9000")
    assert every.allow("[fe80::1]:9000")
    assert every.allow("box:9000")
    assert not every.allow("evil.example:9000")
    assert Hosts.of("localhost", 80).allow("localhost")


def test_which_addresses_are_of_this_machine_alone():
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.0.1", "localhost.example", "")))


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:8765"},
        {"origin": "http://127.0.0.1:8766"},
        {"origin": "http://127.0.0.1:8765.evil.example"},
        {"origin": "http://localhost:8765"},
        {"origin": None},
        {"origin": None, "sec_fetch_site": "cross-site"},
        {"origin": None, "sec_fetch_site": "same-site"},
        {"origin": None, "sec_fetch_site": "none"},
        {"sec_fetch_site": "cross-site"},
    ],
)
def test_a_form_of_another_page_is_refused(house, headers):
    visitor = house.visitor()
    answer = visitor.post("/new/sample", follow=False, **headers)
    assert answer.status == 403
    assert house.bench.workspace.projects() == []


def test_a_form_of_our_own_page_is_taken(house):
    visitor = house.visitor()
    assert visitor.post("/new/path", {"place": "0:none.csv"}).status == 422
    own = {"origin": None, "sec_fetch_site": "same-origin"}
    assert visitor.post("/new/path", {"place": "0:none.csv"}, **own).status == 422


def test_headers_that_decide_come_once(house):
    visitor = house.visitor()
    for name in ("Host", "HOST"):
        assert visitor.get("/", **{name: "evil.example"}).status == 400


@pytest.mark.parametrize("path", POSTS)
def test_every_form_needs_the_token_of_its_session(house, path, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    run = next(project.runs.iterdir()).name
    before = sorted(each.name for each in house.bench.workspace.folder.iterdir())
    address = path.replace("{project}", project.id).replace("{run}", run)
    address = re.sub(r"\{[^}]*\}", "0", address)
    other = house.visitor().last.form_token
    for token in ("", "0" * 64, other):
        if "upload" in path:
            body, kind = multipart({"form_token": token}, "x.csv", b"a\n1\n"), BOUNDARY
            answer = visitor.send(address, body, f"multipart/form-data; boundary={kind}")
        else:
            answer = visitor.send(address, f"form_token={token}&sure=yes".encode(), FORM)
        assert answer.status == 403, path
    assert sorted(each.name for each in house.bench.workspace.folder.iterdir()) == before


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH"])
def test_other_methods_are_refused(house, method):
    visitor = house.visitor()
    origin = {"origin": f"http://{visitor.host}"}
    assert visitor.request(method, "/", headers=origin).status == 405


def test_a_socket_is_closed(house):
    sent = []

    async def call():
        async def send(message):
            sent.append(message)

        await house.app({"type": "websocket", "path": "/", "headers": []}, None, send)

    asyncio.run(call())
    assert sent == [{"type": "websocket.close", "code": 1008}]


# --- bodies ---------------------------------------------------------------------------------------


def test_a_body_that_says_that_it_is_too_large_is_not_read(house):
    visitor = house.visitor()
    answer = visitor.send("/new/sample", b"x", FORM, content_length=str(10**9))
    assert answer.status == 413
    assert visitor.send("/new/sample", b"x", FORM, content_length="-1").status == 413


def test_an_upload_is_cut_off_while_it_arrives(house):
    visitor = house.visitor()
    answer = visitor.upload("/new/upload", "big.csv", b"a\n" + b"1\n" * MOST, follow=False)
    assert answer.status == 413
    assert [each.name for each in house.bench.workspace.folder.iterdir()] == [".lock"]
    assert house.notes == []


def test_a_form_is_cut_off_while_it_arrives(house):
    visitor = house.visitor()
    answer = visitor.post("/new/path", {"place": "x" * 3_000_000})
    assert answer.status == 413


# --- what leaves ----------------------------------------------------------------------------------


def test_every_answer_has_the_headers(house):
    visitor, stranger = house.visitor(), house.stranger()
    answers = [
        visitor.get("/"),
        visitor.get("/none"),
        visitor.get("/p/none/data"),
        visitor.get("/", host="evil.example"),
        stranger.get("/"),
        stranger.get(f"/?token={house.bench.keys.token}", follow=False),
        stranger.get("/static/workbench.css"),
        visitor.request("PUT", "/"),
        visitor.post("/new/path", {"place": "x"}),
        visitor.send("/new/path", b"x", FORM, content_length=str(10**9)),
        visitor.send("/new/path", b"x", "text/plain"),
        visitor.post("/", follow=False),
    ]
    for answer in answers:
        assert answer.header("content-security-policy") == CONTENT_POLICY
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("referrer-policy") == "same-origin"
        assert answer.header("cache-control") == "no-store"
        assert answer.header("cross-origin-opener-policy") == "same-origin"
        assert answer.header("cross-origin-resource-policy") == "same-origin"
        assert answer.header("x-frame-options") == "DENY"
        assert answer.header("server") is None
        names = [name for name, _ in answer.headers]
        assert len(names) == len(set(names))
    assert "unsafe" not in CONTENT_POLICY
    assert "default-src 'none'" in CONTENT_POLICY


def test_only_a_report_may_have_a_policy_of_its_own():
    def app_with(policy: str):
        async def app(scope, receive, send):
            headers = [(b"Content-Security-Policy", policy.encode())]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b""})

        keys = Keys()
        visitor = Visitor(Guard(app, keys, Hosts.of("127.0.0.1", PORT)))
        return visitor.get(f"/?token={keys.token}").header("content-security-policy")

    assert app_with("default-src *") == CONTENT_POLICY
    assert app_with(REPORT_POLICY) == REPORT_POLICY
    assert "sandbox" in REPORT_POLICY
    assert "script-src" not in REPORT_POLICY


def test_a_fault_is_told_without_what_it_says():
    async def app(scope, receive, send):
        raise ValueError("the cell of a person")

    keys, notes = Keys(), []
    visitor = Visitor(Guard(app, keys, Hosts.of("127.0.0.1", PORT), note=notes.append))
    answer = visitor.get(f"/?token={keys.token}")
    assert answer.status == 500
    assert "person" not in answer.text
    assert len(notes) == 1
    assert notes[0].startswith("internal error: ValueError at sfumato.web.guard:")


def test_no_page_has_inline_style_or_script(house, people):
    visitor = house.visitor()
    project = house.opened(visitor, people)
    for path in (
        "/",
        *(f"/p/{project.id}/{step}" for step in ("data", "roles", "protect", "runs")),
    ):
        html = visitor.get(path).text
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:|<script(?! src=)", html), (
            path
        )


def test_keys_are_not_shown():
    keys = Keys()
    assert keys.token not in repr(keys)
    assert len(keys.token) >= 32
    assert Keys().token != keys.token


def test_very_many_sessions_are_forgotten_from_the_oldest_on():
    keys = Keys()
    sessions = [keys.new_session() for _ in range(1_001)]
    assert not keys.knows(sessions[0])
    assert keys.knows(sessions[1])
    assert keys.knows(sessions[-1])
