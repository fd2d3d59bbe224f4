"""The risk of a table before anything is published."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import ParameterError
from sfumato.risk.adversaries import levels
from sfumato.risk.class_growth import pitman_risks
from sfumato.risk.classes import COUNTED, below, frequencies, histogram
from sfumato.risk.estimate import Estimate
from sfumato.risk.households import households_of
from sfumato.risk.individual import inclusion, mean_inverse
from sfumato.risk.k_map import KMap, by_pitman, by_posterior, counted, population_sizes
from sfumato.risk.pitman import Pitman, fit_pitman, pitman
from sfumato.risk.records import Records, records_of
from sfumato.risk.risk import Risk
from sfumato.risk.sampling import Sampling, sampling_of
from sfumato.risk.slide_negative_binomial import slide_negative_binomial
from sfumato.risk.uniques import uniques_of
from sfumato.risk.zayatz import zayatz
from sfumato.table.table import Table

Floats = npt.NDArray[np.float64]

UPPER_BOUND = "upper bound"
_WITHOUT_WEIGHTS = (UPPER_BOUND, "pitman", "negative-binomial")


def assess(
    table: Table,
    *,
    population: Table | None = None,
    population_size: int | None = None,
    fraction: float | None = None,
    weights: Floats | None = None,
    households: npt.NDArray[np.integer[Any]] | None = None,
    max_size: int = 3,
) -> Risk:
    """Return the risk of a table whose known columns an adversary sees as they are.

    A `population` table has the same known columns, with codes that stand for the same values.
    `weights` (the people that each row stands for) and `households` (codes) are by row of the
    table; with a stated size or fraction, weights are scaled to it.

    Refuses (SchemaError) a table without known columns; (ParameterError) an empty one, a
    population that is smaller than the data or stated twice, and combinations beyond all bounds.
    """
    if not table.rows:
        raise ParameterError("the table has no rows, so there is nobody at risk")
    records = records_of(table)
    others = None if population is None else records_of(population)
    own = None if weights is None else weights[records.rows]
    sampling = sampling_of(
        records.count,
        table.unit_count,
        counted=None if others is None else others.count,
        fraction=fraction,
        size=population_size,
        weights=own,
    )
    notes: list[str] = []
    if own is not None and sampling.source in ("size", "fraction") and sampling.population:
        own = own * (sampling.population / own.sum())
        notes.append("weights were scaled so that they add up to the stated population")
    prosecutor = 1.0 / records.of_sizes
    journalist, maps = _of_population(records, others, sampling, own)
    if any(each.contradicted for each in maps):
        notes.append(
            f"{maps[0].contradicted} classes have more people in the data than in the population "
            "table, which therefore does not hold everyone; as many as in the data were taken"
        )
    if sampling.source == "none":
        notes.append(
            "nothing is known of a population (--fraction, --population-size, --population or "
            "`weight`), so all risks are those of data that are the whole population"
        )
    if UPPER_BOUND in journalist:
        notes.append(
            "Pitman's model cannot be fitted to this sample, so the risk of recognition is said to "
            "be as high as the prosecutor's: nothing tells that the population is less unique"
        )
    if "negative-binomial" in journalist and not sampling.is_census:
        notes.append(
            "the negative-binomial estimate was far too low on tables with many sample uniques, "
            "since it does not learn from the sample how many of them there are"
        )
    estimates = _estimates(records, sampling)
    if any(each.parameters.get("alpha") == 0 for each in estimates):
        notes.append(
            "Pitman's model met its bound alpha = 0, since the sample has too little to tell more: "
            "its estimates may be several times too low"
        )
    members, risks = next(iter(journalist.items()), ("prosecutor", prosecutor))
    uniques, inside = _counted_uniques(records, others, sampling)
    return Risk(
        columns=records.names,
        rows=table.rows,
        people=table.unit_count,
        records=records.count,
        is_weighted=own is not None,
        sampling=sampling,
        classes=len(records.sizes),
        smallest=int(records.sizes.min()),
        below=tuple(below(records.of_sizes, k, own) for k in COUNTED),
        histogram=histogram(records.sizes),
        prosecutor=levels(prosecutor, own),
        journalist={how: levels(each, own) for how, each in journalist.items()},
        marketer=float(risks.mean()),
        population_uniques=uniques,
        uniques_in_sample=inside,
        estimates=estimates,
        k_map=maps,
        households=None
        if households is None
        else households_of(households[records.rows], records.ids, risks, members),
        uniques=uniques_of(records, max_size),
        notes=tuple(notes),
    )


def _of_population(
    records: Records, others: Records | None, sampling: Sampling, weights: Floats | None
) -> tuple[dict[str, Floats], tuple[KMap, ...]]:
    """Return the journalist's risks and the k-maps by how they were found, the best first.

    Weights tell of every class by itself. Without them the posterior of Benedetti and Franconi
    knows nothing but the fraction, and Pitman's model, where it fits, has learnt from all classes.
    Where it does not, such as of a sample without any two alike, nothing tells that the population
    is less unique than the sample, and the prosecutor's risk is what can be said.
    """
    if others is not None:
        sizes = population_sizes(records, others)
        likely = np.maximum(sizes, records.sizes)
        return {"counted": 1.0 / likely[records.ids]}, (counted(records, sizes),)
    if sampling.fraction is None or sampling.population is None:
        return {}, ()
    p = inclusion(records.sizes, records.ids, fraction=sampling.fraction, weights=weights)
    risks = {"negative-binomial": mean_inverse(records.sizes, p)[records.ids]}
    maps = {"negative-binomial": by_posterior(records, p)}
    counts = frequencies(records.sizes)
    model = fit_pitman(counts)
    if isinstance(model, Pitman) and not sampling.is_census:
        risks["pitman"] = pitman_risks(records.sizes, model, sampling.population)[records.ids]
        maps["pitman"] = by_pitman(counts, model, sampling.population)
    elif weights is None and not sampling.is_census:
        risks[UPPER_BOUND] = 1.0 / records.of_sizes
    order = ("negative-binomial", "pitman") if weights is not None else _WITHOUT_WEIGHTS
    names = [name for name in order if name in risks]
    return {n: risks[n] for n in names}, tuple(maps[n] for n in names if n in maps)


def _estimates(records: Records, sampling: Sampling) -> tuple[Estimate, ...]:
    if sampling.population is None or sampling.is_census:
        return ()
    counts = frequencies(records.sizes)
    return tuple(
        estimator(counts, sampling.population)
        for estimator in (pitman, zayatz, slide_negative_binomial)
    )


def _counted_uniques(
    records: Records, others: Records | None, sampling: Sampling
) -> tuple[int | None, int | None]:
    """Return the uniques of the population, and those of them in the data, if they are known."""
    if others is not None:
        sizes = np.maximum(population_sizes(records, others), records.sizes)
        return int(np.count_nonzero(others.sizes == 1)), int(np.count_nonzero(sizes == 1))
    if sampling.is_census:
        singles = int(np.count_nonzero(records.sizes == 1))
        return singles, singles
    return None, None
