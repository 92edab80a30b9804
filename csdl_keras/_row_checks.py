"""Whether a row can decide by the costs that it is given."""

import numpy as np

from csdl_keras.algorithms import Algorithm
from csdl_keras.costs import regret

# They train on costs of classes alone: one decision is right, and it is a class.
_OF_CLASSES = ("sosr", "min", "one_sided_svm", "weighted_nll")


def check_decisions(row: Algorithm, matrix: np.ndarray, own_costs: bool) -> None:
    """Raises if the row cannot price the decisions of a checked matrix.

    Args:
        row: the row.
        matrix: `(K, D)`; of costs that differ from example to example, the mean
            of each class.
        own_costs: whether it is such a mean.
    """
    classes, decisions = matrix.shape
    received = f"received {row.name!r} with {classes} classes and {decisions} decisions."
    if decisions > classes and (row.training in _OF_CLASSES or row.pretraining == "cae"):
        raise ValueError(
            "Expected a row that can price decisions that are no class, such as to abstain: one "
            "with prediction='bayes' and without cost-aware pre-training, such as "
            f"'calibrated_bayes' or 'dnn_bayes', or 'cost_model'; {received} What trains on costs "
            "of classes, SOSR, MIN or weights, never takes them to be the cheapest."
        )
    if decisions < classes and (row.training == "min" or row.prediction == "argmax"):
        raise ValueError(f"Expected a row that decides by costs, not for a class; {received}")
    if own_costs and row.training == "weighted_nll" and np.diagonal(regret(matrix)).any():
        raise ValueError(
            "Expected costs whose right decisions are on average the cheapest, since "
            f"{row.name!r} weighs examples by the costs of mistakes; received mean costs "
            f"{matrix.round(4).tolist()}."
        )
