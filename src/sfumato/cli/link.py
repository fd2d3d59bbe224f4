"""`sfumato link`: publish several tables about the same people."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from sfumato.cli.anonymize import publication_json, publication_lines
from sfumato.cli.audit import verdict_row
from sfumato.cli.options import (
    Force,
    Json,
    KeyFile,
    MarkingTestSeed,
    NoFormulaGuard,
    Out,
    PolicyFile,
    SeedFile,
    TableFormat,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.show import clean, show_json, show_table, show_warnings
from sfumato.errors import InputError, ParameterError

EXAMPLE = (
    "Example: sfumato link patients=patients.csv visits=visits.csv --policy linked.yaml "
    "--key-file key --out linked"
)


def link(
    tables: Annotated[list[str], typer.Argument(metavar="NAME=DATA...")],
    policy: PolicyFile,
    out: Out,
    key_file: KeyFile = None,
    force: Force = False,
    seed_file: SeedFile = None,
    test_seed: MarkingTestSeed = None,
    format: TableFormat = None,
    no_formula_guard: NoFormulaGuard = False,
    as_json: Json = False,
) -> None:
    """Publish several tables about the same people so that their join still meets k.

    NAME is that of a table in the policy, DATA its file. The people are published as pseudonyms,
    which link the tables: the releases are pseudonymised, not anonymised.
    """
    from sfumato.jobs.link import link as run
    from sfumato.jobs.seeds import key_of, randomness_of

    randomness, warnings = randomness_of(seed_file, test_seed)
    key, about_key = key_of(key_file)
    if key is None:
        raise ParameterError(
            "linked tables need the key of their pseudonyms: --key-file key, made by "
            "`head -c 32 /dev/urandom > key`"
        )
    with terminal_progress() as progress:
        made = run(
            _named(tables),
            policy,
            out,
            key=key,
            randomness=randomness,
            format=None if format is None else format.value,
            formula_guard=False if no_formula_guard else None,
            force=force,
            warnings=(*warnings, *about_key),
            progress=progress,
        )
    if as_json:
        show_json(
            {
                "releases": {name: publication_json(each) for name, each in made.releases.items()},
                "joined": [verdict.to_json() for verdict in made.joined],
                "warnings": list(made.warnings),
            }
        )
        return
    for each in made.releases.values():
        for line in publication_lines(each):
            print(clean(line))
    show_table(["guarantee", "verdict", "worst group"], [verdict_row(v) for v in made.joined])
    folders = [str(each.path) for each in made.releases.values()]
    print(clean(f"next: {shlex.join(['sfumato', 'audit', *folders])}"))
    show_warnings(made.warnings)


def _named(tables: list[str]) -> dict[str, str]:
    """Return the data of each table by its name."""
    found: dict[str, str] = {}
    for text in tables:
        name, sign, data = text.partition("=")
        if not (name and sign and data):
            raise InputError("say which table each file is: NAME=DATA, such as visits=visits.csv")
        if name in found:
            raise InputError(f"table '{name}' is given twice")
        found[name] = data
    return found
