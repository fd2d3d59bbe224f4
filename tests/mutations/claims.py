"""Random changes of what a release says of itself: manifest, claims, hierarchies, files."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Any

from contracts.raw_release import (
    NotApplicable,
    read_manifest,
    repair_checksum,
    rewrite_manifest,
    table_file,
    table_names,
)
from oracles.making import METHODS

from .cells import harmless, mutation

STRONGER = {"k": 1, "l": 1, "t": -1, "alpha": -1, "beta": -1, "gamma": -1, "delta": -1, "c": -1}
ROLES = (
    *("identifier", "quasi-identifier", "sensitive", "insensitive", "semi-sensitive"),
    "sensitive-quasi-identifier",
)


def _some_claim(rng: random.Random, manifest: dict[str, Any]) -> dict[str, Any]:
    if not manifest["guarantees"]:
        raise NotApplicable("no claims")
    return rng.choice(manifest["guarantees"])


def _moved(rng: random.Random, key: str, number: float, sign: int) -> float:
    """Return a parameter that asks for more (sign 1) or for less (sign -1)."""
    way = STRONGER[key] * sign
    if isinstance(number, int):
        return max(1, number + way * rng.choice([1, 1, 2, 5, 50]))
    if way > 0:
        return number * rng.choice([1.1, 1.5, 4])
    return number * rng.choice([0.9, 0.5, 0.1, 0.01])


def _numbers(claim: dict[str, Any]) -> list[str]:
    keys = [key for key in STRONGER if isinstance(claim.get(key), int | float)]
    if not keys:
        raise NotApplicable("a claim without numbers")
    return keys


@mutation
def strengthen_a_claim(rng: random.Random, folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        claim = _some_claim(rng, manifest)
        key = rng.choice(_numbers(claim))
        claim[key] = _moved(rng, key, claim[key], 1)

    rewrite_manifest(folder, change)


@mutation
def strengthen_all_claims(rng: random.Random, folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        for claim in manifest["guarantees"]:
            for key in _numbers(claim):
                claim[key] = _moved(rng, key, claim[key], 1)

    rewrite_manifest(folder, change)


@harmless
def weaken_a_claim(rng: random.Random, folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        claim = _some_claim(rng, manifest)
        key = rng.choice([k for k in _numbers(claim) if k in ("k", "l")] or [""])
        if not key or claim["model"] in ("alpha-k-anonymity",):
            raise NotApplicable("no such number")
        claim[key] = _moved(rng, key, claim[key], -1)

    rewrite_manifest(folder, change)


@mutation
def add_a_claim(rng: random.Random, folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        name = rng.choice([each["name"] for each in manifest["attributes"]])
        manifest["guarantees"].append(
            rng.choice(
                [
                    {"model": "k-anonymity", "k": rng.randint(1, 9)},
                    {"model": "l-diversity", "variant": "frequency", "l": rng.randint(1, 7)},
                    {"model": "l-diversity", "variant": "distinct", "l": rng.randint(1, 7)},
                    {"model": "l-diversity", "variant": "entropy", "l": rng.randint(1, 7)},
                    {"model": "l-unique-groups", "l": rng.randint(1, 6)},
                    {"model": "t-closeness", "t": rng.random(), "distance": "equal"},
                    {"model": "t-closeness", "t": rng.random(), "distance": "hierarchical"},
                    {"model": "alpha-k-anonymity", "alpha": rng.random(), "k": 2},
                    {"model": "beta-likeness", "beta": 3 * rng.random(), "variant": "basic"},
                    {"model": "l-unique-buckets", "l": rng.randint(1, 6)},
                    {"model": "t-close-buckets", "t": rng.random(), "distance": "equal"},
                    {"model": "set-diversity", "l": rng.randint(1, 6), "variant": "frequency"},
                    {"model": "set-anonymity", "k": rng.randint(1, 6)},
                    {"model": "k-anonymity"},
                    {"model": "p-sensitivity", "p": 2},
                ]
            )
            | ({} if rng.random() < 0.1 else {"attribute": name})
        )
        if manifest["guarantees"][-1]["model"] == "k-anonymity":
            manifest["guarantees"][-1].pop("attribute", None)

    rewrite_manifest(folder, change)


@mutation
def spoil_a_claim(rng: random.Random, folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        claim = _some_claim(rng, manifest)
        key = rng.choice(list(claim))
        match rng.randrange(3):
            case 0:
                del claim[key]
            case 1:
                claim[key] = rng.choice([-1, 0, True, "2", None, 1e400, [], 2.5, "no such"])
            case _:
                claim[rng.choice(["k", "l", "t", "strange"])] = 2

    rewrite_manifest(folder, change)


@mutation
def drop_claims(rng: random.Random, folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["guarantees"] = rng.choice([[], manifest["guarantees"][1:]])

    rewrite_manifest(folder, change)


@mutation
def change_a_domain(rng: random.Random, folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        entry = rng.choice(manifest["attributes"])
        domain = entry.get("domain")
        if isinstance(domain, list) and domain:
            match rng.randrange(5):
                case 0:
                    domain.remove(rng.choice(domain))
                case 1:
                    domain.append(rng.choice(domain))
                case 2:
                    domain.append("never seen")
                case 3:
                    rng.shuffle(domain)
                case _:
                    domain[rng.randrange(len(domain))] = "never seen"
        elif isinstance(domain, dict):
            end, step = rng.choice(["min", "max"]), rng.choice([-20, -1, 1, 20, 0.5])
            if not isinstance(domain[end], int | float):
                raise NotApplicable("no number")
            domain[end] += step
        else:
            entry["domain"] = rng.choice([["Female"], {"min": 20, "max": 30}, [], {"min": 1}])

    rewrite_manifest(folder, change)


@mutation
def forget_a_domain(rng: random.Random, folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        if rng.choice(manifest["attributes"]).pop("domain", None) is None:
            raise NotApplicable("no domain")

    rewrite_manifest(folder, change)


@mutation
def change_an_attribute(rng: random.Random, folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        entry = rng.choice(manifest["attributes"])
        key = rng.choice(["role", "kind", "type", "name"])
        entry[key] = rng.choice(
            {
                "role": [*ROLES, "public"],
                "kind": ["numeric", "ordinal", "categorical", "textual"],
                "type": ["int8", "string", "double", "date32[day]", "bool"],
                "name": ["other", "", "group", "x.bucket"],
            }[key]
        )

    rewrite_manifest(folder, change)


@mutation
def change_a_number_of_the_manifest(rng: random.Random, folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        key = rng.choice(["rows", "suppressed"])
        manifest[key] = rng.choice([manifest[key] + 1, manifest[key] - 1, "1", 1.5, None, 10**30])

    rewrite_manifest(folder, change)


@mutation
def change_a_parameter(rng: random.Random, folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        known = ("sets", "columns", "fakes", "withheld_cells", "transitions", "microaggregated")
        keys = [key for key in known if key in manifest["parameters"]]
        if not keys:
            raise NotApplicable("no parameter that files can contradict")
        key = rng.choice(keys)
        value = manifest["parameters"][key]
        if key == "sets":
            how = value[rng.choice(list(value))]
            name = rng.choice(list(how))
            if isinstance(how[name], list):
                how[name] = rng.choice([[0.0, 0.01], [0.99, 1.0], how[name][::-1], [0, 1], "all"])
            else:
                how[name] += rng.choice([-1, 1, 2, 0.001, -0.3])
        elif key == "columns":
            if rng.random() < 0.5 and len(value) > 1:
                value[0] += value.pop()
            else:
                value[0] = value[0][1:]
        elif isinstance(value, int):
            manifest["parameters"][key] = value + rng.choice([-1, 1, 100])
        else:
            manifest["parameters"].pop(key)

    rewrite_manifest(folder, change)


@mutation
def change_a_table_entry(rng: random.Random, folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        entry = rng.choice(manifest["tables"])
        match rng.randrange(6):
            case 0:
                entry["attributes"] = entry["attributes"][1:]
            case 1:
                entry.pop("group", None)
            case 2:
                entry["name"] = rng.choice(["records", "qi_9", "sensitive_9", "extra"])
            case 3:
                entry["count"] = None if "count" in entry else "count"
            case 4:
                manifest["tables"].remove(entry)
            case _:
                entry["attributes"] = [*entry["attributes"], "never seen"]

    rewrite_manifest(folder, change)


@mutation
def name_another_layout_or_format(rng: random.Random, folder: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        if rng.random() < 0.2:
            manifest["format"] = rng.choice(["sfumato-release/2", "", 1])
        else:
            layouts = ["generalized", "anatomized", "sliced", "local", "sets", "none"]
            manifest["layout"] = rng.choice([x for x in layouts if x != manifest["layout"]])

    rewrite_manifest(folder, change)


@mutation
def say_another_making(rng: random.Random, folder: Path) -> None:
    """Say what the maker of the release did not: a method, parameters, a model that is declared."""

    def change(manifest: dict[str, Any]) -> None:
        match rng.randrange(5):
            case 0:
                manifest["method"] = rng.choice([*METHODS, "strange"])
            case 1:
                key = rng.choice(["seed", "path", "k", "input", "fakes", "tables", "suppression"])
                manifest["parameters"][key] = rng.choice([0, 500, "/home/me/people.csv", [1]])
            case 2:
                manifest["software"] = rng.choice(["sfumato /home/me", "~/people.csv", "a b c"])
            case 3:
                manifest["guarantees"].append(
                    {"model": "differential-privacy", "epsilon": rng.choice([-1, 0, 1.0, True])}
                )
            case _:
                low, high = rng.choice([(0, 0), (0.1, 0.5), (0.5, 0.1), (0, 2), (False, True)])
                manifest["guarantees"].append(
                    {"model": "delta-presence", "minimum": low, "maximum": high}
                )

    rewrite_manifest(folder, change)


@mutation
def mark_as_a_test(rng: random.Random, folder: Path) -> None:
    rewrite_manifest(folder, lambda m: m.update(test=True))


# --- hierarchies ----------------------------------------------------------------------------------


@mutation
def change_a_hierarchy(rng: random.Random, folder: Path) -> None:
    """Lines lost, doubled, given another parent or a shorter path; the checksum mostly repaired."""
    files = sorted((folder / "hierarchies").glob("*.csv"))
    if not files:
        raise NotApplicable("no hierarchies")
    file = rng.choice(files)
    lines = file.read_text("utf-8").splitlines()
    place = rng.randrange(len(lines))
    fields = lines[place].split(";")
    match rng.randrange(7):
        case 0:
            lines.pop(place)
        case 1:
            lines.append(lines[place])
        case 2:
            fields[rng.randrange(len(fields))] = "never seen"
            lines[place] = ";".join(fields)
        case 3:
            lines[place] = ";".join(fields[:-1])
        case 4 if len(fields) > 2:
            fields[1] = rng.choice(lines).split(";")[1]
            lines[place] = ";".join(fields)
        case 5:
            lines = lines[: len(lines) // 2]
        case _:
            rng.shuffle(lines)
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    if rng.random() < 0.85:
        _repair_hierarchy(folder, file)


def _repair_hierarchy(folder: Path, file: Path) -> None:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    name = next(n for n in read_manifest(folder)["parameters"]["hierarchies"] if n == file.stem)
    rewrite_manifest(folder, lambda m: m["parameters"]["hierarchies"].update({name: digest}))


@mutation
def lose_or_add_a_hierarchy(rng: random.Random, folder: Path) -> None:
    files = sorted((folder / "hierarchies").glob("*.csv"))
    if not files:
        raise NotApplicable("no hierarchies")
    file = rng.choice(files)
    if rng.random() < 0.3:
        file.with_name("sex.csv").write_text("Female;*\nMale;*\n", "utf-8")
        return
    file.unlink()
    if rng.random() < 0.7:

        def change(manifest: dict[str, Any]) -> None:
            manifest["parameters"]["hierarchies"].pop(file.stem)

        rewrite_manifest(folder, change)


# --- files ----------------------------------------------------------------------------------------


@mutation
def change_bytes(rng: random.Random, folder: Path) -> None:
    table = rng.choice(table_names(folder))
    file = table_file(folder, table)
    content = bytearray(file.read_bytes())
    match rng.randrange(4):
        case 0:
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        case 1:
            del content[rng.randrange(len(content)) :]
        case 2:
            content += b"\0" * rng.randint(1, 9)
        case _:
            place = rng.randrange(len(content))
            content[place:place] = rng.randbytes(rng.randint(1, 5))
    file.write_bytes(bytes(content))
    if rng.random() < 0.3:
        repair_checksum(folder, table)


@mutation
def change_the_folder(rng: random.Random, folder: Path) -> None:
    match rng.randrange(5):
        case 0:
            (folder / rng.choice(["notes.txt", ".hidden", "records.bak"])).write_text("x")
        case 1:
            table_file(folder, rng.choice(table_names(folder))).unlink()
        case 2:
            (folder / "manifest.json").unlink()
        case 3:
            text = (folder / "manifest.json").read_text("utf-8")
            (folder / "manifest.json").write_text(text[: rng.randrange(len(text))], "utf-8")
        case _:
            file = table_file(folder, table_names(folder)[0])
            file.rename(folder.parent / "elsewhere")
            file.symlink_to(folder.parent / "elsewhere")


@harmless
def respell_the_manifest(rng: random.Random, folder: Path) -> None:
    """Other white space, same content."""
    rewrite_manifest(folder, lambda m: m.update(created="2001-02-03", software="another 9"))
