"""`sfumato apply`: the cuts of an earlier release on a new delivery."""

from __future__ import annotations

from sfumato.cli.anonymize import show_publication
from sfumato.cli.options import (
    Data,
    Force,
    FromQuery,
    FromTable,
    Json,
    KeyFile,
    MarkingTestSeed,
    NoFormulaGuard,
    Out,
    PolicyFile,
    Record,
    ReleasePlace,
    SeedFile,
    TableFormat,
)
from sfumato.cli.progress import terminal_progress
from sfumato.cli.source import source

EXAMPLE = "Example: sfumato apply may june.csv --policy policy.yaml --out june"


def apply(
    release: ReleasePlace,
    data: Data,
    policy: PolicyFile,
    out: Out,
    force: Force = False,
    record: Record = None,
    seed_file: SeedFile = None,
    test_seed: MarkingTestSeed = None,
    format: TableFormat = None,
    no_formula_guard: NoFormulaGuard = False,
    key_file: KeyFile = None,
    table: FromTable = None,
    query: FromQuery = None,
    as_json: Json = False,
) -> None:
    """Publish new data in the groups and cells of an earlier release.

    RELEASE is the folder of that release, DATA the new table, the policy the one of that release.
    Refused, with the groups named, where the cuts would break a guarantee.
    """
    from sfumato.jobs.apply import apply as run
    from sfumato.jobs.seeds import key_of, randomness_of

    randomness, warnings = randomness_of(seed_file, test_seed)
    key, about_key = key_of(key_file)
    with terminal_progress() as progress:
        made = run(
            release,
            source(data, table, query),
            policy,
            out,
            randomness=randomness,
            format=None if format is None else format.value,
            formula_guard=False if no_formula_guard else None,
            force=force,
            record=record,
            key=key,
            warnings=(*warnings, *about_key),
            progress=progress,
        )
    show_publication(made, ["sfumato", "compose", str(release), str(made.path)], as_json)
