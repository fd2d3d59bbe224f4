"""The page of a paper, as Markdown: which data, the claims with their verdicts, charts, numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files

from sfumato.papers.claims import Judged, Verdict
from sfumato.papers.grid import NotMeasured, Results
from sfumato.papers.paper import NumbersTable, Paper

MADE = "<!-- made by `sfumato reproduce`: edits are lost -->"
_MANY = {
    Verdict.HOLDS: "hold",
    Verdict.FAILS: "do not hold",
    Verdict.OPEN: "cannot be checked",
}


def page(
    paper: Paper,
    results: Sequence[Results],
    judged: Sequence[Judged],
    charts: Mapping[tuple[str, str], str] | None,
) -> str:
    """Return the page; `charts` has links by keys of figure and data, None where none is drawn."""
    parts = [
        MADE,
        f"# {paper.title}: what its paper claims, and what was measured",
        f"*On {told_data(results)}.*",
        f"{paper.source}. Repeat with `{_command(paper, results)}`.",
        *(f"**{each.about.title}.** {paper.about_data[each.about.key]}" for each in results),
    ]
    if paper.compared:
        parts.append(f"**Compared.** {paper.compared}")
    parts += ["## The claims", _counted(judged), _claims(judged, results)]
    is_full = all(each.about.is_real and not each.is_quick for each in results)
    notes = files("sfumato.papers") / "notes" / f"{paper.key}.md"
    if is_full and notes.is_file():
        parts.append(notes.read_text("utf-8").strip())
    parts += _figures(paper, results, charts)
    parts.append("## The numbers")
    for each in results:
        if len(results) > 1:
            parts.append(f"### {each.about.title}")
        parts += [_titled(table) for table in _tables(paper, each)]
    return "\n\n".join(parts) + "\n"


def told_data(results: Sequence[Results]) -> str:
    """Return on which data the results are, and whether the grid was reduced."""
    told = [
        f"{'the real' if each.about.is_real else 'a synthetic look-alike:'} {each.about.title} "
        f"({each.about.rows:,} rows, checksum {each.about.fingerprint})"
        for each in results
    ]
    quick = "; the quick grid, too small to judge a paper by" if results[0].is_quick else ""
    return " and ".join(told) + quick


def _command(paper: Paper, results: Sequence[Results]) -> str:
    given = "".join(" --data FILE" for each in results if each.about.is_real)
    return f"sfumato reproduce {paper.key}{given}{' --quick' if results[0].is_quick else ''}"


def _counted(judged: Sequence[Judged]) -> str:
    counts = {word: sum(each.judgement.verdict is word for each in judged) for word in _MANY}
    told = [
        f"{count} {_MANY[word] if count > 1 else word}" for word, count in counts.items() if count
    ]
    return f"{len(judged)} verdicts: {', '.join(told)}."


def _claims(judged: Sequence[Judged], results: Sequence[Results]) -> str:
    titles = {each.about.key: each.about.title for each in results}
    several = len(results) > 1
    head = ["claim", "where", *(["data"] if several else []), "measured", "verdict"]
    lines = []
    for each in _by_claim(judged):
        found = each.judgement
        why = f": {found.why}" if found.why else ""
        data = [titles[each.data]] if several else []
        lines.append(
            [each.claim.text, each.claim.where, *data, found.measured, f"**{found.verdict}**{why}"]
        )
    return table_text(head, lines)


def _by_claim(judged: Sequence[Judged]) -> list[Judged]:
    order = list(dict.fromkeys(each.claim.key for each in judged))
    return sorted(judged, key=lambda each: order.index(each.claim.key))


def _figures(
    paper: Paper, results: Sequence[Results], charts: Mapping[tuple[str, str], str] | None
) -> list[str]:
    parts = ["## The figures"]
    if charts is None:
        return [*parts, "Charts need the extra `reports`: `pip install 'sfumato[reports]'`."]
    for figure in paper.figures:
        for each in results:
            if link := charts.get((figure.key, each.about.key)):
                told = f"{figure.title} ({figure.like}), {each.about.title}"
                parts.append(f"![{told}]({link})")
    return parts


def _tables(paper: Paper, results: Results) -> list[NumbersTable]:
    try:
        return paper.tables(results)
    except NotMeasured:
        return []


def _titled(table: NumbersTable) -> str:
    return f"{table.title}:\n\n{table_text(table.head, table.lines)}"


def table_text(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown.

    >>> print(table_text(["l", "GLP"], [["3", "0.4"]]))
    | l | GLP |
    |---|---|
    | 3 | 0.4 |
    """
    rows = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *rows])
