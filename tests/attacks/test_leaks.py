"""Planted leaks of order and residue are found, and no method of the package has any."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.attacks.leaks import leaks
from sfumato.attacks.order import Tries, best_of, told_best, told_order
from sfumato.attacks.outcome import Outcome
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.randomness import Randomness, repeatable
from sfumato.release import Release

from .leaking import MAKERS, PLAIN, forgetful, shuffled, table, with_tables

DATA = table(800, 3)


def found(release: Release, data: pa.Table = DATA, path: Path | None = None) -> set[str]:
    """Return the names of leaks that are risks, at a family-wise error rate of 5 %."""
    outcomes = leaks(release, data, path=path, rng=repeatable(9))
    return {each.attack for each in judged(outcomes) if each.verdict == "risk"}


def judged(outcomes: list[Outcome]) -> list[Outcome]:
    return [outcome.judged(1 - 0.05 / len(outcomes)) for outcome in outcomes]


def published(name: str, data: pa.Table = DATA, seed: int = 0) -> Release:
    method, schema = MAKERS[name]
    return method.publish(data, schema, randomness=Randomness.test(seed))


# --- no method leaks ------------------------------------------------------------------------------


def test_no_method_leaks(tmp_path):
    """All leaks of all methods, at a family-wise error rate of 5 % over all of them."""
    outcomes = {}
    for number, name in enumerate(MAKERS):
        for file_format in ("parquet", "csv"):
            data = table(400, number, ordered=file_format == "csv")
            folder = tmp_path / f"{name}-{file_format}"
            published(name, data, number).save(folder, format=file_format)
            for outcome in leaks(Release.load(folder), data, path=folder, rng=repeatable(number)):
                about = (outcome.attack, outcome.where, outcome.attribute)
                assert (name, file_format, *about) not in outcomes
                outcomes[name, file_format, *about] = outcome
    assert len(outcomes) > 120
    names = {outcome.attack for outcome in outcomes.values()}
    assert names == {
        *("leak: row order", "leak: sorted rows", "leak: neighbouring rows", "leak: group ids"),
        *("leak: bucket ids", "leak: order within groups", "leak: fakes", "leak: set order"),
        *("leak: dictionary order", "leak: files", "leak: boundaries and statistics"),
        "leak: file sizes",
    }
    sizes = [each for key, each in outcomes.items() if key[2] == "leak: file sizes"]
    assert {each.verdict for each in sizes} == {"at chance"}
    level = 1 - 0.05 / len(outcomes)
    risks = [key for key, each in outcomes.items() if each.judged(level).verdict == "risk"]
    assert risks == []


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_tiny_releases_are_looked_at(rows):
    data = table(rows, 1)
    release = sf.Mondrian(k=1).publish(data, PLAIN, randomness=Randomness.test(1))
    assert found(release, data) == set()


def test_the_same_seed_finds_the_same():
    release = published("lgb")
    first, again = (
        [each.to_dict() for each in leaks(release, DATA, rng=repeatable(4))] for _ in range(2)
    )
    assert first == again


def test_leaks_of_sets_are_the_same_for_who_has_read_the_release_before():
    release = published("sensitive-qid")
    eyes = SetAdversary.of(release, DATA, sample=50, rng=repeatable(1))
    first, again = (
        [each.to_dict() for each in leaks(release, DATA, adversary=known, rng=repeatable(4))]
        for known in (None, eyes)
    )
    assert first == again


def test_tries_at_few_things_are_those_at_all_without_the_others():
    rng = np.random.default_rng(5)
    hits, chances = rng.random((6, 900)), rng.random((6, 900)) / 2
    hits[rng.random(hits.shape) < 0.9] = np.nan
    places = [np.flatnonzero(~np.isnan(line)) for line in hits]
    ways = [
        Tries(place, line[place], chance[place])
        for place, line, chance in zip(places, hits, chances, strict=True)
    ]
    expected = told_best(hits, chances, repeatable(3))
    assert best_of(ways, 900, repeatable(3)) == expected
    halves = np.split(repeatable(3).permutation(900), 2)
    known, right, tried = ~np.isnan(hits), 0.0, 0
    for train, test in (halves, halves[::-1]):
        gain = np.nansum((hits - chances)[:, train], axis=1)
        spread = (chances * (1 - chances) * known)[:, train].sum(axis=1)
        line = int(np.argmax(gain / np.sqrt(spread + 1)))
        right += float(np.nansum(hits[line, test]))
        tried += int(known[line, test].sum())
    assert expected.success.hits == pytest.approx(right)
    assert expected.success.tried == tried


# --- planted leaks --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mondrian", "top-down", "sensitive-qid"])
def test_rows_in_input_order_are_found(name):
    assert "leak: row order" in found(forgetful(name, DATA))


@pytest.mark.parametrize("name", ["mondrian", "top-down"])
def test_numbers_of_groups_in_order_are_found(name):
    """Rows are shuffled, and only the numbers of groups follow their values."""
    release = forgetful(name, DATA)
    planted = with_tables(release, records=shuffled(release.tables["records"]))
    assert found(planted) == {"leak: group ids"}


def test_groups_numbered_by_the_input_are_found():
    release = published("mondrian")
    records, original = release.tables["records"], forgetful("mondrian", DATA).tables["records"]
    # the unshuffled release has the same groups, row by row of the input
    _, first = np.unique(original["group"].to_numpy(), return_index=True)
    rank = np.argsort(np.argsort(first)) + 1
    renumbered = pa.array(rank[original["group"].to_numpy() - 1].astype(np.int32))
    planted = original.set_column(0, "group", renumbered)
    assert planted.num_rows == records.num_rows
    assert found(with_tables(release, records=shuffled(planted))) == {"leak: group ids"}


@pytest.mark.parametrize("name", ["anatomy", "slppa", "arp"])
def test_rows_sorted_by_group_are_found(name):
    assert {"leak: neighbouring rows", "leak: sorted rows"} <= found(forgetful(name, DATA))


@pytest.mark.parametrize("name", ["slicing", "lgb"])
def test_blocks_and_buckets_that_were_not_permuted_are_found(name):
    release = forgetful(name, DATA)
    planted = with_tables(release, records=shuffled(release.tables["records"]))
    assert "leak: order within groups" in found(planted)


@pytest.mark.parametrize("backwards", [False, True])
def test_anatomy_tables_that_agree_within_groups_are_found(backwards):
    data = DATA.set_column(0, "age", pa.array(np.arange(DATA.num_rows)))  # tells people apart
    release = published("anatomy", data)
    people = shuffled(release.tables["qi_1"])
    own = data["disease"].take(people["age"].cast(pa.int64()))
    values = pa.table({"group": people["group"], "disease": own, "count": people["count"]})
    if backwards:
        values = values.take(pa.array(np.arange(values.num_rows)[::-1]))
    planted = with_tables(release, qi_1=people, sensitive_1=values)
    assert "leak: order within groups" in found(planted, data)


def test_rows_in_order_of_a_secret_are_found():
    release = published("mondrian")
    order = np.argsort(release.tables["records"]["disease"].to_pylist(), kind="stable")
    records = release.tables["records"].take(pa.array(order))
    assert {"leak: sorted rows", "leak: neighbouring rows"} <= found(
        with_tables(release, records=records)
    )


@pytest.mark.parametrize("place", [0, 2])
def test_sets_with_the_own_value_at_one_place_are_found(place):
    release = forgetful("sensitive-qid", DATA)
    records = release.tables["records"]
    cells = []
    for members, own in zip(
        records["disease"].to_pylist(), DATA["disease"].to_pylist(), strict=True
    ):
        others = [value for value in members if value != own]
        if len(others) < len(members):
            others.insert(place, own)
        cells.append(others)
    column = pa.array(cells, pa.list_(pa.string()))
    position = records.column_names.index("disease")
    planted = shuffled(records.set_column(position, "disease", column))
    assert "leak: set order" in found(with_tables(release, records=planted))


def test_a_bucket_number_that_is_left_out_is_found():
    release = published("lgb")
    records = release.tables["records"]
    column = records["disease.bucket"].to_numpy(zero_copy_only=False)
    renumbered = pa.array(np.where(column >= 5, column + 1, column).astype(np.int32))
    place = records.column_names.index("disease.bucket")
    planted = records.set_column(place, "disease.bucket", renumbered)
    assert "leak: bucket ids" in found(with_tables(release, records=planted))


def test_fakes_of_values_that_never_meet_are_found():
    data = table(600, 5, ordered=True)
    method = sf.Merging(l=2, collapse=None, fakes=1, columns=[["age", "zip"], ["sex", "job"]])
    release = method.publish(data, PLAIN, randomness=Randomness.test(5))
    records = release.tables["records"]
    rng = repeatable(6)
    # the zip of another age: which no person has
    fakes = records.take(pa.array(rng.integers(0, len(data), 90)))
    ages = data["age"].to_numpy()
    away = pa.array([int(a) for a in (fakes["age"].to_numpy() - 18 + 36) % 72 + 18], pa.int64())
    fakes = fakes.set_column(records.column_names.index("age"), "age", away)
    assert set(ages) >= set(away.to_pylist())
    manifest = release.manifest.model_copy(
        update={
            "rows": release.manifest.rows + 90,
            "parameters": {**release.manifest.parameters, "fakes": 91},
        }
    )
    both = shuffled(pa.concat_tables([records, fakes], promote_options="permissive"))
    planted = Release(manifest, {"records": both}, release.hierarchies)
    assert "leak: fakes" in found(planted, data)


# --- residue in files -----------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path) -> Path:
    published("anatomy").save(tmp_path / "release")
    return tmp_path / "release"


def rewrite(folder: Path, content: pa.Table, **options: object) -> None:
    pq.write_table(content, folder / "sensitive_1.parquet", **options)


def found_in(folder: Path) -> set[str]:
    return found(published("anatomy"), path=folder)


def test_clean_files_tell_nothing(folder):
    assert found_in(folder) == set()


def with_dictionary(content: pa.Table, order: list[str]) -> pa.Table:
    place = {text: at for at, text in enumerate(order)}
    indices = pa.array([place[text] for text in content["disease"].to_pylist()], pa.int32())
    coded = pa.DictionaryArray.from_arrays(indices, pa.array(order))
    return content.set_column(content.column_names.index("disease"), "disease", coded)


def test_a_dictionary_in_input_order_is_found(folder):
    order = list(dict.fromkeys(DATA["disease"].to_pylist()))
    assert order != sorted(order)
    content = published("anatomy").tables["sensitive_1"]
    rewrite(folder, with_dictionary(content, order))
    assert found_in(folder) == {"leak: dictionary order"}


def test_a_dictionary_in_the_order_of_the_rows_tells_nothing(folder):
    content = published("anatomy").tables["sensitive_1"]
    rewrite(folder, with_dictionary(content, content["disease"].unique().to_pylist()))
    assert found_in(folder) == set()


def test_a_dictionary_with_a_value_of_no_row_is_found(folder):
    content = published("anatomy").tables["sensitive_1"]
    order = [*sorted(set(DATA["disease"].to_pylist())), "illness of a withheld row"]
    rewrite(folder, with_dictionary(content, order))
    assert "leak: dictionary order" in found_in(folder)


def test_notes_in_a_file_are_found(folder):
    content = published("anatomy").tables["sensitive_1"].replace_schema_metadata({"pandas": "{}"})
    rewrite(folder, content)
    assert found_in(folder) == {"leak: files"}


def test_a_file_that_is_not_listed_is_found(folder):
    (folder / "seed.txt").write_text("1")
    assert found_in(folder) == {"leak: files"}


def test_row_groups_of_uneven_sizes_are_found(folder):
    content = published("anatomy").tables["sensitive_1"]
    with pq.ParquetWriter(folder / "sensitive_1.parquet", content.schema) as writer:
        for part in (content.slice(0, 100), content.slice(100, 130), content.slice(230)):
            writer.write_table(part)
    assert "leak: boundaries and statistics" in found_in(folder)


def test_a_size_that_cells_do_not_explain_is_not_passed(folder):
    content = published("anatomy").tables["sensitive_1"]
    rewrite(folder, content, compression="none")
    (sizes,) = (
        each
        for each in leaks(published("anatomy"), DATA, path=folder, rng=repeatable(1))
        if each.attack == "leak: file sizes"
    )
    assert sizes.verdict == "not judged"
    assert sizes.sentence().endswith(": not judged")
    assert sizes.figures["same_size"] == sizes.figures["files"] - 1


def test_even_row_groups_tell_nothing(folder):
    rewrite(folder, published("anatomy").tables["sensitive_1"], row_group_size=100)
    assert "leak: boundaries and statistics" not in found_in(folder)


# --- the trained attacker -------------------------------------------------------------------------


def test_an_order_within_blocks_is_learned():
    """Blocks of rows in random order, and rows in random order within them."""
    rng = repeatable(1)
    blocks = [rng.permutation(50) + 50 * block for block in rng.permutation(20)]
    told = told_order(np.arange(1000), [np.concatenate(blocks)], rng)
    assert told.success.share > 0.9


def test_nothing_is_learned_of_random_places():
    rng = repeatable(2)
    shares = [
        told_order(rng.permutation(200), [np.arange(200), rng.random(200)], rng).success.share
        for _ in range(200)
    ]
    assert abs(np.mean(shares) - 0.5) < 0.01
    guesses = [
        told_best(rng.random((4, 200)) < 0.3, np.full((4, 1), 0.3), rng).success.share
        for _ in range(200)
    ]
    assert abs(np.mean(guesses) - 0.3) < 0.01
