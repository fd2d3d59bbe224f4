"""Merging: classes diverse for everybody in them, fakes, plausible records, and two hospitals."""

from __future__ import annotations

import tempfile
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from arbitrary.coded import Sample, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.cells import Exact, covers
from oracles.incompatible import (
    Rule,
    are_twins,
    holds_for_everybody,
    implausible_records,
    is_dealt_from,
)
from oracles.incompatible import incompatible_pairs as literal_pairs
from oracles.points import point_of_value
from oracles.release import Published, group_values, groups, read_release
from oracles.sliced import sliced_from
from oracles.verdict import verdict

from sfumato.audit import audit
from sfumato.columns.incompatible import incompatible_pairs
from sfumato.errors import Infeasible, ParameterError, ReleaseDamaged
from sfumato.jobs.policy import Policy
from sfumato.methods import Mondrian
from sfumato.methods.merging import Merging
from sfumato.models import KAnonymity, LDiversity, Linkable
from sfumato.predicates.incompatible import Incompatible
from sfumato.publish.assemble import random_ids
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release
from sfumato.rows.exclusions import Exclusions, refuse_excluded
from sfumato.rows.fakes import with_fakes
from sfumato.rows.mondrian import mondrian
from sfumato.schema import Attribute, Hierarchy, Role, Schema
from sfumato.table import Table, decode, encode

Rows = list[dict[str, Any]]
SECRETS = ("illness", "pay")


def secret(seed: int) -> Randomness:
    """Return a source that can be repeated, of a seed that no release calls a test's."""
    return Randomness.secret(f"a secret of some length, number {seed}".encode())


def read(release: Release, hierarchies=None) -> Published:
    with tempfile.TemporaryDirectory() as home:
        release.save(Path(home) / "release", format="csv")
        assert verdict(Path(home) / "release") == 0
        return read_release(Path(home) / "release", hierarchies=hierarchies)


def behind(
    method: Merging, table: Table, randomness: Randomness
) -> tuple[dict[int, Rows], dict[int, Rows]]:
    """Return the people and the fakes of every published class, made once more from the parts."""
    names = [column.name for column in table.sensitive]
    models = [LDiversity(name, method.l, method.variant) for name in names]
    asked = [KAnonymity(method.min_class or max(method.l, method.k, 4)), *models]
    if method.collapse is not None:
        asked += [Linkable(name, 1, 1 - method.collapse) for name in names]
    rules = [Incompatible.parse(text) for text in method.incompatible]
    pairs = incompatible_pairs(table, rules, expected=method.expected)
    exclusions = Exclusions.of(table, pairs)
    classes = mondrian(
        table,
        asked,
        rng=randomness.generator("mondrian ties"),
        exclusions=exclusions,
        strict=False,
    )
    whole, grown = with_fakes(
        table,
        classes,
        method._fakes_of(table.rows),
        l=method.l if method.variant == "frequency" else None,
        exclusions=exclusions,
        rng=randomness.generator("fakes"),
    )
    numbers = random_ids(classes.count, randomness.generator("records"))
    rows = decode(whole).to_pylist()
    people: dict[int, Rows] = {int(number): [] for number in numbers}
    fakes: dict[int, Rows] = {int(number): [] for number in numbers}
    for i, group in enumerate(grown.ids):
        (people if i < table.rows else fakes)[int(numbers[group])].append(rows[i])
    return people, fakes


def check(
    release: Release,
    method: Merging,
    table: Table,
    randomness: Randomness,
    pairs: set,
    hierarchies=None,
) -> Published:
    """Ask all that a release of Merging promises, of its files and of the rows behind it."""
    assert audit(release).exit_code == 0
    published = read(release, hierarchies)
    quasi = [column.name for column in table.quasi_identifiers]
    people, fakes = behind(method, table, randomness)
    smallest = method.min_class or max(method.l, method.k, 4)
    everybody = {group: people[group] + fakes[group] for group in people}
    assert is_dealt_from(published, everybody)
    stated = published.manifest["parameters"]["fakes"]
    assert stated == sum(map(len, fakes.values())) == method._fakes_of(table.rows)
    assert published.manifest["rows"] == table.rows + stated
    assert implausible_records(published, everybody, pairs, method.k) == []
    for group, rows in people.items():
        assert len(rows) >= smallest
        assert are_twins(rows, fakes[group], quasi)
        for name in (column.name for column in table.sensitive):
            for several in (rows, everybody[group]):
                values = [row[name] for row in several]
                assert holds_for_everybody(
                    rows, values, quasi, name, pairs, method.l, method.variant
                )
    return published


# --- any table ------------------------------------------------------------------------------------

RULES = {
    "job = 'v' AND illness IN ('flu', 'cold')": Rule(
        "job", lambda a: a == "v", "illness", lambda s: s in ("flu", "cold")
    ),
    "age >= 4 AND pay < 3": Rule("age", lambda a: a is not None and a >= 4, "pay", lambda s: s < 3),
    "place IN ('p1', 'p2') AND illness = 'gout'": Rule(
        "place", lambda a: a in ("p1", "p2"), "illness", lambda s: s == "gout"
    ),
    "size <> 'small' AND illness = 'flu'": Rule(
        "size", lambda a: a not in (None, "small"), "illness", lambda s: s == "flu"
    ),
}


@settings(max_examples=200)
@given(
    samples(people=False, max_rows=40),
    st.data(),
    st.fixed_dictionaries(
        {
            "l": st.integers(1, 3),
            "k": st.integers(1, 3),
            "columns": st.integers(1, 3),
            "fakes": st.sampled_from([0, 1, 3, "10%"]),
            "expected": st.sampled_from([None, 0.3, 0.6, 2.0]),
            "collapse": st.sampled_from([None, None, 0.4]),
            "variant": st.sampled_from(["frequency", "distinct"]),
        }
    ),
)
def test_either_the_release_holds_or_it_is_refused(sample: Sample, data, asked):
    known = [text for text, rule in RULES.items() if rule.known in sample.quasi]
    texts = data.draw(st.lists(st.sampled_from(known), unique=True, max_size=2)) if known else []
    smallest = data.draw(st.sampled_from([None, asked["k"], asked["k"] + 1]))
    method = Merging(**asked, incompatible=texts, min_class=smallest)
    randomness = secret(data.draw(st.integers(0, 9)))
    pairs = literal_pairs(
        sample.rows, sample.quasi, SECRETS, [RULES[text] for text in texts], asked["expected"]
    )
    try:
        release = method.release(sample.table, randomness)
    except (Infeasible, ParameterError):
        feasible = len(sample.rows) >= (smallest or max(asked["l"], asked["k"], 4)) and all(
            holds_for_everybody(
                sample.rows,
                [row[name] for row in sample.rows],
                sample.quasi,
                name,
                pairs,
                asked["l"],
                asked["variant"],
            )
            for name in SECRETS
        )
        known = all(any(row[n] is not None for row in sample.rows) for n in SECRETS)
        assert not feasible or not known or asked["fakes"] or asked["collapse"]
        return
    hierarchies = {"place": sample.paths} if "place" in sample.quasi else None
    published = check(release, method, sample.table, randomness, pairs, hierarchies)
    claims = [(c["model"], c["variant"], c["l"]) for c in release.manifest.guarantees]
    assert claims == [("l-diversity", asked["variant"], asked["l"])] * 2
    if len(sample.rows) <= 12:
        names = (*sample.quasi, *SECRETS)
        assert sliced_from([{n: row[n] for n in names} for row in sample.rows], published)


# --- a table with everything ----------------------------------------------------------------------

PATHS = tuple((f"ward {i}", f"house {i // 3}", "*") for i in range(6))
WARDS = Schema(
    (
        Attribute("age", Role.QUASI_IDENTIFIER),
        Attribute("sex", Role.QUASI_IDENTIFIER),
        Attribute("ward", Role.QUASI_IDENTIFIER, hierarchy=Hierarchy.from_rows(PATHS, "ward")),
        Attribute("illness", Role.SENSITIVE),
        Attribute("pay", Role.SENSITIVE),
        Attribute("hand", Role.INSENSITIVE, keep=True),
    )
)


def wards(rows: int = 200) -> pa.Table:
    """Return people with missing values, of whom only women have `ovaries`; ward 0 has no gout."""
    rng = repeatable(4)
    sexes = ["f" if i else "m" for i in rng.integers(0, 2, rows)]
    where = rng.integers(0, 6, rows)
    ills = ["flu", "cold", "gout", "mumps", "ovaries"]
    illness = [
        ills[i] if (ills[i], sex) != ("ovaries", "m") and (i, ward) != (2, 0) else "flu"
        for i, sex, ward in zip(rng.integers(0, 5, rows), sexes, where, strict=True)
    ]
    gone = rng.random((4, rows)) < 0.1
    return pa.table(
        {
            "age": pa.array(rng.integers(20, 60, rows), mask=gone[0]),
            "sex": pa.array(sexes, mask=gone[1]),
            "ward": pa.array([f"ward {i}" for i in where], mask=gone[2]),
            "illness": pa.array(illness, mask=gone[3]),
            "pay": rng.integers(0, 12, rows),
            "hand": ["left" if i else "right" for i in rng.integers(0, 2, rows)],
        }
    )


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
def test_everything_at_once(file_format, tmp_path):
    rule = "sex = 'm' AND illness = 'ovaries'"
    method = Merging(l=2, k=3, fakes="5%", incompatible=[rule], expected=2.5, min_class=20)
    data, randomness = wards(), secret(1)
    table = encode(data, WARDS)
    release = method.release(table, randomness)
    literal = Rule("sex", lambda a: a == "m", "illness", lambda s: s == "ovaries")
    pairs = literal_pairs(data.to_pylist(), ("age", "sex", "ward"), SECRETS, [literal], 2.5)
    assert ("ward", "ward 0", "illness", "gout") in pairs
    published = check(release, method, table, randomness, pairs, {"ward": PATHS})
    assert len(groups(published)) > 2
    cells = [row[name] for row in published.tables["records"] for name in ("sex", "ward")]
    assert sum(not isinstance(cell, Exact) for cell in cells) > 5
    assert release.manifest.parameters["columns"][-3:] == [["illness"], ["pay"], ["hand"]]
    assert release.manifest.parameters["fakes"] == 10
    release.save(tmp_path / "release", format=file_format)
    again = Release.load(tmp_path / "release")
    assert audit(tmp_path / "release") == audit(release)
    for name, stated in release.manifest.parameters.items():
        assert again.manifest.parameters[name] == stated
    assert again.tables["records"].to_pylist() == [
        {name: _as_text(again, name, value) for name, value in row.items()}
        for row in release.tables["records"].to_pylist()
    ]


def _as_text(release: Release, name: str, value: Any) -> Any:
    """Return a cell as a release that was read again shows it: texts where cells are general."""
    kind = release.tables["records"].schema.field(name).type
    is_text = pa.types.is_string(kind) or pa.types.is_dictionary(kind)
    return str(value) if is_text and value is not None else value


def test_many_fakes_break_no_claim():
    """Nor where all people of a class exclude a common value, nor for two attributes at once."""
    rows = 60
    data = pa.table(
        {
            "sex": ["m"] * 12 + ["f"] * 48,
            "age": range(rows),
            "illness": [*"ab" * 6, *["ovaries", "a", "ovaries", "b"] * 12],
            "pay": [*"pq" * 28, *"rpqr"],
        }
    )
    schema = Schema.of(
        sex="quasi-identifier", age="quasi-identifier", illness="sensitive", pay="sensitive"
    )
    rule = "sex = 'm' AND illness = 'ovaries'"
    method = Merging(l=2, fakes="100%", collapse=None, expected=None, incompatible=[rule])
    table = encode(data, schema)
    for seed in range(20):
        assert audit(method.release(table, secret(seed))).exit_code == 0


def test_the_largest_share_and_the_default_class():
    assert Merging(l=3).largest_share() == pytest.approx(1 / 3)
    assert Merging(l=3, variant="distinct").largest_share() is None
    rows = 64
    data = pa.table({"age": range(rows), "illness": [f"v{i % 16}" for i in range(rows)]})
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    for asked, size in (({"l": 2}, 4), ({"l": 6}, 6), ({"l": 2, "k": 5}, 5)):
        method = Merging(**asked, fakes=0, collapse=None, expected=None)
        sizes = Counter(method.publish(data, schema).tables["records"]["group"].to_pylist())
        assert size <= min(sizes.values()) < 2 * size


def test_distinct_diversity_where_a_value_is_too_common():
    data = pa.table({"age": range(40), "illness": [*["flu"] * 25, *"abcde" * 3]})
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    with pytest.raises(Infeasible, match=r"62\.5%.*largest feasible l is 1"):
        Merging(l=2).publish(data, schema)
    method = Merging(l=2, variant="distinct", collapse=None, expected=None, fakes=10)
    release = method.release(encode(data, schema), secret(2))
    check(release, method, encode(data, schema), secret(2), set())
    assert release.manifest.guarantees[0]["variant"] == "distinct"


def test_classes_are_such_that_another_release_is_likely_to_share_a_value():
    rows, collapse = 2_000, 0.05
    rng = repeatable(8)
    data = pa.table(
        {
            "age": rng.permutation(rows),
            "illness": [f"v{i}" for i in rng.choice(30, rows, p=rng.dirichlet(np.ones(30)))],
        }
    )
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    method = Merging(l=2, fakes=0, expected=None, collapse=collapse)
    table = encode(data, schema)
    people, _ = behind(method, table, secret(1))
    released = method.release(table, secret(1)).tables["records"].to_pylist()
    for group, members in people.items():
        values = Counter(row["illness"] for row in members)
        assert values == Counter(r["illness"] for r in released if r["group"] == group)
    shares = {v: n / rows for v, n in Counter(data["illness"].to_pylist()).items()}
    for members in people.values():
        left = sorted(shares[v] for v in {row["illness"] for row in members})[:-1]
        assert np.prod([(1 - share) ** (len(members) - 1) for share in left]) <= collapse
    looser = Merging(l=2, fakes=0, expected=None, collapse=None).release(table, secret(1))
    assert max(looser.tables["records"]["group"].to_pylist()) > len(people)


def test_a_seeded_release_repeats_and_is_marked_a_test():
    one, same, other = (
        Merging(l=2).publish(wards(), WARDS, randomness=Randomness.test(n)) for n in (1, 1, 2)
    )
    assert one.tables["records"].equals(same.tables["records"])
    assert not one.tables["records"].equals(other.tables["records"])
    assert audit(one).exit_code == 1


# --- two hospitals --------------------------------------------------------------------------------

SEEDS = 500
MOST = 0.05
HOSPITALS = Schema.of(
    name="identifier",
    age="quasi-identifier",
    sex="quasi-identifier",
    zipcode="quasi-identifier",
    disease="sensitive",
)
WOMENS = ("Ovarian Cancer", "Breast Cancer")
RULE = "sex = 'M' AND disease IN ('Ovarian Cancer', 'Breast Cancer')"
BOBY = {"age": 22, "sex": "M", "zipcode": 47905}


@pytest.fixture(scope="module")
def hospitals(shared) -> list[Table]:
    return [
        encode(pc.read_csv(shared / "vectors" / f"hospital_{name}.csv"), HOSPITALS) for name in "ab"
    ]


def may_be(cell: Any, value: Any) -> bool:
    """Whether a published cell of these releases may stand for a value."""
    text = str(cell)
    if text == "*":
        return True
    if text.startswith("{"):
        return any(may_be(member, value) for member in text[1:-1].split(", "))
    if text.startswith("["):
        low, high = map(int, text[1:-1].split(", "))
        return low <= value <= high
    return text == str(value)


def candidates(records: Rows, blocks: list[list[str]], person: dict[str, Any]) -> set[str]:
    """Return the diseases of all groups that have each block of a person's values in some row."""
    found = set()
    for group in {row["group"] for row in records}:
        rows = [row for row in records if row["group"] == group]
        if all(
            any(all(may_be(row[n], person[n]) for n in block) for row in rows)
            for block in blocks
            if block[0] in person
        ):
            found |= {row["disease"] for row in rows}
    return found


def upper_end(given_away: int, of: int) -> float:
    """Return the upper end of the Wilson interval of 95 %."""
    z, share = 1.959964, given_away / of
    middle = share + z * z / (2 * of)
    spread = z * (share * (1 - share) / of + z * z / (4 * of * of)) ** 0.5
    return (middle + spread) / (1 + z * z / of)


def test_wilson():
    assert upper_end(0, 500) == pytest.approx(0.00762, abs=1e-5)
    assert upper_end(10, 100) == pytest.approx(0.17437, abs=1e-5)


def test_mondrian_gives_boby_away(hospitals):
    one, other = (
        Mondrian(k=2).release(table, Randomness.test(1)).tables["records"].to_pylist()
        for table in hospitals
    )
    together = [list(BOBY)]
    assert candidates(one, together, BOBY) & candidates(other, together, BOBY) == {"Gastritis"}


@pytest.mark.parametrize("collapse", [0.05, None])
def test_merging_seldom_gives_boby_away(hospitals, collapse):
    """Nor to who knows that men have no cancers of women; and no record says that they do."""
    method = Merging(l=2, min_class=4, incompatible=[RULE], collapse=collapse)
    given_away = {"plain": 0, "informed": 0}
    for seed in range(SEEDS):
        left = None
        for number, table in enumerate(hospitals):
            release = method.release(table, Randomness.test(2 * seed + number))
            records = release.tables["records"].to_pylist()
            assert not any(row["sex"] == "M" and row["disease"] in WOMENS for row in records)
            found = candidates(records, release.manifest.parameters["columns"], BOBY)
            assert "Gastritis" in found and len(found - set(WOMENS)) >= 2
            left = found if left is None else left & found
        given_away["plain"] += left == {"Gastritis"}
        given_away["informed"] += left - set(WOMENS) == {"Gastritis"}
    for adversary, times in given_away.items():
        assert upper_end(times, SEEDS) <= MOST, (adversary, times)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"fakes": "-1"}, "`fakes` must be a whole number from 0 on, or a share up to 100%"),
        ({"fakes": -1}, "`fakes`"),
        ({"fakes": True}, "`fakes`"),
        ({"fakes": "101%"}, "`fakes`"),
        ({"fakes": "100.1%"}, "`fakes`"),
        ({"fakes": "-5%"}, "`fakes`"),
        ({"fakes": "5"}, "`fakes`"),
        ({"fakes": 0.05}, "`fakes`"),
        ({"fakes": None}, "`fakes`"),
        ({"fakes": "5%%"}, "`fakes`"),
        ({"min_class": 1}, "`min_class` must be at least `k`"),
        ({"k": 5, "min_class": 4}, "`min_class` must be at least `k`"),
        ({"min_class": 0}, "`min_class` must be a whole number of at least 1"),
        ({"min_class": 2.5}, "`min_class`"),
        ({"collapse": 0}, "`collapse`"),
        ({"collapse": 1}, "`collapse` must be below 1, or null"),
        ({"collapse": -0.1}, "`collapse`"),
        ({"collapse": "5%"}, "`collapse`"),
        ({"expected": 0}, "`expected`"),
        ({"expected": float("nan")}, "`expected`"),
        ({"columns": 0}, "`columns`"),
        ({"variant": "entropy"}, "`variant`"),
        ({"incompatible": "sex = 'm' AND illness = 'flu'"}, "`incompatible` must be a list"),
        ({"incompatible": [3]}, "each entry of `incompatible` is a condition"),
    ],
)
def test_parameters_that_are_none(wrong, reason):
    with pytest.raises(ParameterError, match=f"merging: {reason}"):
        Merging(**({"l": 2} | wrong))


@pytest.mark.parametrize("wrong", [{"l": 0}, {"l": True}, {"l": 2.5}, {"l": "2"}, {"k": 0}])
def test_numbers_that_are_none(wrong):
    with pytest.raises(ParameterError, match="must be a whole number of at least 1"):
        Merging(**({"l": 2} | wrong))


@pytest.mark.parametrize(
    "rule",
    [
        "sex = 'm' OR illness = 'flu'",
        "sex = 'm'",
        "sex = 'm' AND (illness = 'flu' OR sex = 'f')",
        "sex = 'm' AND age = 3 AND illness = 'flu'",
        "NOT (sex = 'm' AND illness = 'flu')",
    ],
)
def test_rules_of_another_form(rule):
    with pytest.raises(ParameterError, match="an incompatible pair is a condition on a quasi-"):
        Merging(l=2, incompatible=[rule])


@pytest.mark.parametrize("rule", ["", "sex =", "sex = 'm' AND", "illness"])
def test_rules_that_are_no_condition(rule):
    with pytest.raises(ParameterError):
        Merging(l=2, incompatible=[rule])


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("gender = 'm' AND illness = 'flu'", "there is no column 'gender'"),
        ("sex = 'm' AND age = 3", "one is about 'age' and 'sex'"),
        ("illness = 'flu' AND pay = 3", "one is about 'illness' and 'pay'"),
        ("hand = 'left' AND illness = 'flu'", "one is about 'hand' and 'illness'"),
    ],
)
def test_rules_about_other_columns(rule, reason):
    with pytest.raises(ParameterError, match=f"`incompatible`: .*{reason}"):
        Merging(l=2, incompatible=[rule]).publish(wards(), WARDS)


def test_rules_may_be_written_either_way_round():
    one, other = (
        Merging(l=2, incompatible=[rule]).publish(wards(), WARDS, randomness=Randomness.test(1))
        for rule in ("sex = 'm' AND illness = 'gout'", "illness = 'gout' AND NOT sex <> 'm'")
    )
    assert one.tables["records"].equals(other.tables["records"])


def test_people_whose_values_are_all_impossible_but_one_are_refused():
    data = pa.table({"sex": ["m", "f"] * 4, "illness": [*"abcdefg", "telltale"]})
    schema = Schema.of(sex="quasi-identifier", illness="sensitive")
    rule = "sex = 'm' AND illness <> 'a'"
    with pytest.raises(Infeasible, match="l = 2 is infeasible for 4 of 8 people") as refusal:
        Merging(l=2, incompatible=[rule], collapse=None).publish(data, schema)
    assert "telltale" not in str(refusal.value)


def test_a_collapse_that_no_class_reaches_is_refused_with_advice():
    data = pa.table({"age": range(4), "illness": [*"abcd"]})
    schema = Schema.of(age="quasi-identifier", illness="sensitive")
    with pytest.raises(Infeasible, match=r"shares 1 more of the values of `illness`.*`collapse`"):
        Merging(l=2, collapse=0.001).publish(data, schema)


@pytest.mark.parametrize(
    ("roles", "unit", "reason"),
    [
        ({"illness": "sensitive"}, None, "at least one quasi-identifier"),
        ({"age": "quasi-identifier"}, None, "at least one sensitive"),
        (
            {"age": "quasi-identifier", "illness": "sensitive", "hand": "identifier"},
            "hand",
            "one row a person",
        ),
    ],
)
def test_tables_of_another_shape_are_refused(roles, unit, reason):
    schema = Schema(tuple(Attribute(name, Role(role)) for name, role in roles.items()), unit)
    with pytest.raises(ParameterError, match=f"merging needs {reason}"):
        Merging(l=1).publish(wards().select(list(roles)), schema)


# --- policies -------------------------------------------------------------------------------------


def policy(**method) -> Policy:
    return Policy.of(
        {
            "attributes": {
                "age": {"role": "quasi-identifier"},
                "sex": {"role": "quasi-identifier"},
                "illness": {"role": "sensitive"},
            },
            "method": {"name": "merging", **method},
        }
    )


def test_a_policy_says_all_of_it():
    asked = {
        "l": 3,
        "k": 4,
        "columns": [["age", "sex"]],
        "fakes": "2.5%",
        "incompatible": ["sex = 'm' AND illness = 'ovaries'"],
        "expected": 7,
        "min_class": 8,
        "collapse": 0.1,
        "variant": "distinct",
    }
    found = policy(**asked).method()
    assert isinstance(found, Merging)
    assert {name: getattr(found, name) for name in asked} == asked
    nothing = policy(l=2, expected=None, collapse=None).method()
    assert nothing == Merging(l=2, expected=None, collapse=None)
    assert policy(l=2).method() == Merging(l=2)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"fake": 3}, "fakes"),
        ({"fakes": "101%"}, "fakes"),
        ({"incompatible": ["sex = 'm'"]}, "incompatible pair"),
        ({"collapse": 1}, "collapse"),
        ({"min_class": 1, "k": 2}, "min_class"),
    ],
)
def test_a_policy_is_refused(wrong, reason):
    with pytest.raises(ParameterError, match=reason):
        policy(l=2, **wrong).method()


# --- audit ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("fakes", ["1", -1, 10**6, 1.5, True, None, [1], {"number": 1}])
def test_fakes_that_are_no_number_are_damage(fakes, tmp_path):
    release = Merging(l=2).publish(wards(), WARDS)
    parameters = {**release.manifest.parameters, "fakes": fakes}
    spoilt = Release(
        release.manifest.model_copy(update={"parameters": parameters}),
        release.tables,
        release.hierarchies,
    )
    spoilt.save(tmp_path / "release", format="csv")
    assert verdict(tmp_path / "release") == 2
    with pytest.raises(ReleaseDamaged, match="fakes"):
        audit(tmp_path / "release")


def test_a_claim_of_linkability_is_checked(tmp_path):
    release = Merging(l=2, collapse=0.3, fakes=0).publish(wards(), WARDS)
    for alpha, code in ((0.1, 0), (0.9999, 1)):
        claims = (*release.manifest.guarantees, Linkable("illness", 1, alpha).claim())
        claiming = Release(
            release.manifest.model_copy(update={"guarantees": claims}),
            release.tables,
            release.hierarchies,
        )
        claiming.save(tmp_path / str(code), format="csv")
        assert audit(tmp_path / str(code)).exit_code == verdict(tmp_path / str(code)) == code


def test_a_pooled_value_breaks_the_claim():
    release = Merging(l=2, fakes=5).publish(wards(), WARDS)
    records = release.tables["records"]
    place = records.schema.get_field_index("illness")
    spoilt = records.set_column(place, "illness", pa.array(["flu"] * records.num_rows))
    report = audit(Release(release.manifest, {"records": spoilt}, release.hierarchies))
    assert report.exit_code == 1 and not report.guarantees[0].holds


def test_the_published_counts_are_those_of_people_and_fakes():
    """Whoever takes the stated fakes off is left with as many records as there are people."""
    release = Merging(l=2, fakes="50%").release(encode(wards(), WARDS), secret(3))
    published = read(release, {"ward": PATHS})
    values = [v for each in group_values(published, "pay").values() for v in each]
    assert len(values) - release.manifest.parameters["fakes"] == 200
    cells = Counter(point_of_value(v) for v in wards()["pay"].to_pylist())
    found = Counter(values)
    assert all(found[value] >= count for value, count in cells.items())
    sexes = [row["sex"] for row in published.tables["records"]]
    men = sum(covers(cell, "m", published.readings["sex"]) for cell in sexes)
    assert men >= wards()["sex"].to_pylist().count("m")


def test_what_pairs_make_infeasible_is_refused_with_what_is_feasible():
    """Only infants have colic, half of them do; it is hidden among them for l = 2 only."""
    rows = 400
    age = [0] * 40 + [30] * 360
    others = ["flu", "gout", "mumps", "cold"]
    illness = [each for other in others * 5 for each in ("colic", other)] + others * 90
    ward = [*"aaaaaaaabbbbbbbb"] * 25
    data = pa.table({"age": age, "ward": ward, "illness": illness})
    schema = Schema.of(age="quasi-identifier", ward="quasi-identifier", illness="sensitive")
    assert data.num_rows == rows
    with pytest.raises(Infeasible, match=r"feasible would be l = 2 or `expected: 20`"):
        Merging(l=3).publish(data, schema)
    for feasible in (Merging(l=2), Merging(l=3, expected=20)):
        assert audit(feasible.publish(data, schema)).ok


def test_rules_about_nobody_and_rules_that_are_not_so_are_doubted():
    table = encode(wards(), WARDS)
    rules = [
        "sex = 'Male' AND illness = 'ovaries'",
        "sex = 'm' AND illness = 'ovaries'",
        "sex = 'm' AND illness = 'flu'",
    ]
    men_with_flu = sum(r["sex"] == "m" and r["illness"] == "flu" for r in wards().to_pylist())
    assert Merging(l=2, incompatible=rules).doubts(table) == (
        "rule 1 of `incompatible` is about no value in the data, and so protects nobody",
        f"rule 3 of `incompatible` is not so: {men_with_flu} of 200 rows meet it",
    )


def test_more_fakes_than_rows_are_refused():
    with pytest.raises(ParameterError, match="must not outnumber the 200 rows"):
        Merging(l=2, fakes=10**12).publish(wards(), WARDS)


def test_time_and_memory_do_not_grow_with_kinds_times_values():
    """As many kinds of people as rows, and many values: 60,000 rows in little memory."""
    rows = 60_000
    rng = repeatable(3)
    group = rng.integers(0, 40, rows)
    data = pa.table(
        {
            "a": group,
            "b": rng.integers(0, 30, rows),
            "c": rng.integers(0, 30, rows),
            "d": rng.integers(0, 30, rows),
            "pay": (group * 50 + rng.integers(0, 60, rows)) % 2_000,
        }
    )
    schema = Schema.of(dict.fromkeys("abcd", "quasi-identifier") | {"pay": "sensitive"})
    table = encode(data, schema)
    tracemalloc.start()
    try:
        pairs = incompatible_pairs(table, expected=0.5)
        exclusions = Exclusions.of(table, pairs)
        refuse_excluded(table, [LDiversity("pay", 2)], exclusions)
        assert tracemalloc.get_traced_memory()[1] < 64 * 2**20
    finally:
        tracemalloc.stop()
    # a bit for every kind of person and value would take far more
    kinds = len(np.unique(exclusions.values(table), axis=0))
    assert kinds * table["pay"].cardinality > 64 * 2**20
