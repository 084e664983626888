"""The table of oracles, and other packages' rows in it."""

import sys

import numpy as np
import pytest

from saddlesynth.oracles import registry
from saddlesynth.oracles.oracle import Limits, SolverMissing, Status
from saddlesynth.oracles.registry import availability, make, rows

BACKEND = '''
"""A solver of somebody else's, here SciPy's, as a package would add it."""
from dataclasses import dataclass

from saddlesynth.oracles.mip import MipBackend
from saddlesynth.oracles.scipy_mip import Scipy

@dataclass(frozen=True)
class Other(MipBackend):
    name = "other"
    package = "numpy"

    def run(self, program, gap, hint):
        return Scipy().run(program, gap, hint)

@dataclass(frozen=True)
class Absent(Other):
    name = "absent"
    package = "no-such-package"
    install = "pip install no-such-package"
'''
ENTRIES = """[saddlesynth.oracles]
other = their_oracles:Other
absent = their_oracles:Absent
broken = their_oracles:Missing
highs = their_oracles:Other
"""


@pytest.fixture
def their_package(tmp_path, monkeypatch):
    """An installed package with four entry points."""
    (tmp_path / "their_oracles.py").write_text(BACKEND)
    info = tmp_path / "their_oracles-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-oracles\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("their_oracles", None)


def test_an_entry_point_adds_a_back_end_and_nothing_else_is_touched(their_package, cases):
    oracle = make("other", limits=Limits(seed=1))
    for case in cases[:3]:
        answer = oracle.prepare(case.problem).best_response(case.perturbation)
        assert (answer.solver, answer.status) == ("other", Status.OPTIMAL)
        assert answer.value == pytest.approx(case.optimum)
    row = {r.name: r for r in availability()}["other"]
    assert row.usable and row.what == "from their-oracles"


def test_an_entry_point_cannot_replace_ours(their_package):
    assert rows()["highs"].factory == "saddlesynth.oracles.highs:Highs"


def test_a_broken_entry_point_is_listed_as_such(their_package):
    row = {r.name: r for r in availability()}["broken"]
    assert not row.usable
    assert "AttributeError" in row.how


def test_a_missing_package_is_named_with_the_install_line(their_package, cases):
    with pytest.raises(SolverMissing, match="absent: package no-such-package is not installed"):
        make("absent").prepare(cases[0].problem)
    row = {r.name: r for r in availability()}["absent"]
    assert not row.usable and row.how.endswith("pip install no-such-package")


def test_every_row_is_usable_or_says_how_to_get_it():
    for row in availability():
        assert row.usable == (row.how == "")
        assert row.usable or "pip install" in row.how
        assert not row.usable or row.version


def test_names_of_rows_and_oracles_agree():
    assert [make(row.name).name for row in registry.ROWS] == [row.name for row in registry.ROWS]


def test_unknown_names_and_options_are_refused():
    with pytest.raises(ValueError, match="unknown oracle 'cplex'; known are portfolio, exact"):
        make("cplex")
    with pytest.raises(ValueError, match="exact has no option 'form'"):
        make("exact", form="aggregated")
    with pytest.raises(ValueError, match="'tight' is not a valid Form"):
        make("highs", form="tight")


@pytest.mark.parametrize("bad", [{"seconds": 0}, {"nodes": -1}, {"gap": -1.0}, {"seed": -1}])
def test_limits_that_make_no_sense_are_refused(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=f"{name} is"):
        Limits(**bad)


def test_back_ends_that_take_a_solver_refuse_unknown_ones():
    from saddlesynth.oracles.cvxpy_mip import Cvxpy
    from saddlesynth.oracles.mathopt import MathOpt
    from saddlesynth.oracles.pulp_mip import Pulp

    for klass in (Cvxpy, MathOpt, Pulp):
        with pytest.raises(ValueError, match="solver is 'gurobi'; it must be one of"):
            klass(solver="gurobi")


def test_mathopt_refuses_a_process_in_which_pulp_came_first(monkeypatch, cases):
    others = {n: m for n, m in sys.modules.items() if not n.startswith(("pulp", "ortools."))}
    monkeypatch.setattr(sys, "modules", {"pulp.constants": sys, **others})
    with pytest.raises(SolverMissing, match="PuLP was imported before OR-Tools"):
        make("mathopt-highs").prepare(cases[0].problem)


def test_oracles_are_values(cases):
    import pickle

    for row in registry.ROWS:
        oracle = make(row.name)
        assert oracle == make(row.name) and hash(oracle) == hash(make(row.name))
        assert pickle.loads(pickle.dumps(oracle)) == oracle
    again = pickle.loads(pickle.dumps(make("exact").prepare(cases[0].problem)))
    assert np.isclose(again.best_response(cases[0].perturbation).value, cases[0].optimum)
