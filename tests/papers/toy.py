"""A paper of three points whose experiments take no time: what the framework does shows on it."""

from __future__ import annotations

from sfumato.papers.claims import Case, Claim, always_less, open_question
from sfumato.papers.figures import Figure, Mark
from sfumato.papers.grid import points
from sfumato.papers.paper import NumbersTable, Paper

BENCHES: list[str] = []
MEASURED: list[str] = []


def grid(data, quick):
    rows = 10 if quick else 100
    return points("by l", *({"l": each, "rows": rows} for each in ((2, 3) if quick else (2, 3, 4))))


def bench(data):
    BENCHES.append(data.about.key)

    def measure(point):
        MEASURED.append(str(point))
        return {"loss": {"ours": point.parameters["l"] / 10, "theirs": 0.5}, "pair": (1, 2)}

    return measure


def _below(results):
    by = results.along("by l", "l")
    cases = [Case(f"l = {n}", e["loss"]["ours"], e["loss"]["theirs"]) for n, e in by.items()]
    return always_less(cases, ("ours", "theirs"))


def _elsewhere(results):
    results.one("by k", k=1)
    raise AssertionError("there is no such point")


PAPER = Paper(
    key="toy",
    title="Toy",
    source="Nobody, “Toys”",
    version="1",
    real=("adult",),
    synthetic={"census": (300, 200)},
    about_data={"adult": "All rows.", "census": "All rows."},
    grid=grid,
    bench=bench,
    claims=(
        Claim("below", "Ours loses less", "1", _below),
        Claim("k", "So it is for k", "2", _elsewhere),
        Claim("open", "It is fun", "3", lambda results: open_question("fun has no unit")),
    ),
    figures=(
        Figure(
            "fig-1",
            "Loss by l",
            "as its Fig. 1",
            "l",
            "loss",
            lambda results: [
                Mark(n, e["loss"][name], name)
                for name in ("ours", "theirs")
                for n, e in results.along("by l", "l").items()
            ],
        ),
        Figure("fig-2", "Loss by k", "as its Fig. 2", "k", "loss", lambda r: r.along("by k", "k")),
    ),
    tables=lambda results: [
        NumbersTable(
            "Loss by l",
            ["l", "ours"],
            [[str(n), f"{e['loss']['ours']:.1f}"] for n, e in results.along("by l", "l").items()],
        )
    ],
)
