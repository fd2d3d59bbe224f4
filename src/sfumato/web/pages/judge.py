"""What came of a run: the verdict, a few numbers, and all that the judges say, part by part."""

from __future__ import annotations

from typing import Final

from sfumato.markup import Html, details, join, tag
from sfumato.reports.page import badge, bullets, cards, note
from sfumato.web import frame
from sfumato.web.bench import Visit
from sfumato.web.judgement import Judgement
from sfumato.web.pages.hand_over import hand_over

# The parts of a report in the order in which they are judged by; others come after them.
_FIRST: Final = ("guarantees", "attacks", "sizes", "distributions", "utility", "warnings")
_NOT_SHOWN: Final = ("check",)  # the command line is among what is handed over
_CARDS: Final = (
    "Records", "Groups", "Rows suppressed", "Re-identification, mean", "Inference", "Blind guess",
    "Loss of cells (NCP)", "Query error, mean",
)  # fmt: skip


def judge(here: Visit, judged: Judgement) -> list[Html]:
    """Return the page of a finished run."""
    _, kind, meaning = judged.verdict
    numbers = {each.name: each for each in judged.numbers}
    shown = [numbers[name] for name in _CARDS if numbers[name].value is not None]
    base = here.address(f"runs/{judged.run.id}")
    here.bench.shelf.fetch(judged.run)  # whoever reads a judgement may ask next
    parts = judged.sections()
    order = [id for id in (*_FIRST, *parts) if id in parts and id not in _NOT_SHOWN]
    sections = {id: parts[id] for id in dict.fromkeys(order)}
    return [
        note(judged.badge, f" {meaning}", kind=kind),
        *_risks(judged),
        cards((each.name, each.text) for each in shown),
        details("what these numbers are", bullets(f"{e.name}: {e.meaning}" for e in shown)),
        tag("h2", "Hand over"),
        *hand_over(here, judged.run),
        tag(
            "p",
            join(
                [
                    frame.link_button("Ask this release", f"{base}/answer", "plain"),
                    frame.link_button(
                        "Compare with another run",
                        here.address(f"compare?a={judged.run.id}"),
                        "plain",
                    ),
                ],
                " ",
            ),
        ),
        _contents({id: title for id, (title, _) in sections.items()}),
        *(_section(id, title, content) for id, (title, content) in sections.items()),
        *([] if sections else _warnings(judged)),
        details(
            "Remove this run",
            tag("p", "Its release, reports and private record are deleted from this machine."),
            here.form(f"{base}/remove", frame.button("Remove this run", kind="danger")),
        ),
    ]


def _risks(judged: Judgement) -> list[Html]:
    """Return how many attacks gained something, which no guarantee rules out."""
    attacks = judged.content["attacks"]
    if attacks is None:
        return []
    risks, tried = attacks["risks"], len(attacks["outcomes"])
    word = badge("attacks gain something", "warning") if risks else badge("attacks fail", "good")
    said = f" {risks} of {tried} outcomes of simulated attacks are better than chance"
    said += ", and count as risks here." if risks else "."
    link = tag("a", "See which", href="#attacks") if "attacks" in judged.sections() else ""
    return [note(word, said, " ", link, kind="warning" if risks else "good")]


def _contents(titles: dict[str, str]) -> Html:
    if not titles:
        return Html("")
    links = join(tag("li", tag("a", title, href=f"#{id}")) for id, title in titles.items())
    return tag("nav", tag("ul", links), aria_label="On this page")


def _section(id: str, title: str, content: list[Html]) -> Html:
    heading = f"{id}-heading"
    return tag(
        "section",
        join([tag("h2", title, id=heading), *content], "\n"),
        id=id,
        aria_labelledby=heading,
    )


def _warnings(judged: Judgement) -> list[Html]:
    """Return what a run without a report still has to say."""
    said = [*judged.content["warnings"], *judged.content["undone"]]
    return [tag("h2", "Warnings"), bullets(said)] if said else []
