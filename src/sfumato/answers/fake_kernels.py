"""A loop over the numbers of all groups where some records are fake, and nobody knows which.

Rows wish to count or not to count, as in `deal_kernels.add_sums`. Those of a group that can be
granted their wishes at once are the independent sets of a matroid, whose rank r is told by unions
of wishes. Of all records so many are fakes, and do not count. For the greatest sum,

* a row that subtracts is granted its wish, too, if it is a fake; of r rows of any that are granted
  theirs there are then up to r + fakes, and no more than those that subtract and the rank of those
  that add. These are the ranks of a matroid again (a union of two), so that taking the greatest
  numbers first, over all groups, is best;
* no more rows add than there are genuine ones. Should those that may add be more, then the others
  are fewer than the fakes, and the greatest of those that add are the sum.

Either way one of two sums is the greatest, and neither is ever too small.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.measures.compiled import loop

Codes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@loop
def greatest_of_some(
    places: Ints,
    groups: Codes,
    counts: Codes,
    numbers: Reals,
    patterns: Bytes,
    sign: float,
    fakes: int,
    genuine: int,
    wishes: Ints,
    beyond: Bools,
    taken: Codes,
    granted: Codes,
) -> float:
    """Return the greatest sum of the numbers times `sign` of so many genuine records that count.

    `places` are those of the numbers, the farthest from 0 first; there each has its group, how
    many records it stands for, and its pattern. `wishes` and `beyond` are those of this sign. In
    `taken`, by group, is the room for each union of wishes: once for all rows, and once for those
    that add alone; `granted` has as many places for what is granted of it, 0 at first.
    """
    in_all = in_any = chosen = adding = 0
    total = alone = 0.0
    for at in range(len(places)):
        place = places[at]
        number = sign * numbers[place]
        if number == 0.0:
            break
        adds = number > 0.0
        count = int(counts[place])
        wish = wishes[1 if adds else 0, patterns[place]]
        if adds and wish == -2:
            continue
        more, own = count, count
        if wish == -2:
            more = 0
        elif wish >= 0:
            group = groups[place]
            for which in range(2 if adds else 1):
                before = int(granted[which, group])
                most = before + count
                for u in range(len(beyond)):
                    if beyond[u, wish]:
                        taken[which, group, u] += count
                    most = min(most, int(taken[which, group, u]))
                if which == 0:
                    more = most - before
                else:
                    own = most - before
                granted[which, group] = most
        in_all += more
        in_any += own
        now = min(in_all + fakes, in_any)
        total += number * (now - chosen if adds else count - (now - chosen))
        chosen = now
        if adds:
            own = min(own, genuine - adding)
            adding += own
            alone += own * number
    return min(total, alone)
