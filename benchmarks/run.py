"""The one command: `make bench`, or `python -m benchmarks.run [--quick]`.

Runs are interleaved (ours, peer, ours, peer …; small, large, small, large …), so that whatever
else the machine does falls on all of them alike; the numbers are medians, and ratios count.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl
from rich.console import Console

from benchmarks import cases
from benchmarks.child import FLOOR
from benchmarks.cold_start import cold_start
from benchmarks.growth import growth, medians
from benchmarks.machine import load_average, machine_facts, shared_folder, source_digest
from benchmarks.peers import SUPPRESSION, anjana, peer_ncp
from benchmarks.report import promises, show, write_json
from sfumato.methods import Mondrian
from sfumato.table import encode
from sfumato.utility import ncp

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PEER_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
OURS_A_ROUND = 3  # our runs on Adult are short: several for each of the peer's
WIDTH = 132  # of tables in a file or a log
LARGE = 5_000_000  # from here on one round is enough: long runs are steadier

Say = Callable[[str], None]


def run(
    *,
    sizes: Sequence[int],
    rounds: int,
    shared: Path | None,
    peer_python: Path | None,
    cold: bool = True,
    say: Say = lambda _: None,
) -> dict[str, Any]:
    """Return all results; without `shared` (the real data) or a peer, what is left of them."""
    source = source_digest()
    results: dict[str, Any] = {
        "format": "sfumato-benchmark/1",
        "created": datetime.now(UTC).date().isoformat(),
        "machine": machine_facts(),
        "load_before": load_average(),
        "cold_start": cold_start() if cold else None,
        "adult": None if shared is None else run_adult(shared, peer_python, rounds, say),
        "synthetic": run_synthetic(sizes, rounds, say),
        "load_after": load_average(),
        "source": {"sha256": source, "changed_during_run": source_digest() != source},
    }
    return results | {"promises": promises(results)}


def run_adult(shared: Path, peer_python: Path | None, rounds: int, say: Say) -> dict[str, Any]:
    """Return Mondrian and the peer on Adult: from a table in memory to a release in memory."""
    data = cases.complete_adult(shared / "data" / "adult.parquet")
    schemas = cases.adult_cases(shared / "data" / "hierarchies")
    hierarchies = cases.adult_hierarchies(shared / "data" / "hierarchies")
    method = Mondrian(k=cases.K)
    ours: dict[str, list[tuple[float, float]]] = {name: [] for name in schemas}
    releases = {name: method.publish(data, schema) for name, schema in schemas.items()}  # warm

    def our_round() -> None:
        for _ in range(OURS_A_ROUND):
            for name, schema in schemas.items():
                start, processor = time.perf_counter(), time.process_time()
                method.publish(data, schema)
                ours[name].append((time.perf_counter() - start, time.process_time() - processor))

    answers = []
    with tempfile.TemporaryDirectory() as folder:
        if peer_python is None:
            our_round()
        else:
            with anjana(
                peer_python, data, hierarchies, cases.ADULT_NUMBERS, cases.K, Path(folder)
            ) as peer:
                for number in range(rounds):
                    say(f"Adult, round {number + 1} of {rounds}")
                    our_round()
                    answers.append(peer.run())
    runs: list[dict[str, Any]] = [
        {
            "name": f"mondrian, {name}",
            **_times(ours[name]),
            "k": _smallest_class(release.tables["records"]),
            "withheld": 0,
            "ncp": ncp(release, encode(data, schemas[name])).mean,
        }
        for name, release in releases.items()
    ]
    result: dict[str, Any] = {"rows": data.num_rows, "k": cases.K, "peer": None, "runs": runs}
    if answers:
        answer = answers[0]
        theirs = _times([(each["seconds"], each["processor_seconds"]) for each in answers])
        result["peer"] = f"anjana {answer['version']}"
        for each in runs:
            each["times_faster"] = theirs["seconds"] / each["seconds"]
            each["times_less_processor"] = theirs["processor_seconds"] / each["processor_seconds"]
        runs.append(
            {
                "name": f"{result['peer']}, at most {SUPPRESSION:g} % withheld",
                **theirs,
                "k": answer["k"],
                "withheld": data.num_rows - answer["rows"],
                "ncp": peer_ncp(answer, data, hierarchies, cases.ADULT_NUMBERS),
            }
        )
    return result


def _times(runs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return the medians of wall clock and processor seconds, and what they are medians of."""
    return {
        "seconds": median(wall for wall, _ in runs),
        "processor_seconds": median(processor for _, processor in runs),
        "all_seconds": [wall for wall, _ in runs],
    }


def _smallest_class(records: Any) -> int:
    """Return the rows of the smallest class of equal quasi-identifier cells, as a judge counts."""
    cells = pl.DataFrame(records).group_by(cases.ADULT_QUASI_IDENTIFIERS).len()
    return int(cells["len"].min())  # type: ignore[arg-type]


def run_synthetic(sizes: Sequence[int], rounds: int, say: Say) -> dict[str, Any]:
    """Return every case at every size, each run in a process of its own."""
    runs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows in sizes:
            say(f"making {rows:,} rows")
            cases.write_synthetic(rows, folder / f"{rows}.parquet")
        for number in range(rounds):
            for rows in sizes:
                if number > 0 and rows >= LARGE:
                    continue
                for case in (FLOOR, *cases.CASES):
                    say(f"{rows:,} rows, {case}, round {number + 1} of {rounds}")
                    runs.append(_child(case, folder / f"{rows}.parquet", folder / "out"))
    results = medians(runs)
    return {"table": "census", "runs": results, "growth": growth(results)}


def _child(case: str, source: Path, out: Path) -> dict[str, Any]:
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.settled", "benchmarks.child", case, source, out],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    if out.is_dir():
        shutil.rmtree(out)
    else:
        out.unlink()
    result: dict[str, Any] = json.loads(answer)
    return result


def _shared() -> Path | None:
    folder = shared_folder()
    return folder if (folder / "data" / "adult.parquet").is_file() else None


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmarks, print them and write them down."""
    parser = argparse.ArgumentParser(prog="benchmarks.run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="Adult and 0.1 million rows only")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds (default 3)")
    parser.add_argument("--rows", type=int, nargs="+", help="sizes instead of the usual ones")
    parser.add_argument("--no-peer", action="store_true", help="our own runs only")
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    options = parser.parse_args(arguments)
    # A quick run must not overwrite the committed results of a whole one.
    out = options.out or RESULTS / ("quick.json" if options.quick else "latest.json")
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    notes = Console(stderr=True)
    shared, peer = _shared(), PEER_PYTHON
    if shared is None:
        notes.print("Adult is left out: no shared data beside this checkout (set SFUMATO_SHARED)")
    if not options.no_peer and not peer.exists():
        notes.print("the peer is left out: it is installed by `make bench`")
    results = run(
        sizes=options.rows or (cases.QUICK_SIZES if options.quick else cases.SIZES),
        rounds=options.rounds,
        shared=shared,
        peer_python=peer if peer.exists() and not options.no_peer else None,
        say=notes.print,
    )
    show(results, console)
    write_json(results, out)
    notes.print(f"written to {out.relative_to(ROOT) if out.is_relative_to(ROOT) else out}")


if __name__ == "__main__":
    main()
