"""What a page sent: the only way to read a body; what our pages did not send is not read."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from sfumato.errors import InputError
from sfumato.web.guard import SESSION, SMALL_BODY, Keys

# it would write what is wrong with a body to stderr, with characters of it
logging.getLogger("python_multipart").setLevel(logging.CRITICAL + 1)
FORM_TOKEN: Final = "form_token"
_MOST_FIELDS: Final = 5_000
_LONGEST_FIELD: Final = 100_000


class ForeignForm(Exception):  # noqa: N818 -- a state, not a fault
    """A form that was not made for this session."""


@dataclass(slots=True)
class Form:
    """The fields of a form; `file` is where an uploaded file was put, `file_name` its own name."""

    fields: dict[str, str] = field(default_factory=dict)
    file: Path | None = None
    file_name: str = ""

    def text(self, name: str, default: str = "") -> str:
        """Return a field without blanks around it."""
        return self.fields.get(name, default).strip()

    def number(self, name: str) -> int | float | None:
        """Return a number, None where nothing was typed.

        Refuses (InputError) anything else.
        """
        given = self.text(name)
        if not given:
            return None
        try:
            return int(given)
        except ValueError:
            pass
        try:
            value = float(given)
        except ValueError:
            value = float("nan")
        if not abs(value) < float("inf"):
            raise InputError(f"`{name}` must be a number")
        return value


async def read_form(request: Request, keys: Keys) -> Form:
    """Return the fields of a form without files.

    Refuses (ForeignForm) one that is not of this session, (InputError) one of another kind.
    """
    kind, _ = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"application/x-www-form-urlencoded":
        raise InputError("this is not a form of the workbench")
    body = await request.body()
    assert len(body) <= SMALL_BODY
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        raise InputError("this form cannot be read") from None
    form = Form(dict(pairs))
    _refuse_foreign(form, request, keys)
    return form


def _refuse_foreign(form: Form, request: Request, keys: Keys) -> None:
    given = form.fields.pop(FORM_TOKEN, "")
    if not keys.is_form_token(request.scope[SESSION], given):
        raise ForeignForm


async def read_upload(request: Request, keys: Keys, place: Callable[[str], Path]) -> Form:
    """Return the fields of a form with a file, written while it arrives to where `place` says.

    `place` gets the name that the file has where it comes from, and refuses kinds that are not
    wanted. The file is written nowhere else. When anything is refused, it is removed.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary or len(boundary) > 200:
        raise InputError("this is not a form of the workbench")
    parts = _Parts(place, lambda form: _refuse_foreign(form, request, keys))
    parser = MultipartParser(boundary, parts.callbacks())
    try:
        async for chunk in request.stream():
            parser.write(chunk)
        parser.finalize()
        if not parts.is_checked:
            raise ForeignForm
        if not parts.is_whole:
            raise InputError("the upload broke off; send it again")
    except ClientDisconnect:
        parts.discard()
        raise InputError("the upload broke off; send it again") from None
    except ValueError:  # what the parser raises
        parts.discard()
        raise InputError("this form cannot be read") from None
    except BaseException:
        parts.discard()
        raise
    finally:
        parts.close()
    return parts.form


class _Parts:
    """The parts of a form as they arrive; the token comes first, then fields, then the file."""

    def __init__(self, place: Callable[[str], Path], check: Callable[[Form], None]) -> None:
        self.form = Form()
        self.is_checked = self.is_whole = False
        self._place, self._check = place, check
        self._header, self._value = bytearray(), bytearray()
        self._options: dict[bytes, bytes] = {}
        self._field = bytearray()
        self._handle: Any = None

    def callbacks(self) -> Any:
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._header.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._data,
            "on_part_end": self._end,
            "on_end": self._whole,
        }

    def close(self) -> None:
        if self._handle is not None:
            self._handle.close()
            self._handle = None

    def discard(self) -> None:
        self.close()
        if self.form.file is not None:
            self.form.file.unlink(missing_ok=True)

    def _begin(self) -> None:
        self._options = {}
        self._field = bytearray()

    def _header_end(self) -> None:
        if bytes(self._header).lower() == b"content-disposition":
            self._options = parse_options_header(bytes(self._value))[1]
        self._header.clear()
        self._value.clear()
        if len(self.form.fields) > _MOST_FIELDS:
            raise InputError("this form has too many fields")

    def _headers_finished(self) -> None:
        name = self._options.get(b"filename")
        if name is None:
            return
        if not self.is_checked:
            raise ForeignForm
        if self.form.file is not None:
            raise InputError("choose one file")
        shown = name.decode("utf-8", "replace")
        if not shown:  # a form without a file chosen
            return
        path = self._place(shown)
        self.form.file_name = shown.replace("\\", "/").rpartition("/")[2]
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self.form.file = path
        self._handle = os.fdopen(handle, "wb")

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._handle is not None:
            self._handle.write(data[start:end])
        elif b"filename" not in self._options:
            self._field.extend(data[start:end])
            if len(self._field) > _LONGEST_FIELD:
                raise InputError("a field of this form is too long")

    def _whole(self) -> None:
        self.is_whole = True

    def _end(self) -> None:
        if self._handle is not None:
            self.close()
            return
        if b"filename" in self._options:
            return
        name = self._options.get(b"name", b"").decode("utf-8", "replace")
        self.form.fields[name] = self._field.decode("utf-8", "replace")
        if name == FORM_TOKEN and not self.is_checked:
            self._check(self.form)
            self.is_checked = True
