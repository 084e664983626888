"""Graphical models of noisy marginals, by the package ``mbi`` (Private-PGM), extra ``pgm``.

 1  tree      a junction tree of the measured marginals; refused if it would be too large
 2  estimate  the distribution of largest entropy whose marginals fit best, by ``mbi``'s mirror
              descent on the tree's nodes
 3  read off  marginals inside a node by summing, others by eliminating variables
 4  records   node by node: each attribute given those of its node that are drawn already

``mbi`` brings JAX, which is imported only here, and only when a model is fitted.

Privacy.  Post-processing.

Reference: McKenna, Sheldon, Miklau (2019), "Graphical-model based estimation and inference for
differential privacy".  Differs from ``mbi``: lines 3 and 4 are ours, since ``mbi`` compiles a
program for every marginal it is asked, and draws from NumPy's global generator.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from saddlesynth.games.privacy.curator import Measurement
from saddlesynth.oracles.domain import Attributes, Domain
from saddlesynth.synthesis.errors import SizeError, SolverError
from saddlesynth.synthesis.model import RecordModel
from saddlesynth.synthesis.privsyn.append import Stripped, append
from saddlesynth.synthesis.privsyn.initialise import independent_columns

if TYPE_CHECKING:
    from saddlesynth.synthesis.baselines.rows import Built, Wanted

Table = NDArray[np.float64]
MAX_MODEL_SIZE = 16.0  # MiB of a junction tree; mirror descent passes over it thousands of times
ITERATIONS = 1_000


def require_mbi() -> None:
    """Refuse, before any work, where ``mbi`` is not installed."""
    if find_spec("mbi") is None:
        raise SolverError(
            "graphical models need the package mbi, which is not installed; "
            'pip install "saddlesynth[pgm]"'
        )


def tree_size(domain: Domain, marginals: Sequence[Attributes]) -> float:
    """MiB of the junction tree of these marginals; nothing is built."""
    return _size(domain, _nodes(domain, marginals))


def _size(domain: Domain, nodes: Sequence[Attributes]) -> float:
    return sum(domain.cells(node) for node in nodes) * 8 / 2**20


def _nodes(domain: Domain, marginals: Sequence[Attributes]) -> list[Attributes]:
    """Line 1: the tree's nodes, each after the one it hangs on."""
    mbi = _import_mbi()
    own = mbi.Domain(range(len(domain)), domain.sizes)
    tree, _ = mbi.junction_tree.make_junction_tree(own, _maximal(marginals))
    return [tuple(node) for node in mbi.junction_tree.maximal_cliques(tree)]


def _maximal(marginals: Sequence[Attributes]) -> list[Attributes]:
    """The marginals that are in no other, each once."""
    found: list[Attributes] = []
    for marginal in sorted(set(marginals), key=len, reverse=True):
        if marginal and not any(set(marginal) <= set(other) for other in found):
            found.append(marginal)
    return found


def check_tree(domain: Domain, marginals: Sequence[Attributes], limit: float) -> list[Attributes]:
    """The nodes; ``SizeError`` if the junction tree of these marginals is over ``limit`` MiB."""
    nodes = _nodes(domain, marginals)
    size = _size(domain, nodes)
    if size > limit:
        widest = max(nodes, key=domain.cells)
        raise SizeError(
            f"the junction tree of {len(marginals)} marginals needs {size:,.1f} MiB, its largest "
            f"node joins {len(widest)} columns; the limit is {limit:g}. Smaller: marginals that "
            "share fewer columns, fewer bins, or another method; or raise max_model_size"
        )
    return nodes


@dataclass(frozen=True, eq=False)
class Graphical:
    """A fitted model: its nodes in an order in which each hangs on earlier ones, and their tables.

    Tables are fractions that sum to 1.
    """

    domain: Domain
    nodes: tuple[Attributes, ...]
    tables: tuple[Table, ...]

    def marginals(self, wanted: Sequence[Attributes]) -> list[Table]:
        """Line 3: fractions that sum to 1, one table a marginal, axes in the order given."""
        return [self._marginal(attributes) for attributes in wanted]

    def _marginal(self, attributes: Attributes) -> Table:
        for node, table in zip(self.nodes, self.tables, strict=True):
            if set(attributes) <= set(node):
                return _summed(node, table, attributes)
        from opt_einsum import contract

        operands: list[Any] = []
        for node, conditional in self._needed(set(attributes)):
            operands += [conditional, list(node)]
        table = np.asarray(contract(*operands, list(attributes)), dtype=np.float64)
        return np.asarray(np.maximum(table, 0.0) / table.sum())

    def _needed(self, attributes: set[int]) -> Iterator[tuple[Attributes, Table]]:
        """The conditionals that a marginal depends on; those of unneeded leaves sum to one."""
        for node, given, table in reversed(list(self._steps())):
            if attributes & (set(node) - set(given)):
                attributes = attributes | set(given)
                whole = _summed(node, table, given)
                shape = [self.domain.sizes[a] if a in given else 1 for a in node]
                above = np.broadcast_to(whole.reshape(shape), table.shape)
                zeros = np.zeros_like(table)
                yield node, np.divide(table, above, out=zeros, where=above > 0)

    def _steps(self) -> Iterator[tuple[Attributes, Attributes, Table]]:
        """Every node with those of its attributes that earlier nodes have."""
        before: set[int] = set()
        for node, table in zip(self.nodes, self.tables, strict=True):
            yield node, tuple(a for a in node if a in before), table
            before |= set(node)

    def records(self, rows: int, generator: np.random.Generator) -> NDArray[np.integer]:
        """Line 4: (rows, d), with the nodes' marginals up to rounding."""
        singles = self.marginals([(a,) for a in range(len(self.domain))])
        pool = independent_columns(singles, rows, generator)
        for node, given, table in self._steps():
            for attribute in node:
                if attribute not in given:
                    if given:
                        step = Stripped(attribute, given, 0)
                        append(pool, step, _summed(node, table, (*given, attribute)), generator)
                    given = (*given, attribute)
        return np.array(pool).T


def fit_graphical(
    domain: Domain,
    measured: Sequence[Measurement],
    rows: float,
    *,
    limit: float = MAX_MODEL_SIZE,
    iterations: int = ITERATIONS,
) -> Graphical:
    """Lines 1 and 2.

    measured : noisy marginals of at least one attribute, with their standard deviations
    rows : number of rows, at least 1

    Raises
    ------
    SizeError
        The junction tree would be larger than ``limit`` MiB; nothing was built.
    """
    told = [m for m in measured if m.attributes]
    nodes = check_tree(domain, [m.attributes for m in told], limit)
    with _mbi() as mbi:
        own = mbi.Domain(range(len(domain)), domain.sizes)
        measurements = [
            mbi.LinearMeasurement(m.counts.ravel(), m.attributes, max(m.sigma, 1e-3)) for m in told
        ]
        loss = mbi.marginal_loss.from_linear_measurements(measurements, own)
        loss = replace(loss, cliques=tuple(nodes), loss_fn=_compiled(loss.loss_fn))
        found = mbi.estimation.MirrorDescent().estimate(own, loss, float(rows), iters=iterations)
        tables = [np.asarray(found.marginals[n].values, dtype=np.float64) for n in nodes]
    return Graphical(domain, tuple(nodes), tuple(t / t.sum() for t in tables))


def fit_pool(
    wanted: Wanted,
    generator: np.random.Generator,
    progress: Callable[[str, float], None],
) -> Built:
    """A pool of records from any noisy marginals, for ``build_rows``."""
    from saddlesynth.synthesis.baselines.rows import Built, pool_size

    fitted = fit_graphical(wanted.domain, wanted.measured, wanted.rows)
    progress("estimate", 1.0)
    records = fitted.records(pool_size(wanted), generator)
    facts = {"nodes": len(fitted.nodes), "model_mib": round(_size(wanted.domain, fitted.nodes), 4)}
    return Built(RecordModel(wanted.domain, records), fitted_measurements(fitted, wanted), facts)


def fitted_measurements(fitted: Graphical, wanted: Wanted) -> tuple[Measurement, ...]:
    """The measured marginals as the model has them, in counts."""
    told = [m for m in wanted.measured if m.attributes]
    tables = fitted.marginals([m.attributes for m in told])
    return tuple(replace(m, counts=wanted.rows * t) for m, t in zip(told, tables, strict=True))


def _summed(node: Attributes, table: Table, onto: Attributes) -> Table:
    others = tuple(i for i, a in enumerate(node) if a not in onto)
    left = [a for a in node if a in onto]
    return np.asarray(table.sum(axis=others).transpose([left.index(a) for a in onto]))


@contextmanager
def _mbi() -> Iterator[Any]:
    """``mbi`` under the settings of JAX that suit it; JAX is left as it was found.

    Double precision, since counts are squared; programs that are compiled quickly rather than well,
    since each set of marginals needs its own and runs it for a second or less.
    """
    mbi = _import_mbi()
    import jax

    wanted = {
        "jax_enable_x64": True,
        "jax_disable_most_optimizations": True,
        "jax_enable_compilation_cache": False,
    }
    before = {name: jax.config.values[name] for name in wanted}
    for name, value in wanted.items():
        jax.config.update(name, value)
    try:
        yield mbi
    finally:
        for name, value in before.items():
            jax.config.update(name, value)


@cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """One program instead of one for each of its operations; the same for models of one shape."""
    from jax import jit

    return cast("Callable[..., Any]", jit(function))


def _import_mbi() -> Any:
    require_mbi()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about settings that ``_mbi`` makes
        import mbi
        import mbi.marginal_loss
    return mbi
