"""Small JSON files of a project: written whole or not at all, readable by their owner only."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any


def write_json(path: Path, content: Any) -> None:
    """Write plain data; whoever reads meanwhile finds the old file or the new one."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def write_text(path: Path, content: str) -> None:
    """Write a text in place of the file, in one step."""
    draft = path.with_name(f".{path.name}.tmp-{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the mapping in a file, None if there is none that can be read."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
