"""The most that a release exposes anybody to: the worst case of two probabilities, from its files.

*Re-identification*: that a record is recognised as the right person's, by somebody who knows all
quasi-identifiers of the person and that they are in the data. Of n records whose cells are alike
each is theirs with 1/n; who fits records of several groups is hidden among more, which is not
counted. Layouts that publish exact quasi-identifiers, or a record for each person, hide nobody: 1.

*Inference*: that the same adversary concludes a person's sensitive value: the largest share that a
value has in any group or bucket, whichever of them is the person's. Of random sets it follows by
Bayes from the person's own set and the shares of values, which all sets together tell; of sets that
were dealt (`rating`) it is one over their size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from sfumato.answers.set_axes import OTHER_MAKERS, read_axis
from sfumato.attacks.set_adversary import PROTECTED, margin_of
from sfumato.attacks.set_weights import factors
from sfumato.audit.layouts import examine
from sfumato.audit.statistics import SensitiveValues
from sfumato.release import Manifest, Release
from sfumato.release.transitions import is_randomised
from sfumato.schema.attribute import Role

_KNOWN = (Role.QUASI_IDENTIFIER, Role.SEMI_SENSITIVE, Role.SENSITIVE_QUASI_IDENTIFIER)
# Layouts whose records with the same cells are a crowd; in all others a combination shows itself.
_OF_CROWDS = ("generalized", "local")
# Posteriors are real numbers: they are rounded up to whole billionths, never to say too little.
_PARTS = 10**9


@dataclass(frozen=True, slots=True)
class Exposure:
    """Two worst cases over everybody: exact shares, `inference` by attribute.

    >>> found = Exposure(Fraction(1, 5), {"disease": Fraction(1, 3), "job": Fraction(1, 2)})
    >>> found.highest_inference, found.most_exposed
    (Fraction(1, 2), 'job')
    """

    reidentification: Fraction
    inference: Mapping[str, Fraction]

    @property
    def highest_inference(self) -> Fraction:
        """The largest of all attributes; 0 where nothing is secret."""
        return max(self.inference.values(), default=Fraction(0))

    @property
    def most_exposed(self) -> str | None:
        """The attribute that is concluded with the highest probability; None without any."""
        return max(self.inference, key=lambda name: self.inference[name], default=None)


def exposure(release: Release) -> Exposure:
    """Return the worst cases of a release, from its published files alone.

    Cells that were replaced at random count as exact: nobody is hidden among others by them.

    Refuses (ReleaseDamaged) a release that contradicts itself.
    """
    manifest = release.manifest
    evidence = examine(release)
    found: dict[str, Fraction] = {}
    for name, values in {**evidence.sensitive, **evidence.buckets}.items():
        found[name] = _largest_share(values, counts_missing=_counts_missing(manifest, name))
    for entry in manifest.attributes:
        if is_randomised(manifest) and entry.role is Role.SENSITIVE:
            found[entry.name] = Fraction(1)
        elif manifest.layout == "sets" and entry.role in PROTECTED:
            found[entry.name] = _of_sets(release, entry.name)
    is_known = any(entry.role in _KNOWN for entry in manifest.attributes)
    if manifest.rows == 0:
        return Exposure(Fraction(0), found)
    if not is_known:
        return Exposure(Fraction(1, manifest.rows), found)
    if manifest.layout not in _OF_CROWDS or is_randomised(manifest):
        return Exposure(Fraction(1), found)
    return Exposure(Fraction(1, int(evidence.crowds.min())), found)


def _largest_share(values: SensitiveValues, *, counts_missing: bool) -> Fraction:
    """Return the largest share of a value in a group, among those who have one."""
    histogram = values.histogram
    owners = np.repeat(np.arange(len(histogram.present)), np.diff(histogram.offsets))
    whole = values.sizes if counts_missing else histogram.present
    among = whole[owners]
    is_value = among > 0
    if not counts_missing:
        is_value &= histogram.codes != len(values.values)
    if not is_value.any():
        return Fraction(0)
    counts, among = histogram.counts[is_value], among[is_value]
    # the quotient of reals finds the place, whole numbers say how much it is there
    place = int(np.argmax(counts / among))
    return Fraction(int(counts[place]), int(among[place]))


def _counts_missing(manifest: Manifest, name: str) -> bool:
    """Return whether a missing value is one to be protected, as the claims about it say."""
    return any(
        claim.get("attribute") == name and claim.get("missing") == "value"
        for claim in manifest.guarantees
    )


def _of_sets(release: Release, name: str) -> Fraction:
    """Return the highest probability of a value, given the set of the person."""
    axis = read_axis(release, name)
    if not len(axis.members):
        return Fraction(0)
    if release.manifest.method in OTHER_MAKERS:
        return Fraction(1, axis.eta)
    prior = margin_of(axis)
    inside, outside = factors(axis)
    within = prior[axis.members]
    whole = inside * within.sum(axis=1) + outside * (1 - within.sum(axis=1))
    is_told = whole > 0
    likeliest = inside * within.max(axis=1)[is_told] / whole[is_told]
    # a value outside the set can be likelier than those in it, where it is far commoner
    commonest = (axis.members == int(prior.argmax())).any(axis=1)
    others = np.where(commonest, 0.0, prior.max())
    likeliest = np.maximum(likeliest, outside * others[is_told] / whole[is_told])
    return min(Fraction(ceil(float(likeliest.max(initial=0)) * _PARTS), _PARTS), Fraction(1))
