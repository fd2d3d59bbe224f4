"""Utility metrics of a release, measured against the original table."""

from sfumato.utility.correspondence import (
    glp,
    mean_probability,
    nlp_of_candidates,
    reconstruction_error,
)
from sfumato.utility.discernibility import discernibility
from sfumato.utility.ncp import Ncp, ncp

__all__ = [
    "Ncp",
    "discernibility",
    "glp",
    "mean_probability",
    "ncp",
    "nlp_of_candidates",
    "reconstruction_error",
]
