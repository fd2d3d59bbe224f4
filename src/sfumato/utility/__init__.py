"""Utility metrics of a release, measured against the original table."""

from sfumato.utility.discernibility import discernibility
from sfumato.utility.ncp import Ncp, ncp

__all__ = ["Ncp", "discernibility", "ncp"]
