"""The search of a lattice for the recoding that loses least."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from sfumato.rows.lattice import Lattice, Node, Outcome

MOST_NODES = 1_000_000  # of a lattice that is searched for the best of all
BUDGET = 2_000  # nodes that are counted in larger ones
FIRST_BUDGET = 100  # and in smaller ones, before they are searched for the best
MOST_WORK = 2_000_000_000  # combinations counted in all, a minute or so: then the search ends
_CHUNK = 4096


@dataclass(frozen=True, slots=True)
class Found:
    """The best node that was found, and whether no other is better."""

    node: Node
    outcome: Outcome
    optimal: bool


def search(
    lattice: Lattice,
    *,
    most_nodes: int = MOST_NODES,
    budget: int = BUDGET,
    most_work: int = MOST_WORK,
) -> Found | None:
    """Return the node of least loss, None if none was found that withholds few enough records.

    In a lattice of at most `most_nodes` nodes it is the best there is, unless that would take more
    than `most_work`; in a larger one, the best of about `budget` nodes that were counted. Of equal
    losses the one that withholds fewer records counts, then the lower levels of earlier
    attributes. No randomness is used, nor the clock.
    """
    best = _Incumbent(lattice)
    is_small = lattice.size <= most_nodes
    _climb(lattice, best, FIRST_BUDGET if is_small else budget)
    is_best = is_small and _finish(lattice, best, most_work)
    return None if best.node is None else Found(best.node, best.outcome, is_best)


class _Incumbent:
    """The best node so far, and every outcome that is known."""

    def __init__(self, lattice: Lattice) -> None:
        self.known: dict[Node, Outcome] = {}
        self.node: Node | None = None
        self.outcome = Outcome(np.inf, 0)
        self._lattice = lattice

    def look(self, node: Node) -> Outcome:
        """Return the outcome of a node, which may become the best."""
        outcome = self.known.get(node)
        if outcome is None:
            outcome = self.known[node] = self._lattice.outcome(node)
            if outcome.loss < np.inf and self._key(node, outcome) < self._key(
                self.node or node, self.outcome
            ):
                self.node, self.outcome = node, outcome
        return outcome

    @staticmethod
    def _key(node: Node, outcome: Outcome) -> tuple[float, int, Node]:
        return outcome.loss, outcome.withheld, node


# --- small lattices: the best node ----------------------------------------------------------------


def _finish(lattice: Lattice, best: _Incumbent, most_work: int) -> bool:
    """Look at nodes by their least loss, until it is above the best loss; False if cut short.

    Below a node that withholds too many records for the size of groups alone, all nodes fail. To
    find such nodes high up, the chain from a failing node to the top is bisected.
    """
    least = lattice.all_least()
    order = np.argsort(least, axis=None, kind="stable")
    flat = least.ravel()
    sunk = np.zeros(lattice.shape, np.bool_)

    def sink(node: Node) -> None:
        sunk[tuple(slice(0, rung + 1) for rung in node)] = True

    for node, outcome in best.known.items():
        if outcome.sinks:
            sink(node)
    for start in range(0, len(order), _CHUNK):
        chunk = order[start : start + _CHUNK]
        for place in chunk[~sunk.ravel()[chunk]].tolist():
            if flat[place] > best.outcome.loss:
                return True
            if lattice.work > most_work:
                return False
            node = tuple(int(rung) for rung in np.unravel_index(place, lattice.shape))
            if sunk[node]:
                continue
            if best.look(node).sinks:
                sink(_highest_sunk(lattice, node, best))
    return True


def _highest_sunk(lattice: Lattice, node: Node, best: _Incumbent) -> Node:
    """Return a node above a sunk one that is sunk, as high as bisection of one chain finds it.

    The chain reaches the top, though its end may lose more than the best node: what is sunk high
    up is counted faster, and sinks most.
    """
    chain = [node]
    while chain[-1] != lattice.top:
        steps = _ups(lattice, chain[-1])
        chain.append(min(steps, key=lambda step: (lattice.least(step), step)))
    low, high = 0, len(chain)  # chain[low] is sunk; from `high` on nothing is
    while high - low > 1:
        middle = (low + high) // 2
        if best.look(chain[middle]).sinks:
            low = middle
        else:
            high = middle
    return chain[low]


def _ups(lattice: Lattice, node: Node) -> list[Node]:
    """Return the nodes one step above."""
    return [
        (*node[:a], node[a] + 1, *node[a + 1 :])
        for a in range(len(node))
        if node[a] + 1 < lattice.shape[a]
    ]


def _downs(node: Node) -> list[Node]:
    """Return the nodes one step below."""
    return [(*node[:a], node[a] - 1, *node[a + 1 :]) for a in range(len(node)) if node[a]]


# --- large lattices: a good node ------------------------------------------------------------------


def _climb(lattice: Lattice, best: _Incumbent, budget: int) -> None:
    """Climb greedily from the bottom until few enough are withheld; then search around, best first.

    A step up is the one that loses least for each record that need not be withheld any more. From
    the node found, steps down, and steps down on one attribute and up on another, are looked at in
    the order of their least loss.
    """
    node: Node = (0,) * len(lattice.shape)
    outcome = best.look(node)
    while outcome.loss == np.inf and node != lattice.top:
        here, withheld = lattice.least(node), outcome.withheld

        def price(step: Node, here: float = here, withheld: int = withheld) -> tuple[float, Node]:
            freed = withheld - best.look(step).withheld
            lost = lattice.least(step) - here
            return (lost / freed if freed > 0 else np.inf, step)

        node = min(_ups(lattice, node), key=price)
        outcome = best.look(node)
    if best.node is not None:
        _around(lattice, best, best.node, budget)


def _around(lattice: Lattice, best: _Incumbent, start: Node, budget: int) -> None:
    """Search around a node, best first, until so many nodes have been counted."""
    waiting = [(best.outcome.loss, start)]
    seen = {start}
    sunk: list[Node] = []
    while waiting and len(best.known) < budget:
        _, node = heappop(waiting)
        for step in _steps(lattice, node):
            if step in seen or lattice.least(step) >= best.outcome.loss:
                continue
            seen.add(step)
            if sunk and (np.array(sunk) >= step).all(axis=1).any():
                continue
            outcome = best.look(step)
            if outcome.sinks:
                sunk.append(step)
            elif outcome.loss < np.inf:
                heappush(waiting, (outcome.loss, step))
            if len(best.known) >= budget:
                return


def _steps(lattice: Lattice, node: Node) -> list[Node]:
    """Return the nodes one step below, one above, and one below and one above, by least loss."""
    downs = _downs(node)
    steps = {*downs, *_ups(lattice, node), *(up for down in downs for up in _ups(lattice, down))}
    return sorted(steps - {node}, key=lambda step: (lattice.least(step), step))
