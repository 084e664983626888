"""Integer programs as LP and MPS text, and back.

Names are positions (``x3_0`` is code 0 of attribute 3, ``c7`` is query 7, ``r12`` a row), so that
no column name of a table, however odd, ever reaches these formats.  A constant in the objective is
the coefficient of a variable ``one`` that is fixed at 1, which every reader understands.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from saddlesynth.oracles.formulation import Form, Program, formulate
from saddlesynth.oracles.highs import ready_highs
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.reduce import Floats, Reduced, Reduction, merge, reduce

FORMATS = ("lp", "mps")
PER_LINE = 8  # terms; some readers limit the length of a line


def names(task: Reduced, program: Program) -> list[str]:
    """Names of the program's variables."""
    attribute = np.repeat(task.free, task.shape)
    x = [f"x{a}_{v}" for a, v in zip(attribute, task.codes, strict=True)]
    return x + [f"c{j}" for j in range(program.shape[1] - program.columns)]


def export(
    problem: Problem,
    perturbation: Floats,
    format: str,
    form: Form = Form.EXCLUSIVE,
    reduction: Reduction = Reduction.MERGE,
) -> str:
    """The integer program of a problem under one perturbation, in format ``"lp"`` or ``"mps"``.

    Raises ``ValueError`` on another format, or a perturbation that does not fit.
    """
    if format not in FORMATS:
        raise ValueError(f"format is {format!r}; it must be one of {FORMATS}")
    costs = problem.check_perturbations(perturbation)
    task = reduce(merge(problem), costs, reduction)[0]
    program = formulate(task, form)
    return (to_lp if format == "lp" else to_mps)(program, names(task, program))


def to_lp(program: Program, names: Sequence[str]) -> str:
    """CPLEX's LP format."""
    objective = [*zip(program.objective.tolist(), names, strict=True), (program.constant, "one")]
    lines = ["Maximize", *_lp_sum("obj", objective), "Subject To"]
    for i, sense, bound, index, data in _one_sided(program):
        terms = [(entry, names[j]) for j, entry in zip(index, data, strict=True)]
        lines += [*_lp_sum(i, terms), f"  {sense} {bound!r}"]
    lines += ["Bounds", " one = 1"]
    lines += [f" 0 <= {n} <= {u!r}" for n, u in zip(names, program.upper.tolist(), strict=True)]
    whole = [name for name, flag in zip(names, program.integer, strict=True) if flag]
    lines += ["Generals", *(f" {name}" for name in whole), "End", ""]
    return "\n".join(lines)


def _lp_sum(label: str, terms: Sequence[tuple[float, str]]) -> Iterator[str]:
    """``label: + 1 x - 2 y`` on lines of modest length."""
    parts = [f"{'-' if c < 0 else '+'} {abs(c)!r} {name}" for c, name in terms] or ["0 one"]
    for k in range(0, len(parts), PER_LINE):
        yield f" {label + ':' if k == 0 else ' '} {' '.join(parts[k : k + PER_LINE])}"


def _one_sided(program: Program) -> Iterator[tuple[str, str, float, list[int], list[float]]]:
    """Rows with a name, one of = <= >=, and a right-hand side; two-sided rows become two."""
    for i, (index, data, low, high) in enumerate(program.rows()):
        if low == high:
            yield f"r{i}", "=", low, index, data
            continue
        if high != np.inf:
            yield f"r{i}", "<=", high, index, data
        if low != -np.inf:
            yield f"r{i}_low", ">=", low, index, data


def to_mps(program: Program, names: Sequence[str]) -> str:
    """Free MPS.  It minimises, as not all readers know OBJSENSE: the optimum has the other sign."""
    rows = list(_one_sided(program))
    entries: list[list[tuple[str, float]]] = [[("obj", -c)] for c in program.objective.tolist()]
    for label, _, _, index, data in rows:
        for j, entry in zip(index, data, strict=True):
            entries[j].append((label, entry))
    codes = {"=": "E", "<=": "L", ">=": "G"}
    lines = ["NAME saddlesynth", "ROWS", " N obj"]
    lines += [f" {codes[sense]} {label}" for label, sense, _, _, _ in rows]
    lines += ["COLUMNS", " M1 'MARKER' 'INTORG'"]
    order = np.argsort(~program.integer, kind="stable")
    for position, j in enumerate(order):
        if position == int(program.integer.sum()):
            lines.append(" M2 'MARKER' 'INTEND'")
        lines += [f" {names[j]} {label} {value!r}" for label, value in entries[j]]
    if program.integer.all():
        lines.append(" M2 'MARKER' 'INTEND'")
    lines += [f" one obj {-program.constant!r}", "RHS"]
    lines += [f" rhs {label} {bound!r}" for label, _, bound, _, _ in rows if bound]
    lines += ["BOUNDS", " FX bnd one 1"]
    lines += [f" UP bnd {n} {u!r}" for n, u in zip(names, program.upper.tolist(), strict=True)]
    return "\n".join([*lines, "ENDATA", ""])


def read(text: str, format: str) -> tuple[Program, list[str]]:
    """The program and variable names in LP or MPS text, read by HiGHS.

    A program that minimises is turned round; fixed variables go into the constant.

    Raises ``ValueError`` if HiGHS cannot read it, or a variable's lower bound is not 0.
    """
    if format not in FORMATS:
        raise ValueError(f"format is {format!r}; it must be one of {FORMATS}")
    ready_highs()
    import highspy

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"program.{format}"
        path.write_text(text, encoding="ascii")
        reader = highspy.Highs()  # type: ignore[no-untyped-call]
        reader.setOptionValue("output_flag", False)
        if reader.readModel(str(path)) != highspy.HighsStatus.kOk:
            raise ValueError(f"HiGHS cannot read this {format} text")
    return _from_highs(reader.getLp())


def _from_highs(lp: Any) -> tuple[Program, list[str]]:
    """A ``HighsLp`` as a program."""
    import highspy
    from scipy.sparse import csc_array, csr_array

    by_rows = lp.a_matrix_.format_ == highspy.MatrixFormat.kRowwise
    parts = (lp.a_matrix_.value_, lp.a_matrix_.index_, lp.a_matrix_.start_)
    shape = (lp.num_row_, lp.num_col_)
    matrix = (csr_array if by_rows else csc_array)(parts, shape=shape).tocsc()
    lower, upper = np.array(lp.col_lower_), np.array(lp.col_upper_)
    fixed = lower == upper
    if (lower[~fixed] != 0).any():
        raise ValueError("only variables with lower bound 0, or fixed, can be read")
    sign = 1.0 if lp.sense_ == highspy.ObjSense.kMaximize else -1.0
    cost = sign * np.array(lp.col_cost_)
    shift = matrix[:, fixed] @ lower[fixed]
    rows = matrix[:, ~fixed].tocsr()
    rows.sort_indices()
    labels = [name for name, gone in zip(lp.col_names_, fixed, strict=True) if not gone]
    kinds = list(lp.integrality_) or [highspy.HighsVarType.kContinuous] * lp.num_col_
    whole = np.array([kind == highspy.HighsVarType.kInteger for kind in kinds])
    program = Program(
        objective=cost[~fixed],
        upper=upper[~fixed],
        integer=whole[~fixed],
        start=rows.indptr.astype(np.int32),
        index=rows.indices.astype(np.int32),
        data=rows.data,
        row_lower=np.array(lp.row_lower_) - shift,
        row_upper=np.array(lp.row_upper_) - shift,
        constant=float(cost[fixed] @ lower[fixed]) + sign * float(lp.offset_),
        columns=sum(label.startswith("x") for label in labels),
    )
    return program, labels
