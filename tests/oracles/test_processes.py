"""What shows only in a process of its own: output, memory, interrupts, import order."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import weakref

import pytest

from saddlesynth.oracles.instances import Instance
from saddlesynth.oracles.pulp_mip import _kill
from saddlesynth.oracles.registry import availability

STOPPED = ("portfolio", "highs", "mathopt-scip", "pulp-cbc", "cvxpy-highs")
SOLVERS = [row.name for row in availability() if row.usable and row.name not in ("exact", "local")]


def python(code, *arguments):
    """Run code in a fresh interpreter; its standard output."""
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


TINY = """
import sys
import numpy as np
from saddlesynth.oracles.domain import Domain
from saddlesynth.oracles.problem import Problem
from saddlesynth.oracles.queries import Conjunctions
from saddlesynth.oracles.registry import make
domain = Domain(("a", "b"), (2, 2))
problem = Problem(domain, Conjunctions.of([{0: 0, 1: 0}, {0: 1, 1: 1}, {0: 0, 1: 1}]), [1, 1, -1])
oracles = {name: make(name, reduction="merge") for name in sys.argv[1:] if not name.isdigit()}
def ask(name):
    return oracles[name].prepare(problem).best_response(np.zeros(4))
"""


def test_no_banner_reaches_standard_output():
    code = TINY + "for name in sys.argv[1:]: assert ask(name).status == 'optimal'"
    assert python(code, *SOLVERS) == ""


def test_importing_oracles_imports_no_solver():
    code = """
        import sys
        import saddlesynth.oracles.registry, saddlesynth.oracles.portfolio
        import saddlesynth.oracles.pulp_mip, saddlesynth.oracles.mathopt
        import saddlesynth.oracles.cvxpy_mip, saddlesynth.oracles.race, saddlesynth.oracles.export
        heavy = {"ortools", "pulp", "cvxpy", "highspy", "scipy", "joblib", "pandas", "matplotlib"}
        print(sorted(heavy & set(sys.modules)))
    """
    assert python(code) == "[]\n"


def test_solvers_that_embed_highs_get_along_in_the_other_order_too():
    code = TINY + "for name in sys.argv[1:]: assert ask(name).status == 'optimal', ask(name)"
    python(code, *[name for name in reversed(SOLVERS) if "highs" in name])


def test_pulp_imported_first_is_refused_not_crashed_into():
    code = "import pulp" + TINY + "try: ask(sys.argv[1])\nexcept ImportError as e: print(e)"
    assert "PuLP was imported before OR-Tools" in python(code, "mathopt-highs")


MEMORY = """
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
name, solves = sys.argv[1], int(sys.argv[2])
for _ in range(100): ask(name)
before = resident()
for _ in range(solves): ask(name)
print((resident() - before) / 2**20)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["exact", "cp-sat", "highs"])
def test_two_thousand_solves_grow_by_less_than_fifty_megabytes(name):
    assert float(python(TINY + MEMORY, name, "2000")) < 50


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in SOLVERS if n not in ("portfolio", "cp-sat", "highs")])
def test_three_hundred_solves_by_a_modelling_layer_grow_by_less_than_eight_megabytes(name):
    assert float(python(TINY + MEMORY, name, "300")) < 8


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in STOPPED if n in SOLVERS])
def test_ctrl_c_ends_within_five_seconds(name, hard, tmp_path):
    file = tmp_path / "hard.json"
    file.write_text(Instance.of(*hard).to_json())
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from saddlesynth.synthesis.cli import main; main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, "oracle", "solve", str(file), "--solver", name]
    command += ["--reduction", "merge", "--json"]
    command += ["--deterministic-time", "500"] if name == "portfolio" else ["--time-limit", "120"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "1500 queries" in process.stderr.readline()  # it has read the file, and goes to work
    time.sleep(2)
    assert process.poll() is None, process.stderr.read()
    os.kill(process.pid, signal.SIGINT)
    start = time.monotonic()
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - start < 5
    assert (process.returncode, out) == (130, "")
    assert "interrupted" in err and "Traceback" not in err


def test_ending_our_cbc_passes_by_references_to_what_is_gone():
    gone = weakref.proxy(set())  # asking it for its class raises ReferenceError
    ours = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    other = subprocess.Popen(["sleep", "60"])
    _kill(sys.executable)
    assert ours.wait(10) == -signal.SIGKILL
    assert other.poll() is None
    other.kill()
    other.wait(10)
    assert type(gone) is weakref.ProxyType
