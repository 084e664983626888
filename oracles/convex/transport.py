"""Moving counts from one table to another at the least cost: a minimum-cost flow.

Both tables have the same k axes and the same total.  Moving one record from cell u to cell v costs
the number of axes in which u and v differ (Hamming distance: how many of its values change):

    minimise    sum_{u,v} hamming(u, v) f(u, v)
    subject to  sum_v f(u, v) = current(u),   sum_u f(u, v) = target(v),   f >= 0.

**What stays.**  Hamming distance is a metric, so some optimum leaves min(current, target) in every
cell, and only the excess has to move to the deficits.

**Hubs.**  Between all excess and all deficit cells there are as many arcs as pairs.  But a move
keeps the values of some axes K and pays for the others, so it can pass through a *hub*, one for
each proper subset K of the axes and each combination of values on K:

    excess cell --(k - |K|)--> hub(K, its values on K) --(0)--> deficit cell with the same values.

A path through hub K costs at least the distance, and exactly that where K is all that agrees; so
the optima are equal, with 2^k - 1 arcs a cell, and OR-Tools' solver needs milliseconds.  (With many
axes the arcs between pairs can be fewer after all; then they are used.)

``least_cost_cvxpy`` states the plain linear program, for the tests.

*Privacy.* Public inputs only.

Reference: Ahuja, Magnanti, Orlin (1993), "Network Flows".
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.convex.reference import ConvexSolverError, cvxpy, solve

Table = NDArray[np.int64]
Index = NDArray[np.int64]
Triple = tuple[Index, Index, Table]


@dataclass(frozen=True)
class Moves:
    """How many records go from which cell to which; only those that change cell.

    source, destination : (m,) flat (C order) positions of cells, sorted by source
    records : (m,) positive counts
    cost : sum of records times Hamming distance
    """

    source: Index
    destination: Index
    records: NDArray[np.int64]
    cost: int


def transport(current: Table, target: Table) -> Moves:
    """The cheapest moves that turn ``current`` into ``target``.

    current, target : non-negative integer tables of one shape and one sum

    >>> moves = transport(np.array([[3, 0], [0, 1]]), np.array([[1, 1], [1, 1]]))
    >>> moves.source, moves.destination, moves.records, moves.cost
    (array([0, 0]), array([1, 2]), array([1, 1]), 2)

    Raises
    ------
    ValueError
        The shapes or sums differ, an entry is negative, or the tables are not of integers.
    """
    _check(current, target)
    excess = np.maximum(current - target, 0)
    deficit = np.maximum(target - current, 0)
    from_cells, to_cells = np.flatnonzero(excess), np.flatnonzero(deficit)
    if not len(from_cells):
        empty = np.zeros(0, dtype=np.int64)
        return Moves(empty, empty, empty, 0)
    supply, demand = excess.ravel()[from_cells], deficit.ravel()[to_cells]
    hub_arcs = (2**current.ndim - 1) * (len(from_cells) + len(to_cells))
    if hub_arcs <= len(from_cells) * len(to_cells):
        source, destination, records = _by_hubs(current.shape, from_cells, to_cells, supply, demand)
    else:
        source, destination, records = _by_pairs(
            current.shape, from_cells, to_cells, supply, demand
        )
    order = np.lexsort((destination, source))
    source, destination, records = source[order], destination[order], records[order]
    moved = hamming(source, destination, current.shape)
    return Moves(source, destination, records, int(moved @ records))


def hamming(source: Index, destination: Index, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Number of axes in which cells, given by flat positions, differ.

    >>> hamming(np.array([0, 0]), np.array([1, 5]), (2, 3))
    array([1, 2])
    """
    pairs = zip(np.unravel_index(source, shape), np.unravel_index(destination, shape), strict=True)
    differ = np.array([a != b for a, b in pairs])
    return np.asarray(np.count_nonzero(differ, axis=0))


def least_cost_cvxpy(current: Table, target: Table, solver: str = "HIGHS") -> float:
    """The same least cost, by the plain linear program over all pairs of cells; small tables only.

    Raises
    ------
    ValueError
        As ``transport``.
    ConvexSolverError
        The solver stopped early.
    """
    _check(current, target)
    cp = cvxpy()
    cells = np.arange(current.size)
    distance = hamming(
        np.repeat(cells, current.size), np.tile(cells, current.size), current.shape
    ).reshape(current.size, current.size)
    flow = cp.Variable((current.size, current.size), nonneg=True)
    rows = [cp.sum(flow, axis=1) == current.ravel(), cp.sum(flow, axis=0) == target.ravel()]
    return solve(cp.Problem(cp.Minimize(cp.sum(cp.multiply(distance, flow))), rows), solver)


def _hubs(shape: tuple[int, ...]) -> tuple[Index, NDArray[np.int64]]:
    """For each proper subset of axes, the hub of each cell; and the cost of entering its hubs.

    Returns (families, cells) hub numbers, different for different families, and (families,) costs.
    """
    codes = np.indices(shape).reshape(len(shape), -1)
    families, costs, offset = [], [], 0
    for kept in range(len(shape)):
        for axes in itertools.combinations(range(len(shape)), kept):
            sizes = tuple(shape[a] for a in axes)
            flat = np.zeros(codes.shape[1], dtype=np.int64)
            for a in axes:
                flat = flat * shape[a] + codes[a]
            families.append(flat + offset)
            costs.append(len(shape) - kept)
            offset += int(np.prod(sizes, dtype=np.int64))
    return np.array(families), np.array(costs)


def _by_pairs(
    shape: tuple[int, ...], from_cells: Index, to_cells: Index, supply: Table, demand: Table
) -> Triple:
    """Moves (source, destination, records) by one arc for each pair of cells."""
    source = np.repeat(np.arange(len(supply)), len(demand))
    destination = np.tile(np.arange(len(demand)), len(supply))
    flow = _least_cost_flow(
        tails=source,
        heads=len(supply) + destination,
        capacities=np.minimum(supply[source], demand[destination]),
        costs=hamming(from_cells[source], to_cells[destination], shape),
        supplies=np.concatenate([supply, -demand]),
    )
    used = flow > 0
    return from_cells[source[used]], to_cells[destination[used]], flow[used]


def _by_hubs(
    shape: tuple[int, ...], from_cells: Index, to_cells: Index, supply: Table, demand: Table
) -> Triple:
    """Moves (source, destination, records) by arcs through hubs."""
    hubs, costs = _hubs(shape)
    into, out = hubs[:, from_cells], hubs[:, to_cells]  # (families, cells)
    used, numbers = np.unique(np.concatenate([into.ravel(), out.ravel()]), return_inverse=True)
    hub_nodes = len(supply) + len(demand) + numbers.ravel()
    flow = _least_cost_flow(
        tails=np.concatenate([np.tile(np.arange(len(supply)), len(into)), hub_nodes[into.size :]]),
        heads=np.concatenate(
            [hub_nodes[: into.size], np.tile(len(supply) + np.arange(len(demand)), len(out))]
        ),
        capacities=np.concatenate([np.tile(supply, len(into)), np.tile(demand, len(out))]),
        costs=np.concatenate([np.repeat(costs, len(supply)), np.zeros(out.size, dtype=np.int64)]),
        supplies=np.concatenate([supply, -demand, np.zeros(len(used), dtype=np.int64)]),
    )
    source, destination, records = _through_hubs(
        into, out, flow[: into.size].reshape(into.shape), flow[into.size :].reshape(out.shape)
    )
    return from_cells[source], to_cells[destination], records


def _least_cost_flow(
    tails: Index, heads: Index, capacities: Table, costs: Table, supplies: Table
) -> Table:
    """Optimal flow on each arc."""
    from ortools.graph.python import min_cost_flow

    graph = min_cost_flow.SimpleMinCostFlow()
    arcs = graph.add_arcs_with_capacity_and_unit_cost(tails, heads, capacities, costs)
    graph.set_nodes_supplies(np.arange(len(supplies)), supplies)
    status = graph.solve()
    if status != graph.OPTIMAL:
        raise ConvexSolverError(f"the minimum-cost flow stopped with status {status}, not optimal")
    return np.asarray(graph.flows(arcs), dtype=np.int64)


def _through_hubs(into: Index, out: Index, amounts_in: Table, amounts_out: Table) -> Triple:
    """Join what enters a hub with what leaves it: (source, destination, records).

    Lay the units that enter side by side, hub by hub, and those that leave likewise; each hub then
    has the same stretch on both lines, and the joint cuts of the two lines are the moves.
    """
    unit_in, source = _line(into, amounts_in)
    unit_out, destination = _line(out, amounts_out)
    cuts = np.union1d(unit_in, unit_out)
    pick_in = np.searchsorted(unit_in, cuts)
    pick_out = np.searchsorted(unit_out, cuts)
    return source[pick_in], destination[pick_out], np.diff(cuts, prepend=0)


def _line(hubs: Index, amounts: NDArray[np.int64]) -> tuple[NDArray[np.int64], Index]:
    """Ends of the stretches of units, ordered by hub, and the cell of each stretch."""
    cells = np.broadcast_to(np.arange(hubs.shape[1]), hubs.shape)
    used = amounts > 0
    order = np.lexsort((cells[used], hubs[used]))
    return np.cumsum(amounts[used][order]), cells[used][order]


def _check(current: Table, target: Table) -> None:
    if current.shape != target.shape or current.ndim == 0:
        raise ValueError(f"tables have shapes {current.shape} and {target.shape}; expected one")
    for name, table in (("current", current), ("target", target)):
        if not np.issubdtype(table.dtype, np.integer) or (table < 0).any():
            raise ValueError(f"{name} must be a table of non-negative integers")
    if current.sum() != target.sum():
        raise ValueError(f"current adds up to {current.sum()}, target to {target.sum()}")
