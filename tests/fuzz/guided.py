"""`python -m fuzz.guided TARGET [libFuzzer's options]`: one target, guided by coverage."""

from __future__ import annotations

import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src"


def compiled() -> list[str]:
    """Return the modules that numba compiles, which cannot be instrumented."""
    return [
        ".".join(file.relative_to(SOURCE).with_suffix("").parts)
        for file in (SOURCE / "sfumato").rglob("*.py")
        if "numba" in (text := file.read_text("utf-8")) or "measures.compiled" in text
    ]


def main() -> None:
    """Fuzz until the options say that it is enough; the first fault ends the process."""
    import atheris

    # atheris goes by whole packages
    with atheris.instrument_imports(include=["sfumato", "yaml", "sqlglot"], exclude=compiled()):
        from fuzz.targets import TARGETS

    target = TARGETS[sys.argv.pop(1)]

    def one(content: bytes) -> None:
        target.try_(content)

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
