"""What attacks share is made once, whoever asks, and failures reach everybody."""

from __future__ import annotations

import gc
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Event

import pytest

from sfumato.attacks import attack
from sfumato.attacks.memory import Memory
from sfumato.datasets import hospital, hospital_schema
from sfumato.methods import Anatomy, Mondrian, SensitiveQID
from sfumato.randomness import Randomness, repeatable
from sfumato.schema import Schema

MODULE = import_module("sfumato.attacks.attack")


def test_those_who_ask_meanwhile_wait():
    memory, made = Memory(), []

    def make():
        made.append(1)
        time.sleep(0.05)
        return object()

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: memory.of("thing", make), range(8)))
    assert len(made) == 1
    assert len(set(map(id, found))) == 1


def test_one_thing_may_need_another():
    memory = Memory()
    assert memory.of("two", lambda: memory.of("one", lambda: 1) + 1) == 2


@pytest.mark.parametrize("method", [Anatomy(l=3), Mondrian(k=5), SensitiveQID(l=2)])
def test_nothing_is_left_of_attacks(method, monkeypatch):
    """Whoever attacks one release after the other would run out of memory sooner."""
    schema = hospital_schema()
    if isinstance(method, SensitiveQID):
        roles = {"age": "sensitive-quasi-identifier", "disease": "sensitive-quasi-identifier"}
        schema = Schema.of(roles)
    data = hospital(400).select(schema.names)
    release = method.publish(data, schema, randomness=Randomness.test(1))
    made = []
    adversary_of = MODULE.adversary_of

    def noted(*arguments, **more):
        eyes = adversary_of(*arguments, **more)
        made.append(weakref.ref(eyes.memory))
        return eyes

    monkeypatch.setattr(MODULE, "adversary_of", noted)
    gc.collect()
    gc.disable()
    try:
        assert attack(release, data, rng=repeatable(1)).outcomes
        assert [each() for each in made] == [None]
    finally:
        gc.enable()


def test_what_fails_fails_for_all():
    memory = Memory()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            memory.of("nothing", lambda: 1 // 0)


def test_attacks_side_by_side_find_what_they_find_one_by_one(monkeypatch):
    data = hospital(600)
    release = Anatomy(l=3).publish(data, hospital_schema(), randomness=Randomness.test(3))
    module = MODULE
    monkeypatch.setattr(module, "AT_A_TIME", 8)
    together = attack(release, data, rng=repeatable(3))
    monkeypatch.setattr(module, "AT_A_TIME", 1)
    assert attack(release, data, rng=repeatable(3)).to_dict() == together.to_dict()


def test_an_attack_that_fails_is_not_held_up_by_another(monkeypatch):
    data = hospital(600)
    release = Anatomy(l=3).publish(data, hospital_schema(), randomness=Randomness.test(3))
    module, begun, over = MODULE, Event(), Event()
    monkeypatch.setattr(module, "AT_A_TIME", 2)

    def fail(_):
        assert begun.wait(60)  # until the other runs
        raise ZeroDivisionError

    def last_long(_):
        begun.set()
        assert over.wait(60)
        return []

    monkeypatch.setitem(module.ATTACKS, "record-linkage", fail)
    monkeypatch.setitem(module.ATTACKS, "membership", last_long)
    try:
        with pytest.raises(ZeroDivisionError):
            attack(release, data, attacks=["record-linkage", "membership"], rng=repeatable(3))
    finally:
        over.set()
