"""Save, load, seeds, ledger, second fits: what a release is and is not."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from saddlesynth.synthesis.errors import BudgetError, InputError, NotFittedError
from saddlesynth.synthesis.release import load

RELEASE_FILES = {
    "manifest.json",
    "ledger.json",
    "schema.json",
    "marginals.csv",
    "model.npz",
    "synthetic.csv",
    "README.txt",
}


def tight_epsilon(rho: float, delta: float) -> float:
    """The conversion of Canonne, Kamath and Steinke by plain search, as a stranger writes it."""

    def delta_at(epsilon: float) -> float:
        grid = np.concatenate([1 + np.logspace(-3, 0, 4000), np.linspace(2, 3000, 200_000)])
        logs = (grid - 1) * (grid * rho - epsilon) + grid * np.log1p(-1 / grid) - np.log(grid - 1)
        return math.exp(min(0.0, float(logs.min())))

    low, high = 0.0, 200.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_at(middle) <= delta else (middle, high)
    return high


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
def test_never_more_is_spent_than_asked_and_a_stranger_can_add_it_up(
    fast, rare, epsilon, tmp_path
) -> None:
    made = fast(schema=rare.schema, epsilon=epsilon, delta=1e-6).fit(rare.write(tmp_path))
    made.save(tmp_path / "rel")
    ledger = json.loads((tmp_path / "rel" / "ledger.json").read_text())
    assert ledger["total"]["epsilon"] <= epsilon
    assert ledger["total"]["delta"] <= 1e-6
    assert ledger["lines"]
    rho = math.fsum(line["rho"] for line in ledger["lines"])
    again = tight_epsilon(rho, ledger["conversion_delta"])
    assert again == pytest.approx(ledger["total"]["epsilon"], rel=1e-3)
    for line in ledger["lines"]:
        if line["mechanism"] == "discrete Gaussian":
            assert line["rho"] == pytest.approx(line["sensitivity"] ** 2 / (2 * line["noise"] ** 2))


def test_the_budget_is_used_up_not_hoarded(fast, rare, tmp_path) -> None:
    made = fast(schema=rare.schema, epsilon=1.0).fit(rare.write(tmp_path))
    assert made.ledger_.spent_epsilon > 0.95


def test_the_manifest_says_what_a_reader_must_know(fast, rare, tmp_path) -> None:
    made = fast(schema=rare.schema, relation="replace_one", random_state=3).fit(
        rare.write(tmp_path)
    )
    said = made.manifest_
    assert said["relation"] == "replace_one"
    assert "the number of rows" in said["public"]
    assert said["rows"] == 100
    assert "zcdp" in said["composition"]
    assert (said["seeded"], said["dp"]) == (True, True)
    assert said["versions"]["saddlesynth"]
    assert "random_state" not in json.dumps(said)


def test_under_add_remove_the_number_of_rows_is_a_noisy_one(fast, rare, tmp_path) -> None:
    path = rare.write(tmp_path)
    rows = {
        fast(schema=rare.schema, epsilon=0.5, random_state=seed).fit(path).manifest_["rows"]
        for seed in range(8)
    }
    assert len(rows) > 4


def test_a_release_holds_what_it_should_and_nothing_else(fast, rare, tmp_path) -> None:
    made = fast(schema=rare.schema).fit(rare.write(tmp_path))
    folder = made.save(tmp_path / "rel")
    assert {p.name for p in folder.iterdir()} == RELEASE_FILES
    for path in folder.iterdir():
        assert b"lighthouse" not in path.read_bytes()


def test_loading_elsewhere_gives_the_same_rows_without_the_data(fast, rare, tmp_path) -> None:
    path = rare.write(tmp_path)
    made = fast(schema=rare.schema).fit(path)
    before = made.sample(100, random_state=3)
    spent = made.ledger_.as_dict()
    made.save(tmp_path / "rel", rows=10)
    assert made.ledger_.as_dict() == spent
    path.unlink()
    loaded = load(tmp_path / "rel")
    pd.testing.assert_frame_equal(loaded.sample(100, random_state=3), before)
    assert loaded.ledger == json.loads(json.dumps(spent))
    pd.testing.assert_frame_equal(loaded.marginals(["occupation"]), made.marginals(["occupation"]))
    loaded.save(tmp_path / "again", rows=10)
    assert load(tmp_path / "again").manifest["spent"] == made.manifest_["spent"]


def test_a_second_fit_on_the_same_object_is_refused(fast, rare, tmp_path) -> None:
    made = fast(schema=rare.schema).fit(rare.write(tmp_path))
    with pytest.raises(InputError, match="clone"):
        made.fit(tmp_path / "table.csv")


def test_nothing_works_before_fit(fast) -> None:
    for call in ("sample", "marginals"):
        with pytest.raises(NotFittedError, match="fit"):
            getattr(fast(), call)()


SCRIPT = """
import sys
from saddlesynth.synthesis.methods import make
settings = dict({settings}, random_state=int(sys.argv[4]), schema=sys.argv[3])
made = make(sys.argv[1], **settings)
made.fit(sys.argv[2]).save(sys.argv[5])
"""


def files(folder) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def test_the_same_seed_gives_the_same_bytes_in_another_process(fast, rare, tmp_path) -> None:
    (tmp_path / "schema.json").write_text(json.dumps(rare.schema))
    path = rare.write(tmp_path)
    here = fast(schema=str(tmp_path / "schema.json"), random_state=7).fit(path)
    here.save(tmp_path / "here")
    settings = {
        k: v
        for k, v in here.get_params().items()
        if k not in ("schema", "random_state", "progress")
    }
    script = SCRIPT.format(settings=settings)
    arguments = [here.name, str(path), str(tmp_path / "schema.json"), "7", str(tmp_path / "there")]
    subprocess.run([sys.executable, "-c", script, *arguments], check=True)
    assert files(tmp_path / "here") == files(tmp_path / "there")


def test_other_seeds_and_no_seed_give_other_rows(fast, pair, tmp_path) -> None:
    path = pair.write(tmp_path)

    def text(seed: int | None) -> str:
        np.random.seed(0)
        random.seed(0)
        made = fast(schema=pair.schema, random_state=seed).fit(path)
        return made.sample(300).to_csv()

    assert text(1) == text(1)
    assert text(1) != text(2)
    assert text(None) != text(None)


def test_the_seed_is_nowhere_in_the_release(fast, rare, tmp_path) -> None:
    made = fast(schema=rare.schema, random_state=918273645).fit(rare.write(tmp_path))
    folder = made.save(tmp_path / "rel", random_state=918273645)
    needles = [b"918273645", (918273645).to_bytes(8, "little")]
    for name, content in files(folder).items():
        assert not any(needle in content for needle in needles), name


def test_the_order_of_the_rows_does_not_matter(fast, pair, tmp_path) -> None:
    path = pair.write(tmp_path)
    header, *rows = pair.text.splitlines()
    random.Random(0).shuffle(rows)
    (tmp_path / "shuffled.csv").write_text("\n".join([header, *rows]) + "\n")
    one = fast(schema=pair.schema).fit(path).sample(100, random_state=1)
    two = fast(schema=pair.schema).fit(tmp_path / "shuffled.csv").sample(100, random_state=1)
    pd.testing.assert_frame_equal(one, two)


@pytest.mark.parametrize("rows", [0, -5, 2.5, "3", True])
def test_odd_numbers_of_rows_are_refused(fast, rare, rows, tmp_path) -> None:
    made = fast(schema=rare.schema).fit(rare.write(tmp_path))
    with pytest.raises(InputError, match="n is"):
        made.sample(rows)


def test_more_or_fewer_rows_than_fitted_can_be_had(fast, rare, tmp_path) -> None:
    made = fast(schema=rare.schema).fit(rare.write(tmp_path))
    assert [len(made.sample(n)) for n in (1, 7, 1000)] == [1, 7, 1000]


def test_marginals_come_with_standard_errors(fast, rare, tmp_path) -> None:
    found = fast(schema=rare.schema, epsilon=100.0).fit(rare.write(tmp_path)).marginals("status")
    assert set(found["status"]) == {"f", "p"}
    if fast.errors == "standard":
        assert (found["standard_error"] < 20).all()
    elif fast.errors == "bound":
        assert found["source"].str.contains("off by at most").all()
    assert found["estimate"].sum() == pytest.approx(100, abs=30)


def test_the_number_of_rows_is_the_marginal_of_no_columns(fast, rare, tmp_path) -> None:
    found = fast(schema=rare.schema, epsilon=100.0).fit(rare.write(tmp_path)).marginals()
    assert found["estimate"].item() == pytest.approx(100, abs=30)


def test_columns_that_are_not_there_are_refused(fast, rare, tmp_path) -> None:
    made = fast(schema=rare.schema).fit(rare.write(tmp_path))
    for wrong in ["ocupation", ["status", "status"], ["status", "nothing"]]:
        with pytest.raises(InputError):
            made.marginals(wrong)


def test_a_refused_fit_spends_nothing_and_may_be_tried_again(fast, rare, tmp_path) -> None:
    made = fast(schema=rare.schema)
    with pytest.raises(InputError):
        made.fit(tmp_path / "not there.csv")
    assert made.ledger_.lines == []
    made.fit(rare.write(tmp_path))


def test_too_little_budget_is_a_budget_error(fast, rare, tmp_path, monkeypatch) -> None:
    made = fast(schema=rare.schema)

    def greedy(self, session):
        session.curator.measure("too much", [(0,)], [2 * session.curator.ledger.rho])
        raise AssertionError("the measurement should have been refused")

    monkeypatch.setattr(type(made), "_fit", greedy)
    with pytest.raises(BudgetError, match="too much"):
        made.fit(rare.write(tmp_path))
    assert made.ledger_.lines == []
