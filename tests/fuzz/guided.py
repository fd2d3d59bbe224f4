"""`python -m fuzz.guided TARGET [libFuzzer's options]`: one target, guided by coverage."""

from __future__ import annotations

import sys


def main() -> None:
    """Fuzz until the options say that it is enough; the first fault ends the process."""
    import atheris

    # the readers alone: what numba compiles cannot be instrumented
    rooms = [f"sfumato.{room}" for room in ("io", "jobs", "schema", "release", "predicates")]
    with atheris.instrument_imports(include=[*rooms, "sfumato.answers.select", "yaml", "sqlglot"]):
        from fuzz.targets import TARGETS

    target = TARGETS[sys.argv.pop(1)]

    def one(content: bytes) -> None:
        target.try_(content)

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
