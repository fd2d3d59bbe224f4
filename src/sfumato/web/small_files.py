"""Small JSON files of a project: written whole or not at all, readable by their owner only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sfumato.jobs.private_file import replace_file


def write_json(path: Path, content: Any) -> None:
    """Write plain data; whoever reads meanwhile finds the old file or the new one."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def write_text(path: Path, content: str) -> None:
    """Write a text in place of the file, in one step."""
    replace_file(path, content.encode())


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the mapping in a file, None if there is none that can be read."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
