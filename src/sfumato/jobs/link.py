"""Link: tables about the same people in, a release of each out, whose join protects them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.audit import Verdict
from sfumato.audit.joined import joined_view
from sfumato.errors import ClaimBroken, InputError, ParameterError, SchemaError
from sfumato.io.read import read_table
from sfumato.jobs.doubts import about_pseudonyms, narrow_groups, wrong_intervals
from sfumato.jobs.policy import Policy
from sfumato.jobs.policy_errors import nearest
from sfumato.jobs.policy_file import MODEL_KEYS
from sfumato.jobs.progress import Progress, Stages
from sfumato.jobs.publication import Publication, group_count, place_of, refuse_own_fault, save
from sfumato.jobs.recode import recoded, with_recoding
from sfumato.jobs.yaml_file import read_yaml
from sfumato.methods import Mondrian
from sfumato.methods.linked import LinkedTable, publish_linked
from sfumato.randomness import Randomness
from sfumato.recoding import shifted_columns
from sfumato.recoding.pseudonyms import with_tokens
from sfumato.release import Release
from sfumato.release.atomic import refuse_occupied, replacing
from sfumato.release.files import is_release
from sfumato.release.release import FileFormat
from sfumato.table import encode

TABLES = "tables"
_SHARED = ("method", "output")


@dataclass(frozen=True, slots=True)
class LinkedPublication:
    """The releases that were written, by table, and the verdicts on their join."""

    path: Path
    releases: Mapping[str, Publication]
    joined: tuple[Verdict, ...]
    warnings: tuple[str, ...]


def link(
    data: Mapping[str, str | os.PathLike[str]],
    policy: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    key: bytes,
    randomness: Randomness | None = None,
    format: FileFormat | None = None,
    formula_guard: bool | None = None,
    force: bool = False,
    warnings: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> LinkedPublication:
    """Publish tables of files under a policy with `tables`, as a folder with a release of each.

    `key` is the secret of the pseudonyms by which the tables are linked.
    Refuses (SfumatoError) whatever stands in the way; the folder then does not appear.
    """
    path = place_of(out)
    if not isinstance(path, Path):
        raise InputError("linked tables are written to a folder, with a release for each table")
    randomness = randomness or Randomness.fresh()
    stages = Stages(progress)
    refuse_occupied(path, force, _is_linked)  # early, before a long run
    with stages.stage("reading the policy"):
        rules = linked_policies(Path(policy))
        _refuse_other_tables(data, rules)
        method = _method(rules)
    tables, steps, schemas = {}, {}, {}
    for name, own in rules.items():
        with stages.stage(f"reading '{name}'"):
            rows, schema, steps[name] = recoded(
                read_table(data[name]), own, own.schema(), randomness
            )
            table = with_tokens(encode(rows, schema), rows, key)
            asked = own.method()
            assert isinstance(asked, Mondrian)
            tables[name], schemas[name] = LinkedTable(table, asked.models), schema
    with stages.stage("grouping people"):
        made = publish_linked(
            tables, k=method.k, suppression=method.suppression, randomness=randomness
        )
    releases = {n: with_recoding(each, steps[n], schemas[n]) for n, each in made.items()}
    with stages.stage("auditing"):
        for release in releases.values():
            refuse_own_fault(release)
        joined = joined_view(list(releases.values()))
        if any(verdict.holds is False for verdict in joined):
            raise ClaimBroken(
                "nothing was written: the join of the tables is not as stated, which is a fault of "
                "sfumato; please report it"
            )
    with stages.stage("writing"):
        _write(releases, rules, path, format, formula_guard, force)
    publications = {
        name: Publication(
            path / name, release.manifest, group_count(release), None, (), stages.timings
        )
        for name, release in releases.items()
    }
    for name, each in tables.items():
        warnings += (
            *rules[name].warnings(is_test=randomness.is_test),
            *wrong_intervals(each.table),
            *narrow_groups(releases[name], each.table),
            *about_pseudonyms(schemas[name]),
        )
    return LinkedPublication(path, publications, joined, tuple(dict.fromkeys(warnings)))


def linked_policies(path: Path) -> dict[str, Policy]:
    """Return a policy for every table of a policy file of linked tables.

    `tables` has by name what an ordinary policy has for its one table: `attributes`, and `unit`
    where the column is called otherwise than the common `unit`. `method` and `output` are common.
    The unit is published as a pseudonym.
    """
    content = read_yaml(path)
    if not isinstance(content, dict) or not isinstance(content.get(TABLES), dict):
        raise SchemaError(
            f"{path}: linked tables need `tables`, with the `attributes` of each; "
            "for one table use `sfumato anonymize`"
        )
    known = (TABLES, "unit", *_SHARED)
    for key in content:
        if key not in known:
            raise SchemaError(
                f"{path}: `{key}` is not a key of linked tables; {nearest(key, known)}"
            )
    unit = content.get("unit")
    if not isinstance(unit, str):
        raise SchemaError(
            f"{path}: linked tables need a `unit`, the column that they have in common"
        )
    common = {key: content[key] for key in _SHARED if key in content}
    policies = {
        str(name): _policy(str(name), own, unit, common, path)
        for name, own in content[TABLES].items()
    }
    idle = [key for key in MODEL_KEYS if key in (common.get("method") or {})]
    if idle and not any(own.content.sensitive for own in policies.values()):
        raise SchemaError(
            f"{path}: `method.{idle[0]}` is about sensitive attributes, and no table has any"
        )
    return policies


# A table's name becomes that of a folder.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")


def _policy(name: str, own: Any, unit: str, common: Mapping[str, Any], path: Path) -> Policy:
    if not _NAME.fullmatch(name):
        raise SchemaError(
            f"{path}: a name under `{TABLES}` has letters, digits, `-` and `_` only: it names a "
            "folder"
        )
    if not isinstance(own, dict) or not isinstance(own.get("attributes"), dict):
        raise SchemaError(f"{path}: table '{name}' needs `attributes`")
    for key in own:
        if key not in ("attributes", "unit"):
            raise SchemaError(
                f"{path}: `{TABLES}.{name}.{key}` is unknown; a table has `attributes` and `unit`"
            )
    column = own.get("unit", unit)
    attributes = dict(own["attributes"])
    if isinstance(attributes.get(column), dict):
        if attributes[column].get("pseudonym", True) not in (True, unit):
            raise SchemaError(
                f"{path}, table '{name}': the word of the unit's `pseudonym` is '{unit}' in all "
                "tables, or they would not be linked; leave it out"
            )
        attributes[column] = {**attributes[column], "pseudonym": unit}
    try:
        asked = {"attributes": attributes, "unit": column, **common}
        policy = Policy.of(asked, path.parent)
        if isinstance(common.get("method"), dict) and not policy.content.sensitive:
            # what is asked for all sensitive attributes says nothing of a table without any
            method = {k: v for k, v in common["method"].items() if k not in MODEL_KEYS}
            policy = Policy.of({**asked, "method": method}, path.parent)
        if shifted_columns(policy.recoding()):
            raise SchemaError("dates of linked tables cannot be shifted: shifts would differ")
    except SchemaError as error:
        raise SchemaError(f"{path}, table '{name}': {error}") from None
    return policy


def _method(rules: Mapping[str, Policy]) -> Mondrian:
    """Return the method of all tables; ParameterError for another than mondrian."""
    method = next(iter(rules.values())).method()
    if not isinstance(method, Mondrian):
        raise ParameterError(f"linked tables are published by mondrian, not by {method.name}")
    plain = Mondrian(method.k, models=method.models, suppression=method.suppression)
    if method != plain:
        raise ParameterError(
            "linked tables do not know `strict`, `choose`, `cut` and `categories` of mondrian"
        )
    return method


def _refuse_other_tables(data: Mapping[str, Any], rules: Mapping[str, Any]) -> None:
    for name in data:
        if name not in rules:
            raise InputError(f"the policy has no table '{name}'; {nearest(name, rules)}")
    for name in rules:
        if name not in data:
            raise InputError(f"no data are given for table '{name}'; write {name}=FILE")


def _write(
    releases: Mapping[str, Release],
    rules: Mapping[str, Policy],
    path: Path,
    format: FileFormat | None,
    formula_guard: bool | None,
    force: bool,
) -> None:
    try:
        with replacing(path, force=force, is_ours=_is_linked) as folder:
            for name, release in releases.items():
                save(
                    release, folder / name, rules[name], format=format, formula_guard=formula_guard
                )
    except OSError as error:
        reason = error.strerror or "the file system refused"
        raise InputError(f"cannot write the releases to '{path}': {reason}") from error


def _is_linked(folder: Path) -> bool:
    """Return whether a folder holds releases and nothing else."""
    return all(not each.is_symlink() and is_release(each) for each in folder.iterdir())
