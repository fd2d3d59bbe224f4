"""An invented country: regions, towns of very unequal size, and their zipcodes.

The first digit of a zipcode is the region, the first three are the town, the last two a quarter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.datasets.sampling import Distribution, Floats, spread

# Region -> its towns, largest first.
REGIONS = {
    "Aldermark": "Aldhaven Birkstead Cresmouth Dunlow Elmsford Farholt Grayling Hexbury Ironbrook "
    "Jarrowby Kelmsey",
    "Brentsea": "Brentport Ansel Coldharbour Driftwick Eastquay Gullmere Limpet Mossend Netherby",
    "Corvale": "Corvane Appleton Brackley Cloverdon Eddisford Fenwold Hartsop Millbeck Oakhanger "
    "Pennyford Quarrow Redmarsh",
    "Dunmoor": "Dunmarsh Blackfell Craghead Heatherlaw Peatling Ravenscar Tarnby",
    "Estermere": "Estermouth Amberley Bellwater Cygnet Islay Lakenham Otterburn Reedham Swanlow "
    "Willowby",
    "Fallowland": "Fallowgate Barleywick Eastfurrow Harrowden Orchardleigh Plumstow Ryecroft "
    "Wheatley",
}
# How many people the largest town of a region has, relative to the others.
_REGION_SIZES = (100.0, 46.0, 60.0, 14.0, 30.0, 22.0)
_PEOPLE_PER_QUARTER = 1.6


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The zipcodes with what is known of each; a code is an index into all of these."""

    zipcodes: pa.Array
    town: NDArray[np.int16]
    region: NDArray[np.int16]
    in_city: NDArray[np.int8]
    wealth: NDArray[np.float32]
    """What the quarter adds to the logarithm of a salary."""
    distribution: Distribution


def towns() -> list[str]:
    """Return the names of all towns, in the order of their codes."""
    return [town for names in REGIONS.values() for town in names.split()]


@cache
def places() -> Places:
    """Return the country's zipcodes."""
    sizes: list[float] = []
    prefixes: list[int] = []
    for digit, (names, largest) in enumerate(
        zip(REGIONS.values(), _REGION_SIZES, strict=True), start=1
    ):
        count = len(names.split())
        sizes += list(largest / (1.0 + np.arange(count)) ** 1.1)
        # Numbers within a region have gaps, as real ones do.
        prefixes += [digit * 100 + 2 + 7 * rank for rank in range(count)]
    size = np.array(sizes)
    quarters = np.clip(np.round(size / _PEOPLE_PER_QUARTER), 2, 60).astype(np.int64)
    town = np.repeat(np.arange(len(size)), quarters)
    quarter = np.arange(len(town)) - np.repeat(np.cumsum(quarters) - quarters, quarters)
    zipcodes = np.array(prefixes)[town] * 100 + 1 + quarter
    people: Floats = size[town] / quarters[town] * (0.3 + 1.4 * spread(len(town)))
    in_city = size >= 20.0
    wealth = 0.15 * in_city[town] + 0.5 * (spread(len(town), start=0.1) - 0.5)
    return Places(
        zipcodes=pa.array(zipcodes).cast(pa.string()),
        town=town.astype(np.int16),
        region=(zipcodes // 10_000 - 1).astype(np.int16),
        in_city=in_city[town].astype(np.int8),
        wealth=wealth.astype(np.float32),
        distribution=Distribution(people),
    )


def zipcode_paths() -> list[tuple[str, ...]]:
    """Return the rows of the hierarchy zipcode, town, region, everywhere."""
    country = places()
    names, regions = towns(), list(REGIONS)
    return [
        (zipcode, names[town], regions[region], "*")
        for zipcode, town, region in zip(
            country.zipcodes.to_pylist(), country.town, country.region, strict=True
        )
    ]
