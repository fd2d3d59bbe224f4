"""A cross table over attributes that were randomised as one, over some of their parts instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.answers.joint_parts import Joint, joint_of, parts_of_values
from sfumato.release import Manifest

Reals = npt.NDArray[np.float64]


def joint_axis(manifest: Manifest, name: str) -> str:
    """Return the attribute to count for a name: itself, or the joint one that it is a part of."""
    if any(entry.name == name for entry in manifest.attributes):
        return name
    joint = joint_of(manifest, name)
    return name if joint is None else joint.name


@dataclass(frozen=True, slots=True, eq=False)
class Parting:
    """How the axes of a counted cross table become those of the attributes that were asked for.

    `is_whole` says that nothing is summed out: every cell is one of the counted table.
    """

    values: tuple[pa.Array, ...]
    is_whole: bool
    _codes: tuple[npt.NDArray[np.int64], ...]  # for each counted axis, where its cells go
    _sizes: tuple[tuple[int, ...], ...]
    _order: tuple[int, ...]

    @classmethod
    def of(
        cls,
        manifest: Manifest,
        counted: Sequence[str],
        values: Sequence[pa.Array],
        names: Sequence[str],
    ) -> Parting:
        """Return the way from the counted attributes, with their values, to the named ones.

        Refuses (ReleaseDamaged) a domain whose values are not combinations.
        """
        codes: list[npt.NDArray[np.int64]] = []
        sizes: list[tuple[int, ...]] = []
        found: dict[str, pa.Array] = {}
        for name, own in zip(counted, values, strict=True):
            asked = [each for each in names if joint_axis(manifest, each) == name]
            if asked == [name]:
                found[name] = own
                codes.append(np.arange(len(own)))
                sizes.append((len(own),))
                continue
            joint = joint_of(manifest, asked[0])
            assert joint is not None
            place, shape, texts = _of_parts(manifest, joint, asked)
            found |= dict(zip(asked, texts, strict=True))
            codes.append(place)
            sizes.append(shape)
        order = tuple(list(found).index(name) for name in names)
        is_whole = all(len(np.unique(place)) == len(place) for place in codes)
        values_of = tuple(found[name] for name in names)
        return cls(values_of, is_whole, tuple(codes), tuple(sizes), order)

    def summed(self, table: Reals) -> Reals:
        """Return a counted table over the named attributes."""
        for axis, (place, shape) in enumerate(zip(self._codes, self._sizes, strict=True)):
            rest = table.shape[:axis], table.shape[axis + 1 :]
            out = np.zeros((*rest[0], prod(shape), *rest[1]))
            np.add.at(np.moveaxis(out, axis, 0), place, np.moveaxis(table, axis, 0))
            table = out
        whole = table.reshape([size for shape in self._sizes for size in shape])
        return np.ascontiguousarray(whole.transpose(self._order))


def _of_parts(
    manifest: Manifest, joint: Joint, asked: Sequence[str]
) -> tuple[npt.NDArray[np.int64], tuple[int, ...], list[pa.Array]]:
    """Return where each value of a joint attribute goes, how many there are, and their texts."""
    combinations = parts_of_values(manifest.attribute(joint.name), joint)
    columns, texts = [], []
    for name in asked:
        number = joint.parts.index(name)
        own = list(dict.fromkeys(each[number] for each in combinations if each[number] is not None))
        if any(each[number] is None for each in combinations):
            own.append(None)
        places = {text: place for place, text in enumerate(own)}
        columns.append(np.array([places[each[number]] for each in combinations], np.int64))
        texts.append(pa.array(own, pa.string()))
    shape = tuple(map(len, texts))
    return np.ravel_multi_index(tuple(columns), shape).astype(np.int64), shape, texts
