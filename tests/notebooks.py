"""The example notebooks, run from their first cell to their last: `python tests/notebooks.py`.

A cell tagged `varies` shows what is not the same everywhere, such as seconds.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "notebooks"
VARIES = "varies"
_SECONDS = 600


def paths() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path) -> Any:
    """Return a notebook with the outputs of a run in an empty folder; an error raises."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the client, not of the notebook
        client = NotebookClient(
            notebook,
            timeout=_SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": place}},
        )
        asyncio.run(client.async_execute())
    return lean(notebook)


def lean(notebook: Any) -> Any:
    """Return a notebook without what tells of one machine or one run."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number}"
        tags = cell.metadata.get("tags")
        cell.metadata = {"tags": tags} if tags else {}
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", ()):
                output.data.pop("text/plain", None)  # says the same, at length
    return notebook


def outputs(notebook: Any) -> list[tuple[str, list[Any]]]:
    """Return the source and the outputs of each cell that is the same everywhere."""
    return [
        (cell.source, [_said(each) for each in cell.outputs])
        for cell in notebook.cells
        if cell.cell_type == "code" and VARIES not in cell.metadata.get("tags", ())
    ]


def _said(output: Any) -> Any:
    if output.output_type == "stream":
        return output.text
    return {kind: value for kind, value in output.data.items() if kind.startswith("text/")}


def path_with_commands() -> str:
    """Return the PATH on which `sfumato` is that of this environment."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


if __name__ == "__main__":
    os.environ["PATH"] = path_with_commands()
    for each in paths():
        nbformat.write(executed(each), each)
        print(f"{each.name}: {each.stat().st_size // 1000} kB", file=sys.stderr)
