"""Parts of a table, each published as a policy says: what learning is tested on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from sfumato.jobs.policy import Policy
from sfumato.jobs.publication import with_declared
from sfumato.jobs.suppress import withheld_rows, without
from sfumato.predicates.flags import flagged
from sfumato.randomness import Randomness
from sfumato.release import Manifest, Release
from sfumato.schema import Schema
from sfumato.table import encode


@dataclass(slots=True)
class Folds:
    """Publishes rows by a policy, and remembers what came of it."""

    rules: Policy
    _made: list[Manifest] = field(default_factory=list)

    def publish(self, rows: pa.Table, schema: Schema, randomness: Randomness) -> Release:
        """Return a release of rows that have been recoded.

        As in every run, rows are withheld first if that is what the policy says to do with values
        that are too common (`on_infeasible: suppress`).
        """
        method, withheld = self.rules.method(), 0
        if self.rules.content.on_infeasible == "suppress":
            table = flagged(encode(rows, schema), rows)
            chosen = withheld_rows(table, method, randomness)
            rows, withheld = without(rows, chosen), len(chosen)
        release = with_declared(
            method.publish(rows, schema, randomness=randomness), self.rules, withheld
        )
        self._made.append(release.manifest)
        return release

    def notes(self, release: Manifest) -> list[str]:
        """Return what to know of folds beside the release whose worth they are to tell."""
        found = []
        withheld = [made.suppressed for made in self._made]
        if any(withheld):
            rows = "of the rows of each fold" if min(withheld) else "rows of some folds"
            found.append(
                f"learning: {min(withheld)} to {max(withheld)} {rows} were withheld, as the policy "
                "says"
            )
        different = sorted(
            {
                name
                for made in self._made[:1]
                for name in (
                    *_different(_claims(release), _claims(made)),
                    *_different(_settings(release), _settings(made)),
                )
            }
        )
        if different:
            found.append(
                "learning: the policy asks for something else than the release states ("
                + ", ".join(different)
                + "), so what is learnt tells of another release"
            )
        return found


def _claims(manifest: Manifest) -> set[tuple[str, str]]:
    """Return the guarantees, each by its model."""
    return {(str(claim.get("model")), _text(claim)) for claim in manifest.guarantees}


def _settings(manifest: Manifest) -> set[tuple[str, str]]:
    """Return the parameters that do not depend on the rows: shares and probabilities."""
    return {
        (name, repr(value))
        for name, value in manifest.parameters.items()
        if isinstance(value, float)
    }


def _different(one: set[tuple[str, str]], other: set[tuple[str, str]]) -> Iterable[str]:
    return (name for name, _ in one ^ other)


def _text(claim: Mapping[str, Any]) -> str:
    return repr(sorted((name, repr(value)) for name, value in claim.items()))
