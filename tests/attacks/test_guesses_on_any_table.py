"""Whatever a table is like, what deFinetti and joint Bayes say of it are shares of people."""

from __future__ import annotations

import numpy as np
from arbitrary.frames import Frame, flagged_frames, frames
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks.adversary import Adversary
from sfumato.attacks.definetti import definetti
from sfumato.attacks.joint_bayes import joint_bayes
from sfumato.attacks.set_adversary import SetAdversary
from sfumato.methods import Method
from sfumato.schema import Role

BUCKETS = (sf.Anatomy(l=2), sf.Slicing(l=2), sf.Slicing(l=2, columns=1), sf.ARP(l=2))
LOCAL = (sf.LGB(k=1, t=1.0), sf.LGB(k=2, l=2))
SETS = (sf.SensitiveQID(l=2), sf.SensitiveQID(t=0.4), sf.SensitiveQID(l=2, t=0.9, bins=3))


def check(frame: Frame, method: Method) -> None:
    known = (Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE)
    if not frame.schema.with_role(*known) or not frame.schema.with_role(Role.SENSITIVE):
        reject()
    try:
        release = method.publish(frame.data, frame.schema)
    except sf.SfumatoError:
        reject()
    rng = np.random.default_rng(1)
    if release.manifest.layout == "sets":
        sets = SetAdversary.of(release, frame.data, sample=50, rng=rng)
        found = joint_bayes(sets, rng=rng)
        assert len(found) == 2 * len(sets.secrets)
    else:
        groups = Adversary.of(release, frame.data, sample=50, rng=rng)
        found = definetti(groups, rng=rng)
        assert {each.attribute for each in found} <= set(groups.secrets)
    for outcome in found:
        assert outcome.sample <= min(frame.data.num_rows, 50)
        for rate in (outcome.success, outcome.blind, outcome.control or outcome.blind):
            assert 0 <= rate.hits <= rate.tried == outcome.sample
        assert 0 <= outcome.worst <= 1 + 1e-9
        assert np.isfinite(list(outcome.figures.values())).all()


@given(frames(), st.sampled_from(BUCKETS))
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
def test_buckets(frame, method):
    check(frame, method)


@given(flagged_frames(), st.sampled_from(LOCAL))
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
def test_local_buckets(frame, method):
    check(frame, method)


@given(frames(), st.sampled_from(SETS))
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
def test_sets(frame, method):
    check(frame, method)
