"""`python -m fuzz.guided TARGET [libFuzzer's options]`: one target, guided by coverage.

Changed bytes of JSON hardly ever are JSON, so that a manifest's cases would end in the parser: for
such targets bytes from 0x80 on are choices of the strategy of the right shape instead.
"""

from __future__ import annotations

import sys
from pathlib import Path

SHAPED = ("manifest", "audit")
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
    from hypothesis import HealthCheck, given, settings

    from fuzz.structured import STRATEGIES

    target = TARGETS[sys.argv.pop(1)]

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(STRATEGIES[target.name]())
    def shaped(content: bytes) -> None:
        target.try_(content)

    def one(content: bytes) -> None:
        if target.name in SHAPED and content[:1] >= b"\x80":
            shaped.hypothesis.fuzz_one_input(content[1:])
        else:
            target.try_(content)

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
