"""The `sets` layout: records whose protected cells are sets of values, drawn as the manifest says.

What the files can show is that every set is one that such a draw may give, and that no value, and
no pair of values, is in more of them, or fewer, than chance allows. That p is the stated one they
cannot: a maker who puts the own value in more often leaves sets of the same kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.audit.coded import coded, comparable
from sfumato.audit.domains import Domain
from sfumato.audit.number_line import read_values
from sfumato.audit.set_draws import oddity
from sfumato.audit.set_parameters import check_parameters
from sfumato.audit.shared_sets import diverse_to_all, misstatement, too_common
from sfumato.audit.statistics import Evidence, SetEvidence
from sfumato.audit.structure import check_roles, set_table
from sfumato.errors import ParameterError, ReleaseDamaged
from sfumato.measures.set_randomization import Masses, Randomization
from sfumato.release import AttributeEntry, Manifest, Release
from sfumato.release.set_columns import is_list, set_codes
from sfumato.schema.attribute import Kind, Role

PROTECTED = (Role.SENSITIVE_QUASI_IDENTIFIER, Role.SENSITIVE)
_ROLES = (*PROTECTED, Role.QUASI_IDENTIFIER, Role.INSENSITIVE)


def examine_sets(release: Release) -> Evidence:
    """Return how the sets of each attribute were drawn; ReleaseDamaged where they do not fit it.

    Every cell of a protected attribute is a set of eta different values of the stated domain, in
    its order; every other cell is exact. A record is a group of its own: it shares with nobody.
    """
    manifest = release.manifest
    check_roles(manifest, _ROLES)
    entry = set_table(manifest)
    if release.hierarchies:
        raise ReleaseDamaged("a release of sets generalises nothing, and has hierarchies")
    table = release.tables[entry.name]
    if table.num_rows != manifest.rows:
        raise ReleaseDamaged(
            f"table '{entry.name}' holds {table.num_rows} records, "
            f"and the manifest says {manifest.rows}"
        )
    stated = _stated(manifest)
    check_parameters(manifest, stated.keys())
    sets, remarks = {}, []
    for attribute in manifest.attributes:
        column = table[attribute.name]
        if attribute.name in stated:
            sets[attribute.name] = _drawn(attribute, stated[attribute.name])
            how = sets[attribute.name].randomization
            codes = _check_cells(attribute, column, how.eta)
            if manifest.method == "rating":  # whose sets are other records' values
                held = np.bincount(codes.reshape(-1), minlength=how.d)
                claims = [c for c in manifest.guarantees if c.get("attribute") == attribute.name]
                problem = misstatement(sets[attribute.name], claims, held)
                remarks += too_common(attribute.name, held, how, manifest.rows)
            else:
                problem = oddity(codes, how, sets[attribute.name].masses)
            if problem is not None:
                raise _damage(attribute, problem)
        elif is_list(column.type):
            raise _damage(attribute, f"is {attribute.role}, and its cells are sets")
        else:
            Domain.of(attribute, None).check_values(coded(column))
    if manifest.method == "rating":
        remarks += diverse_to_all(manifest.guarantees)
    alone = np.ones(manifest.rows, dtype=np.int64)
    return Evidence(alone, alone, {}, sets=sets, remarks=tuple(remarks))


def _stated(manifest: Manifest) -> Mapping[str, Any]:
    """Return what the manifest says of the sets, by attribute: of all that are protected."""
    stated = manifest.parameters.get("sets")
    if not isinstance(stated, dict):
        raise ReleaseDamaged("the parameter 'sets' does not say how the sets were drawn")
    protected = {entry.name for entry in manifest.attributes if entry.role in PROTECTED}
    if stated.keys() != protected:
        raise ReleaseDamaged("the parameter 'sets' does not name each protected attribute once")
    return stated


def _drawn(entry: AttributeEntry, stated: object) -> SetEvidence:
    """Return how an attribute's sets were drawn, checked."""
    if not isinstance(stated, dict) or not {"p", "eta"} <= stated.keys():
        raise _damage(entry, "has sets without the p and eta that they were drawn with")
    if not stated.keys() <= {"p", "eta", "masses"}:
        raise _damage(entry, "has sets of which more is said than p, eta and masses")
    size = _domain_size(entry)
    try:
        how = Randomization(stated["p"], stated["eta"], size)
    except ParameterError as error:
        raise _damage(entry, f"has sets that cannot be: {error}") from None
    ordered = entry.kind in (Kind.NUMERIC, Kind.ORDINAL)
    return SetEvidence(how, _masses(entry, stated.get("masses"), how), ordered)


def _domain_size(entry: AttributeEntry) -> int:
    """Return how many values the domain lists, a missing one counted; they must be of the type."""
    if not isinstance(entry.domain, tuple) or not entry.domain:
        raise _damage(entry, "has sets, and the manifest does not list its values")
    if len(set(entry.domain)) < len(entry.domain):
        raise _damage(entry, "has a domain that lists a value twice")
    values = read_values(pa.array(entry.listed, pa.string()), entry.dtype)
    if values is None:
        raise _damage(entry, "has a domain with values that are not of its type")
    plain = comparable(values)
    if pa.types.is_floating(plain.type) and not pc.all(pc.is_finite(plain), min_count=0).as_py():
        raise _damage(entry, "has values that are not finite numbers")
    if len(coded(pa.chunked_array([values])).cells) < len(values):  # 0 and -0 are one number
        raise _damage(entry, "has a domain that lists a value twice")
    if entry.kind is Kind.NUMERIC:
        if pa.types.is_string(plain.type):
            raise _damage(entry, "is numeric, and its type is not")
        if not pc.all(pc.less(plain[:-1], plain[1:]), min_count=0).as_py():
            raise _damage(entry, "has a domain whose numbers are in disorder")
    return len(entry.domain)


def _masses(entry: AttributeEntry, stated: object, how: Randomization) -> Masses | None:
    """Return the stated ends of the masses; the mean mass of a set, eta/d, lies between any."""
    if stated is None:
        return None
    ends = stated if isinstance(stated, list | tuple) else ()
    numbers = [end for end in ends if isinstance(end, int | float) and not isinstance(end, bool)]
    if len(numbers) != 2 or len(ends) != 2:
        raise _damage(entry, "has sets with masses that are not two numbers")
    low, high = numbers
    if not 0 <= low <= high <= 1:
        raise _damage(entry, "has sets with masses that are not an interval of shares")
    if not Fraction(str(low)) <= Fraction(how.eta, how.d) <= Fraction(str(high)):
        raise _damage(entry, "has sets with masses that no distribution has")
    return float(low), float(high)


def _check_cells(entry: AttributeEntry, column: pa.ChunkedArray, eta: int) -> npt.NDArray[np.int32]:
    """Return the sets, a line a row, by the places of their values in the domain.

    Refuses (ReleaseDamaged) cells that are not sets of eta values in the order of the domain.
    """
    if not is_list(column.type):
        raise _damage(entry, "is protected, and its cells are not sets")
    starts, codes = set_codes(column.combine_chunks(), entry)
    others = int((np.diff(starts) != eta).sum())
    if others:
        raise _damage(entry, f"has {others} sets of another size than {eta}")
    rows = codes.reshape(-1, eta)
    mixed = int((rows[:, 1:] <= rows[:, :-1]).any(axis=1).sum())
    if mixed:
        raise _damage(entry, f"has {mixed} sets with a value twice or out of order")
    return rows


def _damage(entry: AttributeEntry, problem: str) -> ReleaseDamaged:
    return ReleaseDamaged(f"attribute '{entry.name}' {problem}")
