"""Random choices are uniform, differ from release to release, and their seed is nowhere.

Statistics are chi-squared, with keys that are fixed, so that a test that passes once always does;
for keys of chance each would fail wrongly once in `ONCE_IN` runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest
from contracts.questions import files_of, spellings_of_a_seed
from contracts.test_methods import plain_parquet
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.ciphers import algorithms

from sfumato.cli.app import run
from sfumato.errors import place_of
from sfumato.methods import METHODS
from sfumato.randomness import (
    MINIMUM_SEED_BYTES,
    Randomness,
    random_shares,
    random_words,
    repeatable,
    split,
)
from sfumato.schema import Schema

ONCE_IN = 10**6
RUNS = 240
ROLES = {"age": "quasi-identifier", "ill": "sensitive"}


def greatest(freedom: int) -> float:
    """Return what chi-squared exceeds once in `ONCE_IN` (Wilson and Hilferty)."""
    z = NormalDist().inv_cdf(1 - 1 / ONCE_IN)
    part = 2 / (9 * freedom)
    return freedom * (1 - part + z * math.sqrt(part)) ** 3


def chi_squared(found: Iterable[object], possible: Sequence[object]) -> float:
    """Return how far counts are from being equal."""
    counts = Counter(found)
    assert set(counts) <= set(possible)
    expected = counts.total() / len(possible)
    return sum((counts[each] - expected) ** 2 / expected for each in possible)


def is_uniform(found: Iterable[object], possible: Sequence[object]) -> bool:
    """Whether all possible outcomes are equally common, but for chance."""
    return chi_squared(found, possible) <= greatest(len(possible) - 1)


def key(number: int) -> Randomness:
    return Randomness.secret(number.to_bytes(32, "big"))


def test_the_threshold_is_that_of_tables():
    # chi-squared of 10 at 1e-6, from tables: 48.0 (48.02)
    assert greatest(10) == pytest.approx(48.0, abs=0.5)
    assert not is_uniform([0] * 100 + [1] * 200, [0, 1])


def test_permutations_are_uniform_over_keys_purposes_and_splits():
    orders = list(permutations(range(4)))
    streams = {
        "keys": [key(n).generator("rows") for n in range(4000)],
        "purposes": [key(0).generator(f"purpose {n}") for n in range(4000)],
        "splits": split(key(1).generator("threads"), 4000),
    }
    for rngs in streams.values():
        assert is_uniform((tuple(rng.permutation(4).tolist()) for rng in rngs), orders)
        assert is_uniform((int(rng.integers(7)) for rng in rngs), range(7))
    one = key(2).generator("rows")
    assert is_uniform((tuple(one.permutation(4).tolist()) for _ in range(4000)), orders)


def people(rows: int = 12) -> pa.Table:
    return pa.table({"age": list(range(20, 20 + rows)), "ill": [f"ill {n}" for n in range(rows)]})


def published(name: str, number: int, data: pa.Table, roles=ROLES, **parameters):
    schema = Schema.of(roles)
    return METHODS[name](**parameters).publish(data, schema, randomness=key(number))


def test_rows_and_group_numbers_are_uniform():
    places, groups = [], []
    for number in range(RUNS):
        records = published("mondrian", number, people(), k=3).tables["records"]
        cells = records["ill"].to_pylist()
        places.append(cells.index("ill 0"))
        groups.append(records["group"][cells.index("ill 0")].as_py())
    assert is_uniform(places, range(12))
    assert is_uniform(groups, range(1, max(groups) + 1))


def test_who_stands_beside_whom_in_a_slice_is_uniform():
    """Of a single group of four, each illness stands beside each age equally often."""
    data = people(4)
    found = []
    for number in range(RUNS):
        records = published("slicing", number, data, l=4, columns=1).tables["records"]
        pairs = dict(zip(records["age"].to_pylist(), records["ill"].to_pylist(), strict=True))
        found.append(
            tuple(pairs[str(age)] if str(age) in pairs else pairs[age] for age in range(20, 24))
        )
    assert is_uniform(found, list(permutations([f"ill {n}" for n in range(4)])))


def test_the_others_of_a_set_are_uniform():
    """Whoever's set it is, each other value is in it equally often."""
    data, found = people(8), Counter()
    domain = sorted(data["ill"].to_pylist())
    for number in range(RUNS):
        release = published("sensitive-qid", number, data, l=3)
        for cell in release.tables["records"]["ill"].to_pylist():
            found.update(cell)
    # everybody has another value, so that every value is as common as any
    assert is_uniform(found.elements(), domain)


def test_fakes_are_anybody_with_any_value_and_stand_anywhere():
    """Of eight people who all differ, the one fake is each one's twin equally often.

    So is it for its illness, and for the places of the two rows that look alike: which of them is
    the fake would be told if fakes came last.
    """
    data, twins, values, places = people(8), [], [], []
    for number in range(RUNS):
        release = published("merging", number, data, l=2, fakes=1)
        assert release.manifest.parameters["fakes"] == 1
        records = release.tables["records"]
        ages, cells = (records[name].to_pylist() for name in ("age", "ill"))
        ((twin, _),) = (each for each in Counter(ages).items() if each[1] == 2)
        ((value, _),) = (each for each in Counter(cells).items() if each[1] == 2)
        twins.append(str(twin))
        values.append(value)
        places.append(tuple(n for n, age in enumerate(ages) if age == twin))
    assert is_uniform(twins, [str(age) for age in data["age"].to_pylist()])
    assert is_uniform(values, data["ill"].to_pylist())
    assert is_uniform(places, list(combinations(range(9), 2)))


def test_two_releases_share_no_randomness_unless_asked():
    data = people()
    schema = Schema.of(ROLES)
    made = [METHODS["mondrian"](k=3).publish(data, schema) for _ in range(12)]
    orders = {tuple(each.tables["records"]["ill"].to_pylist()) for each in made}
    assert len(orders) == len(made)
    same = [published("mondrian", 7, data, k=3).tables["records"] for _ in range(2)]
    assert same[0].equals(same[1])
    assert len(Randomness.fresh().key) >= 2 * MINIMUM_SEED_BYTES
    assert len({Randomness.fresh().key for _ in range(50)}) == 50


def test_the_bits_are_those_of_chacha20():
    name = type(key(1).generator("x").bit_generator).__name__
    assert name == "ChaCha"
    assert key(1).generator("x").bit_generator.state["state"]["rounds"] == 20
    bits = np.unpackbits(np.frombuffer(key(1).generator("x").bytes(4096), np.uint8))
    assert abs(int(bits.sum()) - len(bits) / 2) < 6 * math.sqrt(len(bits)) / 2


@pytest.mark.parametrize("before", [0, 1, 15, 16, 17, 70_001])
@pytest.mark.parametrize("count", [0, 1, 1_023, 1_024, 1_025, 65_536, 70_007, 200_000])
def test_words_of_openssl_are_those_of_the_generator(before, count):
    one, other = (key(1).generator("x") for _ in range(2))
    for each in (one, other):
        each.integers(0, 1 << 32, before, np.uint32)
    found = random_words(one, count)
    assert found.dtype == np.uint32 and found.flags.writeable
    assert (found == other.integers(0, 1 << 32, count, np.uint32)).all()
    # and whatever is drawn next
    for draw in (
        lambda rng: rng.integers(0, 1 << 32, 5, np.uint32),
        lambda rng: rng.integers(0, 1 << 64, 5, np.uint64),
        lambda rng: random_words(rng, 2_000),
        lambda rng: rng.random(5),
        lambda rng: rng.permutation(50),
    ):
        assert (draw(one) == draw(other)).all()
    places = [each.bit_generator.state["state"]["ctr"].tolist() for each in (one, other)]
    assert places[0] == places[1]


def test_words_where_openssl_has_no_chacha20(monkeypatch):
    def refused(*_arguments):
        raise UnsupportedAlgorithm("ChaCha20")

    monkeypatch.setattr(algorithms, "ChaCha20", refused)
    one, other = (key(1).generator("x") for _ in range(2))
    for _ in range(2):
        assert (random_words(one, 5_003) == other.integers(0, 1 << 32, 5_003, np.uint32)).all()


def test_words_of_another_generator_are_its_own():
    one, other = (repeatable(3) for _ in range(2))
    assert (random_words(one, 5_000) == other.integers(0, 1 << 32, 5_000, np.uint32)).all()


@pytest.mark.parametrize("before", [0, 1, 15, 16, 17])
@pytest.mark.parametrize("count", [0, 1, 511, 512, 513, 70_007])
@pytest.mark.parametrize("make", [lambda: key(1).generator("x"), lambda: repeatable(3)])
def test_shares_are_those_of_the_generator(make, before, count):
    one, other = make(), make()
    for each in (one, other):
        each.integers(0, 1 << 32, before, np.uint32)
    found = random_shares(one, count)
    assert found.dtype == np.float64
    assert found.tolist() == other.random(count).tolist()
    assert one.permutation(50).tolist() == other.permutation(50).tolist()


@pytest.mark.parametrize("drawn", [[(16 << 32) - 2_000, 0], [48, 1]])
def test_words_beyond_those_that_openssl_counts_are_the_generators(drawn):
    one, other = (key(1).generator("x") for _ in range(2))
    for each in (one, other):
        state = each.bit_generator.state
        state["state"]["ctr"] = np.array(drawn, np.uint64)
        each.bit_generator.state = state
    for count in (1_990, 5_000):
        assert (random_words(one, count) == other.integers(0, 1 << 32, count, np.uint32)).all()


# --- what may not be told -------------------------------------------------------------------------

NAME, WITHHELD, DROPPED = (
    "Canary Identifier",
    "canary-of-a-withheld-row",
    "canary-of-a-dropped-cell",
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A table whose identifiers, dropped cells and rows to be withheld are canaries."""
    lines = ["name,age,ill,note"]
    lines += [f"{NAME} {n},{20 + n % 5},{'abc'[n % 3]},{DROPPED} {n}" for n in range(60)]
    lines += [f"{NAME} 99,77,{WITHHELD},{DROPPED} 99"]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "policy.yaml").write_text(
        "attributes:\n  name: {role: identifier}\n  note: {role: insensitive}\n"
        "  age: {role: quasi-identifier, hierarchy: {width: 10}}\n  ill: {role: sensitive}\n"
        "method: {name: full-domain, k: 3, suppression: 0.1}\n"
    )
    (tmp_path / "seed").write_bytes(b"\x07canary of the seed, 256 bits!!\x99")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_neither_seed_nor_canaries_are_told_by_any_output(place, capsys):
    seed = (place / "seed").read_bytes()
    arguments = ["anonymize", "data.csv", "--policy", "policy.yaml", "--out", "release"]
    with plain_parquet():
        code = run(
            [*arguments, "--seed-file", "seed", "--record", "record.json", "--ledger", "led"]
        )
    captured = capsys.readouterr()
    assert code == 0, captured.err
    assert b'"suppressed": 1' in (place / "release" / "manifest.json").read_bytes()
    assert run(["audit", "release", "--json"]) == 0
    assert run(["report", "release", "--out", "public.html"]) == 0
    captured_more = capsys.readouterr()
    shown = "".join((*captured, *captured_more)).encode()
    outputs = files_of(place / "release") | {
        "shown": shown,
        "ledger": (place / "led").read_bytes(),
        "report": (place / "public.html").read_bytes(),
    }
    assert seed.hex().encode() in (place / "record.json").read_bytes()  # its one place
    needles = [NAME.encode(), WITHHELD.encode(), DROPPED.encode(), *spellings_of_a_seed(seed)]
    needles += [str(place).encode(), b"data.csv"]
    for name, content in outputs.items():
        own = needles[:-2] if name in ("shown", "ledger", "report") else needles
        assert [needle for needle in own if needle in content] == [], name


def test_a_traceback_does_not_tell_the_seed():
    import traceback

    randomness = key(12345)
    try:
        raise ValueError(f"{randomness!r} {randomness}")
    except ValueError as error:
        told = "".join(
            traceback.TracebackException.from_exception(error, capture_locals=True).format()
        )
        assert place_of(error) == "an unknown place"
    # which keys of 32 bytes are hard to hide in: the number is in this test, the key is not
    assert randomness.key.hex() not in told
    assert repr(randomness.key) not in told
