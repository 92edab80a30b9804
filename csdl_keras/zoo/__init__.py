"""Trained models, ready to decide under your costs.

`table` lists them, and `load` returns one. Weights are stored with 16 bits and loaded with 32;
`table` shows the results of the stored models.
"""

import json
import pathlib
from typing import Any

import keras

from csdl_keras._utils.checks import check_choice
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.generators import zero_one
from csdl_keras.prediction.bayes_classifier import bayes_classifier
from csdl_keras_cli.optional import optional_module

__all__ = ["load", "table"]

_FOLDER = pathlib.Path(__file__).parent


def load(name: str, cost_matrix: ArrayLike | None = None) -> keras.Model:
    """Loads a trained model that decides for the lowest expected cost.

    Args:
        name: a name of `table()`, such as `"mnist/calibrated_bayes"`.
        cost_matrix: `(K, D)`, `C[true, decision]`, by which a model of probabilities decides;
            `None` (default) is 1 for each mistake. Models of the paper's `csdnn` and `cnn_sosr`
            estimate the costs of one published matrix themselves and accept no other.

    Returns:
        A `keras.Model` of expected costs `(batch, D)` for `csdl_keras.decide`. Images have to lie
        in [0, 1], as `csdl_keras.datasets.load` returns them. To train it further, compile it with
        `csdl_keras.SOSRLoss(cost_matrix=cost_matrix)`.

    Example:

    >>> import csdl_keras
    >>> model = load("breast_cancer/calibrated_bayes", [[0, 100], [1, 0]])
    >>> model.output_shape
    (None, 2)
    """
    cards = _cards()
    card = cards[check_choice("name", name, cards)]
    model = keras.saving.load_model(_FOLDER / f"{name.replace('/', '_')}.keras")
    if card["trained_for"] != "any cost matrix":
        if cost_matrix is not None:
            raise ValueError(
                f"{name!r} was trained for one cost matrix and accepts no `cost_matrix`. Load "
                f"'{name.partition('/')[0]}/calibrated_bayes' for other costs."
            )
        return model
    matrix = zero_one(card["classes"]) if cost_matrix is None else cost_matrix
    return bayes_classifier(model, matrix)


def table() -> Any:
    """Lists the models, with their properties, their results and how they were made.

    `argmax_error` is the share of wrong decisions on test examples where each mistake costs 1, and
    `cost_0` to `cost_4` are average test costs under the five matrices
    `costs.randomized_proportional(y_train, seed=0)` to `seed=4`; `first_500_cost_0` is that of the
    first 500 test examples. Models trained for `cost_0` have only this cost, and their
    `argmax_error` is that of their decisions.

    Returns:
        A `pandas.DataFrame`, whose index is the names for `load`.

    Example:

    >>> table().loc["mnist/calibrated_bayes", "input_shape"]
    '28x28x1'
    """
    pandas = optional_module("pandas", "compare")
    return pandas.DataFrame.from_dict(_cards(), orient="index").rename_axis("name")


def _cards() -> dict[str, dict[str, Any]]:
    return json.loads((_FOLDER / "cards.json").read_text())
