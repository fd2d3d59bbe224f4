"""The risk of a table before anything is published."""

from sfumato.risk.adversaries import Levels
from sfumato.risk.assess import assess
from sfumato.risk.estimate import Estimate
from sfumato.risk.k_map import KMap
from sfumato.risk.pitman import pitman
from sfumato.risk.records import KNOWN_ROLES, Records, records_of
from sfumato.risk.risk import Risk
from sfumato.risk.slide_negative_binomial import slide_negative_binomial
from sfumato.risk.uniques import Combination, Uniques, uniques_of
from sfumato.risk.zayatz import zayatz

__all__ = [
    "KNOWN_ROLES",
    "Combination",
    "Estimate",
    "KMap",
    "Levels",
    "Records",
    "Risk",
    "Uniques",
    "assess",
    "pitman",
    "records_of",
    "slide_negative_binomial",
    "uniques_of",
    "zayatz",
]
