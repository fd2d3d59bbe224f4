"""The hierarchy of one column: built, uploaded or grouped by hand, and what it makes of values."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from sfumato.errors import HierarchyError, InputError, SfumatoError
from sfumato.jobs.check import hierarchy_report
from sfumato.markup import Html, join, tag
from sfumato.reports.page import name as shown_name
from sfumato.reports.page import note
from sfumato.schema import Hierarchy
from sfumato.web import frame
from sfumato.web.bench import Bench, Visit, done, shown, to, to_saved, told, visit
from sfumato.web.builder_form import BUILDERS, builders_for, fields_of, spec_of
from sfumato.web.column_values import ColumnValues, read_values
from sfumato.web.count_words import counted
from sfumato.web.forms import Form, read_upload
from sfumato.web.hierarchy_levels import attribute_of, built_hierarchy, lacks_of, levels_of
from sfumato.web.pages import hierarchy_parts as parts
from sfumato.web.policy_form import PolicyForm
from sfumato.web.projects import HIERARCHIES
from sfumato.web.small_files import write_text
from sfumato.web.tree_edit import Rows, file_text, grouped, released, rows_of

UPLOAD: Final = re.compile(r"/p/[^/]+/hierarchy/[0-9]+/upload")
MOST_BYTES: Final = 20_000_000
_ENDINGS: Final = (".csv", ".txt", ".tsv")


@dataclass(frozen=True, slots=True)
class Subject:
    """What the page is about: a column, its keys in the policy, and its values if they are few."""

    here: Visit
    number: int
    name: str
    policy: PolicyForm
    found: ColumnValues | None

    @property
    def keys(self) -> dict[str, Any]:
        """What the policy says of the column."""
        return self.policy.attributes[self.name]

    @property
    def address(self) -> str:
        """Where the page of the column is."""
        return self.here.address(f"hierarchy/{self.number}")

    @property
    def file(self) -> Path:
        """Where its own hierarchy file lies."""
        return self.here.here.hierarchies / f"column-{self.number}.csv"

    @property
    def file_key(self) -> str:
        """What the policy calls that file."""
        return f"{HIERARCHIES}/{self.file.name}"

    def keep(self, given: object) -> None:
        """Make a builder, the file or nothing the hierarchy of the column."""
        other: dict[str, Any] = {"max_level": None} if given is None else {"max_width": None}
        self.policy.set(self.name, hierarchy=given, **other)
        self.policy.save(self.here.here, check=False)

    def rows(self) -> Rows:
        """Return the hierarchy as it is, as rows to be changed."""
        assert self.found is not None
        attribute = attribute_of(self.name, self.keys, self.policy.folder)
        return rows_of(built_hierarchy(attribute, self.found), self.found.texts)


def subject_of(here: Visit) -> Subject | None:
    """Return what the address is about; None while the data were not looked at yet."""
    profile, run = here.profile()
    if profile is None or run is None:
        return None
    number = here.request.path_params["number"]
    policy = PolicyForm.load(here.here)
    columns = profile["columns"]
    if number >= len(columns) or columns[number]["name"] not in policy.attributes:
        raise HTTPException(404)
    name = columns[number]["name"]
    try:
        found = read_values(run, number, policy.attributes[name], name)
    except SfumatoError:  # steps of `recode` that do not fit, or dates that are shifted at random
        found = None
    return Subject(here, number, name, policy, found)


def hierarchy(here: Visit) -> Response:
    """Return the page of a column's hierarchy."""
    subject = subject_of(here)
    return (
        to(here.address("data")) if subject is None else _page(subject, told(here, subject.policy))
    )


def _page(
    subject: Subject,
    message: tuple[str, str] | None = None,
    trial: dict[str, Any] | None = None,
    problem: tuple[str, str] | None = None,
    fields: dict[str, str] | None = None,
) -> Response:
    """Return the page; `trial` is a builder that is shown and not kept."""
    here, found = subject.here, subject.found
    given = subject.keys.get("hierarchy") if trial is None else trial
    content: list[object] = [
        tag("p", tag("a", "Back to the roles", href=here.address("roles"))),
        tag("p", join(["How values of ", shown_name(subject.name), " become coarser. "])),
        tag(
            "p", join([tag("strong", "Now: "), _words(given), "" if trial is None else " (tried)"])
        ),
    ]
    if found is None:
        words = (
            "There is nothing to show: the column has too many different values, or values of a "
            "kind that cannot be published, or `recode` leaves none that are known before a run."
        )
        content += [note(words), *_removal(subject)]
        return here.page(_title(subject), *content, step="roles", message=message)
    content += _state(subject, found, given)
    content += _removal(subject)
    shown_fields = fields if fields is not None else _fields(given)
    offered = builders_for(found.values.type)
    if offered:
        content += [
            tag("h2", "Build it"),
            parts.builder_forms(here, subject.address, offered, shown_fields, problem),
        ]
    content += [
        tag("h2", "Upload a file"),
        parts.upload_form(
            here, f"{subject.address}/upload", min(here.bench.max_upload, MOST_BYTES)
        ),
        *_tree(subject),
    ]
    return here.page(_title(subject), *content, step="roles", message=message)


def _title(subject: Subject) -> str:
    return f"Hierarchy of {subject.name}"


def _fields(given: object) -> dict[str, str]:
    return fields_of(given) if isinstance(given, dict) else {}


def _words(given: object) -> Html:
    if given is None:
        return join(["no hierarchy; numbers and ordered values become ranges, others sets."])
    if isinstance(given, dict):
        kind = next((key for key in BUILDERS if key in given), "")
        return join([BUILDERS[kind][0].lower() if kind else "built", "."])
    return join(["a file, part of the policy. ", tag("strong", "All of it is published"),
                 " with a release, values that nobody has included."])  # fmt: skip


def _state(subject: Subject, found: ColumnValues, given: object) -> list[object]:
    """Return what the hierarchy makes of the values, or why it makes nothing."""
    if given is None:
        return []
    try:
        attribute = attribute_of(
            subject.name, subject.keys | {"hierarchy": given}, subject.policy.folder
        )
        report = lacks_of(attribute, found)
        action = f"{subject.address}/tree"
        said = parts.lacks(subject.here, report, len(found.values), action)
        if report.missing:
            return [said]
        levels = levels_of(attribute, found)
    except SfumatoError as error:
        return [note(str(error), kind="bad")]
    return [said, parts.level_tables(levels)] if levels is not None else [said]


def _removal(subject: Subject) -> list[Html]:
    """Return the ways back: to no hierarchy, or to the file that the project still has."""
    given = subject.keys.get("hierarchy")
    buttons = []
    if given is not None:
        buttons.append(frame.button("Use no hierarchy", name="do", value="none", kind="plain"))
    if given != subject.file_key and subject.file.is_file():
        buttons.append(frame.button("Use the last file again", name="do", value="file",
                                    kind="plain"))  # fmt: skip
    if not buttons:
        return []
    return [subject.here.form(subject.address, join(buttons, " "))]


def _tree(subject: Subject) -> list[object]:
    content: list[object] = [
        tag("h2", "Group values by hand", id="tree"),
        tag(
            "p",
            "Tick values, give them a label. On the next level, put groups under a wider label. "
            "The tree becomes a file of the policy: all of it is published with a release.",
        ),
    ]
    try:
        rows = subject.rows()
    except SfumatoError:  # said above already
        return [*content, tag("p", "First mend the hierarchy, or use none.")]
    if not rows:
        return [*content, tag("p", "The column has no values.")]
    width = len(rows[0])
    asked = subject.here.query("level")
    level = min(max(int(asked), 1), width) if re.fullmatch("[0-9]{1,3}", asked) else 1
    return [
        *content,
        parts.level_links(subject.here, subject.address, width, level),
        parts.tree_form(subject.here, f"{subject.address}/tree", rows, level),
    ]


def build(here: Visit, form: Form) -> Response:
    """Try or keep what is built, or keep none, or the file again."""
    subject = _known(here)
    do = form.text("do")
    if do in ("none", "file"):
        if do == "file":
            Hierarchy.read_csv(subject.file)
        subject.keep(None if do == "none" else subject.file_key)
        return to_saved(here, subject.address)
    fields = dict(form.fields)
    try:
        spec = spec_of(form)
        attribute = attribute_of(
            subject.name, subject.keys | {"hierarchy": spec}, subject.policy.folder
        )
        if subject.found is not None:
            subject.found.arranged(attribute)
    except SfumatoError as error:
        answer = _page(subject, None, None, (form.text("builder"), str(error)), fields)
        answer.status_code = 422
        return answer
    if do == "save":
        subject.keep(spec)
        return to_saved(here, subject.address)
    return _page(subject, (frame.NOTE, "Tried, and not saved."), spec, None, fields)


def regroup(here: Visit, form: Form) -> Response:
    """Put what is ticked under a label or out of its group; or values that the file lacks."""
    subject = _known(here)
    if subject.found is None:
        raise InputError("this column has too many values to group by hand")
    rows = subject.rows()
    do, level = form.text("do"), 1
    if do == "fill":
        attribute = attribute_of(subject.name, subject.keys, subject.policy.folder)
        missing = frozenset(lacks_of(attribute, subject.found).missing)
        rows = grouped(rows, 1, missing, form.text("label"))
    else:
        given = form.number("level")
        if not isinstance(given, int) or not 1 <= given <= len(rows[0] if rows else ()):
            raise InputError("there is no such level")
        level = given
        items = list(parts.items_at(rows, level))
        if form.text("stamp") != parts.stamp_of(items):
            raise InputError("the hierarchy has changed since the page was loaded; look again")
        ticked = frozenset(
            item for place, item in enumerate(items) if form.text(f"item-{place}") == "yes"
        )
        if do == "release":
            rows = released(rows, level, ticked)
        else:
            rows = grouped(rows, level, ticked, form.text("label"))
    if len(rows[0]) == 1:  # nothing is grouped any more
        subject.keep(None)
        return to(f"{subject.address}#tree")
    _keep_file(subject, file_text(rows, subject.name))
    return to(f"{subject.address}?level={min(level, len(rows[0]))}#tree")


def _keep_file(subject: Subject, content: str) -> None:
    subject.file.parent.mkdir(mode=0o700, exist_ok=True)
    write_text(subject.file, content)
    subject.keep(subject.file_key)


def _known(here: Visit) -> Subject:
    subject = subject_of(here)
    if subject is None:
        raise InputError("the data were not looked at yet")
    return subject


async def upload(request: Request) -> Response:
    """Take a hierarchy file; one that is none is refused, and the old one stays."""
    bench: Bench = request.app.state.bench
    subject = await run_in_threadpool(lambda: _known(visit(request)))
    folder = subject.here.here.hierarchies
    incoming = folder / f"incoming-{secrets.token_hex(6)}.csv"
    try:
        form = await read_upload(request, bench.keys, _place(incoming))
        return await run_in_threadpool(lambda: _uploaded(subject, form))
    except SfumatoError as error:
        words = str(error)
        answer = await run_in_threadpool(lambda: _page(subject, (frame.BAD, words)))
        answer.status_code = 422
        return answer
    finally:
        incoming.unlink(missing_ok=True)


def _place(incoming: Path) -> Callable[[str], Path]:
    def place(name: str) -> Path:
        if Path(name).suffix.lower() not in _ENDINGS:
            raise InputError(f"a hierarchy is a text file; use {', '.join(_ENDINGS)}")
        incoming.parent.mkdir(mode=0o700, exist_ok=True)
        return incoming

    return place


def _uploaded(subject: Subject, form: Form) -> Response:
    if form.file is None or not form.file.stat().st_size:
        raise InputError("choose a file that is not empty")
    try:
        given = Hierarchy.read_csv(form.file)
    except HierarchyError as error:
        # the file's own name, not the one that it has here for a moment
        raise HierarchyError(str(error).replace(form.file.name, form.file_name)) from None
    _refuse_foreign(subject, given, form.file_name)
    form.file.replace(subject.file)
    subject.keep(subject.file_key)
    return to_saved(subject.here, subject.address)


def _refuse_foreign(subject: Subject, given: Hierarchy, file_name: str) -> None:
    """Refuse (InputError) a hierarchy of another column: one that has none of the values."""
    if subject.found is None or not len(subject.found.values):
        return
    count = len(subject.found.values)
    if len(hierarchy_report(subject.found.values, given).missing) == count:
        raise InputError(
            f"0 of {counted(count, 'value')} of '{subject.name}' match a line of '{file_name}': "
            "is it the file of another column? Nothing was changed"
        )


_ADDRESS: Final = "/p/{project}/hierarchy/{number:int}"
ROUTES: Final[list[BaseRoute]] = [
    shown(_ADDRESS, hierarchy),
    done(_ADDRESS, build, hierarchy),
    done(f"{_ADDRESS}/tree", regroup, hierarchy),
    Route(f"{_ADDRESS}/upload", upload, methods=["POST"]),
]
