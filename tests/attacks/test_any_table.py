"""Whatever the types and texts of a table, its people's own values are among their candidates."""

from __future__ import annotations

from arbitrary.frames import Frame, flagged_frames, frames
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import compose
from sfumato.attacks.adversary import Adversary
from sfumato.methods import Method
from sfumato.randomness import Randomness
from sfumato.schema import Role

MAKERS = (sf.Mondrian(k=1), sf.Mondrian(k=2), sf.Anatomy(l=2), sf.Slicing(l=2), sf.TopDown(k=2))
LOCAL = (sf.LGB(k=1, t=1.0), sf.LGB(k=2, t=1.0))


def check(frame: Frame, methods: tuple[Method, ...]) -> None:
    known = (Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE)
    if not frame.schema.with_role(*known) or not frame.schema.with_role(Role.SENSITIVE):
        reject()
    try:
        releases = [method.publish(frame.data, frame.schema) for method in methods]
    except sf.SfumatoError:
        reject()
    always = {attribute.name for attribute in frame.schema.with_role(Role.SENSITIVE)}
    for finding in compose(releases, originals=[frame.data] * len(methods)).findings:
        assert finding.people.found == frame.data.num_rows
        if finding.attribute not in always:
            continue  # who does not hide the attribute may fit groups of those who do
        assert finding.people.covered == 1
        assert finding.people.nothing_left == 0


@given(frames(), st.tuples(st.sampled_from(MAKERS), st.sampled_from(MAKERS)))
@settings(max_examples=25)
def test_releases_of_groups(frame, methods):
    check(frame, methods)


@given(flagged_frames())
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
def test_local_releases(frame):
    check(frame, LOCAL)


# Attacks whose controls are made of the table itself.
BY_FITS = [
    *("record-linkage", "attribute-linkage", "membership", "probabilistic", "negation"),
    *("corruption", "fakes"),
]


@given(frames(), st.sampled_from(MAKERS))
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
def test_attacks_on_any_release(frame, method):
    known = (Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE)
    if not frame.schema.with_role(*known) or not frame.data.num_rows:
        reject()
    try:
        release = method.publish(frame.data, frame.schema)
    except sf.SfumatoError:
        reject()
    if not release.manifest.rows:
        reject()
    report = sf.attack(release, frame.data, attacks=BY_FITS)
    for outcome in report.outcomes:
        for rate in (outcome.success, outcome.blind, outcome.control):
            assert rate is None or 0 <= rate.hits <= rate.tried * (1 + 1e-9), outcome.attack
        assert outcome.worst is None or 0 <= outcome.worst <= 1 + 1e-9
    eyes = Adversary.of(release, frame.data, sample=50, rng=Randomness.test(1).generator("people"))
    if not release.manifest.suppressed:
        assert (eyes.linked(eyes.targets) > 0).all()  # everybody's own record fits
