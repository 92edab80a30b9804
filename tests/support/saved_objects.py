"""A model for every public Keras object of the package, to be saved and loaded.

A `Case` is a model and what to call it on. Each is small, has random weights and outputs that
depend on them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import layers

import csdl_keras as csdl
from csdl_keras import layers as csdl_layers
from csdl_keras import losses, metrics, models
from csdl_keras.losses import MINLoss, SOSRLoss
from csdl_keras.metrics import AverageCost, DecisionAccuracy
from tests.support.testing import to_numpy

RNG = np.random.default_rng(0)
MATRIX = np.array([[0.0, 1.0, 4.0], [9.0, 0.0, 2.0], [0.5, 7.0, 0.0]])
WITH_ABSTAIN = np.hstack([MATRIX, np.full((3, 1), 0.75)])
LABELS = np.array([0, 2, 1, 1, 0])
COSTS = MATRIX[LABELS]
X = RNG.uniform(size=(5, 4)).astype("float32")
IMAGES = RNG.uniform(size=(5, 8, 9, 2)).astype("float32")


class Case(NamedTuple):
    """A model, its inputs, and targets where it is compiled."""

    model: keras.Model
    x: np.ndarray = X
    y: Any = None


def answers(case: Case) -> dict[str, np.ndarray]:
    """What a model outputs and, where it is compiled, what `evaluate` says."""
    outputs = case.model(case.x)
    outputs = outputs if isinstance(outputs, dict) else {"outputs": outputs}
    found = {f"output/{name}": to_numpy(value) for name, value in outputs.items()}
    if case.y is not None:
        values = case.model.evaluate(case.x, case.y, verbose=0, return_dict=True)
        found |= {f"evaluate/{name}": np.asarray(value) for name, value in values.items()}
    return found


def network(*ends: Callable[[Any], Any]) -> keras.Model:
    """Four features to whatever `ends` make of five hidden units."""
    inputs = keras.Input((4,))
    x = layers.Dense(5, "tanh", name="hidden")(inputs)
    for end in ends:
        x = end(x)
    return keras.Model(inputs, x)


def shifted() -> Case:
    inputs = keras.Input(IMAGES.shape[1:])
    x = layers.Conv2D(3, 3, data_format="channels_last", padding="same")(inputs)
    return Case(keras.Model(inputs, csdl_layers.RandomShift(0.2, 0.2)(x)), IMAGES)


def trained(model: keras.Model, x: np.ndarray, y: Any, **kwargs: Any) -> Case:
    """The model after a step of training, so that its optimizer has been built."""
    # Eager, since tracing every model would take longer than all the rest.
    model.compile(keras.optimizers.SGD(0.01, momentum=0.9), run_eagerly=True, **kwargs)
    model.train_on_batch(x, y)
    return Case(model, x, y)


def with_loss(loss: keras.losses.Loss, y: np.ndarray, **kwargs: Any) -> Case:
    units = y.shape[1] if y.ndim == 2 else 3
    scores = isinstance(loss, MINLoss)
    end = layers.Dense(units, "softmax") if scores else csdl_layers.CostOutput(units)
    return trained(network(end), X, y, loss=loss, **kwargs)


def cae(tied: bool) -> Case:
    parts = {"reconstruction": losses.ReconstructionLoss(from_logits=True), "cost": SOSRLoss()}
    model = csdl.CAE(5, num_decisions=3, corruption=0.25, tied=tied, seed=1)
    weights = {"reconstruction": 0.75, "cost": 0.25}
    return trained(model, X, {"reconstruction": X, "cost": COSTS}, loss=parts, loss_weights=weights)


def compiled_network(output: str) -> Case:
    loss = SOSRLoss(MATRIX, alpha=2.0) if output == "cost" else "sparse_categorical_crossentropy"
    scores = [AverageCost(MATRIX, output=output), DecisionAccuracy(output=output)]
    return trained(models.mlp((4,), 3, (5,), output=output), X, LABELS, loss=loss, metrics=scores)


def caffe(variant: str, output: str) -> Case:
    mean = 255 * IMAGES.mean(axis=0)
    return Case(models.caffe_cifar10(IMAGES.shape[1:], 3, variant, output, mean), IMAGES)


def body() -> keras.Model:
    inputs = keras.Input((4,))
    return keras.Model(inputs, layers.Dense(5, "tanh")(inputs))


def costs_of_examples(rank: int | None) -> Case:
    model = models.expected_cost_model(body(), WITH_ABSTAIN, rank=rank, seed=1)
    y = models.labelled_costs(LABELS, WITH_ABSTAIN[LABELS])
    return trained(model, X, y, **model.losses_and_weights())


def auxiliary() -> Case:
    model = models.auxiliary_costs(models.mlp((4,), 3, (6, 5), output="cost"), num_decisions=3)
    arguments = model.losses_and_weights(SOSRLoss(), losses.PoissonCostLoss, alpha=0.5)
    return trained(model, X, model.targets(COSTS), **arguments)


def softmax(units: int = 3) -> Callable[[Any], Any]:
    return layers.Dense(units, "softmax")


def taking_costs() -> Case:
    """A model that takes costs, which here are computed from the features."""
    inputs = keras.Input((4,))
    costs = layers.Reshape((3, 4))(layers.Dense(12, "softplus")(inputs))
    model = models.bayes_classifier(network(softmax()), cost_input=True, num_decisions=4)
    return Case(keras.Model(inputs, model([inputs, costs])))


CASES: dict[str, Callable[[], Case]] = {
    "SOSRLoss": lambda: with_loss(SOSRLoss(alpha=3.0, cost_scale=0.5), COSTS),
    "SOSRLoss(cost_matrix)": lambda: with_loss(
        SOSRLoss(cost_matrix=MATRIX), LABELS, metrics=[AverageCost(cost_matrix=MATRIX)]
    ),
    "OneSidedLoss": lambda: with_loss(losses.OneSidedLoss(), COSTS),
    "MINLoss": lambda: with_loss(MINLoss(), COSTS),
    "MINLoss(cost_matrix)": lambda: with_loss(MINLoss(MATRIX, [0.2, 0.5, 0.3]), LABELS),
    "PoissonCostLoss": lambda: with_loss(losses.PoissonCostLoss(cost_scale=0.5), COSTS),
    "LogisticCostLoss": lambda: with_loss(losses.LogisticCostLoss(cost_scale=0.1), COSTS),
    "SquaredErrorLoss": lambda: with_loss(losses.SquaredErrorLoss(), COSTS),
    "ReconstructionLoss": lambda: with_loss(losses.ReconstructionLoss(from_logits=True), X),
    "AverageCost(bayes)": lambda: trained(
        network(softmax()),
        X,
        LABELS,
        loss="sparse_categorical_crossentropy",
        metrics=[AverageCost(MATRIX, output="probability", bayes=True)],
    ),
    "NormalizedCost": lambda: with_loss(
        SOSRLoss(MATRIX), LABELS, metrics=[metrics.NormalizedCost(MATRIX), metrics.Savings(MATRIX)]
    ),
    "TemperatureScaling": lambda: Case(network(softmax(), csdl_layers.TemperatureScaling(3.0))),
    "BiasCorrectedTemperatureScaling": lambda: Case(
        network(softmax(), csdl_layers.BiasCorrectedTemperatureScaling(2.0, [0.1, -0.3, 0.2]))
    ),
    "MatrixScaling": lambda: Case(
        network(softmax(), csdl_layers.MatrixScaling(2.0 * np.eye(3) - 0.1, [0.1, -0.3, 0.2]))
    ),
    "PriorAdjustment": lambda: Case(
        network(softmax(), csdl_layers.PriorAdjustment([0.2, 0.3, 0.5], [6.0, 1.0, 0.0]))
    ),
    "expected_cost": lambda: trained(
        network(softmax(), csdl_layers.BayesDecision(MATRIX)), X, LABELS, loss=losses.expected_cost
    ),
    "MaskingNoise": lambda: Case(network(csdl_layers.MaskingNoise(0.5), layers.Dense(3))),
    "MemberScaling": lambda: Case(
        network(csdl_layers.MemberScaling(4), csdl_layers.MemberMean(), layers.Dense(3))
    ),
    "RandomShift": shifted,
    "CAE": lambda: cae(tied=False),
    "CAE tied": lambda: cae(tied=True),
    "mlp probability": lambda: compiled_network("probability"),
    "mlp cost": lambda: compiled_network("cost"),
    "caffe_cifar10 quick probability": lambda: caffe("quick", "probability"),
    "caffe_cifar10 full cost": lambda: caffe("full", "cost"),
    "bayes_classifier": lambda: Case(models.bayes_classifier(network(softmax()), WITH_ABSTAIN)),
    "bayes_classifier one logit": lambda: Case(
        models.bayes_classifier(network(layers.Dense(1)), MATRIX[:2, :2], from_logits=True)
    ),
    "bayes_classifier(cost_input)": taking_costs,
    "decision_model": lambda: Case(models.decision_model(network(softmax()))),
    "serving_model": lambda: Case(models.serving_model(network(softmax()))),
    "cost_estimator": lambda: Case(
        models.cost_estimator(network(csdl_layers.CostOutput(3)), "log", 0.5)
    ),
    "expected_cost_model": lambda: costs_of_examples(rank=None),
    "expected_cost_model low-rank": lambda: costs_of_examples(rank=2),
    "cost_model": lambda: Case(models.expected_cost_model(body(), MATRIX, seed=1).cost_model()),
    "auxiliary_costs": auxiliary,
    "ensemble": lambda: Case(models.ensemble([network(softmax()) for _ in range(3)])),
    "convnet": lambda: Case(models.convnet(IMAGES.shape[1:], 3, filters=(4, 6)), IMAGES),
    "view_average": lambda: Case(
        models.view_average(models.convnet(IMAGES.shape[1:], 3, filters=(4, 6)), flip=True), IMAGES
    ),
    "tabular": lambda: Case(models.tabular(X, 3, hidden_units=(6,))),
}
