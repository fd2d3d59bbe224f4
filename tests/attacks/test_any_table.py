"""Whatever the types and texts of a table, its people's own values are among their candidates."""

from __future__ import annotations

from arbitrary.frames import Frame, flagged_frames, frames
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks import compose
from sfumato.methods import Method
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
