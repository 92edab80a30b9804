"""A network that estimates class probabilities, and costs that depend on the example."""

from typing import Any

import keras
import numpy as np

from csdl_keras._utils.arrays import check_rows
from csdl_keras._utils.checks import check_number
from csdl_keras._utils.data_model import DataModel, with_data
from csdl_keras._utils.structure import inputs_of, output_of
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs.checks import check_cost_vectors, check_labels, check_mean_costs
from csdl_keras.layers import ClassCosts, ExpectedCost
from csdl_keras.losses.cost_regression import ObservedCostLoss


@keras.saving.register_keras_serializable(package="csdl_keras")
class ExpectedCostModel(DataModel):
    """The functional model that `expected_cost_model` returns."""

    def losses_and_weights(self, cost_weight: float = 1.0) -> dict[str, Any]:
        """Returns the arguments `loss` and `loss_weights` of `compile`.

        Args:
            cost_weight: weight of the loss of costs relative to that of labels. Defaults to 1.
        """
        check_number("cost_weight", cost_weight, 0, exclude_low=True)
        return {
            "loss": {
                "probability": keras.losses.SparseCategoricalCrossentropy(),
                "class_costs": ObservedCostLoss(),
            },
            "loss_weights": {"probability": 1.0, "class_costs": cost_weight},
        }

    def cost_model(self) -> keras.Model:
        """Returns the model of expected costs alone, for `decide`; its layers are shared."""
        costs = self.output["expected_cost"]
        return with_data(keras.Model(inputs_of(self), costs, name=f"{self.name}_decision"), self)


def expected_cost_model(
    body: keras.Model,
    mean_costs: ArrayLike,
    rank: int | None = None,
    seed: int | None = None,
    name: str = "expected_cost_model",
) -> ExpectedCostModel:
    """Adds outputs for class probabilities and for costs by class to a network.

    `P(y|x) = softmax(V phi(x))` and `M(x) = M0 exp(W phi(x) + b)`, `(K, D)`; the decision is the
    argmin of the expected costs `sum_y P(y|x) M(x)[y, k]`. It is meant for costs that differ
    between examples and are unknown at decision time. The loss of an example of class `y` is
    `-ln P(y|x)` plus the Poisson deviance of its costs from row `y` of `M`.

    Args:
        body: a model whose output is features `(batch, F)`. Its layers are shared.
        mean_costs: `M0`, `(K, D)`, scaled to about 1, see `csdl_keras.costs.class_means`.
        rank: rank of the layer `ClassCosts`; `None` (default) estimates all `K D` numbers freely.
        seed, name: as in `mlp`.

    Returns:
        A functional `ExpectedCostModel`, not compiled, with the outputs `"probability"`,
        `"class_costs"` `(batch, K, D)`, which are logarithms, and `"expected_cost"`.

    Example:

    >>> import csdl_keras
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(60, 4)), rng.integers(2, size=60)
    >>> costs = csdl_keras.costs.cost_vectors([[0, 1], [3, 0]], y) * rng.uniform(size=(60, 1))
    >>> inputs = keras.Input((4,))
    >>> body = keras.Model(inputs, keras.layers.Dense(8, "relu")(inputs))
    >>> model = expected_cost_model(body, csdl_keras.costs.class_means(y, costs))
    >>> model.compile("adam", **model.losses_and_weights())
    >>> _ = model.fit(x, labelled_costs(y, costs), verbose=0)
    >>> csdl_keras.decide(model.cost_model(), x).shape
    (60,)
    """
    means = check_mean_costs(mean_costs)
    inputs, features = inputs_of(body), output_of(body)
    initializer = keras.initializers.GlorotUniform(seed)
    probability = keras.layers.Dense(
        len(means), "softmax", kernel_initializer=initializer, dtype="float32", name="probability"
    )(features)
    class_costs = ClassCosts(means, rank=rank, seed=seed, name="class_costs")(features)
    expected = ExpectedCost(name="expected_cost")(probability, log_costs=class_costs)
    outputs = {"probability": probability, "class_costs": class_costs, "expected_cost": expected}
    return ExpectedCostModel(inputs, outputs, name=name)


def labelled_costs(
    labels: ArrayLike, costs: ArrayLike, binary_costs: bool = False
) -> dict[str, np.ndarray]:
    """Returns the targets of an `ExpectedCostModel` from labels and costs.

    Args:
        labels: integers `(N,)`, below 2^24.
        costs, binary_costs: as in `costs.check_cost_vectors`.

    Returns:
        A dict with a target for each output.

    Example:

    >>> labelled_costs([1, 0], [[3.0, 0.0], [0.0, 1.0]])["class_costs"]
    array([[1., 3., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    checked = check_labels(labels)
    vectors = check_cost_vectors(costs, binary_costs=binary_costs).astype("float32")
    check_rows("costs", vectors, len(checked))
    joined = np.hstack([checked[:, None].astype("float32"), vectors])
    return {"probability": checked, "class_costs": joined, "expected_cost": vectors}
