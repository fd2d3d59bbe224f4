"""The deFinetti attack, against a literal one; a risk where attributes go together, else not."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from attacks.associated_people import people
from oracles import definetti as oracle

import sfumato as sf
from sfumato.attacks import bucket_classifier
from sfumato.attacks.adversary import Adversary
from sfumato.attacks.bucket_classifier import learn
from sfumato.attacks.buckets_shown import CATEGORIES, Lessons, categories_of
from sfumato.attacks.definetti import definetti
from sfumato.attacks.reach import Reach
from sfumato.randomness import Randomness
from sfumato.schema import Attribute, Role, Schema

QUASI = ("a0", "a1", "a2")


def schema_of(names):
    return Schema.of(dict.fromkeys(names, "quasi-identifier") | {"secret": "sensitive"})


MAKERS = {
    "anatomy": sf.Anatomy(l=3),
    "slicing": sf.Slicing(l=3),
    "lgb": sf.LGB(k=2, l=3),
}


def rng(seed=7):
    return np.random.default_rng(seed)


def adversary(method, table, schema=None, **more):
    schema = schema or schema_of([name for name in table.column_names if name != "secret"])
    release = method.publish(table, schema, randomness=Randomness.test(1))
    return Adversary.of(release, table, sample=1_000, rng=rng(), **more)


def buckets_of(release, blocks, tables):
    """Return the groups of an anatomised or sliced release as lists of people."""
    groups = defaultdict(lambda: oracle.Bucket([[] for _ in blocks], []))
    for place, (names, table) in enumerate(zip(blocks, tables, strict=True)):
        for row in release.tables[table].to_pylist():
            cells = tuple(row[name] for name in names)
            groups[row["group"]].blocks[place] += [cells] * row.get("count", 1)
    secrets = "sensitive_1" if "sensitive_1" in release.tables else "records"
    for row in release.tables[secrets].to_pylist():
        groups[row["group"]].values += [row["secret"]] * row.get("count", 1)
    return list(groups.values())


def sharpened(eyes):
    secret = eyes.secret("secret")
    classifier = learn(Lessons.of(eyes, secret), secret, rng())
    found = classifier.sharpened(eyes, eyes.targets)
    return [
        {text: chance for text, chance in zip(secret.texts, line, strict=False) if chance > 0}
        for line in found.tolist()
    ]


def assert_equal(found, expected):
    for mine, theirs in zip(found, expected, strict=True):
        assert mine == pytest.approx({v: c for v, c in theirs.items() if c > 0}, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("maker", "blocks", "tables"),
    [
        ("anatomy", [QUASI], ["qi_1"]),
        ("slicing", [("a0",), ("a1", "a2")], ["records", "records"]),
    ],
)
def test_it_is_the_literal_one(maker, blocks, tables, seed):
    table = people(40, 0.6, values=5, seed=seed)
    method = sf.Slicing(l=3, columns=blocks) if maker == "slicing" else MAKERS[maker]
    eyes = adversary(method, table)
    groups = buckets_of(eyes.release, blocks, tables)
    learned = oracle.learn(groups)
    expected = []
    for person in table.to_pylist():
        own = [tuple(person[name] for name in names) for names in blocks]
        expected.append(oracle.in_groups(learned, groups, lambda b, row, own=own: row == own[b]))
    assert_equal(sharpened(eyes), expected)
    (outcome,) = definetti(eyes, rng=rng())
    hits = [
        oracle.right(chances, person["secret"])
        for chances, person in zip(expected, table.to_pylist(), strict=True)
    ]
    assert outcome.success.hits == pytest.approx(sum(hits))
    assert outcome.sample == outcome.population == 40


@pytest.mark.parametrize("blocks", [[QUASI], [("a0",), ("a1", "a2")]])
def test_it_is_the_literal_one_in_buckets_of_many_values(blocks):
    """Loops take four values at a time, and then the rest."""
    table = people(80, 0.6, values=12, seed=4)
    eyes = adversary(sf.Slicing(l=5, columns=blocks), table)
    groups = buckets_of(eyes.release, blocks, ["records"] * len(blocks))
    assert any(len(set(group.values)) > 4 for group in groups)
    learned = oracle.learn(groups)
    expected = []
    for person in table.to_pylist():
        own = [tuple(person[name] for name in names) for names in blocks]
        expected.append(oracle.in_groups(learned, groups, lambda b, row, own=own: row == own[b]))
    assert_equal(sharpened(eyes), expected)


@pytest.mark.parametrize("maker", MAKERS)
def test_buckets_side_by_side_are_balanced_as_one_by_one(monkeypatch, maker):
    """To the last bit: sums of a bucket keep their order, and so do those of all."""
    found = []
    for few, lanes in ((0, 64), (3, 5), (12, 64)):
        monkeypatch.setattr(bucket_classifier, "_FEW", few)
        monkeypatch.setattr(bucket_classifier, "_LANES", lanes)
        eyes = adversary(MAKERS[maker], people(90, 0.6, values=9, seed=5))
        secret = eyes.secret("secret")
        classifier = learn(Lessons.of(eyes, secret), secret, rng())
        found.append((classifier.ratio, classifier.sharpened(eyes, eyes.targets)))
    for ratio, sharp in found[1:]:
        assert np.array_equal(ratio, found[0][0])
        assert np.array_equal(sharp, found[0][1])


def test_it_is_the_literal_one_in_buckets_of_several_groups():
    codes = rng(3).integers(0, 6, (2, 60))
    table = pa.table({"a0": codes[0] * 10, "a1": codes[1], "secret": np.char.mod("v%d", codes[0])})
    schema = Schema.of(a0="quasi-identifier", a1="quasi-identifier", secret="sensitive")
    eyes = adversary(MAKERS["lgb"], table, schema)
    buckets = defaultdict(lambda: oracle.Bucket([[]], []))
    for row in eyes.release.tables["records"].to_pylist():
        bucket = buckets[row["secret.bucket"]]
        bucket.blocks[0].append((str(row["a0"]), str(row["a1"])))
        bucket.values.append(row["secret"])
    learned = oracle.learn(list(buckets.values()))

    def ends(cell):
        low, _, high = cell.strip("[]").partition(", ")
        return int(low), int(high or low)

    def fits(person, row):
        pairs = zip((person["a0"], person["a1"]), map(ends, row), strict=True)
        return all(low <= value <= high for value, (low, high) in pairs)

    expected = [
        oracle.in_rows(learned, list(buckets.values()), lambda _, row, own=own: fits(own, row))
        for own in table.to_pylist()
    ]
    assert any("[" in cell for cell in eyes.release.tables["records"]["a0"].to_pylist())
    assert_equal(sharpened(eyes), expected)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_correlated_table_is_at_risk(maker):
    eyes = adversary(MAKERS[maker], people(3_000, 0.6, known=5))
    (outcome,) = definetti(eyes, rng=rng())
    assert outcome.verdict == "risk"
    assert outcome.success.share > outcome.blind.share + 0.2
    assert outcome.blind.share == pytest.approx(outcome.figures["without_classifier"])
    assert "a risk" in outcome.sentence()
    assert "v0" not in str(outcome.to_dict())


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("seed", range(3))
def test_independent_attributes_are_at_chance(maker, seed):
    eyes = adversary(MAKERS[maker], people(2_000, 0.0, known=2 + seed, seed=seed))
    (outcome,) = definetti(eyes, rng=rng())
    assert outcome.verdict in ("at chance", "inconclusive")
    assert outcome.success.share < outcome.blind.share + 0.05


def test_who_is_not_in_the_data_is_guessed_by_what_was_learned():
    table = people(3_000, 0.8)
    eyes = adversary(MAKERS["anatomy"], table, controls=people(500, 0.8, seed=99))
    (outcome,) = definetti(eyes, rng=rng())
    assert outcome.control is None
    assert outcome.figures["people_outside_the_data"] > 0.8
    assert outcome.figures["classifier_alone"] > 0.8


def test_it_is_the_same_for_the_same_seed():
    eyes = adversary(MAKERS["anatomy"], people(500, 0.5))
    one, other = (definetti(eyes, rng=rng(5))[0].to_dict() for _ in range(2))
    assert one == other


def test_releases_without_buckets_have_no_outcome():
    assert definetti(adversary(sf.Mondrian(k=3), people(100, 0.5)), rng=rng()) == []


def test_of_a_semi_sensitive_attribute_only_those_count_who_may_hide_it():
    table = people(2_000, 0.7, known=5)
    hides = np.isin(table["a1"].to_numpy(zero_copy_only=False), ["v1", "v2", "v3"])
    table = table.append_column("hide", pa.array(hides))
    schema = Schema(
        (
            Attribute("a0", Role.SEMI_SENSITIVE, flag="hide"),
            *(Attribute(f"a{place}", Role.QUASI_IDENTIFIER) for place in range(1, 5)),
            Attribute("secret", Role.SENSITIVE),
        )
    )
    eyes = adversary(sf.LGB(k=2, l=3), table, schema)
    hidden, secret = definetti(eyes, rng=rng())
    assert (hidden.attribute, secret.attribute) == ("a0", "secret")
    # groups may reach over the border, but most of those who hide nothing fit no bucket
    assert hides[eyes.targets].sum() <= hidden.sample < len(eyes.targets)
    assert secret.sample == len(eyes.targets)
    assert {hidden.verdict, secret.verdict} == {"risk"}


def test_many_cells_become_few_categories():
    count = 500
    ends = 2 * np.arange(count)
    nulls = np.zeros(count + 2, np.bool_)
    nulls[count:] = True
    reach = Reach(
        np.append(np.arange(count), count + 1), np.append(ends, -1), np.append(ends, 1000), nulls
    )
    cells = np.append(np.ones(count), [7, 0])
    ordered = categories_of(reach, cells, ordered=True)
    assert ordered.max() == CATEGORIES - 1
    assert (np.diff(ordered[:count]) >= 0).all()
    sizes = np.bincount(ordered[:count])
    assert sizes.max() - sizes.min() <= 1
    assert ordered[count] == CATEGORIES - 1
    others = categories_of(reach, cells, ordered=False)
    assert others[count] == 0
    assert others.max() == CATEGORIES - 1
    few = categories_of(reach, np.append(np.zeros(count), [3, 4]), ordered=False)
    assert few[count:].tolist() == [0, 1]


@pytest.mark.parametrize("maker", ["anatomy", "slicing"])
def test_people_whose_value_is_missing_are_left_out(maker):
    table = people(900, 0.5, known=2)
    place = table.column_names.index("secret")
    gone = [None if i % 3 else value for i, value in enumerate(table["secret"].to_pylist())]
    eyes = adversary(MAKERS[maker], table.set_column(place, "secret", pa.array(gone)))
    (outcome,) = definetti(eyes, rng=rng())
    assert outcome.success.tried == 300
    assert outcome.success.share > 0.1
