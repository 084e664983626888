"""Classifiers trained on synthetic rows and tested on real ones."""

import numpy as np
import pytest

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.evaluate.classify import classifier_errors, split
from saddlesynth.synthesis.evaluate.metrics import NotComputable

DOMAIN = Domain(("x", "noise", "label"), (4, 3, 2))


def table(rows, seed, relation=lambda x: x >= 2):
    """Rows in which the label is a function of x."""
    generator = np.random.default_rng(seed)
    x, noise = generator.integers(0, 4, rows), generator.integers(0, 3, rows)
    return np.column_stack([x, noise, relation(x)]).astype(int)


def test_the_split_is_a_fixed_permutation_cut_at_80_percent():
    train, test = split(48_842)
    order = np.random.RandomState(0).permutation(48_842)
    assert (len(train), len(test)) == (39_074, 9_768)
    assert np.array_equal(np.concatenate([train, test]), order)


def test_a_learnable_label_is_learnt_from_synthetic_rows():
    errors = classifier_errors(table(400, 0), table(300, 1), DOMAIN, 2)
    assert errors.synthetic == errors.real == {"svm": 0.0, "boosting": 0.0}
    assert errors.label == "label" and errors.test_rows == 80 and not errors.held_out


def test_the_reverse_relation_is_always_wrong():
    errors = classifier_errors(table(400, 0), table(300, 1, lambda x: x < 2), DOMAIN, 2)
    assert errors.synthetic == {"svm": 1.0, "boosting": 1.0}


def test_majority_is_the_share_of_test_rows_without_the_commonest_training_label():
    train = np.array([[0, 0, 1]] * 3 + [[1, 0, 0]] * 2)
    test = np.array([[0, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0]])
    errors = classifier_errors(train, train, DOMAIN, 2, test=test)
    assert errors.majority == 0.75
    assert errors.held_out and errors.test_rows == 4


def test_one_label_in_the_synthetic_rows_gives_the_constant_classifier_and_a_note():
    errors = classifier_errors(table(200, 0), table(50, 1, lambda x: 0 * x), DOMAIN, 2)
    share = 1 - np.mean(table(200, 0)[split(200)[1], 2] == 0)
    assert errors.synthetic == {"svm": share, "boosting": share}
    assert any("all synthetic rows have the same 'label'" in note for note in errors.notes)


def test_a_constant_real_label_is_refused_with_a_reason():
    with pytest.raises(NotComputable, match="'label' is the same in all real rows"):
        classifier_errors(table(50, 0, lambda x: 0 * x), table(50, 1), DOMAIN, 2)


@pytest.mark.parametrize("rows", [1, 2])
def test_tables_too_short_to_split_are_refused_with_a_reason(rows):
    with pytest.raises(NotComputable, match="too few real rows"):
        classifier_errors(table(rows, 0), table(50, 1), DOMAIN, 2)


def test_rows_without_a_valid_label_are_left_out_and_counted():
    synthetic = table(300, 1)
    synthetic[:7, 2] = 5
    errors = classifier_errors(table(400, 0), synthetic, DOMAIN, 2)
    assert errors.notes == ("7 synthetic rows without a valid label left out",)
    synthetic[:, 2] = -1
    with pytest.raises(NotComputable, match="no synthetic row has a valid label"):
        classifier_errors(table(400, 0), synthetic, DOMAIN, 2)


def test_invalid_features_are_a_value_of_their_own():
    synthetic = table(300, 1)
    synthetic[:150, 1] = 77
    errors = classifier_errors(table(400, 0), synthetic, DOMAIN, 2)
    assert errors.synthetic == {"svm": 0.0, "boosting": 0.0}


def test_a_class_that_occurs_once_does_not_stop_boosting():
    domain = Domain(("x", "label"), (4, 3))
    x = np.random.default_rng(0).integers(0, 4, 12_000)
    real = np.column_stack([x, x >= 2])
    real[0, 1] = 2
    errors = classifier_errors(real, real, domain, 1)
    assert max(errors.synthetic.values()) < 0.01


def test_more_rows_than_the_limit_are_sampled_with_a_note(monkeypatch):
    monkeypatch.setattr("saddlesynth.synthesis.evaluate.classify.MAX_ROWS", 50)
    errors = classifier_errors(table(400, 0), table(300, 1), DOMAIN, 2)
    assert errors.test_rows == 50
    assert errors.notes == tuple(
        f"50 {whose} rows, chosen at random, stand for all"
        for whose in ("real training", "real test", "synthetic")
    )
