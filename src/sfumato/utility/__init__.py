"""Utility metrics of a release, measured against the original table."""

from sfumato.utility.correspondence import (
    glp,
    mean_probability,
    nlp_of_candidates,
    reconstruction_error,
)
from sfumato.utility.discernibility import discernibility
from sfumato.utility.distortion import distortion_ratio
from sfumato.utility.learning import Learned, learning_accuracy
from sfumato.utility.ncp import Ncp, ncp

__all__ = [
    "Learned",
    "Ncp",
    "discernibility",
    "distortion_ratio",
    "glp",
    "learning_accuracy",
    "mean_probability",
    "ncp",
    "nlp_of_candidates",
    "reconstruction_error",
]
