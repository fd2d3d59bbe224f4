"""A browser without a window: it keeps cookies, follows redirects and sends forms to an app."""

from __future__ import annotations

import asyncio
import html
import re
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

HOST = "127.0.0.1:8765"
PORT = 8765


@dataclass
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes
    address: str

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def words(self) -> str:
        """What a reader sees: the text without tags."""
        return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", self.text)))

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    @property
    def form_token(self) -> str:
        found = re.search(r'name="form_token" value="([0-9a-f]+)"', self.text)
        assert found, "the page has no form"
        return found[1]


@dataclass
class Visitor:
    """Requests to an ASGI app, one after the other."""

    app: object
    host: str = HOST
    cookies: dict[str, str] = field(default_factory=dict)
    last: Answer | None = None

    def get(self, address: str, *, follow: bool = True, **headers: str) -> Answer:
        answer = self.request("GET", address, headers=headers)
        while follow and answer.status in (302, 303, 307):
            answer = self.request("GET", answer.header("location"))
        if answer.status == 200 and "form_token" in answer.body.decode(errors="replace"):
            self.last = answer
        return answer

    def post(self, address: str, fields: dict[str, str] | None = None, **more) -> Answer:
        """Send a form as the page does that was seen last."""
        follow = more.pop("follow", True)
        token = {"form_token": self.last.form_token} if self.last is not None else {}
        body = urlencode({**token, **(fields or {})}).encode()
        kind = "application/x-www-form-urlencoded"
        answer = self.send(address, body, kind, **more)
        return self.get(answer.header("location")) if follow and answer.status == 303 else answer

    def upload(self, address: str, name: str, content: bytes, **more) -> Answer:
        """Send a file as the page does that was seen last."""
        follow = more.pop("follow", True)
        body = multipart({"form_token": self.last.form_token}, name, content)
        answer = self.send(address, body, f"multipart/form-data; boundary={BOUNDARY}", **more)
        return self.get(answer.header("location")) if follow and answer.status == 303 else answer

    def send(self, address: str, body: bytes, kind: str, chunk: int = 65536, **headers) -> Answer:
        own = {"origin": f"http://{self.host}", "content-type": kind} | headers
        return self.request("POST", address, body=body, headers=own, chunk=chunk)

    def request(
        self, method: str, address: str, *, body: bytes = b"", headers=None, chunk: int = 65536
    ) -> Answer:
        parts = urlsplit(address)
        listed = {"host": self.host, **(headers or {})}
        if self.cookies:
            listed.setdefault("cookie", "; ".join(f"{k}={v}" for k, v in self.cookies.items()))
        own = [
            (k.replace("_", "-").encode(), v.encode()) for k, v in listed.items() if v is not None
        ]
        scope = scope_of(method, parts.path, parts.path, parts.query, own)
        answer = asyncio.run(call(self.app, scope, body, chunk))
        answer.address = address
        cookie = answer.header("set-cookie")
        if cookie:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer


def scope_of(
    method: str, path: str, raw_path: str, query: str, headers: list[tuple[bytes, bytes]]
) -> dict:
    """Return a request to the workbench as a server hands it on."""
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": raw_path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": headers,
        "client": ("127.0.0.1", 5),
        "server": ("127.0.0.1", PORT),
    }


BOUNDARY = "boundary-of-the-test"
GONE = b"gone"  # a piece of a body in place of which the visitor goes away


def multipart(fields: dict[str, str], name: str | None, content: bytes) -> bytes:
    lines = []
    for key, value in fields.items():
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n'
        lines.append(head.encode() + value.encode() + b"\r\n")
    if name is not None:
        head = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        lines.append(head.encode() + content + b"\r\n")
    return b"".join(lines) + f"--{BOUNDARY}--\r\n".encode()


async def call(app, scope, body: bytes, chunk: int) -> Answer:
    pieces = [body[at : at + chunk] for at in range(0, len(body), chunk)] or [b""]
    sent: list[dict] = []
    over = asyncio.Event()

    async def receive():
        if pieces:
            piece = pieces.pop(0)
            if piece == GONE:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": piece, "more_body": bool(pieces)}
        await over.wait()  # as servers do: nobody has gone before the answer is there
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            over.set()

    await app(scope, receive, send)
    start = sent[0]
    content = b"".join(each.get("body", b"") for each in sent[1:])
    headers = [(key.decode().lower(), value.decode()) for key, value in start["headers"]]
    return Answer(start["status"], headers, content, "")
