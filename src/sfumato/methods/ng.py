"""NG: non-homogeneous generalisation on rings, a comparator that claims nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.errors import ParameterError
from sfumato.methods.eligible import sensitive_names
from sfumato.methods.method import Method
from sfumato.models import LUniqueGroups
from sfumato.publish.assemble import assemble
from sfumato.publish.ring_records import ring_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.initial import Initial, check_initial, initial_partition
from sfumato.rows.ring import rings
from sfumato.table import Table


@dataclass(frozen=True, slots=True)
class NG(Method):
    """Records that each cover l neighbours on a ring, whose sensitive values all differ.

    Every person may be behind l records with l different sensitive values, equally likely. The
    published files cannot show it, so the release claims nothing, and its audit does not answer 0.
    `initial` as in `ARP`.

    *Source*: Wong, Mamoulis, Cheung, "Non-homogeneous Generalization in Privacy Preserving Data
    Publishing" (2010), as Zhu et al. compare with it. Departs from the paper: the matching is one
    random step for a whole ring, under which all l rows of a record are equally likely.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "HIV", "HIV", "Fever"]})
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> release = NG(l=2).publish(people, schema)
    >>> release.tables["records"].num_rows, release.manifest.guarantees
    (4, ())
    """

    name: ClassVar[str] = "ng"
    l: int  # noqa: E741 -- the parameter's name in every paper
    initial: Initial = "correlation"

    def __post_init__(self) -> None:
        LUniqueGroups("", self.l)
        check_initial(self.initial, self.name)

    def _release(self, table: Table, randomness: Randomness) -> Release:
        names = sensitive_names(table, self.name)
        if len(names) != 1:
            raise ParameterError(
                f"ng needs exactly one sensitive attribute, and there are {len(names)}; "
                "give the others another role"
            )
        groups = initial_partition(
            table, names, self.l, self.initial, rng=randomness.generator("initial partition")
        )
        ring = rings(table[names[0]], groups, self.l, rng=randomness.generator("rings"))
        return assemble(
            ring_records(table, groups, ring, self.l, rng=randomness.generator("records")),
            method=self.name,
            rows=table.rows,
            models=[],
            parameters={},
            is_test=randomness.is_test,
        )
