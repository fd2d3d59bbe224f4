"""The table of a comparison in words: one row a method, from the plain facts of its trials.

Terminals and pages show the same cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

Facts = Mapping[str, Any]

HEADERS: Final = (
    "method",
    "audited",
    "of the stated",
    "re-id highest",
    "re-id mean",
    "inferred",
    "blind",
    "highest",
    "member",
    "NCP",
    "COUNT mean",
    "COUNT median",
    "margins",
    "pairs",
    "seconds",
    "MB",
)
# What each column is, for whoever asks.
MEANINGS: Final = (
    ("audited", "the guarantees that hold, re-derived from what was published alone"),
    (
        "of the stated",
        "which parts of the protection that the policy states these guarantees are, or imply",
    ),
    (
        "re-id highest, mean",
        "re-identification: the chance that somebody who knows all quasi-identifiers of a person, "
        "and that the person is in the data, picks the right record; of the person who is easiest "
        "to find among those looked at, and the mean of all",
    ),
    (
        "inferred, blind",
        "how often the strongest attack (skewness, deFinetti; joint Bayes, which may know whose "
        "record it is, of sets and replaced cells) guesses a sensitive value rightly, and how "
        "often the commonest value of all is right",
    ),
    (
        "highest",
        "the largest chance that the probabilistic attack gives anybody's own sensitive value, "
        "among those looked at",
    ),
    (
        "member",
        "how often people in the data are told from others (made up, half of those asked about); "
        "a coin is right for 50%",
    ),
    (
        "NCP",
        "the mean loss of quasi-identifier cells: 0 exact, 1 withheld; none where nothing is "
        "generalised",
    ),
    (
        "COUNT mean, median",
        "the error of answers to random COUNT queries, |answer - truth| / truth, the same queries "
        "for all",
    ),
    (
        "margins",
        "the mean distance of single attributes' distributions from the original's (Hellinger, "
        "0 to 1)",
    ),
    (
        "pairs",
        "the mean change of how much two attributes go together (mean-square contingency, 0 to 1)",
    ),
    ("seconds, MB", "wall time and peak memory of publishing alone, on this machine"),
)


def audited(trial: Facts) -> str:
    """Return what the audit found, in few words.

    >>> claim = {"model": "k-anonymity", "k": 10, "holds": True}
    >>> audited({"audit": "holds", "guarantees": [claim], "refused": None})
    'k 10'
    """
    if trial["refused"] is not None:
        return "refused"
    told = _told(trial["guarantees"])
    if trial["audit"] == "broken":
        return f"BROKEN: {told}" if told else "BROKEN"
    if trial["audit"] == "nothing to check":
        return f"declares {told}" if told else "claims nothing"
    return told


def of_the_stated(trial: Facts) -> str:
    """Return which of the stated models the audited claims imply."""
    if trial["refused"] is not None:
        return ""
    if not trial["kept"]:
        return "nothing"
    return "all" if not trial["not_promised"] else _told(trial["kept"])


def cells(trial: Facts) -> list[str]:
    """Return the row of a method under `HEADERS`; what is not defined is empty."""
    linkage, worth = trial["linkage"] or {}, trial["utility"] or {}
    inferred = strongest(trial) or {}
    member = trial["membership"] or {}
    return [
        str(trial["method"]),
        audited(trial),
        of_the_stated(trial),
        _share(linkage.get("highest")),
        _share(linkage.get("mean")),
        _share(inferred.get("success")),
        _share(inferred.get("blind")),
        _share(inferred.get("highest")),
        _share(member.get("success")),
        _number(worth.get("ncp")),
        _share(worth.get("count_mean")),
        _share(worth.get("count_median")),
        _number(worth.get("margin")),
        _number(worth.get("association")),
        "" if trial["seconds"] is None else f"{trial['seconds']:.2f}",
        "" if trial["megabytes"] is None else f"{trial['megabytes']:.1f}",
    ]


# The same for a narrow terminal.
SHORT_HEADERS: Final = (
    "method",
    "audit",
    "keeps",
    "re-id highest",
    "mean",
    "guessed",
    "COUNT error",
    "median",
    "seconds",
)


def short_cells(trial: Facts) -> list[str]:
    """Return the row of a method under `SHORT_HEADERS`."""
    by_name = dict(zip(HEADERS, cells(trial), strict=True))
    kept = _told(trial["kept"]) or ("" if trial["refused"] is not None else "neither")
    return [
        by_name["method"],
        "refused" if trial["refused"] is not None else str(trial["audit"]),
        kept,
        *(by_name[each] for each in ("re-id highest", "re-id mean", "inferred")),
        *(by_name[each] for each in ("COUNT mean", "COUNT median", "seconds")),
    ]


def strongest(trial: Facts) -> Facts | None:
    """Return the inference that succeeds most often."""
    return max(trial["inference"], key=lambda each: each["success"], default=None)


def refusals(trials: Sequence[Facts]) -> list[list[str]]:
    """Return each method that published nothing, with why."""
    return [[t["method"], t["refused"]] for t in trials if t["refused"] is not None]


def remarks(trials: Sequence[Facts]) -> list[list[str]]:
    """Return what to know of each method that published, beside its numbers."""
    return [[t["method"], "; ".join(t["notes"])] for t in trials if not t["refused"] and t["notes"]]


def heading(found: Facts) -> str:
    """Return what was compared, in one sentence."""
    rows = f"{found['rows']:,} rows"
    if found["rows"] < found["of_rows"]:
        rows += f" drawn from {found['of_rows']:,}"
    stated = _told(found["stated"]) or "nothing"
    return (
        f"{len(found['trials'])} methods on {rows}; stated protection: {stated}; attacks looked at "
        f"up to {found['people']:,} people, and {found['queries']:,} COUNT queries were asked"
    )


def parameters(trial: Facts) -> str:
    """Return the parameters of a method, with what its attributes ask for."""
    own = [f"{key} = {_plain(value)}" for key, value in trial["parameters"].items()]
    for name, keys in trial["asked"].items():
        own += [f"{key} of {name} = {_plain(value)}" for key, value in keys.items()]
    return ", ".join(own)


_IMPLIED: Final = {"l-diversity": ("l-unique-groups", "l-unique-buckets")}
_WORDS: Final = {
    "k-anonymity": "k {k}",
    "l-diversity": "l {l}",
    "l-unique-groups": "l {l}, unique",
    "l-unique-buckets": "l {l}, buckets",
    "t-closeness": "t {t}",
    "t-close-buckets": "t {t}, buckets",
    "alpha-k-anonymity": "alpha {alpha}, k {k}",
    "beta-likeness": "beta-likeness {beta}",
    "alpha-beta-gamma-delta": "shares up to {beta}",
    "set-diversity": "sets of {l}",
    "set-closeness": "sets t {t}",
    "set-anonymity": "sets of {k}",
    "differential-privacy": "epsilon {epsilon}",
}


def _told(claims: Sequence[Facts]) -> str:
    """Return claims in few words; attributes are named where several have one."""
    names = {claim["attribute"] for claim in claims if "attribute" in claim}
    told: dict[str, None] = {}
    for claim in claims:
        stricter = _IMPLIED.get(claim["model"], ())
        if any(
            other["model"] in stricter and other["attribute"] == claim["attribute"]
            for other in claims
        ):
            continue
        words = _WORDS.get(str(claim["model"]), str(claim["model"]))
        if claim["model"] == "local-differential-privacy":
            told["local epsilon of each cell"] = None
            continue
        said = words.format_map({key: _plain(value) for key, value in claim.items()})
        variant = claim.get("variant")
        if claim["model"] == "l-diversity" and variant != "frequency":
            said = f"{variant} {said}"
        told[
            said + (f" of {claim['attribute']}" if len(names) > 1 and "attribute" in claim else "")
        ] = None
    return "; ".join(told)


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _share(value: float | None) -> str:
    if value is None:
        return ""
    return "<0.1%" if 0 < value < 0.0005 else f"{value:.1%}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
