"""`python -m tests.advisories DATABASE`: which installed packages have known vulnerabilities.

No database comes with the project, and none is fetched. DATABASE is one that you bring: a folder or
an archive of advisories in the OSV format (https://ossf.github.io/osv-schema/), one JSON file
each, such as the export of the ecosystem PyPI. Exit 1 where something is found, 2 where there is
no advisory in it.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

sys.path.insert(0, str(Path(__file__).resolve().parent))

from sbom import needed, normal

EXTRAS = ("dp", "learning", "excel", "stats", "web", "reports", "postgres", "duckdb", "sqlite")


def advisories(database: Path) -> Iterator[Any]:
    """Give the content of all JSON files of a folder or an archive."""
    if database.is_dir():
        for file in sorted(database.rglob("*.json")):
            yield json.loads(file.read_bytes())
        return
    with zipfile.ZipFile(database) as opened:
        for name in opened.namelist():
            if name.endswith(".json"):
                yield json.loads(opened.read(name))


def is_affected(version: str, affected: Mapping[str, Any]) -> bool:
    """Whether an entry `affected` of an advisory is about a version."""
    if version in affected.get("versions", ()):
        return True
    return any(
        _is_within(Version(version), each.get("events", ()))
        for each in affected.get("ranges", ())
        if each.get("type") in ("ECOSYSTEM", "SEMVER")
    )


def _is_within(version: Version, events: Any) -> bool:
    """Whether a version lies between an event that introduces and the next that ends."""
    inside = False
    for event in sorted(events, key=_moment):
        ((kind, text),) = event.items()
        if kind == "introduced":
            inside = inside or version >= _version(text)
        elif kind in ("fixed", "last_affected"):
            is_over = version >= _version(text) if kind == "fixed" else version > _version(text)
            inside = inside and not is_over
    return inside


def _moment(event: Mapping[str, str]) -> Version:
    return _version(next(iter(event.values())))


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:  # a spelling that PyPI does not have: before all others
        return Version("0")


def found(database: Path, installed: Mapping[str, str]) -> tuple[int, list[str]]:
    """Return how many advisories there are, and a line for each that is about what is installed."""
    count, lines = 0, []
    for each in advisories(database):
        if not isinstance(each, dict) or "affected" not in each:
            continue
        count += 1
        if each.get("withdrawn"):
            continue
        for affected in each["affected"]:
            package = affected.get("package", {})
            name = normal(package.get("name", ""))
            if package.get("ecosystem") != "PyPI" or name not in installed:
                continue
            if is_affected(installed[name], affected):
                lines.append(f"{name} {installed[name]}: {each['id']} {each.get('summary', '')}")
    return count, sorted(set(lines))


def main() -> int:
    """Look every package of an installation up."""
    if len(sys.argv) != 2 or not sys.argv[1] or not Path(sys.argv[1]).exists():
        print("name a folder or archive of OSV advisories; none comes with the project")
        return 2
    installed = {name: own.version for name, (own, _) in needed(EXTRAS).items()}
    count, lines = found(Path(sys.argv[1]), installed)
    for line in lines:
        print(line)
    print(f"{len(installed)} packages, {count:,} advisories, {len(lines)} that apply")
    return 2 if count == 0 else int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
