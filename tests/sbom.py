"""`python -m tests.sbom [FILE]`: what an installation consists of, as CycloneDX 1.5 JSON.

Read from the metadata that is installed, without a network: names, versions, licences, who needs
whom. The same environment gives the same bytes.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = "sfumato"
# Words by which a licence's name, expression or classifier is recognised; all go with Apache-2.0.
COMPATIBLE = {
    "Apache-2.0": ("apache",),
    "MIT": ("mit",),
    "BSD": ("bsd",),
    "PSF-2.0": ("psf", "python software foundation", "python-2.0", "cnri"),
    "MPL-2.0": ("mpl", "mozilla"),
    "NCSA": ("ncsa", "university of illinois"),
    "ISC": ("isc",),
    "Zlib": ("zlib",),
    "Unlicense": ("unlicense",),
    "0BSD": ("0bsd",),
}


def normal(name: str) -> str:
    """Return a name as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence_of(found: Distribution) -> str:
    """Return the licence that a package states: expression, else classifiers, else its text."""
    about = found.metadata
    if about.get("License-Expression"):
        return str(about["License-Expression"])
    named = [
        c.split(" :: ")[-1] for c in about.get_all("Classifier") or () if c.startswith("License")
    ]
    stated = str(about.get("License") or "").strip().splitlines()
    return ", ".join(named) if named else (stated[0] if stated else "")


def is_compatible(licence: str) -> bool:
    """Whether a stated licence is one that goes with Apache-2.0."""
    words = licence.lower()
    if "gpl" in words and "mpl" not in words:
        return False
    return any(word in words for several in COMPATIBLE.values() for word in several)


def needed(extras: tuple[str, ...] = ()) -> dict[str, tuple[Distribution, list[str]]]:
    """Return all packages that the project needs here, by name, with what each needs itself."""
    found: dict[str, tuple[Distribution, list[str]]] = {}
    waiting: list[tuple[str, frozenset[str]]] = [(ROOT, frozenset(extras))]
    seen = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        own = distribution(name)
        needs = found.setdefault(normal(name), (own, []))[1]
        for text in own.requires or ():
            each = Requirement(text)
            environments = [{"extra": extra} for extra in (*wanted, "")]
            if each.marker and not any(each.marker.evaluate(e) for e in environments):
                continue
            if normal(each.name) != normal(name) and normal(each.name) not in needs:
                needs.append(normal(each.name))
            waiting.append((each.name, frozenset(each.extras)))
    return found


def sbom(extras: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the bill of materials."""
    packages = dict(sorted(needed(extras).items()))

    def reference(name: str) -> str:
        return f"pkg:pypi/{name}@{packages[name][0].version}"

    def component(name: str) -> dict[str, Any]:
        own = packages[name][0]
        licence = licence_of(own)
        return {
            "type": "application" if name == ROOT else "library",
            "bom-ref": reference(name),
            "name": name,
            "version": own.version,
            "purl": reference(name),
            **({"licenses": [{"license": {"name": licence[:200]}}]} if licence else {}),
        }

    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(ROOT)},
        "components": [component(name) for name in packages if name != ROOT],
        "dependencies": [
            {"ref": reference(name), "dependsOn": sorted(map(reference, needs))}
            for name, (_, needs) in packages.items()
        ],
    }


if __name__ == "__main__":
    text = json.dumps(sbom(("dp", "learning", "excel", "stats", "web", "reports")), indent=1) + "\n"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, "utf-8")
    else:
        print(text, end="")
