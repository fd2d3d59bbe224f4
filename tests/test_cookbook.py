"""The cookbook is true: its commands run, and what it shows is what comes out.

A chapter is a heading of the second level; it has a folder and a Python namespace of its own. Of
its fenced blocks, from top to bottom,

* one that follows a line "`name`:" is the file of that name;
* `python` is executed, all blocks of a chapter in one namespace;
* `sh` is run line by line, and must exit 0, or as a comment says (`# exits 1`);
* `text` shows lines of what the block before it printed, in their order; a line "…" leaves lines
  out, and a "…" at the end of one leaves out its rest.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sfumato.cli.app import run

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cookbook.md"
BLOCK = re.compile(r"(?:^`([^`\n]+)`:\n\n)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXITS = re.compile(r"\s# exits (\d+)$")
CHAPTERS = dict(
    re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
)


@dataclass(frozen=True)
class Block:
    file: str  # empty where the block is no file
    language: str
    text: str


def blocks_of(chapter: str) -> Iterator[Block]:
    for file, language, text in BLOCK.findall(chapter):
        yield Block(file, language, text)


def executed(block: Block, names: dict[str, Any]) -> str:
    """Return what Python code printed."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(block.text, f"{PAGE.name} (python)", "exec"), names)
    return out.getvalue()


def commanded(block: Block) -> str:
    """Return what the lines of a shell printed, each having exited as it says."""
    printed = ""
    for line in block.text.splitlines():
        stated = EXITS.search(line)
        expected = int(stated[1]) if stated else 0
        words = shlex.split(line, comments=True)
        if words[:1] == ["sfumato"] and not {"|", ">"} & set(words):
            with (
                contextlib.redirect_stdout(io.StringIO()) as out,
                contextlib.redirect_stderr(out),
            ):
                code = run(words[1:])
            shown = out.getvalue()
        else:
            done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
            code, shown = done.returncode, done.stdout + done.stderr
        assert code == expected, f"exit code {code} of: {line}\n{shown}"
        printed += shown
    return printed


def agrees(wanted: str, line: str) -> bool:
    beginning = wanted.removesuffix("…")
    return line == wanted if beginning == wanted else line.startswith(beginning)


def assert_shown(text: str, printed: str) -> None:
    """Fail unless the lines of a block are in what was printed, in order and without gaps."""
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    place = 0
    for part in re.split(r"^…\n", text, flags=re.MULTILINE):
        wanted = [" ".join(line.split()) for line in part.splitlines()]
        starts = range(place, len(lines) - len(wanted) + 1)
        found = next((n for n in starts if all(map(agrees, wanted, lines[n:]))), None)
        assert found is not None, f"the page shows\n{part}\nand this was printed:\n{printed}"
        place = found + len(wanted)


@pytest.mark.parametrize("title", CHAPTERS)
def test_a_chapter_does_what_it_says(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    printed = ""
    for block in blocks_of(CHAPTERS[title]):
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text, "utf-8")
        elif block.language == "python":
            printed = executed(block, names)
        elif block.language == "sh":
            printed = commanded(block)
        else:
            assert block.language == "text", "blocks are files, python, sh or text"
            assert_shown(block.text, printed)


# The test itself


def test_all_nine_items_have_a_chapter() -> None:
    assert [title.partition(".")[0] for title in CHAPTERS] == [str(n) for n in range(1, 10)]


@pytest.mark.parametrize("title", CHAPTERS)
def test_every_fence_is_read(title: str) -> None:
    chapter = CHAPTERS[title]
    assert len(list(blocks_of(chapter))) == len(re.findall(r"^```", chapter, re.MULTILINE)) / 2
    assert any(block.language == "sh" for block in blocks_of(chapter))


def test_what_is_shown_has_to_be_printed_in_its_order() -> None:
    assert_shown("b  1\n…\nd 2…\n", "a\nb 1\nc\nd 2 3\n")
    for wrong in ("e\n", "b 2…\n", "c\nd\ne\n", "b 1\nd\n", "d\n…\nb 1\n", "b 2\n"):
        with pytest.raises(AssertionError, match="the page shows"):
            assert_shown(wrong, "a\nb 1\nc\nd\n")


@pytest.mark.parametrize(
    "line", ["sfumato audit nowhere", "sfumato --version  # exits 1", "false", "true  # exits 1"]
)
def test_a_line_that_exits_otherwise_fails(line: str) -> None:
    with pytest.raises(AssertionError, match="exit code"):
        commanded(Block("", "sh", line))
