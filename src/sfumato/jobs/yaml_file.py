"""YAML as people expect it: no surprises of YAML 1.1, no repeated keys, nothing but plain data.

In a list of values `no` is a text, `01234` keeps its zero and `12:30` is no number of minutes;
keys are always texts, and null is none. Only `true`, `false`, `null` and plain numbers are anything
but text.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from sfumato.errors import SchemaError

MAX_BYTES = 4 * 2**20
MAX_DEPTH = 16

# Escapes can spell halves of characters, which neither a cell nor the name of a file can hold.
_NO_TEXT = re.compile("[\ud800-\udfff]")
_NULL = "tag:yaml.org,2002:null"
_PLAIN = {
    _NULL: (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "tag:yaml.org,2002:bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "tag:yaml.org,2002:int": (r"0|-?[1-9][0-9]*", list("-0123456789")),
    "tag:yaml.org,2002:float": (
        r"-?((0|[1-9][0-9]*)?\.[0-9]+([eE][-+]?[0-9]+)?|(0|[1-9][0-9]*)[eE][-+]?[0-9]+)",
        list("-.0123456789"),
    ),
}


class _Refused(Exception):  # noqa: N818 -- never leaves this module
    """A problem on a line of the file."""

    def __init__(self, problem: str, mark: Any) -> None:
        line = f"line {mark.line + 1}: " if mark is not None else ""
        super().__init__(line + problem)


class _Loader(yaml.SafeLoader):
    """The safe loader with fewer implicit types, a limit on depth, and neither alias nor repeat."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 -- filled below, per class
    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _Refused("anchors and aliases are not supported; write it out", event.start_mark)
        if isinstance(event, yaml.ScalarEvent) and _NO_TEXT.search(event.value):
            raise _Refused("a text holds half a character", event.start_mark)
        if self._depth >= MAX_DEPTH:
            raise _Refused(f"nested more than {MAX_DEPTH} levels deep", event.start_mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        mapping: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise _Refused("a key must be a plain name", key_node.start_mark)
            if key_node.tag == _NULL:
                raise _Refused("a key cannot be null; put a name in quotes", key_node.start_mark)
            key = str(key_node.value)
            if key in mapping:
                raise _Refused(f"the key `{key}` occurs twice; keep one", key_node.start_mark)
            mapping[key] = self.construct_object(value_node, deep=True)
        return mapping


_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.construct_mapping)
for _tag, (_pattern, _starts) in _PLAIN.items():
    _Loader.add_implicit_resolver(_tag, re.compile(f"^(?:{_pattern})$"), _starts)


def plain_data(text: str) -> Any:
    """Return the plain data in a text of YAML, as `read_yaml` reads it from a file."""
    return yaml.load(text, Loader=_Loader)


def read_yaml(path: Path) -> Any:
    """Return the plain data in a YAML file: mappings with text keys, lists, texts, numbers.

    Refuses (SchemaError, with the line) what is not YAML, repeated keys, anchors, tags, and files
    that are larger or deeper than any sensible one.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise SchemaError(f"{path}: no such file; draft one with `sfumato init`") from None
    except OSError as error:
        raise SchemaError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError:  # a zero byte in the name
        raise SchemaError("the policy has a name that no file can have") from None
    if len(raw) > MAX_BYTES:
        raise SchemaError(f"{path}: larger than {MAX_BYTES >> 20} MiB; is this the right file?")
    try:
        return plain_data(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SchemaError(f"{path}: line {line} is not UTF-8 text; save it as UTF-8") from None
    except _Refused as error:
        raise SchemaError(f"{path}: {error}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line_text = f"line {mark.line + 1}" if mark is not None else "somewhere"
        raise SchemaError(f"{path}: {line_text}: {_problem(error)}") from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise SchemaError(f"{path}: not a YAML file of plain text") from None


def _problem(error: yaml.MarkedYAMLError) -> str:
    """Return what is wrong in words that do not repeat what stands in the file."""
    if isinstance(error, yaml.constructor.ConstructorError):
        return "tags such as `!!python` are not supported; write plain values"
    return "this is not YAML; check its indentation, colons and quotes"
