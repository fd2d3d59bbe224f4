"""Answers to aggregate queries from a release alone: an estimate, and bounds that cannot fail."""

from sfumato.answers.answer import Answerer, answer, paper_interval
from sfumato.answers.estimate import (
    Aggregate,
    Asked,
    Average,
    Count,
    Estimate,
    Query,
    Result,
    Row,
    Sum,
)
from sfumato.answers.microdata import to_microdata
from sfumato.answers.reconstruction import Reconstruction, reconstruct
from sfumato.answers.relative_error import recq

__all__ = [
    "Aggregate",
    "Answerer",
    "Asked",
    "Average",
    "Count",
    "Estimate",
    "Query",
    "Reconstruction",
    "Result",
    "Row",
    "Sum",
    "answer",
    "paper_interval",
    "reconstruct",
    "recq",
    "to_microdata",
]
