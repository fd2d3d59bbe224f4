"""Tokens: the same for the same text, word and key, and telling nothing without the key."""

from __future__ import annotations

import base64
import hashlib
import hmac

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given

import sfumato as sf
from sfumato.errors import ParameterError, SchemaError
from sfumato.recoding.pseudonyms import tokens, with_tokens
from sfumato.table import encode

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))
SECRET = "Wilhelmina Zaugg"
TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)


def made(values, word="person", key=KEY, dtype=None) -> list[str | None]:
    return tokens(pa.chunked_array([pa.array(values, dtype)]), "name", word, key).to_pylist()


def by_hand(text: str, word: str, key: bytes) -> str:
    """Return a token as whoever has the key must be able to make it for years to come."""
    own = hmac.new(key, b"sfumato pseudonyms, version 1\0" + word.encode(), hashlib.sha256).digest()
    digest = hmac.new(own, text.encode(), hashlib.sha256).digest()
    return base64.b32encode(digest[:16]).decode().lower().rstrip("=")


@given(st.lists(st.none() | TEXTS, max_size=8), TEXTS)
def test_tokens_are_those_made_by_hand(texts, word):
    expected = [None if text is None else by_hand(text, word, KEY) for text in texts]
    assert made(texts, word, dtype=pa.string()) == expected


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_tokens_are_equal_just_where_word_and_text_are(one, other, word, second):
    assert (made([one], word) == made([other], second)) == ((one, word) == (other, second))
    assert made([one], word, KEY) != made([one], word, OTHER)


def test_what_counts_is_the_text_of_a_value():
    assert made([7]) == made(["7"]) == made([7.0]) == made([7], dtype=pa.uint8())
    assert made(["007"]) != made([7])
    assert made(["Ann "]) != made(["Ann"])


def test_coding_and_chunks_do_not_matter():
    plain = made(["b", None, "a", "b"])
    coded = pa.array(["b", None, "a", "b"]).dictionary_encode()
    assert tokens(pa.chunked_array([coded[:1], coded[1:]]), "n", "person", KEY).to_pylist() == plain


def test_one_bit_of_the_key_changes_every_token():
    values = [str(n) for n in range(50)]
    flipped = bytes([KEY[0] ^ 1, *KEY[1:]])
    assert not set(made(values)) & set(made(values, key=flipped))


@pytest.mark.parametrize("key", [b"", b"short", bytes(15)])
def test_a_short_key_is_refused(key):
    with pytest.raises(ParameterError, match="at least 16 random bytes"):
        made([SECRET], key=key)


DATA = pa.table({"name": [f"{SECRET} {n}" for n in range(6)], "age": [20, 21, 30, 31, 40, 41]})
AGE = sf.Attribute("age", sf.Role.QUASI_IDENTIFIER)


def schema(**unit) -> sf.Schema:
    return sf.Schema((sf.Attribute("name", sf.Role.IDENTIFIER, **unit), AGE))


def test_a_release_has_tokens_right_after_the_group_and_no_names():
    release = sf.Mondrian(k=2).publish(DATA, schema(pseudonym="person"), key=KEY)
    records = release.tables["records"]
    assert records.column_names == ["group", "name", "age"]
    assert set(records["name"].to_pylist()) == set(made(DATA["name"].to_pylist()))
    for token, age in zip(records["name"].to_pylist(), records["age"].to_pylist(), strict=True):
        own = DATA["age"][made(DATA["name"].to_pylist()).index(token)].as_py()
        low, high = map(int, age.strip("[]").split(", "))
        assert low <= own <= high  # every token stands beside its own row
    (entry,) = release.manifest.tables
    assert entry.pseudonyms == ("name",)
    text = release.manifest.to_json().decode()
    assert SECRET not in text and KEY.hex() not in text
    assert "pseudonymised, not anonymised" in sf.audit(release).problems[0]
    assert sf.audit(release).ok


def test_rows_are_in_no_order_that_tells():
    orders = set()
    for seed in range(4):
        how = sf.Randomness.secret(bytes([seed]) * 16)
        made_by = sf.Mondrian(k=2).publish(DATA, schema(pseudonym="p"), key=KEY, randomness=how)
        orders.add(tuple(made_by.tables["records"]["name"].to_pylist()))
    assert len(orders) > 1


def test_tokens_without_a_key_and_a_key_without_tokens_are_refused():
    with pytest.raises(ParameterError, match="--key-file"):
        sf.Mondrian(k=2).publish(DATA, schema(pseudonym="person"))
    with pytest.raises(ParameterError, match="no identifier has `pseudonym"):
        sf.Mondrian(k=2).publish(DATA, schema(), key=KEY)


@pytest.mark.parametrize("method", [sf.Anatomy(l=2), sf.LocalSuppression(k=2), sf.MDAV(k=2)])
def test_methods_whose_records_are_not_peoples_own_refuse_tokens(method):
    data = DATA.append_column("disease", pa.array(["a", "b", "c"] * 2))
    roles = (*schema(pseudonym="person"), sf.Attribute("disease", sf.Role.SENSITIVE))
    with pytest.raises(ParameterError, match="mondrian, top-down or full-domain"):
        method.publish(data, sf.Schema(roles), key=KEY)


def test_several_rows_a_person_are_sent_to_linked_tables():
    data = pa.table({"name": ["x", "x", "y", "y"], "age": [1, 2, 3, 4]})
    asked = sf.Schema(tuple(schema(pseudonym="person")), unit="name")
    with pytest.raises(ParameterError, match="use `sfumato link`"):
        sf.Mondrian(k=2).publish(data, asked, key=KEY)


def test_only_one_identifier_that_tells_people_apart_can_be_a_pseudonym():
    with pytest.raises(SchemaError, match="`pseudonym` is for identifiers"):
        sf.Attribute("age", sf.Role.QUASI_IDENTIFIER, pseudonym="person")
    with pytest.raises(SchemaError, match="the word of `pseudonym` is empty"):
        sf.Attribute("name", sf.Role.IDENTIFIER, pseudonym="")
    ssn = sf.Attribute("ssn", sf.Role.IDENTIFIER, pseudonym="ssn")
    with pytest.raises(SchemaError, match="keep one"):
        sf.Schema((*schema(pseudonym="person"), ssn))
    with pytest.raises(SchemaError, match="only the `unit`"):
        sf.Schema((*schema(), ssn), unit="name")


def test_neither_key_nor_token_is_in_a_representation():
    table = with_tokens(encode(DATA, schema(pseudonym="person")), DATA, KEY)
    (own,) = table.tokens.values()
    assert own[0].as_py() not in repr(table)
    assert SECRET not in repr(table)
