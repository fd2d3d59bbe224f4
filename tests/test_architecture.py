"""Who may import whom, as `docs/architecture.md` has it; and where randomness and prints live.

The table of rooms in that page is the rule: a module imports from its own room and from rooms
above it. Rooms that share a row know nothing of each other.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "sfumato"
# Judges must not trust the code that they judge; the audit reads files, not coded tables.
MAKERS = frozenset({"rows", "publish", "methods"})
NEVER = {"audit": MAKERS | {"columns", "table", "predicates"}}
NEVER |= dict.fromkeys(("utility", "attacks", "answers", "reports"), MAKERS)
# Risk is counted on a coded table, whatever is asked of it.
NEVER["risk"] = frozenset({"predicates", "recoding", "randomness"})
# What a release promises as its methods, though the room that does it lies above: it is loaded when
# a method is called, and named for the types alone.
LATE = {"release/release.py": frozenset({"answers"})}
# The only place that makes random generators, and the modules that could make others.
RANDOMNESS = "randomness"
GENERATORS = ("random", "randomgen", "numpy.random")
SPEAKING = "cli"


def rooms() -> dict[str, int]:
    """Return the rooms with their rows in the table of the architecture page."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = re.search(r"^\| room \|.*?\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert table, "docs/architecture.md has no table of rooms"
    first_cells = [line.split("|")[1] for line in table[1].splitlines()]
    return {
        name: row
        for row, cell in enumerate(first_cells)
        for name in re.findall(r"`(\w+)(?:/|\.py)`", cell)
    }


def room_of(path: Path) -> str:
    """Return the room of a module: its folder below the package, or its own name."""
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


MODULES = sorted(SOURCE.rglob("*.py"))
ROOMS = rooms()
# The package itself only hands out names of all rooms.
INSIDE = [path for path in MODULES if path != SOURCE / "__init__.py"]


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and full name of every import, wherever it stands, and of lazy ones."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, each.name) for each in names)
            case ast.ImportFrom(module=module, names=names, level=0):
                yield from ((node.lineno, f"{module}.{each.name}") for each in names)
            case ast.ImportFrom():
                yield node.lineno, "sfumato.?"  # a relative import hides where it points
            case ast.Call(func=ast.Name(id="__import__") | ast.Attribute(attr="import_module")):
                for each in node.args[:1]:
                    named = isinstance(each, ast.Constant)
                    yield node.lineno, str(each.value) if named else "sfumato.?"


def wrong_imports(tree: ast.AST, room: str) -> list[str]:
    """Return the imports of a module that its room may not have."""
    found = []
    for line, name in imported(tree):
        parts = name.split(".")
        if parts[0] != "sfumato" or (len(parts) > 1 and parts[1] in ("__version__", room)):
            continue
        other = parts[1] if len(parts) > 1 else "sfumato"
        below = other in ROOMS and ROOMS[other] < ROOMS[room]
        beside = other in ROOMS and ROOMS[other] == ROOMS[room] == 0
        if not (below or beside) or other in NEVER.get(room, ()):
            found.append(f"line {line}: {room} imports {name}")
    return found


def without_late(tree: ast.AST, late: frozenset[str]) -> ast.AST:
    """Return the module without imports of late rooms in functions and for the types alone."""

    def is_late(node: ast.AST) -> bool:
        names = [name.split(".")[1:2] for _, name in imported(node)]
        return bool(names) and all(name and name[0] in late for name in names)

    for node in ast.walk(tree):
        is_for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if is_for_types or isinstance(node, ast.FunctionDef):
            node.body = [
                each
                for each in node.body
                if not (isinstance(each, ast.ImportFrom) and is_late(each))
            ]
    return tree


def made_generators(tree: ast.AST) -> list[str]:
    """Return where a module makes randomness of its own; a generator may be named as a type."""
    found = [
        f"line {line}: imports {name}"
        for line, name in imported(tree)
        if name != "numpy.random.Generator"
        and any(name == each or name.startswith(f"{each}.") for each in GENERATORS)
    ]
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Attribute(attr="random", value=ast.Name(id=root))):
                if root in ("np", "numpy") and node.attr != "Generator":
                    found.append(f"line {node.lineno}: {root}.random.{node.attr}")
            case ast.Call(func=ast.Attribute(attr="Generator" | "default_rng" | "urandom")):
                found.append(f"line {node.lineno}: calls {node.func.attr}")
            case ast.Call(func=ast.Name(id="Generator" | "default_rng" | "urandom" | "uuid4")):
                found.append(f"line {node.lineno}: calls {node.func.id}")
    return found


def prints(tree: ast.AST) -> list[str]:
    """Return where a module prints."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [
        f"line {n.lineno}" for n in calls if isinstance(n.func, ast.Name) and n.func.id == "print"
    ]


def parsed(path: Path) -> ast.AST:
    return ast.parse(path.read_text("utf-8"), str(path))


every_module = pytest.mark.parametrize(
    "path", INSIDE, ids=lambda path: path.relative_to(SOURCE).as_posix()
)


@every_module
def test_imports_point_to_earlier_rooms(path):
    assert room_of(path) in ROOMS, "a new room needs a row in docs/architecture.md"
    late = LATE.get(path.relative_to(SOURCE).as_posix(), frozenset())
    assert wrong_imports(without_late(parsed(path), late), room_of(path)) == []


@every_module
def test_only_one_module_makes_generators(path):
    if room_of(path) != RANDOMNESS:
        assert made_generators(parsed(path)) == []


@every_module
def test_only_the_command_line_prints(path):
    if room_of(path) != SPEAKING:
        assert prints(parsed(path)) == []


def test_every_room_of_the_page_exists():
    assert ROOMS.keys() == {room_of(path) for path in INSIDE}


def test_tests_mirror_the_rooms():
    """Every folder of tests is that of a room, or one of those that serve all."""
    serving = {"oracles", "contracts", "arbitrary", "benchmarks", "properties"}
    serving |= {"mutations", "faults", "fuzz"}
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
    assert {name for name in folders if name.isidentifier()} - {
        "__pycache__"
    } <= ROOMS.keys() | serving


# --- this test notices what it must ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("room", "code"),
    [
        ("schema", "from sfumato.table import Table"),
        ("schema", "def f():\n    import sfumato.table.column"),
        ("models", "from sfumato import rows"),
        ("rows", "from sfumato.methods.mondrian import Mondrian"),
        ("io", "from sfumato.datasets import hospital"),
        ("audit", "from sfumato.rows.axes import RANGE"),
        ("audit", "from sfumato.table import Column"),
        ("utility", "from sfumato.publish import exact"),
        ("errors", "import sfumato.schema"),
        ("models", "from ..rows import axes"),
        ("models", "import importlib\nimportlib.import_module('sfumato.rows')"),
        ("jobs", "from sfumato.cli import main"),
        ("rows", "import sfumato"),
    ],
)
def test_a_wrong_import_is_noticed(room, code):
    assert wrong_imports(ast.parse(code), room)


@pytest.mark.parametrize(
    ("room", "code"),
    [
        ("table", "from sfumato.schema import Schema\nfrom sfumato.errors import SchemaError"),
        ("randomness", "from sfumato.errors import ParameterError"),
        ("rows", "from sfumato.rows.axes import RANGE\nimport numpy as np"),
        ("cli", "from sfumato.jobs import anonymize"),
        ("audit", "from sfumato.models import MODELS"),
    ],
)
def test_a_right_import_is_not(room, code):
    assert wrong_imports(ast.parse(code), room) == []


@pytest.mark.parametrize(
    ("code", "is_right"),
    [
        ("def f():\n    from sfumato.answers import Count\n    return Count", True),
        ("if TYPE_CHECKING:\n    from sfumato.answers import Count", True),
        ("from sfumato.answers import Count", False),
        ("def f():\n    from sfumato.audit import audit", False),
        ("if __debug__:\n    from sfumato.answers import Count", False),
    ],
)
def test_a_late_import_stays_late(code, is_right):
    tree = without_late(ast.parse(code), frozenset({"answers"}))
    assert (wrong_imports(tree, "release") == []) == is_right


@pytest.mark.parametrize(
    "code",
    [
        "import random",
        "from random import shuffle",
        "import numpy as np\nnp.random.default_rng(1)",
        "import numpy as np\nnp.random.shuffle([1])",
        "import numpy as np\nnp.random.Generator(np.random.PCG64())",
        "from numpy.random import default_rng",
        "import numpy.random",
        "from randomgen import ChaCha",
        "import os\nos.urandom(3)",
        "from uuid import uuid4\nuuid4()",
    ],
)
def test_a_made_generator_is_noticed(code):
    assert made_generators(ast.parse(code))


def test_a_generator_as_a_type_is_not():
    code = "import numpy as np\ndef f(rng: np.random.Generator): rng.permutation(3)"
    assert made_generators(ast.parse(code)) == []


def test_a_print_is_noticed():
    assert prints(ast.parse("def f():\n    print('x')"))
    assert not prints(ast.parse("def f():\n    '''>>> print(1)'''\n    sink.print(1)"))
