"""Publish microdata about people so that the picture stays and the outlines blur.

    >>> import sfumato as sf
    >>> people = {"age": [25, 28, 41, 47], "disease": ["Flu", "Fever", "HIV", "Flu"]}
    >>> import pyarrow as pa
    >>> schema = sf.Schema.of(age="quasi-identifier", disease="sensitive")
    >>> release = sf.Mondrian(k=2, models=(sf.LDiversity("disease", 2),)).publish(
    ...     pa.table(people), schema
    ... )
    >>> sf.audit(release).ok
    True

Names load what they need when they are first used: importing the package takes no time.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato import answers, datasets
    from sfumato.answers import to_microdata
    from sfumato.attacks import AttackReport, CompositionReport, attack, compose
    from sfumato.audit import AuditReport, audit
    from sfumato.errors import (
        ClaimBroken,
        EngineUnavailable,
        HierarchyError,
        Infeasible,
        InputError,
        ParameterError,
        ReleaseDamaged,
        SchemaError,
        SfumatoError,
    )
    from sfumato.io.read import read_table
    from sfumato.jobs.compare import Comparison, compare
    from sfumato.jobs.policy import Policy
    from sfumato.jobs.recommend import recommend
    from sfumato.jobs.recommendation import Recommendation
    from sfumato.jobs.report import report
    from sfumato.jobs.risk import risk_of
    from sfumato.jobs.same_cuts import reapply
    from sfumato.methods import (
        AIP,
        ARP,
        ASN,
        DP,
        LGB,
        MDAV,
        METHODS,
        NG,
        PRAM,
        SLPPA,
        Anatomy,
        Composition,
        FullDomain,
        Hybrid,
        LocalSuppression,
        Merging,
        Mondrian,
        Probabilistic,
        Rating,
        SensitiveQID,
        SetProtection,
        Slicing,
        TopDown,
    )
    from sfumato.models import (
        AlphaBetaGammaDelta,
        AlphaKAnonymity,
        BetaLikeness,
        DeltaPresence,
        KAnonymity,
        LDiversity,
        Linkable,
        LUniqueBuckets,
        LUniqueGroups,
        MinimumWidth,
        TCloseBuckets,
        TCloseness,
    )
    from sfumato.randomness import Randomness
    from sfumato.recoding import (
        BinInto,
        BottomCode,
        KeepPrefix,
        MapValues,
        RoundTo,
        ShiftDates,
        TopCode,
        TruncateTo,
        recode,
    )
    from sfumato.release import Release
    from sfumato.reports.report import Report
    from sfumato.schema import (
        Attribute,
        Bins,
        Dates,
        EqualWidth,
        Hierarchy,
        Kind,
        Mask,
        Quantiles,
        Role,
        Schema,
    )
    from sfumato.table import decode, encode
    from sfumato.utility import (
        discernibility,
        distortion_ratio,
        glp,
        learning_accuracy,
        mean_probability,
        ncp,
        reconstruction_error,
    )

_ROOMS = {
    "sfumato.answers": ("to_microdata",),
    "sfumato.attacks": ("AttackReport", "CompositionReport", "attack", "compose"),
    "sfumato.audit": ("AuditReport", "audit"),
    "sfumato.errors": (
        "ClaimBroken",
        "EngineUnavailable",
        "HierarchyError",
        "Infeasible",
        "InputError",
        "ParameterError",
        "ReleaseDamaged",
        "SchemaError",
        "SfumatoError",
    ),
    "sfumato.io.read": ("read_table",),
    "sfumato.jobs.compare": ("Comparison", "compare"),
    "sfumato.jobs.policy": ("Policy",),
    "sfumato.jobs.recommend": ("recommend",),
    "sfumato.jobs.recommendation": ("Recommendation",),
    "sfumato.jobs.report": ("report",),
    "sfumato.jobs.risk": ("risk_of",),
    "sfumato.jobs.same_cuts": ("reapply",),
    "sfumato.methods": (
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
        "Mondrian",
        "Probabilistic",
        "Rating",
        "SensitiveQID",
        "SetProtection",
        "Slicing",
        "TopDown",
    ),
    "sfumato.models": (
        "AlphaBetaGammaDelta",
        "AlphaKAnonymity",
        "BetaLikeness",
        "DeltaPresence",
        "KAnonymity",
        "LDiversity",
        "LUniqueBuckets",
        "LUniqueGroups",
        "Linkable",
        "MinimumWidth",
        "TCloseBuckets",
        "TCloseness",
    ),
    "sfumato.randomness": ("Randomness",),
    "sfumato.recoding": (
        "BinInto",
        "BottomCode",
        "KeepPrefix",
        "MapValues",
        "RoundTo",
        "ShiftDates",
        "TopCode",
        "TruncateTo",
        "recode",
    ),
    "sfumato.release": ("Release",),
    "sfumato.reports.report": ("Report",),
    "sfumato.schema": (
        "Attribute",
        "Bins",
        "Dates",
        "EqualWidth",
        "Hierarchy",
        "Kind",
        "Mask",
        "Quantiles",
        "Role",
        "Schema",
    ),
    "sfumato.table": ("decode", "encode"),
    "sfumato.utility": (
        "discernibility",
        "distortion_ratio",
        "glp",
        "learning_accuracy",
        "mean_probability",
        "ncp",
        "reconstruction_error",
    ),
}
_MODULES = ("answers", "datasets")
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

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
    "AlphaBetaGammaDelta",
    "AlphaKAnonymity",
    "Anatomy",
    "AttackReport",
    "Attribute",
    "AuditReport",
    "BetaLikeness",
    "BinInto",
    "Bins",
    "BottomCode",
    "ClaimBroken",
    "Comparison",
    "Composition",
    "CompositionReport",
    "Dates",
    "DeltaPresence",
    "EngineUnavailable",
    "EqualWidth",
    "FullDomain",
    "Hierarchy",
    "HierarchyError",
    "Hybrid",
    "Infeasible",
    "InputError",
    "KAnonymity",
    "KeepPrefix",
    "Kind",
    "LDiversity",
    "LUniqueBuckets",
    "LUniqueGroups",
    "Linkable",
    "LocalSuppression",
    "MapValues",
    "Mask",
    "Merging",
    "MinimumWidth",
    "Mondrian",
    "ParameterError",
    "Policy",
    "Probabilistic",
    "Quantiles",
    "Randomness",
    "Rating",
    "Recommendation",
    "Release",
    "ReleaseDamaged",
    "Report",
    "Role",
    "RoundTo",
    "Schema",
    "SchemaError",
    "SensitiveQID",
    "SetProtection",
    "SfumatoError",
    "ShiftDates",
    "Slicing",
    "TCloseBuckets",
    "TCloseness",
    "TopCode",
    "TopDown",
    "TruncateTo",
    "__version__",
    "answers",
    "attack",
    "audit",
    "compare",
    "compose",
    "datasets",
    "decode",
    "discernibility",
    "distortion_ratio",
    "encode",
    "glp",
    "learning_accuracy",
    "mean_probability",
    "ncp",
    "read_table",
    "reapply",
    "recode",
    "recommend",
    "reconstruction_error",
    "report",
    "risk_of",
    "to_microdata",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"sfumato.{name}")
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    value = getattr(import_module(room), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """This package, in which `audit` is the function, though a room has the same name.

    Importing a room binds it here as an attribute. `sfumato.audit(release)` must work whether or
    not someone has imported the room before.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and name in _ROOM_OF:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
