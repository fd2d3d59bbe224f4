"""What a manifest may say of its making, as the format's table of methods has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GENERALIZED, ANATOMIZED, SLICED, LOCAL, SETS = (
    *("generalized", "anatomized", "sliced", "local", "sets"),
)
# method: layouts, parameters
METHODS = {
    "mondrian": ({GENERALIZED}, {"suppression", "linked"}),
    "full-domain": ({GENERALIZED}, {"levels", "suppression", "optimal"}),
    "top-down": ({GENERALIZED}, set()),
    "anatomy": ({ANATOMIZED}, set()),
    "lgb": ({LOCAL}, {"generalize", "withheld_cells"}),
    "arp": ({ANATOMIZED, GENERALIZED, SLICED}, {"columns"}),
    "aip": ({ANATOMIZED}, set()),
    "ng": ({GENERALIZED}, set()),
    "slppa": ({ANATOMIZED}, {"tables"}),
    "asn": ({ANATOMIZED}, {"tables"}),
    "slicing": ({SLICED}, {"columns"}),
    "merging": ({SLICED}, {"columns", "fakes"}),
    "composition": ({GENERALIZED}, {"alpha"}),
    "probabilistic": ({GENERALIZED}, {"d", "alpha", "sample"}),
    "hybrid": ({GENERALIZED}, {"sample", "perturb"}),
    "dp": ({GENERALIZED}, {"cuts", "bins", "cells"}),
    "pram": ({GENERALIZED}, {"kind", "transitions"}),
    "mdav": ({GENERALIZED}, {"microaggregated"}),
    "local-suppression": ({GENERALIZED}, {"suppressed_cells"}),
    "sensitive-qid": ({SETS}, {"sets", "bins", "types", "joint"}),
    "rating": ({SETS}, {"sets", "bins", "types"}),
}
OF_ALL = {"formula_guard", "hierarchies", "household", "recoding"}
NEEDED = {
    "pram": {"transitions"},
    "mdav": {"microaggregated"},
    "hybrid": {"sample", "perturb"},
    "probabilistic": {"sample"},
}


def problems(manifest: Mapping[str, Any]) -> list[str]:
    """Return what no maker says of itself."""
    method, parameters = manifest["method"], manifest["parameters"]
    found = []
    if not 0 <= manifest["suppressed"] <= 10**12 or not 0 <= manifest["rows"] <= 10**12:
        found.append("a number of records that no table has")
    if any(sign in manifest["software"] for sign in "/\\:~") or manifest["software"].count(" ") > 1:
        found.append("software that is no program and version")
    for claim in manifest["guarantees"]:
        if claim["model"] == "differential-privacy":
            epsilon = claim.get("epsilon")
            number = isinstance(epsilon, int | float) and not isinstance(epsilon, bool)
            if method in METHODS and method != "dp":
                found.append("differential privacy of what has none")
            if not number or epsilon <= 0 or set(claim) != {"model", "epsilon"}:
                found.append("an epsilon that cannot be")
        if claim["model"] == "delta-presence":
            ends = [claim.get("minimum"), claim.get("maximum")]
            if any(isinstance(e, bool) or not isinstance(e, int | float) for e in ends):
                found.append("ends of presence that are no numbers")
            elif not 0 <= ends[0] <= ends[1] <= 1 or (manifest["rows"] and not ends[1]):
                found.append("a presence that cannot be")
    if method not in METHODS:
        return found
    layouts, own = METHODS[method]
    if manifest["layout"] not in layouts:
        found.append("a layout that the method does not publish")
    if set(parameters) - own - OF_ALL or NEEDED.get(method, set()) - set(parameters):
        found.append("parameters that are not the method's")
    if "tables" in parameters:
        quasi = [each for each in manifest["tables"] if each["name"].startswith("qi_")]
        if parameters["tables"] != len(quasi):
            found.append("another number of tables")
    if "suppression" in parameters and not manifest.get("suppressed_by_value"):
        everybody = manifest["rows"] + manifest["suppressed"]
        if manifest["suppressed"] > parameters["suppression"] * everybody + 1e-6:
            found.append("more withheld than the stated share")
    return found
