"""Synthetic tables of any size, and loaders of two well known real ones."""

from sfumato.datasets.census import census, census_batches
from sfumato.datasets.hospital import hospital, hospital_batches
from sfumato.datasets.schemas import adult_schema, census_schema, hospital_schema
from sfumato.datasets.uci import load_adult, load_census_income

__all__ = [
    "adult_schema",
    "census",
    "census_batches",
    "census_schema",
    "hospital",
    "hospital_batches",
    "hospital_schema",
    "load_adult",
    "load_census_income",
]
