"""The fields of a page's form, as a browser would send them: read from its HTML."""

from __future__ import annotations

from html.parser import HTMLParser


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: dict[str, dict[str, str]] = {}
        self._fields: dict[str, str] | None = None
        self._select: str | None = None
        self._area: str | None = None
        self._off = 0

    def handle_starttag(self, tag, attrs) -> None:
        own = {key: "" if value is None else value for key, value in attrs}
        if tag == "form":
            self._fields = self.forms.setdefault(own.get("action", ""), {})
        if self._fields is None:
            return
        name = own.get("name")
        if tag == "select":
            self._select = name
        elif tag == "option" and self._select is not None:
            if "selected" in own or self._select not in self._fields:
                self._fields[self._select] = own["value"]
        elif tag == "textarea":
            self._area = name
            self._fields[name] = ""
        elif tag == "input" and name and own.get("type") != "file":
            is_box = own.get("type") in ("radio", "checkbox")
            if not is_box or "checked" in own:
                self._fields[name] = own["value"]

    def handle_endtag(self, tag) -> None:
        if tag == "form":
            self._fields = None
        elif tag == "select":
            self._select = None
        elif tag == "textarea":
            self._area = None

    def handle_data(self, data) -> None:
        if self._area is not None and self._fields is not None:
            # the first line break of a field is not its own; browsers send both characters
            self._fields[self._area] += data.removeprefix("\n").replace("\n", "\r\n")


def forms_of(page: str) -> dict[str, dict[str, str]]:
    """Return what each form would send if nothing were changed, by its action."""
    reader = _Forms()
    reader.feed(page)
    return reader.forms


def fields_of(page: str, action: str) -> dict[str, str]:
    """Return what the form with an action would send if nothing were changed."""
    return dict(forms_of(page)[action])


def fields_of_scheme(page: str, action: str) -> dict[str, str]:
    """Return the same for the page of schemes, whose script leaves out those not chosen."""
    found = fields_of(page, action)
    chosen = found["scheme"]
    from sfumato.web.schemes import SCHEMES

    others = tuple(f"{name}-" for name in SCHEMES if name != chosen)
    longer = tuple(f"{name}-" for name in SCHEMES if name.startswith(f"{chosen}-"))
    return {
        key: value
        for key, value in found.items()
        if not key.startswith(others)
        or (key.startswith(f"{chosen}-") and not key.startswith(longer))
    }
