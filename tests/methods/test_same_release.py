"""The same seed gives the same release as before: work on speed changes no result."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.datasets import census
from sfumato.methods import METHODS
from sfumato.randomness import Randomness

from .digests import RECORDED, ROWS, cases, digest

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"),
    reason="digests were recorded on x86-64; the last digit of a logarithm may differ elsewhere",
)
_RECORDED = json.loads(RECORDED.read_text(encoding="utf-8"))
_CASES = list(cases())


def test_every_repeatable_method_is_recorded():
    assert {method.name for _, method, _ in _CASES} == METHODS.keys() - {"dp"}
    assert [name for name, _, _ in _CASES] == list(_RECORDED)


@pytest.fixture(scope="module")
def people():
    data = census(ROWS, seed=5)
    return data.filter(data["salary"].is_valid())


@pytest.mark.parametrize(("name", "method", "schema"), _CASES, ids=[case[0] for case in _CASES])
def test_a_release_is_what_it_was(people, name, method, schema):
    release = method.publish(people, schema, randomness=Randomness.test(11))
    assert digest(release) == _RECORDED[name]


@pytest.mark.parametrize("processor", ["Haswell", "Prescott", "SkylakeX"])
def test_no_release_depends_on_the_processors_sums(processor):
    """The last digit of a dot product does: NumPy's library has one for each kind of processor."""
    own = [name for name in _RECORDED if name in ("full-domain", "mdav", "pram")]
    said = f"import json, digests; print(json.dumps([digests.digests(only=n) for n in {own!r}]))"
    found = subprocess.run(
        [sys.executable, "-c", said],
        env=os.environ | {"OPENBLAS_CORETYPE": processor},
        cwd=Path(__file__).parent,
        capture_output=True,
        check=True,
    )
    assert json.loads(found.stdout) == [{name: _RECORDED[name]} for name in own]
