"""Parameters are checked before data are read, and follow scikit-learn's manners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from saddlesynth.synthesis.errors import InputError, SolverError
from saddlesynth.synthesis.methods import METHODS, make

NOT_THERE = "/nowhere/at/all.csv"  # reading it would raise another message
BAD = {
    "epsilon": [0, -1, float("nan"), float("inf"), "1", True, None, 1j],
    "delta": [-1e-9, 1, 2.0, float("nan"), "1e-9", False, None],
    "relation": ["add", "", None, 3],
    "unit": [3, ""],
    "max_rows_per_unit": [0, -1, 1.5, "2", True, 2],
    "engine": ["abacus", "", None],
    "n_jobs": [0, -1, 1.5, None, True],
    "random_state": [-1, 1.5, "7", True],
    "max_queries": [0, -1, 0.5],
}


@pytest.mark.parametrize("name, value", [(n, v) for n, values in BAD.items() for v in values])
@pytest.mark.parametrize("method", METHODS)
def test_a_bad_parameter_is_refused_by_name_before_data_are_read(
    method: str, name: str, value: Any
) -> None:
    with pytest.raises(InputError, match=name) as caught:
        make(method, **{name: value}).fit(NOT_THERE)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.int64(1)])
def test_every_real_number_is_an_epsilon(value: Any) -> None:
    make("independent", epsilon=value).check_parameters()


@pytest.mark.parametrize("name", METHODS)
def test_delta_zero_is_for_pure_methods_alone(name: str) -> None:
    made = make(name, delta=0)
    if not made.accepts_pure:
        with pytest.raises(InputError, match="delta"):
            made.check_parameters()
        return
    try:
        made.check_parameters()
    except SolverError as error:  # its package is an extra
        pytest.skip(str(error))


@pytest.mark.parametrize("method", METHODS)
def test_clone_and_set_params_work(method: str) -> None:
    original = make(method, epsilon=3.0, delta=1e-6, relation="replace_one")
    copy = clone(original)
    assert copy is not original
    assert copy.get_params() == original.get_params()
    assert copy.set_params(epsilon=2).epsilon == 2
    with pytest.raises(InputError, match="epsilno"):
        copy.set_params(epsilno=2)


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'independent'"):
        make("independant")
    with pytest.raises(InputError, match="did you mean 'epsilon'"):
        make("independent", epsilonn=1)
