"""Who may talk to the workbench: the outermost layer, around every page and file.

A server on this machine is in reach of every web page that its user opens. So a request must name
this server as its host (no other name can be made to lead here), show a cookie that only the
printed address gives, and, to change anything, come from a page of this server. Whatever leaves
carries headers that let the browser run nothing but the package's own script.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from sfumato.errors import place_of
from sfumato.web.frame import bare_page

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
# A report is one file with its style inside. It runs nothing, reaches nothing and, in a sandbox,
# is of no origin.
REPORT_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "frame-ancestors 'none'; base-uri 'none'; sandbox allow-downloads"
)
_HEADERS: Final = {
    "x-content-type-options": "nosniff",
    # not no-referrer: browsers would then send `Origin: null` with the forms of our own pages
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE_METHODS: Final = ("GET", "HEAD")
_METHODS: Final = (*_SAFE_METHODS, "POST")
_MOST_SESSIONS: Final = 1_000
OPEN_TO_ALL: Final = "/static/"  # the style and script of the package, which hold no data
SESSION: Final = "sfumato.session"  # where the scope of a request has the session's name
TOKEN: Final = "token"
SMALL_BODY: Final = 2 * 2**20
EVERYWHERE: Final = ("0.0.0.0", "::")


class TooLarge(Exception):  # noqa: N818 -- a state, not a fault
    """A body that is larger than its place takes; raised while it is read."""


@dataclass(slots=True)
class Keys:
    """The secrets of one server: the token of its address, its sessions, the token of forms."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _sessions: dict[str, None] = field(default_factory=dict, repr=False)

    def opens(self, token: str) -> bool:
        """Return whether this is the token of the address."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def new_session(self) -> str:
        """Return the name of a new session; of very many the oldest is forgotten."""
        if len(self._sessions) >= _MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        session = secrets.token_urlsafe(32)
        self._sessions[session] = None
        return session

    def knows(self, session: str | None) -> bool:
        """Return whether a session was opened here."""
        return session is not None and session in self._sessions

    def form_token(self, session: str) -> str:
        """Return what the forms of a session carry, which no other page can know."""
        return hmac.digest(self._secret, session.encode(), "sha256").hex()

    def is_form_token(self, session: str, token: str) -> bool:
        """Return whether a form was made for this session."""
        return hmac.compare_digest(self.form_token(session).encode(), token.encode())


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names under which this server may be called: `names`, any address too if asked."""

    names: frozenset[str]
    port: int
    any_address: bool = False

    @classmethod
    def of(cls, host: str, port: int, more: Iterable[str] = ()) -> Hosts:
        """Return the names of a server that listens at `host`."""
        if is_loopback(host):
            return cls(frozenset({"127.0.0.1", "localhost", "[::1]"}), port)
        named = {name.lower() for name in (host, *more) if name}
        # names can be made to lead to any address, addresses cannot
        return cls(frozenset(named), port, any_address=host in EVERYWHERE)

    def allow(self, header: str) -> bool:
        """Return whether a Host header names this server.

        >>> Hosts.of("127.0.0.1", 8000).allow("localhost:8000")
        True
        >>> Hosts.of("127.0.0.1", 8000).allow("evil.example:8000")
        False
        """
        name, colon, port = header.lower().rpartition(":")
        if not colon or "]" in port:
            name, port = header.lower(), "80"
        if port != str(self.port):
            return False
        return name in self.names or (self.any_address and _is_address(name))


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server at `host`."""
    return host == "localhost" or (_is_address(host) and ip_address(host.strip("[]")).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Guard:
    """The application behind all checks; see the module.

    `limit_of` says how many bytes the body of a request to a path may have; `note` is told of
    internal errors in one line without data.
    """

    def __init__(
        self,
        app: App,
        keys: Keys,
        hosts: Hosts,
        *,
        limit_of: Callable[[str], int] = lambda path: SMALL_BODY,
        note: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._app, self._keys, self._hosts = app, keys, hosts
        self._limit_of, self._note = limit_of, note
        # cookies do not know of ports: two servers of one machine need names of their own
        self.cookie = f"sfumato-{hosts.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, by a refusal or by the application."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # a socket, which no page asks for
            await send({"type": "websocket.close", "code": 1008})
            return
        outgoing = _Outgoing(send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await outgoing.answer(*refusal)
            return
        incoming = _Incoming(receive, self._limit_of(scope["path"]), outgoing)
        try:
            if incoming.is_declared_too_large(scope):
                await outgoing.answer(413, *_TOO_LARGE)
                return
            await self._app(scope, incoming, outgoing)
        except TooLarge:
            if not outgoing.started:
                await outgoing.answer(413, *_TOO_LARGE)
        except Exception as error:
            self._note(f"internal error: {type(error).__name__} at {place_of(error)}")
            if not outgoing.started:
                await outgoing.answer(500, *_FAULT)

    def _refusal(self, scope: Scope) -> _Refusal | None:
        """Return the answer to a request that does not reach the application, None if it does."""
        headers = _headers(scope)
        if headers is None or not self._hosts.allow(headers.get("host", "")):
            return (400, "Wrong address", "This server does not answer under that name.")
        method, path = scope["method"], scope["path"]
        if method not in _METHODS:
            return (405, "Not supported", "This server answers GET and POST.")
        if method not in _SAFE_METHODS and not _is_from_here(headers):
            return (403, "Refused", "This request does not come from a page of the workbench.")
        if path.startswith(OPEN_TO_ALL):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for key, value in query if key == TOKEN]
        if given and method in _SAFE_METHODS:
            if len(given) > 1 or not self._keys.opens(given[0]):
                return _LOCKED
            return self._entrance(path, [pair for pair in query if pair[0] != TOKEN])
        session = _cookie(headers.get("cookie", ""), self.cookie)
        if not self._keys.knows(session):
            return _LOCKED
        scope[SESSION] = session
        return None

    def _entrance(self, path: str, query: list[tuple[str, str]]) -> _Refusal:
        """Return the way in: a cookie, and on to the same address without the token."""
        # one slash: a target that begins with two would be another host
        target = "/" + quote(path.lstrip("/\\")) + (f"?{urlencode(query)}" if query else "")
        cookie = f"{self.cookie}={self._keys.new_session()}; Path=/; HttpOnly; SameSite=Strict"
        return (303, "Open", "Welcome.", {"location": target, "set-cookie": cookie})


_Refusal = tuple[int, str, str] | tuple[int, str, str, dict[str, str]]
_LOCKED: Final[_Refusal] = (
    403,
    "Locked",
    "Open the address that `sfumato serve` printed when it started: it holds the key to this page.",
)
_TOO_LARGE: Final = ("Too large", "The file is larger than this workbench takes.")
_FAULT: Final = ("Internal error", "A fault of sfumato. Nothing was lost; please report it.")


class _Outgoing:
    """What is sent, with the headers of every answer."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False
        self.too_large = False
        self._is_replaced = False

    async def __call__(self, message: Message) -> None:
        if self._is_replaced:
            return
        if message["type"] == "http.response.start":
            if self.too_large:  # the application made an error of its own of it
                await self.answer(413, *_TOO_LARGE)
                self._is_replaced = True
                return
            self.started = True
            message["headers"] = _guarded(message.get("headers", ()))
        await self._send(message)

    async def answer(
        self, status: int, title: str, words: str, more: dict[str, str] | None = None
    ) -> None:
        """Send a plain page."""
        body = bare_page(title, words).encode()
        headers = {"content-type": "text/html; charset=utf-8", "content-length": str(len(body))}
        listed = [(k.encode(), v.encode("latin-1")) for k, v in (headers | (more or {})).items()]
        self.started = True
        await self._send(
            {"type": "http.response.start", "status": status, "headers": _guarded(listed)}
        )
        await self._send({"type": "http.response.body", "body": body})


class _Incoming:
    """What is received, up to so many bytes."""

    def __init__(self, receive: Receive, limit: int, outgoing: _Outgoing) -> None:
        self._receive, self._left, self._outgoing = receive, limit, outgoing

    def is_declared_too_large(self, scope: Scope) -> bool:
        declared = (_headers(scope) or {}).get("content-length", "0")
        return not declared.isdecimal() or int(declared) > self._left

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                self._outgoing.too_large = True
                raise TooLarge
        return message


def _guarded(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer with ours in place of any of the same name."""
    kept = [(key.lower(), value) for key, value in headers]
    own = dict(kept).get(b"content-security-policy", b"").decode("latin-1")
    policy = own if own == REPORT_POLICY else CONTENT_POLICY
    ours = {**_HEADERS, "content-security-policy": policy}
    names = {name.encode() for name in ours} | {b"server"}
    return [
        *((key, value) for key, value in kept if key not in names),
        *((key.encode(), value.encode()) for key, value in ours.items()),
    ]


def _headers(scope: Scope) -> dict[str, str] | None:
    """Return the headers by name; None where one that decides comes twice."""
    found: dict[str, str] = {}
    for key, value in scope["headers"]:
        name = key.decode("latin-1").lower()
        if name in found and name in ("host", "origin", "sec-fetch-site", "content-length"):
            return None
        found[name] = value.decode("latin-1")
    return found


def _is_from_here(headers: dict[str, str]) -> bool:
    """Return whether a page of this server sent the request; browsers say where it comes from."""
    site = headers.get("sec-fetch-site")
    if site is not None and site != "same-origin":
        return False
    origin = headers.get("origin")
    if origin is None:
        return site == "same-origin"
    return origin.lower() == f"http://{headers['host'].lower()}"


def _cookie(header: str, name: str) -> str | None:
    try:
        morsel = SimpleCookie(header).get(name)
    except CookieError:
        return None
    return None if morsel is None else morsel.value
