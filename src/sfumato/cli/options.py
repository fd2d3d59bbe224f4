"""Options and arguments that several commands have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """The format of a release's tables."""

    PARQUET = "parquet"
    CSV = "csv"


class Engine(StrEnum):
    """What does the work."""

    LOCAL = "local"
    SPARK = "spark"


# A text, not a path: it may be a pattern. Commands explain it in their own text, since not every
# version of Typer shows the help of an argument.
Data = Annotated[str, typer.Argument(metavar="DATA")]
PolicyFile = Annotated[Path, typer.Option("--policy", help="The policy file (YAML).")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there already.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
TestSeed = Annotated[
    int | None, typer.Option("--test-seed", help="Draw the same at random every time.")
]
