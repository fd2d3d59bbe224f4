"""dp: generalised values and noisy counts of them under differential privacy, a comparator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.errors import ParameterError
from sfumato.methods.method import Method
from sfumato.models.declared import DifferentialPrivacy
from sfumato.models.model import positive_integer, positive_number
from sfumato.publish.assemble import assemble
from sfumato.publish.counted_records import counted_records
from sfumato.randomness import Randomness
from sfumato.release import Release
from sfumato.rows.budget import Budget
from sfumato.rows.diffgen import Axis, leaf_codes, specialize, steps
from sfumato.table import Column, Table
from sfumato.table.stated import StatedColumn, stated_column

LARGEST_EPSILON = 1_000.0
# Records that noise alone may add; half the cells have noise above 0, of about 2 / epsilon.
_MOST_NOISE = 20_000_000
# Counts of one attribute's values by sensitive value that are held in memory.
_MOST_COUNTS = 50_000_000


@dataclass(frozen=True, slots=True)
class DP(Method):
    """Records drawn from noisy counts of generalised values: epsilon-differential privacy.

    Values are generalised by `cuts` specialisations that are chosen by noisy scores; then every
    combination of generalised values and a sensitive value is published as often as its noisy
    count says, not at all where that is below 1. At most `cells` combinations are counted: what
    would make them more is never chosen. Numbers are split at the edges of at most `bins` equal
    parts of their domain.

    *Guarantee*: for every two tables T and T' = T and one row more, and every set S of releases,
    Pr[release of T in S] and Pr[release of T' in S] differ by the factor e^epsilon at most.
    *Proof*. Domains come from the policy and types, so what can be chosen and counted is the same
    for T and T'. (1) A score is the sum over a value's children of their commonest sensitive
    value's count; children hold different rows, so one row more adds 0 or 1 to every score: noisy
    maxima of scale 1/e on such monotone scores cost e each. There are at most `steps` of them
    (the split points of one cut's children are of different rows, and cost e together), each
    with e = epsilon / (2 steps). (2) One row more adds 1 to one count of all: discrete Laplace
    noise of scale 2/epsilon costs epsilon / 2. By sequential composition all cost epsilon at
    most; the budget adds up what OpenDP's own privacy maps say, and refuses to exceed it.
    (3) Everything else (counts below 0, records, groups, their order) is computed from the noisy
    counts. The number of rows is not published: `rows` counts the records.

    It protects one row. Column names and types are taken as known, and a refusal (a value outside
    its stated domain, a table without rows, people with several) is not protected. *A run cannot
    be repeated*: OpenDP draws its noise from the operating system and takes no seed; a seed only
    steers the order of records.

    *Refuses* (ParameterError): attributes whose domain the policy does not state; more or less
    than one sensitive attribute (joint domains would mostly be noise); kept insensitive columns,
    which are published exactly; people with several rows. EngineUnavailable without OpenDP.
    *Source*: Mohammed, Chen, Fung, Yu, "Differentially Private Data Release for Data Mining"
    (2011), with its score `Max` and the sensitive attribute as the class. Departs from the paper:
    choices are noisy maxima (permute-and-flip, never worse than the exponential mechanism) with
    half the noise, which is enough for monotone scores; split points lie on a grid; what is never
    needed (the last cut's split points) is not paid for; missing values are values.
    """

    name: ClassVar[str] = "dp"
    counts_missing: ClassVar[bool] = True  # a missing value is one like any other
    epsilon: float
    cuts: int = 8
    bins: int = 32
    cells: int = 1_000

    def __post_init__(self) -> None:
        positive_number(self.epsilon, "epsilon", self.name, most=LARGEST_EPSILON)
        for key in ("cuts", "bins", "cells"):
            positive_integer(getattr(self, key), key, self.name)
        if self.cells / self.epsilon > _MOST_NOISE:
            raise ParameterError(
                f"dp: with `epsilon` {self.epsilon:g} and `cells` {self.cells:,} noise alone could "
                f"be {self.cells / self.epsilon:,.0f} records; use fewer cells or a larger epsilon"
            )

    def _release(self, table: Table, randomness: Randomness) -> Release:
        self._refuse(table)
        sensitive = self._sensitive(table.sensitive[0])
        classes = sensitive.cardinality + 1
        quasi = [stated_column(column, self.bins) for column in table.quasi_identifiers]
        axes = [_axis(each, sensitive) for each in quasi]
        budget = Budget(self.epsilon)
        half = budget.epsilon / 2
        nodes = specialize(
            axes, budget, self.cuts, self.cells // classes, half / steps(axes, self.cuts)
        )
        shape = (*(len(each) for each in nodes), classes)
        places = [leaf_codes(q.column, each) for q, each in zip(quasi, nodes, strict=True)]
        cell_of_row = np.ravel_multi_index((*places, sensitive.codes), shape)
        counts = np.bincount(cell_of_row, minlength=int(np.prod(shape)))
        noisy = np.maximum(budget.noisy(counts, half), 0).reshape(shape)
        return assemble(
            counted_records(
                list(zip(quasi, nodes, strict=True)),
                sensitive,
                [column.name for column in table.columns],
                noisy,
                rng=randomness.generator("records"),
            ),
            method=self.name,
            rows=int(noisy.sum()),
            models=[DifferentialPrivacy(self.epsilon)],
            parameters={"cuts": self.cuts, "bins": self.bins, "cells": self.cells},
            is_test=randomness.is_test,
        )

    def _refuse(self, table: Table) -> None:
        if table.units is not None:
            raise ParameterError(
                "dp protects one row, and some people have several; keep one row each"
            )
        if table.kept:
            raise ParameterError(
                f"dp cannot keep '{table.kept[0].name}': published exactly, it would tell of its "
                "rows; drop `keep`, or make it a quasi-identifier with a stated domain"
            )
        if not table.quasi_identifiers:
            raise ParameterError("dp needs at least one quasi-identifier")
        if len(table.sensitive) != 1:
            raise ParameterError(
                f"dp counts the values of one sensitive attribute, and there are "
                f"{len(table.sensitive)}; make the others quasi-identifiers, or drop them"
            )
        if table.sensitive[0].attribute.min_width is not None:
            raise ParameterError(
                f"dp cannot keep a `min_width` for '{table.sensitive[0].name}'; use mondrian"
            )

    def _sensitive(self, column: Column) -> Column:
        """Return the sensitive column over its stated domain, each value of which is counted."""
        stated = stated_column(column, self.cells)
        if not stated.is_exact or stated.column.cardinality + 1 > self.cells:
            raise ParameterError(
                f"'{column.name}' can have more values than `cells` {self.cells:,}, and each would "
                "be counted; state a smaller domain, or round its values"
            )
        return stated.column


def _axis(stated: StatedColumn, sensitive: Column) -> Axis:
    classes = sensitive.cardinality + 1
    if (stated.column.cardinality + 1) * classes > _MOST_COUNTS:
        raise ParameterError(
            f"'{stated.column.name}' and '{sensitive.name}' can have more than {_MOST_COUNTS:,} "
            "pairs of values; state smaller domains"
        )
    return Axis.of(stated.column, sensitive.codes, classes)
