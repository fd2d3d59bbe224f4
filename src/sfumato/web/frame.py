"""The frame of every page of the workbench: where one is, the steps, and what was just done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sfumato.markup import Html, join, tag, text
from sfumato.version import __version__

# The steps of a project: the last part of their addresses, and their names.
STEPS: Final[Mapping[str, str]] = {
    "data": "Data",
    "roles": "Roles",
    "protect": "Protect",
    "runs": "Runs",
    "answer": "Answer",
}
# The kinds of a message above a page.
GOOD, BAD, NOTE = "good", "bad", "note"


def page(
    title: str,
    *content: object,
    project: str | None = None,
    heading: str | None = None,
    step: str | None = None,
    message: tuple[str, str] | None = None,
    refresh: int | None = None,
) -> str:
    """Return a whole page.

    `project` is the id of the project that the steps lead through, `heading` its title, `step` the
    one that is open. A `message` is (kind, words), told at once by screen readers. With `refresh`
    the page is loaded anew after so many seconds where no script does that.
    """
    told = ""
    if message is not None:
        kind, words = message
        told = tag(
            "p", words, class_=f"box {kind}", role="alert" if kind == BAD else "status", id="told"
        )
    main = tag("main", join([tag("h1", title), told, *content], "\n"), id="main", tabindex=-1)
    return _document(
        f"{title} – {heading}" if heading else title,
        [_header(project, heading, step), main],
        refresh,
    )


def bare_page(title: str, words: str) -> str:
    """Return a page that says one thing, for whoever may see nothing else."""
    main = tag("main", join([tag("h1", title), tag("p", words)]), id="main")
    return _document(title, [_header(None, None, None), main], None)


def _document(title: str, body: list[object], refresh: int | None) -> str:
    head = [
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="color-scheme" content="light dark">'),
        tag("title", f"{title} – sfumato"),
        Html('<link rel="stylesheet" href="/static/workbench.css">'),
        Html('<link rel="icon" href="/static/icon.svg" type="image/svg+xml">'),
        Html('<script src="/static/workbench.js" defer></script>'),
    ]
    if refresh is not None:
        head.append(tag("noscript", Html(f'<meta http-equiv="refresh" content="{int(refresh)}">')))
    footer = tag("footer", f"sfumato {__version__}. All of it runs on this machine.")
    skip = tag("a", "Skip to the content", href="#main", class_="skip")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{join(head, chr(10))}\n</head>\n<body>\n'
        f"{join([skip, *body, footer], chr(10))}\n</body>\n</html>\n"
    )


def _header(project: str | None, heading: str | None, step: str | None) -> Html:
    brand = tag("a", "sfumato", href="/", class_="brand")
    if project is None:
        return tag("header", brand, class_="top")
    links = join(
        tag(
            "li",
            tag(
                "a",
                name,
                href=f"/p/{project}/{path}",
                aria_current="step" if path == step else None,
            ),
        )
        for path, name in STEPS.items()
    )
    steps = tag("nav", tag("ol", links), aria_label="Steps", class_="steps")
    return tag(
        "header", join([brand, tag("span", heading or "", class_="project"), steps]), class_="top"
    )


def form(action: str, token: str, *content: object, **attributes: object) -> Html:
    """Return a form that the server takes: `token` is that of the session (`request.state`)."""
    return tag(
        "form",
        join([hidden("form_token", token), *content], "\n"),
        method="post",
        action=action,
        **attributes,
    )


def hidden(name: str, value: object) -> Html:
    """Return a field that is sent and not shown."""
    return Html(f'<input type="hidden" name="{text(name)}" value="{text(value)}">')


def button(
    words: object, *, name: str | None = None, value: str | None = None, kind: str = "main"
) -> Html:
    """Return a button that sends its form: `main`, `plain` or `danger`."""
    return tag("button", words, type="submit", name_=name, value=value, class_=f"button {kind}")


def link_button(words: object, href: str, kind: str = "main") -> Html:
    """Return a link that looks like a button, since it is the next step."""
    return tag("a", words, href=href, class_=f"button {kind}")


def select(
    name: str,
    options: Mapping[str, str],
    chosen: str | None,
    *,
    label: str,
    hide_label: bool = False,
) -> Html:
    """Return a labelled choice of one of several; `options` has their words by value."""
    listed = join(
        tag("option", words, value=value, selected="" if value == chosen else None)
        for value, words in options.items()
    )
    return tag(
        "label",
        join(
            [
                tag("span", label, class_="unseen" if hide_label else None),
                tag("select", listed, name_=name),
            ],
            " ",
        ),
    )


def entry(
    name: str, label: object, value: object = "", *, hint: str | None = None, **attributes: object
) -> Html:
    """Return a labelled field to type in, with attributes of its own such as `type` and `min`."""
    own = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(each)}"'
        for key, each in attributes.items()
        if each is not None
    )
    place = f'<input name="{text(name)}" value="{text(value)}"{own}>'
    return tag(
        "label",
        join([tag("span", label), Html(place), tag("small", hint) if hint else ""], " "),
        class_="entry",
    )
