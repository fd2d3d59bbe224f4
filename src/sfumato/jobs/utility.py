"""What a release in a folder is worth, beside the data it was made from."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.answers import to_microdata
from sfumato.answers.set_microdata import names_of_rows
from sfumato.errors import ParameterError, SfumatoError
from sfumato.io.read import read_table
from sfumato.jobs.folds import Folds
from sfumato.jobs.policy import Policy
from sfumato.jobs.progress import Progress, Stages
from sfumato.jobs.recode import recoded
from sfumato.predicates.expression import unknown_column
from sfumato.randomness import Randomness
from sfumato.recoding import shifted_columns
from sfumato.release import Manifest, Release
from sfumato.release.beside import beside
from sfumato.utility.learning import Learned, learning_accuracy
from sfumato.utility.original import coded_original
from sfumato.utility.overview import QUERIES, SELECTIVITY, Utility, overview

# Learning publishes the data again for every fold: of more rows, a random sample.
LEARNING_ROWS = 20_000
FOLDS = 5


def utility(
    release: str | os.PathLike[str],
    original: str | os.PathLike[str],
    *,
    policy: str | os.PathLike[str] | None = None,
    queries: int = QUERIES,
    selectivity: float = SELECTIVITY,
    learn: str | None = None,
    randomness: Randomness | None = None,
    progress: Progress | None = None,
) -> Utility:
    """Return all utility metrics that apply to the release of a folder, against its data.

    The policy tells of hierarchies and orders that a release does not publish whole. `learn`
    names an attribute to be predicted from the others: rows are published anew as the policy says,
    and original rows that were not among them are the test.

    Refuses (SfumatoError) what cannot be read, data that the release cannot be of, `learn` without
    a policy or with that of another method, and a column to learn that is not published.
    """
    if learn is not None and policy is None:
        raise ParameterError("learning publishes rows anew for each test, so it needs the policy")
    randomness = randomness or Randomness.fresh()
    stages = Stages(progress)
    with stages.stage("reading the release"):
        loaded = Release.load(release)
    rules = None
    if policy is not None:
        with stages.stage("reading the policy"):
            rules = Policy.load(Path(policy))
            schema = rules.schema()
    names = names_of_rows(loaded.manifest)
    if learn is not None and rules is not None:
        _refuse_other_method(loaded.manifest, rules)
    if learn is not None and learn not in names:
        raise ParameterError(f"nothing to learn: {unknown_column(learn, names)}")
    with stages.stage("reading the original"):
        data = read_table(original)
    with stages.stage("encoding"):
        table = coded_original(data, loaded, None if rules is None else schema)
        pair = beside(loaded, data)
    with stages.stage("measuring"):
        found = overview(
            pair.release,
            table,
            queries=queries,
            selectivity=selectivity,
            rng=randomness.generator("utility"),
        )
        found.notes[:0] = pair.notes
    if learn is not None and rules is not None:
        with stages.stage("learning"):
            try:
                folds = Folds(rules)
                found.learned = _learned(data, folds, learn, pair.release, randomness)
                found.notes += [_about_learning(data), *folds.notes(loaded.manifest)]
            except SfumatoError as error:
                found.undefined["learning"] = str(error)
    return found


def _refuse_other_method(manifest: Manifest, rules: Policy) -> None:
    name = rules.method().name
    if name != manifest.method:
        raise ParameterError(
            f"the release was made by {manifest.method} and the policy is for {name}; learning "
            "publishes rows anew, so it needs the policy of the release"
        )


def _learned(
    data: pa.Table, folds: Folds, target: str, release: Release, randomness: Randomness
) -> Learned:
    rng = randomness.generator("learning")
    if data.num_rows > LEARNING_ROWS:
        chosen = np.sort(rng.choice(data.num_rows, LEARNING_ROWS, replace=False))
        data = data.take(pa.array(chosen))
    data, schema, steps = recoded(data, folds.rules, folds.rules.schema(), randomness)
    if target in shifted_columns(steps):
        raise ParameterError(f"the dates of '{target}' were shifted, so none is right or wrong")
    names = names_of_rows(release.manifest)
    return learning_accuracy(
        data,
        lambda rows: folds.publish(rows, schema, Randomness(rng.bytes(32))),
        target,
        features=[name for name in names if name != target],
        rows_of=to_microdata,
        rng=rng,
        folds=FOLDS,
    )


def _about_learning(data: pa.Table) -> str:
    rows = min(data.num_rows, LEARNING_ROWS)
    return f"learning: {FOLDS} folds of {rows} rows, published anew as the policy says"
