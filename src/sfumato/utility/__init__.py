"""Utility metrics of a release, measured against the original table."""

from sfumato.utility.correspondence import (
    glp,
    mean_probability,
    nlp_of_candidates,
    reconstruction_error,
)
from sfumato.utility.discernibility import discernibility
from sfumato.utility.distortion import distortion_ratio
from sfumato.utility.information_loss import InformationLoss, information_loss
from sfumato.utility.learning import Learned, learning_accuracy
from sfumato.utility.ncp import Ncp, ncp

__all__ = [
    "InformationLoss",
    "Learned",
    "Ncp",
    "discernibility",
    "distortion_ratio",
    "glp",
    "information_loss",
    "learning_accuracy",
    "mean_probability",
    "ncp",
    "nlp_of_candidates",
    "reconstruction_error",
]
