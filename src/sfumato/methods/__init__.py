"""Publishing methods: each scheme as a short composition of makers, in one visible registry."""

from __future__ import annotations

from sfumato.methods.aip import AIP
from sfumato.methods.anatomy import Anatomy
from sfumato.methods.arp import ARP
from sfumato.methods.asn import ASN
from sfumato.methods.composition import Composition
from sfumato.methods.dp import DP
from sfumato.methods.full_domain import FullDomain
from sfumato.methods.hybrid import Hybrid
from sfumato.methods.lgb import LGB
from sfumato.methods.local_suppression import LocalSuppression
from sfumato.methods.mdav import MDAV
from sfumato.methods.merging import Merging
from sfumato.methods.method import Method
from sfumato.methods.mondrian import Mondrian
from sfumato.methods.ng import NG
from sfumato.methods.pram import PRAM
from sfumato.methods.probabilistic import Probabilistic
from sfumato.methods.rating import Rating
from sfumato.methods.sensitive_qid import SensitiveQID, SetProtection
from sfumato.methods.slicing import Slicing
from sfumato.methods.slppa import SLPPA
from sfumato.methods.top_down import TopDown

METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        Mondrian,
        FullDomain,
        TopDown,
        Anatomy,
        LGB,
        ARP,
        AIP,
        NG,
        SLPPA,
        Slicing,
        Merging,
        ASN,
        Composition,
        Probabilistic,
        Hybrid,
        DP,
        PRAM,
        MDAV,
        LocalSuppression,
        SensitiveQID,
        Rating,
    )
}

__all__ = [
    "AIP",
    "ARP",
    "ASN",
    "DP",
    "LGB",
    "MDAV",
    "METHODS",
    "NG",
    "PRAM",
    "SLPPA",
    "Anatomy",
    "Composition",
    "FullDomain",
    "Hybrid",
    "LocalSuppression",
    "Merging",
    "Method",
    "Mondrian",
    "Probabilistic",
    "Rating",
    "SensitiveQID",
    "SetProtection",
    "Slicing",
    "TopDown",
]
