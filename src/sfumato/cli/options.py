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
FromTable = Annotated[
    str | None,
    typer.Option("--table", metavar="TABLE", help="The table, if DATA is a database's address."),
]
FromQuery = Annotated[
    str | None,
    typer.Option("--query", metavar="SELECT", help="One SELECT that is read instead of a table."),
]
# The folder of a release, or the address of one in a database.
ReleasePlace = Annotated[str, typer.Argument(metavar="RELEASE")]
ReleasePlaces = Annotated[list[str], typer.Argument(metavar="RELEASE...")]
PolicyFile = Annotated[Path, typer.Option("--policy", help="The policy file (YAML).")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there already.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
TestSeed = Annotated[
    int | None, typer.Option("--test-seed", help="Draw the same at random every time.")
]

# Of commands that publish.
# Texts, not paths, which would take one of the slashes from postgresql://.
Out = Annotated[
    str, typer.Option("--out", help="The folder of the release, or ADDRESS/SCHEMA of a database.")
]
Record = Annotated[
    Path | None, typer.Option("--record", help="Write the private record of the run here.")
]
SeedFile = Annotated[
    Path | None, typer.Option("--seed-file", help="A secret of 16 random bytes or more.")
]
MarkingTestSeed = Annotated[
    int | None, typer.Option("--test-seed", help="Repeatable; marks the release as a test.")
]
TableFormat = Annotated[
    Format | None, typer.Option("--format", help="Wins over the policy's `output`.")
]
NoFormulaGuard = Annotated[
    bool, typer.Option("--no-formula-guard", help="Leave `=1+2` in CSV cells as it is.")
]
KeyFile = Annotated[
    Path | None, typer.Option("--key-file", help="The secret key of pseudonyms, 16 bytes or more.")
]
