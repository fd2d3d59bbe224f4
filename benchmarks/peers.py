"""Peers: other libraries on the same rows, each in a process and environment of its own.

A peer's exact pins would otherwise decide which NumPy we run with. The process stays up between
runs, so that starting it and reading the data are outside its times, as they are outside ours.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from sfumato.measures.ncp import leaves_loss, range_loss
from sfumato.schema import Hierarchy

SCRIPT = Path(__file__).with_name("anjana_peer.py")
SUPPRESSION = 5.0  # per cent of the rows that the peer may withhold


@dataclass(frozen=True, slots=True)
class PeerProcess:
    """A peer waiting for requests."""

    process: subprocess.Popen[str]

    def run(self) -> dict[str, Any]:
        """Return the answer to one run: seconds, smallest class, rows, and cells by label."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the peer ended with code {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def anjana(
    python: Path,
    data: pa.Table,
    hierarchies: Mapping[str, Hierarchy],
    numbers: Sequence[str],
    k: int,
    folder: Path,
) -> Iterator[PeerProcess]:
    """Start anjana's k-anonymity on the data; the hierarchies' names are the quasi-identifiers."""
    plan = {
        "quasi_identifiers": list(hierarchies),
        "k": k,
        "suppression": SUPPRESSION,
        "levels": {
            name: _levels(hierarchy, name in numbers) for name, hierarchy in hierarchies.items()
        },
    }
    (folder / "plan.json").write_text(json.dumps(plan))
    pa.csv.write_csv(data, folder / "data.csv")
    with subprocess.Popen(
        [python, SCRIPT, folder / "plan.json", folder / "data.csv"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield PeerProcess(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()


def peer_ncp(
    answer: Mapping[str, Any],
    data: pa.Table,
    hierarchies: Mapping[str, Hierarchy],
    numbers: Sequence[str],
) -> float:
    """Return the mean NCP of a peer's result: numbers by width, withheld rows lose everything."""
    total = 0.0
    for name, hierarchy in hierarchies.items():
        measure = _widths(hierarchy, data[name]) if name in numbers else _leaf_shares(hierarchy)
        total += sum(count * measure[label] for label, count in answer["cells"][name].items())
    withheld = (data.num_rows - answer["rows"]) * len(hierarchies)
    return float((total + withheld) / (data.num_rows * len(hierarchies)))


def _levels(hierarchy: Hierarchy, is_number: bool) -> list[list[Any]]:
    levels: list[list[Any]] = [list(level) for level in zip(*hierarchy.rows(), strict=True)]
    if is_number:  # the data hold numbers, and the peer compares
        levels[0] = [int(value) for value in levels[0]]
    return levels


def _leaf_shares(hierarchy: Hierarchy) -> dict[str, float]:
    size = len(hierarchy.leaves)
    return {
        label: float(leaves_loss(len(below), size))
        for label, below in _leaves_below(hierarchy).items()
    }


def _widths(hierarchy: Hierarchy, column: pa.ChunkedArray) -> dict[str, float]:
    """Return each label's width over the values that occur, relative to their range."""
    values = {int(value) for value in column.unique().to_pylist()}
    extent = float(max(values) - min(values))
    widths = {}
    for label, below in _leaves_below(hierarchy).items():
        inside = [leaf for leaf in map(int, below) if leaf in values] or [0]
        widths[label] = float(range_loss(float(min(inside)), float(max(inside)), extent))
    return widths


def _leaves_below(hierarchy: Hierarchy) -> dict[str, set[str]]:
    below: dict[str, set[str]] = {}
    for row in hierarchy.rows():
        for label in row:
            below.setdefault(label, set()).add(row[0])
    return below
