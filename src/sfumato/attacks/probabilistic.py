"""The probabilistic attack: how much surer of a person's secret does the release make anyone?

*Source*: SLPPA, section 3.2 (probabilistic attack): the difference of the beliefs before and after.
"""

from __future__ import annotations

import numpy as np

from sfumato.attacks.glimpse import Eyes
from sfumato.attacks.linkage_records import KNOWS
from sfumato.attacks.outcome import Outcome, Rate, worst_decile
from sfumato.attacks.secrets_seen import Seen


def probabilistic(eyes: Eyes) -> list[Outcome]:
    """Return the belief in people's own values before and after, for every secret."""
    return [_of(Seen.of(eyes, name)) for name in eyes.secrets]


def _of(seen: Seen) -> Outcome:
    people = seen.targets
    gain = people.chance - people.prior
    return Outcome(
        attack="probabilistic (prior to posterior)",
        attribute=seen.secret.name,
        knows=f"{KNOWS}, and that the person is in the data",
        how="A value is drawn with the chances that fitting records give it; the blind guess draws "
        "it with its share in the whole release. The control are people who are not in the data, "
        "and what they keep secret.",
        success=Rate.of(people.chance),
        blind=Rate.of(people.prior),
        control=None if seen.controls is None else Rate.of(seen.controls.chance),
        worst=worst_decile(people.chance),
        sample=people.people,
        population=seen.population,
        figures={
            "mean_gain": float(gain.mean()) if gain.size else 0.0,
            "largest_chance": float(people.chance.max(initial=0.0)),
            "largest_gain": float(gain.max(initial=0.0)),
            "gain_of_worst_decile": worst_decile(gain) if gain.size else 0.0,
            "share_of_people_who_lose": float(np.mean(gain < 0)) if gain.size else 0.0,
        },
    )
