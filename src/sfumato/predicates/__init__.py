"""The predicate language of rules and of WHERE clauses: parse, reason about, evaluate."""

from sfumato.predicates.evaluate import evaluate, evaluate_frame, mask_of_values
from sfumato.predicates.expression import (
    And,
    Between,
    Comparison,
    IsMissing,
    Leaf,
    Not,
    OneOf,
    Or,
    Predicate,
    Prefix,
    negation_normal_form,
)
from sfumato.predicates.parse import parse

__all__ = [
    "And",
    "Between",
    "Comparison",
    "IsMissing",
    "Leaf",
    "Not",
    "OneOf",
    "Or",
    "Predicate",
    "Prefix",
    "evaluate",
    "evaluate_frame",
    "mask_of_values",
    "negation_normal_form",
    "parse",
]
