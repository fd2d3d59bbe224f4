"""How soon each page of the workbench can be used, with a table of a million rows, in Chromium.

    python -m benchmarks.workbench [--rows N] [--out FILE]

An action is timed from the click until the page that it leads to is shown and answers to input;
what goes on in the background after that (counting, a run, a slow answer) is given beside it. The
table goes to the terminal, and with the machine's load to `.artifacts/workbench.json`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.chromium import opened
from benchmarks.machine import ROOT, load_average, machine_facts, source_digest
from benchmarks.served import Served
from sfumato.datasets import hospital

ROWS = 1_000_000
SCHEMES = ("lgb", "arp")
OUT = ROOT / ".artifacts" / "workbench.json"
# Milliseconds: whatever takes longer is stuck.
_SOON, _PATIENCE = 60_000, 1_800_000
# The next frame was drawn, and a task that was asked for after it was done.
_ANSWERS = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
_OVER = "a:has-text('Download the release'), .box.bad[role=alert]"
_QUESTIONS = {
    "ask for one count": "SELECT COUNT(*)",
    "ask for counts by group": "SELECT disease, COUNT(*) GROUP BY disease",
    "ask with conditions": "SELECT AVG(stay_days) WHERE age BETWEEN 30 AND 50 AND sex = 'F'",
}


@dataclass(frozen=True, slots=True)
class Action:
    """Something that was done: seconds until the page could be used, and until all was there.

    `first` is when something of what goes on in the background was seen.
    """

    name: str
    interactive: float
    first: float | None = None
    whole: float | None = None


class _Clock:
    """Does things on a page and takes their times."""

    def __init__(self, page: Any, base: str, say: Callable[[str], None]) -> None:
        self.page, self.base, self._say = page, base, say
        self.actions: list[Action] = []

    def act(
        self,
        name: str,
        do: Callable[[], Any],
        seen: str,
        *,
        first: str | None = None,
        whole: str | None = None,
        runs_scripts: bool = True,
    ) -> None:
        """Do something; `seen` is on the page once it can be used, `whole` once all is there."""
        start = time.perf_counter()
        do()
        self.page.locator(seen).first.wait_for(timeout=_SOON)
        if runs_scripts:  # a page that runs none would never answer
            self.page.evaluate(_ANSWERS)
        times = [round(time.perf_counter() - start, 3)]
        for later in (first, whole):
            if later is not None:
                self.page.locator(later).first.wait_for(timeout=_PATIENCE)
            times.append(None if later is None else round(time.perf_counter() - start, 3))
        self.actions.append(Action(name, *times))
        self._say(_line(self.actions[-1]))

    def open(self, name: str, address: str, seen: str = "main", **more: Any) -> None:
        """Open a page by its address, as a link to it does."""
        self.act(name, lambda: self.page.goto(self.base + address), seen, **more)

    def button(self, name: str, words: str, seen: str, **more: Any) -> None:
        """Press a button of the page."""
        found = self.page.get_by_role("button", name=words, exact=True).first
        self.act(name, found.click, seen, **more)

    def link(self, name: str, words: str, seen: str, **more: Any) -> None:
        """Follow a link of the page."""
        found = self.page.get_by_role("link", name=words, exact=True).first
        self.act(name, found.click, seen, **more)


def measure(
    browser: Any,
    folder: Path,
    rows: int,
    schemes: Sequence[str] = SCHEMES,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Return what every action took with a table of so many rows, and how busy the machine was."""
    (folder / "data").mkdir()
    data = folder / "data" / "stays.parquet"
    # all columns but one with missing values, which not every scheme takes as a second secret
    pq.write_table(hospital(rows).drop_columns("salary"), data)
    before = load_average()
    served = Served(folder / "space", [data.parent])
    served.start()
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        page.set_default_timeout(_SOON)
        clock = _Clock(page, served.base, say)
        clock.act("open the printed address", lambda: page.goto(served.address), ".ways")
        _walk(clock, data, schemes)
    finally:
        context.close()
        served.stop()
    return {
        "rows": rows,
        "megabytes": round(data.stat().st_size / 1e6, 1),
        "load_before": before,
        "load_after": load_average(),
        "machine": machine_facts(),
        "source": source_digest(),
        "slowest": max(each.interactive for each in clock.actions),
        "actions": [asdict(each) for each in clock.actions],
    }


def _walk(clock: _Clock, data: Path, schemes: Sequence[str]) -> None:
    page = clock.page
    counted, looking = "a:has-text('Next: roles')", "[data-poll], a:has-text('Next: roles')"
    page.get_by_label("Choose a file").set_input_files(data)
    clock.button("upload the file", "Open the file", looking, first="#type-0", whole=counted)
    page.goto(clock.base)
    clock.button("open the file in place", "Open it", looking, first="#type-0", whole=counted)
    project = page.url.removeprefix(clock.base).rpartition("/")[0]
    clock.open("data, again", f"{project}/data", counted)
    clock.link("roles", "Next: roles", "fieldset.attribute")
    clock.button("save the roles", "Save", "fieldset.attribute")
    for place, what in ((1, "numbers"), (3, "codes"), (7, "dates")):
        clock.open(f"hierarchy of {what}", f"{project}/hierarchy/{place}", "h1")
    clock.open("protect", f"{project}/protect", "input[name=scheme]")
    clock.button("preview", "Show a preview", "#preview p", whole="#preview table")
    runs = []
    for scheme in schemes:
        page.goto(f"{clock.base}{project}/protect")
        _choose(page, scheme)
        clock.button(f"publish ({scheme})", "Publish", "[data-poll]")
        runs.append(page.url.removeprefix(clock.base))
    clock.open("runs, while they go on", f"{project}/runs", "table")
    for scheme, run in zip(schemes, runs, strict=True):
        clock.open(f"a run that goes on ({scheme})", run, f"[data-poll], {_OVER}", whole=_OVER)
        assert page.locator(".box.bad[role=alert]").count() == 0, page.locator("main").inner_text()
    for scheme, run in zip(schemes, runs, strict=True):
        _judge(clock, scheme, run)
    clock.open("runs", f"{project}/runs", "table")
    one, other = (run.rpartition("/")[2] for run in (runs[0], runs[-1]))
    clock.open("compare two runs", f"{project}/compare?a={one}&b={other}", "main h1")
    clock.open("recommend", f"{project}/recommend", "form")
    page.get_by_label("Minutes").fill("0.5")
    clock.button("search for a policy", "Search", "[data-poll]")
    clock.button("cancel the search", "Cancel", "[role=alert]")
    clock.open("projects", "/", ".ways")


def _choose(page: Any, scheme: str) -> None:
    page.locator(f"input[name=scheme][value={scheme}]").check()
    for asked in page.locator(f"select[name^='{scheme}-role-']").all():
        is_secret = "'disease'" in asked.locator("xpath=..").inner_text()
        asked.select_option("sensitive" if is_secret else "quasi-identifier")


def _judge(clock: _Clock, scheme: str, run: str) -> None:
    page, ready = clock.page, "#answer table, #refusal"
    waits = f"#answer [data-poll], {ready}"
    clock.open(f"judge ({scheme})", run, _OVER)
    clock.open(f"report ({scheme})", f"{run}/report.html", "h1", runs_scripts=False)
    page.goto(clock.base + run)
    clock.link(f"answer ({scheme})", "Ask this release", "textarea")
    for name, query in _QUESTIONS.items():
        page.get_by_label("Query").fill(query)
        clock.button(f"{name} ({scheme})", "Ask", waits, whole=ready)
    for way, name in (("bounds", "cross table"), ("table", "reconstructed cross table")):
        page.get_by_label("Rows").select_option("age")
        page.get_by_label("Columns").select_option("disease")
        page.get_by_label("Show").select_option(way)
        clock.button(f"{name} ({scheme})", "Tabulate", waits, whole=ready)


def _line(action: Action) -> str:
    times = (action.interactive, action.first, action.whole)
    return f"{action.name:<42}" + "".join(f"{'' if t is None else f'{t:.2f}':>13}" for t in times)


def main() -> None:
    """Measure, print a line an action, and write all of it to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    heads = ("interactive", "first of it", "all there")
    print(f"{'seconds until':<42}" + "".join(f"{each:>13}" for each in heads))
    with tempfile.TemporaryDirectory() as folder, opened() as browser:
        found = measure(browser, Path(folder), given.rows)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(found, indent=1) + "\n")
    cores = found["machine"]["cores"]
    print(
        f"{found['rows']:,} rows ({found['megabytes']} MB); {cores} cores, load "
        f"{found['load_before']} before and {found['load_after']} after; slowest "
        f"{found['slowest']:.2f} s"
    )


if __name__ == "__main__":
    main()
