"""Record linkage: which record is a person's?

*Prosecutor*: knows that the person is in the data. *Journalist*: does not know who is, and has a
register of everybody who might be. *Marketer*: links the whole register, and is content with many.

*Source*: SLPPA, section 3.2 (record linkage attack); the three adversaries are those of k-map and
re-identification risk in the literature on health data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.attacks.adversary import Adversary
from sfumato.attacks.fits import Fits
from sfumato.attacks.glimpse import Eyes
from sfumato.attacks.outcome import Outcome, Rate, worst_decile
from sfumato.attacks.specific import KEY as SUPPRESSED

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

KNOWS = "all quasi-identifiers of a person"
BELIEF = "how sure the same link looks (a belief, always wrong) for people outside the data"
_CONTROL = (
    " The control is a belief and no success: how sure the same link looks for people who are not "
    "in the data, where it is always wrong. Who knows that a person is in the data is right as "
    "often as the success says, however sure links of strangers look."
)


def record_linkage(eyes: Eyes) -> list[Outcome]:
    """Return the outcomes of the prosecutor, the journalist and the marketer."""
    right, believed = eyes.linked(eyes.targets), eyes.believed(eyes.controls)
    fitting = eyes.expected(eyes.targets)
    alone = int((eyes.sizes == 1).sum()) if isinstance(eyes, Adversary) else 0
    people, blind = len(right), Rate(len(right) / max(eyes.rows, 1), len(right))
    single = float((right >= 1).mean()) if people else 0.0
    figures = {
        "largest_chance": float(right.max(initial=0)),
        "share_with_a_single_record": single,
        "mean_fitting_records": float(fitting.mean()) if people else 0.0,
        "groups_of_one_record": float(alone),
    }
    common: dict[str, Any] = {"attribute": None, "blind": blind, "control_is": BELIEF}
    common |= {"sample": people, "population": eyes.population}
    lower = _journalist(eyes)
    press = right * lower[:people]
    control = Rate.of(believed) if len(believed) else None
    press_control = Rate.of(believed * lower[people:]) if len(believed) else None
    # who is linked in a release is linked once: the register is as large as the data
    share = min(float(right.mean()) * eyes.population / max(eyes.rows, 1), 1.0) if people else 0.0
    return [
        Outcome(
            attack="record linkage (prosecutor)",
            knows=f"{KNOWS}, and that the person is in the data",
            how="One of the records that fit is drawn; it is right with one over their number, if "
            "the person's own is among them." + _by_distance(eyes) + _CONTROL,
            success=Rate.of(right),
            control=control,
            worst=worst_decile(right),
            figures=figures,
            certain=alone,
            **common,
        ),
        Outcome(
            attack="record linkage (journalist)",
            knows=f"{KNOWS}, and those of everybody who might be in the data, but not who is",
            how="As the prosecutor, but everybody of a register who fits the same records competes "
            f"for them; the register has as many people outside the data ({eyes.controls_are}) as "
            "inside." + _CONTROL,
            success=Rate.of(press),
            control=press_control,
            worst=worst_decile(press),
            figures={"largest_chance": float(press.max(initial=0))},
            **common,
        ),
        Outcome(
            attack="record linkage (marketer)",
            knows="all quasi-identifiers of everybody in the data",
            how="Everybody is linked to one of the records that fit; counted is the expected share "
            "of all records that are linked rightly." + _CONTROL,
            success=Rate(share * people, people),
            control=control,
            worst=worst_decile(right),
            **common,
        ),
    ]


def _by_distance(eyes: Eyes) -> str:
    """Return what is to be said of linkage to means, or to suppressed cells; else nothing."""
    if not isinstance(eyes, Adversary) or not eyes.links_by_distance:
        if SUPPRESSED in eyes.release.manifest.parameters:
            return " Of the records that fit, those with the fewest withheld cells are taken."
        return ""
    return (
        " Cells are means of groups, which nobody has, so the records of the nearest group count "
        "as those that fit. Files do not tell who is in which group: the nearest is taken for the "
        "person's own wherever it holds their secrets, so that the success is the most it can be."
    )


def _journalist(eyes: Eyes) -> Reals:
    """Return by how much strangers who fit the same records lower the chance of each target, and
    after them of each control."""
    if not isinstance(eyes, Adversary) or not len(eyes.controls):
        # which other sets a stranger's would have been nobody knows: as many fit as fit the others
        outside = eyes.expected(eyes.controls) if len(eyes.controls) else np.zeros(0)
        fit = float((outside > 0).mean()) if len(outside) else 0.0
        return np.full(len(eyes.targets) + len(eyes.controls), 1 / (1 + fit))
    found = np.zeros(eyes.view.groups)
    kinds, of = eyes.kinds(eyes.controls)
    count = np.bincount(of, minlength=len(kinds))
    for part, fits in eyes.fits_in_parts(kinds):
        share = fits.weight / np.maximum(fits.total, np.finfo(float).tiny)[fits.person]
        np.add.at(found, fits.group, share * count[part][fits.person])
    # as many strangers a record as the whole release has, unless the group itself shows enough
    drawn = len(eyes.controls) / eyes.population
    rate = float(found.sum()) / (eyes.rows * drawn)

    def lower(fits: Fits, own: float) -> Reals:
        whole = np.maximum(fits.total, np.finfo(float).tiny)
        others = np.maximum(found[fits.group] - own * fits.weight / whole[fits.person], 0)
        strangers = (others + rate) / (drawn * eyes.sizes[fits.group] + 1)
        rivals = np.bincount(fits.person, fits.weight * (1 + strangers), minlength=fits.people)
        return np.asarray(fits.total / np.maximum(rivals, np.finfo(float).tiny))

    return np.concatenate(
        [
            eyes.by_kind(eyes.targets, lambda _, fits: lower(fits, 0.0)),
            eyes.by_kind(eyes.controls, lambda _, fits: lower(fits, 1.0)),
        ]
    )
