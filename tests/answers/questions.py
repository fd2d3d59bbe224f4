"""Arbitrary questions to tiny releases: few values, so that every original can be tried."""

from __future__ import annotations

import hypothesis.strategies as st
from answers.consistent import UNHEARD_OF

from sfumato.predicates import And, Between, Comparison, IsMissing, Not, OneOf, Or, Prefix

AGES = st.integers(20, 23)
SEXES = st.sampled_from(["F", "M"])
PAYS = st.integers(-2, 3)

OPERATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


def leaves(name: str) -> st.SearchStrategy:
    if name == "sex":
        words = st.sampled_from(["F", "M", UNHEARD_OF])
        return (
            st.builds(Comparison, st.just(name), st.sampled_from(["=", "!="]), words)
            | st.builds(OneOf, st.just(name), st.lists(words, min_size=1, max_size=2).map(tuple))
            | st.just(IsMissing(name))
            | st.just(Prefix(name, "F"))
        )
    numbers = st.integers(19, 24) if name == "age" else st.integers(-3, 4)
    return (
        st.builds(Comparison, st.just(name), OPERATORS, numbers)
        | st.builds(Between, st.just(name), numbers, numbers)
        | st.just(IsMissing(name))
    )


def parts(name: str) -> st.SearchStrategy:
    """Return predicates on one attribute."""
    leaf = leaves(name)
    return leaf | leaf.map(Not) | st.tuples(leaf, leaf).map(And) | st.tuples(leaf, leaf).map(Or)


@st.composite
def plain_predicates(draw):
    """Return predicates in which each attribute stands in one place."""
    names = draw(st.lists(st.sampled_from(["age", "sex", "pay"]), min_size=1, unique=True))
    several = tuple(draw(parts(name)) for name in names)
    return several[0] if len(several) == 1 else draw(st.sampled_from([And, Or]))(several)


@st.composite
def nested_predicates(draw):
    """Return predicates in which each attribute stands in one place, one of them deeper."""
    one, two, three = (draw(parts(name)) for name in draw(st.permutations(["age", "sex", "pay"])))
    joins = st.sampled_from([And, Or])
    inner = draw(joins)((one, two))
    return draw(joins)((Not(inner) if draw(st.booleans()) else inner, three))


def _grown(several):
    pairs = st.tuples(several, several)
    return several.map(Not) | pairs.map(And) | pairs.map(Or)


any_predicates = st.recursive(
    st.one_of([leaves(name) for name in ("age", "sex", "pay")]), _grown, max_leaves=4
)
