"""Several releases that are linked by pseudonyms: do their claims hold in the join of all?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.audit.claims import judge
from sfumato.audit.layouts import examine_joined
from sfumato.audit.report import Verdict
from sfumato.audit.tokens import pseudonym_of
from sfumato.errors import ParameterError
from sfumato.models import KAnonymity
from sfumato.release import Release

_WHERE = "in the join of all tables"


def joined_view(releases: Sequence[Release]) -> tuple[Verdict, ...]:
    """Return whether the claims of releases hold in their join over tokens: k-anonymity first.

    *Guarantee*: k is the largest that one of them claims; it holds if at least so many people share
    the trace of everybody in all of them. Other claims hold if such crowds satisfy them.
    Refuses (ParameterError) releases without tokens, or that claim no k.
    """
    if any(pseudonym_of(release.manifest) is None for release in releases):
        raise ParameterError("releases are joined by pseudonyms, and one of these has none")
    claims = [claim for each in releases for claim in each.manifest.guarantees]
    asked = [claim.get("k") for claim in claims if claim["model"] == KAnonymity.name]
    ks = [k for k in asked if isinstance(k, int)]
    if not ks:
        raise ParameterError("none of the releases claims k-anonymity, so there is no k to check")
    shown = examine_joined(releases)
    worst = min((int(each.sizes.min()) for each in shown if len(each.sizes)), default=0)
    claim = {"model": KAnonymity.name, "k": max(ks)}
    verdicts = [Verdict(claim, worst >= max(ks), float(worst), _WHERE)]
    for release, evidence in zip(releases, shown, strict=True):
        for stated in release.manifest.guarantees:
            if stated["model"] != KAnonymity.name:
                found = judge(stated, evidence)
                note = "; ".join(filter(None, [_WHERE, found.note]))
                verdicts.append(found if found.holds is None else replace(found, note=note))
    return tuple(verdicts)
