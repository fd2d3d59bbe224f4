"""How well a classifier does on people it has not seen, when it learnt from a release.

*Source*: the Merging paper, section 5.3.3. *Departs from the paper*, which trains and tests on the
published rows: a table of noise would then be judged by how well its noise is predicted. Here the
tested rows are original ones, and none of them was given to the publisher.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import EngineUnavailable, ParameterError
from sfumato.release import Release
from sfumato.schema.frames import as_arrow
from sfumato.schema.kinds import is_number, value_type
from sfumato.schema.text import to_texts

Publish = Callable[[pa.Table], Release]
RowsOf = Callable[[Release, np.random.Generator], pa.Table]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

# A leaf of the tree holds at least so many rows. J48 allows 2 and then prunes by a test of
# significance, which scikit-learn does not have; a tree of leaves of 2 would learn the noise.
LEAF_ROWS = 10
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True)
class Learned:
    """Shares of test rows whose class was predicted, means over the folds.

    `mean` and `per_fold` after learning from releases, `original` from the same rows as they were;
    `baseline` always says the most frequent class.
    """

    mean: float
    per_fold: tuple[float, ...]
    baseline: float
    original: float


def learning_accuracy(
    data: Any,
    publish: Publish,
    target: str,
    *,
    features: Sequence[str],
    rows_of: RowsOf,
    rng: np.random.Generator,
    folds: int = 10,
    classifier: Any = None,
) -> Learned:
    """Return how well `target` is predicted from `features` by cross-validation.

    The rows are dealt to folds, each class evenly. For every fold the other rows are published by
    `publish`, turned into rows by `rows_of` (`sfumato.to_microdata`), and learnt; the fold's
    original rows are the test. The target may have any role; each of its values is a class, and
    rows in which it is missing are published but neither learnt nor tested.

    The classifier is a decision tree by information gain with at least 10 rows a leaf (see
    LEAF_ROWS), or any given one with scikit-learn's `fit` and `predict`, of which each fold gets a
    fresh clone, random state included. Numbers and dates are features as they are, a missing one
    not a number. Every other feature becomes a column for each value that the training rows have,
    missing being one of them; in a value that they do not have all columns are 0.

    Everything is repeatable with the same `rng` if `publish` is.

    Refuses (ParameterError) columns that are not there or are not published, and folds without
    rows; (EngineUnavailable) to work without scikit-learn.
    """
    make = _maker(classifier)
    table = as_arrow(data)
    _check(table.column_names, target, features, folds)
    classes = _texts(table[target])
    is_known = classes.is_valid().to_numpy(zero_copy_only=False)
    if np.count_nonzero(is_known) < folds:
        raise ParameterError(f"there are fewer rows with '{target}' than the {folds} folds")
    fold_of = _deal(classes, folds, rng)
    of_releases, of_originals, of_majority = [], [], []
    for fold in range(folds):
        rest = table.take(pa.array(np.flatnonzero(fold_of != fold)))
        test = table.take(pa.array(np.flatnonzero((fold_of == fold) & is_known)))
        published = rows_of(publish(rest), rng)
        absent = [name for name in (target, *features) if name not in published.column_names]
        if absent:
            raise ParameterError(f"the release does not have the column '{absent[0]}'")
        state = int(rng.integers(2**32))
        of_releases.append(_accuracy(make(state), published, test, target, features))
        of_originals.append(_accuracy(make(state), rest, test, target, features))
        of_majority.append(_majority(_texts(rest[target]), _texts(test[target])))
    return Learned(
        float(np.mean(of_releases)),
        tuple(of_releases),
        float(np.mean(of_majority)),
        float(np.mean(of_originals)),
    )


def _maker(classifier: Any) -> Callable[[int], Any]:
    """Return what makes an untrained classifier from the number of a random state."""
    try:
        from sklearn.base import clone
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise EngineUnavailable(
            "learning needs scikit-learn; install it with `pip install 'sfumato[learning]'`"
        ) from None
    if classifier is not None:
        return lambda state: clone(classifier)
    return lambda state: DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=LEAF_ROWS, random_state=state
    )


def _check(names: list[str], target: str, features: Sequence[str], folds: int) -> None:
    for name in (target, *features):
        if name not in names:
            raise ParameterError(f"the table has no column '{name}'")
    if not features or target in features or len(set(features)) != len(features):
        raise ParameterError("features are different columns, at least one, without the target")
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise ParameterError("cross-validation needs at least 2 folds")


def _deal(classes: pa.Array, folds: int, rng: np.random.Generator) -> Ints:
    """Return the fold of each row: at random, and every class as evenly as can be."""
    codes = classes.dictionary_encode().indices.fill_null(-1).to_numpy()
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold_of = np.empty(len(codes), np.int64)
    fold_of[order] = np.arange(len(codes)) % folds
    return fold_of


def _accuracy(
    classifier: Any, train: pa.Table, test: pa.Table, target: str, features: Sequence[str]
) -> float:
    """Return the share of test rows that a classifier of the training rows gets right."""
    train = train.filter(_texts(train[target]).is_valid())
    if train.num_rows == 0:
        return 0.0  # who learnt nothing has no answer
    known: list[npt.NDArray[Any]] = []
    asked: list[npt.NDArray[Any]] = []
    for name in features:
        is_numeric = is_number(value_type(test[name].type))
        for columns, table in ((known, train), (asked, test)):
            columns.append(
                _number_column(table[name]) if is_numeric else _flags(table[name], train[name])
            )
    classifier.fit(np.hstack(known), _texts(train[target]).to_numpy(zero_copy_only=False))
    said = classifier.predict(np.hstack(asked))
    return float(np.mean(said == _texts(test[target]).to_numpy(zero_copy_only=False)))


def _majority(train: pa.Array, test: pa.Array) -> float:
    """Return the share of test rows that are of the most frequent class of the training rows."""
    counted = pc.value_counts(train.drop_null())
    if len(counted) == 0:
        return 0.0
    most = int(np.argmax(counted.field("counts").to_numpy()))
    return float(pc.mean(pc.equal(test, counted.field("values")[most])).as_py())


def _number_column(column: pa.ChunkedArray) -> Reals:
    """Return numbers as they are, dates and times as counts of their unit, missing ones NaN."""
    plain = column.cast(value_type(column.type)).combine_chunks()
    if pa.types.is_temporal(plain.type):
        plain = plain.view(pa.int32() if plain.type.bit_width == 32 else pa.int64())
    numbers = plain.cast(pa.float64(), safe=False).fill_null(np.nan)
    # scikit-learn's trees have narrow floats
    whole = np.asarray(numbers.to_numpy(zero_copy_only=False), np.float64)
    return np.clip(whole, -_LARGEST, _LARGEST)[:, None]


def _flags(column: pa.ChunkedArray, known: pa.ChunkedArray) -> npt.NDArray[np.float32]:
    """Return a column of 0 and 1 for each known value, and one for missing ones."""
    values = _texts(known).unique().drop_null()
    texts = _texts(column)
    places = pc.index_in(texts, value_set=values).fill_null(-1).to_numpy()
    places = np.where(texts.is_null().to_numpy(zero_copy_only=False), len(values), places)
    flags = np.zeros((len(texts), len(values) + 1), np.float32)
    rows = np.flatnonzero(places >= 0)
    flags[rows, places[rows]] = 1.0
    return flags


def _texts(column: pa.ChunkedArray) -> pa.Array:
    """Return the values as texts, in which columns of different layouts can be compared."""
    plain = column.cast(value_type(column.type)).combine_chunks()
    if pa.types.is_floating(plain.type):
        plain = pc.if_else(pc.is_nan(plain), pa.scalar(None, plain.type), plain)
    return to_texts(plain).cast(pa.string())
