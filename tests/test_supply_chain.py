"""What the project rests on: bounded, listed, under licences that go with its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from advisories import found
from packaging.requirements import Requirement
from sbom import is_compatible, licence_of, needed, normal, sbom

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("dp", "learning", "excel", "stats", "web", "reports")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_every_dependency_has_a_lower_and_an_upper_bound():
    published = {
        k: v for k, v in PROJECT["optional-dependencies"].items() if k not in ("test", "fuzz")
    }
    for text in [*PROJECT["dependencies"], *(each for some in published.values() for each in some)]:
        each = Requirement(text)
        if each.name == "sfumato":
            continue
        signs = {part.operator for part in each.specifier}
        assert ">=" in signs and signs & {"<", "<=", "~="}, text


def test_all_licences_are_stated_and_go_with_apache():
    wrong = {
        name: licence_of(own)
        for name, (own, _) in needed(EXTRAS).items()
        if not is_compatible(licence_of(own))
    }
    assert wrong == {}
    assert not is_compatible("GPL-3.0-or-later") and not is_compatible("")


def test_the_licences_are_listed_in_the_docs():
    listed = (ROOT / "docs" / "licences.md").read_text("utf-8")
    missing = [name for name in needed(EXTRAS) if f"| {name} |" not in listed]
    assert missing == ["sfumato"] or missing == []


def test_the_bill_of_materials_is_whole_and_repeatable():
    made = sbom(EXTRAS)
    assert made["bomFormat"] == "CycloneDX" and made["specVersion"] == "1.5"
    references = {each["bom-ref"] for each in made["components"]}
    references.add(made["metadata"]["component"]["bom-ref"])
    for each in made["dependencies"]:
        assert {each["ref"], *each["dependsOn"]} <= references
    names = {each["name"] for each in made["components"]}
    core = {normal(Requirement(text).name) for text in PROJECT["dependencies"]}
    assert core <= names
    assert json.dumps(made) == json.dumps(sbom(EXTRAS))


def _wheel(folder: Path, moment: int) -> Path:
    """Return a wheel that was built of a copy of the sources, whose files are of that moment."""
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, folder / name)
    compiled = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", folder / "src", ignore=compiled)
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, (moment, moment))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-500:]
    (made,) = (folder / "dist").iterdir()
    return made


@pytest.mark.skipif(
    find_spec("hatchling") is None, reason="hatchling, which builds the wheel, is not installed"
)
def test_the_wheel_is_the_same_bytes_wherever_and_whenever_it_is_built(tmp_path):
    one = _wheel(tmp_path / "one", 1_000_000_000)
    other = _wheel(tmp_path / "another folder", 1_600_000_000)
    assert one.name == other.name
    assert one.read_bytes() == other.read_bytes()
    with zipfile.ZipFile(one) as opened:
        names = opened.namelist()
    package = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert package <= set(names)
    assert [name for name in names if "__pycache__" in name or name.startswith("tests")] == []


def _advisory(name: str, **affected: object) -> str:
    package = {"ecosystem": "PyPI", "name": name}
    return json.dumps({"id": f"MADE-UP-{name}", "affected": [{"package": package, **affected}]})


def _between(*events: dict[str, str]) -> list[dict[str, object]]:
    return [{"type": "ECOSYSTEM", "events": list(events)}]


@pytest.mark.parametrize(
    ("affected", "is_hit"),
    [
        ({"versions": ["1.2", "1.3"]}, True),
        ({"versions": ["1.2.1"]}, False),
        ({"ranges": _between({"introduced": "0"})}, True),
        ({"ranges": _between({"introduced": "0"}, {"fixed": "1.3"})}, False),
        ({"ranges": _between({"introduced": "0"}, {"fixed": "1.10"})}, True),
        ({"ranges": _between({"introduced": "1.3.1"})}, False),
        ({"ranges": _between({"introduced": "1"}, {"last_affected": "1.3"})}, True),
        ({"ranges": _between({"introduced": "1"}, {"last_affected": "1.2"})}, False),
        (
            {
                "ranges": _between(
                    *(
                        {"introduced": "0"},
                        {"fixed": "1.1"},
                        {"introduced": "1.2"},
                        {"fixed": "1.4"},
                    )
                )
            },
            True,
        ),
    ],
)
def test_advisories_are_read_as_their_format_says(tmp_path, affected, is_hit):
    (tmp_path / "one.json").write_text(_advisory("Some_Package", **affected))
    (tmp_path / "other.json").write_text(_advisory("another", versions=["1.3"]))
    count, lines = found(tmp_path, {"some-package": "1.3"})
    assert count == 2
    assert bool(lines) == is_hit
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(tmp_path / "one.json", "one.json")
    assert found(tmp_path / "all.zip", {"some-package": "1.3"}) == (1, lines)


DATABASE = os.environ.get("SFUMATO_ADVISORIES")


@pytest.mark.skipif(
    DATABASE is None,
    reason="no database of advisories: SFUMATO_ADVISORIES names a folder or archive in OSV format",
)
def test_no_package_has_a_known_vulnerability():
    installed = {name: own.version for name, (own, _) in needed(EXTRAS).items()}
    count, lines = found(Path(DATABASE), installed)
    assert count > 0
    assert lines == []
