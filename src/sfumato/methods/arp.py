"""ARP: any partition refined until each block has as few people as l-diversity allows."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal

from sfumato.methods.column_blocks import block_joints, blocks_of, check_blocks
from sfumato.methods.eligible import sensitive_names
from sfumato.methods.method import Method
from sfumato.methods.splitting import Splitting, refuse_unsplittable, unavailable
from sfumato.models import LDiversity, LUniqueGroups, Model
from sfumato.models.model import one_of
from sfumato.publish.anatomize import anatomized_tables
from sfumato.publish.assemble import Published, assemble
from sfumato.publish.records import generalized_records
from sfumato.publish.slice import block_names, sliced_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.correlation import correlation_order
from sfumato.rows.initial import Initial, check_initial, initial_partition
from sfumato.rows.refine import mixed_by_value, refine
from sfumato.rows.shard_conditions import HasValues
from sfumato.table import Groups, Table


@dataclass(frozen=True, slots=True)
class ARP(Method):
    """Anonymisation on a refining partition: l-unique blocks of people who were grouped alike.

    `initial` is the partition to refine: `correlation` (`correlation-literal` to the letter of the
    paper), `mondrian`, `top-down`, `anatomy`, a list of columns whose equal rows stay together, or
    `Groups`. `publish_by` (in a policy: `publish`) says how: `anatomy` (exact tables),
    `generalize` (one table, quasi-identifiers generalised) or `slice` (one table whose blocks of
    columns are permuted within each block of rows; `columns` is the number of blocks of
    quasi-identifiers, or the blocks themselves). `residues` says where the rows go that are left
    over in a group: into its own blocks, or, as published, into further blocks with those of
    `neighbours`, which keeps a little more and protects less.

    *Source*: Zhu, Tian, Du, Xie, "Anonymization on Refining Partition: Same Privacy, More
    Utility". Departs from the paper: residues stay in their own group, and joined parts of the
    correlation partition are cut further, unless asked otherwise; several sensitive attributes;
    missing values.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"age": [25, 28, 41, 47], "disease": ["Flu", "HIV", "HIV", "Fever"]})
    >>> schema = Schema.of(age="quasi-identifier", disease="sensitive")
    >>> release = ARP(l=2).publish(people, schema)
    >>> sorted(release.tables), release.tables["qi_1"]["group"].value_counts().field(1).to_pylist()
    (['qi_1', 'sensitive_1'], [2, 2])
    """

    name: ClassVar[str] = "arp"
    l: int  # noqa: E741 -- the parameter's name in every paper
    initial: Initial = "correlation"
    publish_by: Literal["anatomy", "generalize", "slice"] = field(
        default="anatomy", metadata={"key": "publish"}
    )
    columns: int | Sequence[Sequence[str]] = 2
    residues: Literal["own", "neighbours"] = "own"

    def __post_init__(self) -> None:
        LUniqueGroups("", self.l)
        check_initial(self.initial, self.name)
        one_of(self.publish_by, ("anatomy", "generalize", "slice"), "publish", self.name)
        check_blocks(self.columns, self.name)
        one_of(self.residues, ("own", "neighbours"), "residues", self.name)

    def largest_share(self) -> Fraction:
        """Return 1/l."""
        return Fraction(1, self.l)

    def joints(self, frame: Table) -> tuple[tuple[str, ...], ...]:
        """Return the pairs of columns whose associations count."""
        pairs: list[tuple[str, ...]] = []
        if self.publish_by == "slice":
            pairs += block_joints(frame, self.columns)
        if self._is_by_correlation:
            pairs += [(q.name, s.name) for q in frame.quasi_identifiers for s in frame.sensitive]
        return tuple(pairs)

    def splitting(self, frame: Table) -> Splitting:
        """Return a split like the initial partition, in which every shard is l-eligible.

        *Refuses* (EngineUnavailable): groups of the caller's own, which are of other rows.
        """
        refuse_unsplittable(frame, self.name)
        names = sensitive_names(frame, self.name)
        if isinstance(self.initial, Groups):
            raise unavailable(f"{self.name} with groups of the caller's own as `initial`")
        conditions = tuple(
            HasValues(name, frame[name].null_code, Fraction(1, self.l)) for name in names
        )
        if self.initial == "anatomy":
            return Splitting("deal", tuple(names), conditions, self.l)
        on = [column.name for column in frame.quasi_identifiers]
        if self._is_by_correlation:
            sensitive = [frame[name] for name in names]
            ordered = correlation_order(frame.quasi_identifiers, sensitive, frame.whole)
            on = [column.name for column in ordered]
        elif not isinstance(self.initial, str):
            on = list(self.initial)
        in_order = self._is_by_correlation or not isinstance(self.initial, str)
        return Splitting("cuts", tuple(on), conditions, self.l, in_order=in_order)

    @property
    def _is_by_correlation(self) -> bool:
        return self.initial in ("correlation", "correlation-literal")

    def _release(self, table: Table, randomness: Randomness) -> Release:
        names = sensitive_names(table, self.name)
        first, rng = randomness.generator("initial partition"), randomness.generator("refining")
        with ThreadPoolExecutor(1) as beside:  # the partition has one thread, and its own draws
            drawn = beside.submit(mixed_by_value, table, names, rng=rng)
            initial = initial_partition(table, names, self.l, self.initial, rng=first)
            mixed = drawn.result()
        blocks = refine(table, initial, names, self.l, rng=rng, residues=self.residues, mixed=mixed)
        del drawn, mixed, initial  # whose memory serves what is published
        models: list[Model] = [LDiversity(name, self.l) for name in names]
        if self.publish_by == "anatomy":
            models += [LUniqueGroups(name, self.l) for name in names]
        published, parameters = self._published(table, blocks, randomness)
        return assemble(
            published,
            method=self.name,
            rows=table.rows,
            models=models,
            parameters=parameters,
            is_test=randomness.is_test,
        )

    def _published(
        self, table: Table, blocks: Groups, randomness: Randomness
    ) -> tuple[Published, dict[str, Any]]:
        rng = randomness.generator("tables")
        if self.publish_by == "anatomy":
            return anatomized_tables(table, blocks, rng=rng), {}
        if self.publish_by == "generalize":
            return generalized_records(table, blocks, rng=rng), {}
        together = blocks_of(table, self.columns, self.name)
        parameters = {"columns": block_names(table, together)}
        return sliced_records(table, blocks, together, rng=rng), parameters
