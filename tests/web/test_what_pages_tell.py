"""Every page and file that the workbench gives is searched for the seed and for planted values."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile

import pytest
from contracts.questions import spellings_of_a_seed

from sfumato.web.runs import RECORD, Kind

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

NAME, DROPPED = "Canary Identifier", "canary-of-a-dropped-cell"
POLICY = """attributes:
  name: {role: identifier}
  age: {role: quasi-identifier}
  ill: {role: sensitive, l: 2}
  note: {role: insensitive}
method: {name: arp, l: 2}
"""
# Where the owner of the data looks at it; what leaves the workbench comes from the pages of runs.
OF_THE_DATA = ("/data", "/roles", "/protect", "/hierarchy/")


def pages(visitor) -> dict[str, bytes]:
    """Return all that links lead to from the first page, by address; archives unpacked."""
    found: dict[str, bytes] = {}
    waiting = ["/"]
    while waiting:
        address = waiting.pop().split("#")[0]
        if address in found or not address.startswith("/"):
            continue
        answer = visitor.get(address)
        assert answer.status == 200, address
        found[address] = answer.body
        kind = answer.header("content-type") or ""
        if "html" in kind and not address.endswith(".html"):
            places = re.findall(r'(?:href|src|data-[a-z-]+)="(/[^"]*)"', answer.text)
            waiting += [html.unescape(place) for place in places]
        if address.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(answer.body)) as opened:
                found |= {f"{address}/{name}": opened.read(name) for name in opened.namelist()}
    return found


def test_neither_seed_nor_canaries_are_on_a_page(house):
    rows = [f"{NAME} {n},{20 + n % 6},{'abcd'[n % 4]},{DROPPED} {n}" for n in range(40)]
    visitor = house.visitor()
    project = house.opened(visitor, "\n".join(["name,age,ill,note", *rows, ""]).encode())
    project.policy.write_text(POLICY)
    run = house.bench.runner.submit(project, Kind.PUBLISH)
    status = house.bench.runner.wait(run, 240)
    assert status.state == "finished", status
    shown = pages(visitor)
    ours = f"/p/{project.id}/runs/{run.id}"
    assert {f"{ours}/report.html", f"{ours}/release.zip/release/manifest.json"} <= shown.keys()
    seed = bytes.fromhex(json.loads((run.folder / RECORD).read_text())["seed"])
    for address, content in shown.items():
        needles = spellings_of_a_seed(seed)
        if not any(part in address for part in OF_THE_DATA):
            needles += [NAME.encode(), DROPPED.encode()]
        assert [n for n in needles if n in content] == [], address
    assert house.notes == []
