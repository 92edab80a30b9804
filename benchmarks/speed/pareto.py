"""Average test cost against seconds of training on 5,000 digits, for this package and others."""

import pathlib
import sys
import time
from collections.abc import Callable, Iterator

import keras
import numpy as np
from paired import Ratio, Row

import csdl_keras as csdl

sys.path.append(str(pathlib.Path(__file__).parents[1]))
from cost_matrices import cost_matrices  # noqa: E402
from peer_methods import PACKAGES, Once, installed  # noqa: E402

BACKENDS, PROCESSES = ("tensorflow",), 1
PEERS = ("mlp, temperature", "svc, temperature", "boosting, Bayes", "forest, temperature")
PEERS += ("costsensitive", "Vowpal")
#: Our algorithms with their epochs, fastest first; `None` is the default number.
OURS = (
    ("dnn_bayes", 2),
    ("dnn_bayes", None),
    ("calibrated_bayes", 1),
    ("calibrated_bayes", 3),
    ("calibrated_bayes", 6),
    ("calibrated_bayes", None),
    ("ensemble_bayes", None),
)


def measure(quick: bool) -> Iterator[Row]:
    """Measures costs of each way, and whether another package is cheaper in less time."""
    data = csdl.datasets.load("mnist_5k", train_size=1000 if quick else None)
    matrices = cost_matrices(data, 1 if quick else 2)
    found = [
        ("csdl_keras", name, *_timed(_ours(data, *row), matrices, data.y_test))
        for row in (OURS[:3] if quick else OURS)
        for name in [f"{row[0]}, {row[1]} epochs" if row[1] else row[0]]
    ]
    for package in installed():
        for name, prepare in PACKAGES[package](data, 0):
            if name.startswith(PEERS[:2] if quick else PEERS):
                Once.forget()
                taken, cost = _timed(prepare, matrices, data.y_test)
                found.append((package, name, taken, cost))
    peers = [row for row in found if row[0] != "csdl_keras"]
    for package, name, taken, cost in sorted(found, key=lambda row: row[2]):
        better = [n for _, n, t, c in peers if t <= taken and c < cost]
        note = f"{taken:.1f} s"
        if package == "csdl_keras":
            note += f"; cheaper in less time: {', '.join(better) or 'nobody'}"
        ratio = Ratio.exactly(cost)
        yield Row(f"{package}: {name}", "average test cost", ratio, "", note, (taken, cost))
    yield from verdicts(found)


def verdicts(found: list[tuple[str, str, float, float]]) -> Iterator[Row]:
    """Counts the ways that another way beats in both cost and time."""
    ours = [row for row in found if row[0] == "csdl_keras"]
    peers = [row for row in found if row[0] != "csdl_keras"]
    defaults = [row for row in ours if not row[1].endswith("epochs")]
    beaten = sum(any(t <= s and c < cost for _, _, t, c in peers) for _, _, s, cost in defaults)
    yield Row(
        f"{len(defaults)} rows of the package with default arguments",
        "how many another package beats in cost and time",
        Ratio.exactly(beaten),
        "<= 0",
    )
    beaten = sum(any(t <= s and c < cost for _, _, t, c in ours) for _, _, s, cost in peers)
    yield Row(
        f"{len(peers)} ways of other packages",
        "how many a row of the package beats in cost and time",
        Ratio.exactly(beaten),
    )


def _ours(data: csdl.datasets.DataSet, name: str, epochs: int | None) -> Callable:
    settings = csdl.Settings()
    if epochs is not None:
        settings = settings.limit_epochs(epochs)

    def prepare():
        trainer = csdl.Trainer(
            data.x_train, data.y_train, (data.x_val, data.y_val), settings=settings, seed=0
        )

        def decide(matrix):
            return csdl.decide(trainer.train(name, matrix).model, data.x_test)

        return decide

    return prepare


def _timed(prepare: Callable, matrices: list[np.ndarray], y: np.ndarray) -> tuple[float, float]:
    """Measures seconds until decisions for the first matrix, and the mean cost over all."""
    keras.utils.clear_session()
    start = time.perf_counter()
    decide = prepare()
    decided = [decide(matrices[0])]
    taken = time.perf_counter() - start
    decided += [decide(matrix) for matrix in matrices[1:]]
    costs = [matrix[y, d].mean() for matrix, d in zip(matrices, decided, strict=True)]
    return taken, float(np.mean(costs))
