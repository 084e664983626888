"""Train on synthetic rows, test on real ones: what a classifier learns from the synthetic table.

Two classifiers predict one *label* attribute from all the others:

* ``svm``, a linear support vector machine on one-hot codes;
* ``boosting``, histogram gradient boosting on the codes as they are.

Each is trained once on the synthetic rows and once on real training rows ("NonPriv", the best one
may hope for), and tested on real rows that took no part in training.  "Majority" always predicts
the most frequent label of the real training rows: a classifier that does no better learnt nothing.

Real rows are split 80/20 by ``numpy.random.RandomState(0).permutation`` unless test rows are given.
If the synthetic table was made from all real rows, the test rows are among its input.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saddlesynth.oracles.domain import Domain
from saddlesynth.synthesis.evaluate.metrics import Codes, Columns, NotComputable, as_columns

TRAIN_SHARE = 0.8
MAX_ROWS = 100_000  # to train or to test on; more take minutes and change the third digit
CLASSIFIERS = ("svm", "boosting")


@dataclass(frozen=True)
class ClassifierErrors:
    """Error rates on the same real test rows; a lower one is better.

    ``synthetic`` and ``real`` give the error by classifier, for training on synthetic and on real
    rows.  ``held_out`` says whether the test rows came separately.
    """

    label: str
    majority: float
    synthetic: dict[str, float]
    real: dict[str, float]
    test_rows: int
    held_out: bool
    notes: tuple[str, ...] = ()


def split(rows: int, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions of training and test rows.

    >>> train, test = split(10)
    >>> len(train), len(test)
    (8, 2)
    """
    order = np.random.RandomState(seed).permutation(rows)
    cut = round(TRAIN_SHARE * rows)
    return order[:cut], order[cut:]


def classifier_errors(
    real: Codes, synthetic: Codes, domain: Domain, label: int, test: Codes | None = None
) -> ClassifierErrors:
    """Errors of both classifiers beside Majority and NonPriv.

    label : position of the attribute to predict.
    test : real rows that neither table contains; without them the real rows are split.

    Raises
    ------
    NotComputable
        One attribute only, no test rows, or a label that is the same in all real rows.
    """
    if len(domain) < 2:
        raise NotComputable("a classifier needs a label and one more attribute")
    known, made = as_columns(real, domain), as_columns(synthetic, domain)
    if test is None:
        train_rows, test_rows = split(len(known[0]))
        known, unseen = _take(known, train_rows), _take(known, test_rows)
    else:
        unseen = as_columns(test, domain)
    size, name = domain.sizes[label], domain.names[label]
    notes: list[str] = []
    known = _usable(known, label, size, "real training", notes)
    unseen = _usable(unseen, label, size, "real test", notes)
    made = _usable(made, label, size, "synthetic", notes)
    if not (len(known[0]) and len(unseen[0])):
        raise NotComputable("there are too few real rows to train and to test on")
    if len(np.unique(np.concatenate([known[label], unseen[label]]))) == 1:
        raise NotComputable(f"label {name!r} is the same in all real rows")
    if not len(made[0]):
        raise NotComputable(f"no synthetic row has a valid label {name!r}")
    if len(np.unique(made[label])) == 1:
        notes.append(f"all synthetic rows have the same {name!r}: their classifiers repeat it")
    counts = np.bincount(known[label])
    return ClassifierErrors(
        name,
        float(np.mean(unseen[label] != counts.argmax())),
        {c: _error(c, made, unseen, domain, label) for c in CLASSIFIERS},
        {c: _error(c, known, unseen, domain, label) for c in CLASSIFIERS},
        len(unseen[0]),
        test is not None,
        tuple(notes),
    )


def _take(table: Columns, rows: NDArray[np.int64]) -> Columns:
    return [column[rows] for column in table]


def _usable(table: Columns, label: int, size: int, whose: str, notes: list[str]) -> Columns:
    """Rows with a valid label, at most MAX_ROWS of them."""
    rows = np.flatnonzero(table[label] < size)
    left_out = len(table[label]) - len(rows)
    if left_out:
        notes.append(f"{left_out:,} {whose} rows without a valid label left out")
    if len(rows) > MAX_ROWS:
        rows = np.random.default_rng(0).choice(rows, MAX_ROWS, replace=False)
        notes.append(f"{MAX_ROWS:,} {whose} rows, chosen at random, stand for all")
    return _take(table, rows)


def _error(classifier: str, train: Columns, test: Columns, domain: Domain, label: int) -> float:
    """Share of test rows whose label the trained classifier gets wrong."""
    answers, truth = train[label], test[label]
    if len(np.unique(answers)) == 1:
        return float(np.mean(truth != answers[0]))
    if classifier == "svm":
        from sklearn.svm import LinearSVC

        model = LinearSVC(random_state=0)
        features = [_one_hot(table, domain, label) for table in (train, test)]
    else:
        from sklearn.ensemble import HistGradientBoostingClassifier

        # Early stopping sets rows of every class aside, so it needs two of each.
        rarest = np.unique(answers, return_counts=True)[1].min()
        model = HistGradientBoostingClassifier(
            random_state=0, early_stopping="auto" if rarest > 1 else False
        )
        features = [_dense(table, label) for table in (train, test)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Liblinear failed to converge")
        model.fit(features[0], answers)
    return float(np.mean(model.predict(features[1]) != truth))


def _dense(table: Columns, label: int) -> NDArray[np.float64]:
    return np.column_stack([c for a, c in enumerate(table) if a != label]).astype(np.float64)


def _one_hot(table: Columns, domain: Domain, label: int) -> object:
    """Sparse 0/1 features: one a value, and one for invalid codes, of every attribute but one."""
    from scipy.sparse import csr_array

    others = [a for a in range(len(domain)) if a != label]
    starts = np.cumsum([0, *(domain.sizes[a] + 1 for a in others)])
    columns = np.column_stack([table[a] + starts[i] for i, a in enumerate(others)])
    ends = np.arange(len(columns) + 1) * len(others)
    return csr_array(  # liblinear takes 32-bit positions only
        (np.ones(columns.size), columns.ravel().astype(np.int32), ends.astype(np.int32)),
        shape=(len(columns), int(starts[-1])),
    )
