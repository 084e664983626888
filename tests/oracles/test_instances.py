"""Instance files, exports and generators."""

import json

import highspy
import numpy as np
import pytest

from saddlesynth.oracles.export import export, read
from saddlesynth.oracles.formulation import Form
from saddlesynth.oracles.generate import Recorder, Size, planted_instance, random_instance
from saddlesynth.oracles.highs import Highs
from saddlesynth.oracles.instances import Instance, parse
from saddlesynth.oracles.oracle import Status
from saddlesynth.oracles.reduce import Reduction
from saddlesynth.oracles.registry import make

EXAMPLE = {
    "attributes": {"color": ["red", "green"], "size": ["S", "L"]},
    "queries": [
        {"weight": 1.0, "all": {"color": "red", "size": "S"}},
        {"weight": 2.0, "not_all": {"size": "L"}},
    ],
    "perturbation": {"color": {"red": 0.9, "green": 0.2}, "size": {"S": 0.3, "L": 0.6}},
    "impossible": [{"color": "green", "size": "L"}],
}


def changed(**changes):
    return json.dumps({**EXAMPLE, **changes})


def test_the_example_is_read_as_it_says():
    instance = parse(json.dumps(EXAMPLE))
    records = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    values = instance.problem.value(records, instance.perturbation)
    assert values == pytest.approx([1 + 2 - 1.2, -1.5, 2 - 0.5, -0.8])
    assert instance.problem.allowed(records).tolist() == [True, True, True, False]
    assert instance.named(records[2]) == {"color": "green", "size": "S"}


def test_json_round_trip_keeps_problem_and_odd_names(cases):
    odd = ["a b", "x>=1", 'quote"', "ünï\n", "-3", "free"]
    for case in cases[::20]:
        domain = case.problem.domain
        labels = [[odd[v % 6] + str(v) for v in range(n)] for n in domain.sizes]
        before = Instance.of(case.problem, case.perturbation, labels, optimum=case.optimum)
        after = parse(before.to_json())
        assert after.labels == before.labels and after.optimum == before.optimum
        assert np.array_equal(after.perturbation, before.perturbation)
        some = np.zeros((1, len(domain)), dtype=int)
        assert after.problem.value(some, case.perturbation) == before.problem.value(
            some, case.perturbation
        )


def test_values_that_are_no_text_keep_their_type():
    text = '{"attributes": {"n": [1, 2.5, true, null, "x"]}, "perturbation": {"n": {"2.5": 3}}}'
    instance = parse(text)
    assert instance.named(np.array([3])) == {"n": None}
    assert instance.perturbation.tolist() == [0, 3, 0, 0, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "must be a JSON object"),
        (changed(extra=1), "unknown key 'extra'"),
        (changed(attributes={"color": []}), "'color' has 0 values"),
        (changed(attributes={"color": ["red", "red"]}), "lists a value twice"),
        (changed(queries=[{"all": {"shade": "red"}}]), r"queries\[0\].all: unknown attribute"),
        (changed(queries=[{"all": {"color": "blue"}}]), "unknown value 'blue'"),
        (changed(queries=[{"any": {"color": "red"}}]), "either all or not_all"),
        (changed(queries=[{"weight": "1", "all": {}}]), r"queries\[0\].weight is '1'"),
        (changed(queries=[{"weight": 1e999, "all": {}}]), "must be a finite number"),
        (changed(perturbation={"color": {"red": None}}), "perturbation.color.red is None"),
        (changed(perturbation={"color": {"pink": 1}}), "unknown value 'pink'"),
        (changed(impossible=[{}]), "would forbid every record"),
        (changed(attributes={}), "unknown attribute 'color'"),
        ("{}", "attributes must be a JSON object"),
    ],
)
def test_a_wrong_instance_is_refused_with_the_field(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)


@pytest.mark.parametrize("format", ["lp", "mps"])
@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("reduction", [Reduction.MERGE, Reduction.FULL])
def test_an_export_read_again_has_the_same_optimum(format, form, reduction, few_cases):
    for case in few_cases[::3]:
        text = export(case.problem, case.perturbation, format, form, reduction)
        program, names = read(text, format)
        answer = Highs().run(program, 0.0, None)
        if case.optimum is None:
            assert answer.point is None
        elif len(names):
            scale = max(1.0, np.abs(program.objective).max(initial=0))
            assert answer.bound == pytest.approx(case.optimum, abs=1e-6 * scale)


def run_with_threads(threads):
    """Solve something with HiGHS and this number of threads, in this thread."""
    highspy.Highs.resetGlobalScheduler(True)
    solver, lp = highspy.Highs(), highspy.HighsLp()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", threads)
    lp.num_col_, lp.num_row_ = 2, 0
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = -np.ones(2), np.zeros(2), np.ones(2)
    lp.integrality_ = [highspy.HighsVarType.kInteger] * 2
    solver.passModel(lp)
    assert solver.run() == highspy.HighsStatus.kOk


def test_highs_may_have_run_with_another_number_of_threads_before(few_cases):
    case = next(c for c in few_cases if c.optimum is not None)
    program, _ = read(export(case.problem, case.perturbation, "lp"), "lp")
    run_with_threads(2)
    scale = max(1.0, np.abs(program.objective).max(initial=0))
    answer = Highs().run(program, 0.0, None)
    assert answer.bound == pytest.approx(case.optimum, abs=1e-6 * scale)


def test_names_in_an_export_are_positions(few_cases):
    text = export(few_cases[0].problem, few_cases[0].perturbation, "lp")
    assert text.isascii()
    _, names = read(text, "lp")
    assert all(name[0] in "xc" and name[1:].replace("_", "").isdigit() for name in names)


def test_an_unknown_format_is_refused(few_cases):
    with pytest.raises(ValueError, match="format is 'xls'"):
        export(few_cases[0].problem, few_cases[0].perturbation, "xls")
    with pytest.raises(ValueError, match="cannot read this lp text"):
        read("no program", "lp")


def test_the_planted_optimum_is_the_optimum():
    for seed in range(12):
        size = Size(int(3 + seed % 4), 3, 10 + 3 * seed, 2)
        instance = planted_instance(size, np.random.default_rng(seed))
        answer = make("exact").prepare(instance.problem).best_response(instance.perturbation)
        assert answer.status is Status.OPTIMAL
        assert answer.value == pytest.approx(instance.optimum)


def test_generated_instances_repeat_with_their_seed():
    for make_one in (random_instance, planted_instance):
        texts = {make_one(Size(5, 3, 9, 2), np.random.default_rng(4)).to_json() for _ in "ab"}
        assert len(texts) == 1


def test_sizes_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="values is 0"):
        Size(values=0)
    with pytest.raises(ValueError, match="names at most 2 attributes"):
        Size(attributes=2, literals=3)


def test_a_recorder_passes_questions_on_and_tells(cases):
    case, told = cases[0], []
    recorder = Recorder(make("exact"), lambda problem, rows: told.append((problem, rows)))
    prepared = recorder.prepare(case.problem)
    single = prepared.best_response(case.perturbation)
    several = prepared.best_responses(np.stack([case.perturbation] * 3), n_jobs=2)
    assert recorder.name == "exact"
    assert {a.value for a in [single, *several]} == {single.value}
    assert [len(rows) for _, rows in told] == [1, 3] and told[0][0] is case.problem
