"""Layers whose outputs are estimated costs."""

import math
from typing import Any

import keras
import numpy as np
from keras import ops

from csdl_keras._utils.checks import check_choice, check_integer, check_number
from csdl_keras._utils.tensors import LOG_ZERO, at_least_float32, head_dtype
from csdl_keras._utils.types import ArrayLike, DTypeLike, Shape, Tensor
from csdl_keras.costs.checks import check_mean_costs
from csdl_keras.layers.base import WideLayer
from csdl_keras_cli.choices import LARGEST_NUMBER


@keras.saving.register_keras_serializable(package="csdl_keras")
class CostOutput(keras.layers.Dense):
    """Linear `Dense` layer that estimates the cost of each decision.

    `r_k(x) = w_k . phi(x) + b_k`. Its type marks the outputs as costs, so that `csdl_keras.decide`
    uses their argmin. Arguments are those of `keras.layers.Dense`, without `activation`.

    References:
        - Chung, Lin, Yang, IJCAI 2016, equation (5)

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), CostOutput(3)])
    >>> model.output_shape
    (None, 3)
    """

    output_kind = "cost"

    def __init__(self, units: int, dtype: DTypeLike | None = None, **kwargs: object):
        activation = kwargs.pop("activation", None)
        if activation not in (None, "linear"):
            raise ValueError(f"CostOutput has no `activation`; received {activation!r}.")
        super().__init__(units, dtype=head_dtype(dtype), **kwargs)


@keras.saving.register_keras_serializable(package="csdl_keras")
class InverseLink(WideLayer):
    """Turns logarithms or logits of estimated costs into estimated costs.

    The costs are `exp(u_k) / s` for the link `"log"`, `sigmoid(u_k) / s` for `"logit"`, after a
    network that was trained with `PoissonCostLoss` or `LogisticCostLoss` and `cost_scale=s`. They
    are finite for finite inputs, and keep their order.

    Args:
        link: `"log"` (default) or `"logit"`.
        cost_scale: `cost_scale` of the loss, `s`. Defaults to 1.

    Call arguments:
        inputs: `(batch, ..., D)`, the network's outputs `u`.

    Returns:
        `(batch, ..., D)` costs above 0.

    Example:

    >>> print(ops.convert_to_numpy(InverseLink("log")(ops.log([[0.5, 4.0]]))).round(3))
    [[0.5 4. ]]
    """

    output_kind = "cost"

    def __init__(self, link: str = "log", cost_scale: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        self.link = check_choice("link", link, ("log", "logit"))
        self.cost_scale = check_number(
            "cost_scale", cost_scale, 0, LARGEST_NUMBER, exclude_low=True
        )

    def call(self, inputs: Tensor) -> Tensor:
        logs = at_least_float32(inputs)
        if self.link == "logit":  # This is the logarithm of the logistic function.
            logs = ops.minimum(logs, 0.0) - ops.log(1.0 + ops.exp(-ops.abs(logs)))
        costs = bounded_exponential(logs - math.log(self.cost_scale), self.compute_dtype)
        return ops.cast(costs, self.compute_dtype)


def bounded_exponential(logs: Tensor, dtype: str) -> Tensor:
    """Computes `exp(logs)`, monotone, positive and finite for every finite number of the type."""
    limit = 9.0 if dtype == "float16" else 85.0
    # Formats of export lack operations such as `log1p`.
    above = 1.0 + ops.log(1.0 + ops.relu(logs - limit)) / 20.0
    below = 1.0 + ops.log(1.0 + ops.relu(-limit - logs)) / 20.0
    return ops.exp(ops.clip(logs, -limit, limit)) * above / below


@keras.saving.register_keras_serializable(package="csdl_keras")
class ClassCosts(WideLayer):
    """Estimates the logarithm of each decision's cost under each class.

    `U(x) = ln M0 + W phi(x) + b`, `(K, D)` for each example, starts at the mean costs `M0` of each
    class; entries of 0 stay 0. With a `rank`, `W phi(x) + b` is a product of `(K, rank)` and
    `(rank, D)` factors that are linear in `phi(x)`. A change `a` of the logarithm beyond 10 is
    reduced to `10 + ln(1 + a - 10)`, so that costs stay finite.

    Args:
        mean_costs: `M0`, see `costs.class_means`; `None` (default) if a file of weights has them.
        num_classes, num_decisions: `K` and `D`, required without means.
        rank: rank of the product; `None` (default) for all `K D` numbers.
        seed: seed of initial weights with a `rank`; `None` (default) follows Keras' global seed.

    Call arguments:
        features: `(batch, F)`.

    Returns:
        `(batch, K, D)` logarithms of costs; -30,000 represents costs of 0.

    Example:

    >>> layer = ClassCosts([[0.0, 2.0], [5.0, 0.0]])
    >>> print(ops.convert_to_numpy(ops.exp(layer(np.ones((1, 3))))).round(3))
    [[[0. 2.]
      [5. 0.]]]
    """

    def __init__(
        self,
        mean_costs: ArrayLike | None = None,
        num_classes: int | None = None,
        num_decisions: int | None = None,
        rank: int | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._initial = None if mean_costs is None else check_mean_costs(mean_costs)
        shape = (num_classes, num_decisions) if self._initial is None else self._initial.shape
        self.num_classes = check_integer("num_classes", shape[0], low=2)
        self.num_decisions = check_integer("num_decisions", shape[1])
        self.rank = None if rank is None else check_integer("rank", rank, high=min(shape))
        self.seed = seed

    def build(self, input_shape: Shape) -> None:
        features = input_shape[-1]
        size = (self.num_classes, self.num_decisions)
        means = np.array(np.nan if self._initial is None else self._initial)
        logs = np.where(means == 0, LOG_ZERO, np.log(means + (means == 0)))
        initial = keras.initializers.Constant(logs)
        self.log_means = self.add_weight(size, initial, trainable=False, name="log_means")
        self._initial = None  # The array uses as much memory as the weight, or twice that.
        if self.rank is None:
            self.kernel = self.add_weight(
                shape=(features, size[0] * size[1]), initializer="zeros", name="kernel"
            )
            self.bias = self.add_weight(shape=size, initializer="zeros", name="bias")
        else:
            # Only one factor starts at 0: with both at 0, neither would get a gradient.
            self.left = self.add_weight(
                shape=(features, size[0] * self.rank),
                initializer=keras.initializers.GlorotUniform(self.seed),
                name="left",
            )
            self.right = self.add_weight(
                shape=(features, self.rank * size[1]), initializer="zeros", name="right"
            )

    def call(self, features: Tensor) -> Tensor:
        if self.rank is None:
            change = ops.matmul(features, self.kernel)
            change = ops.reshape(change, (-1, self.num_classes, self.num_decisions)) + self.bias
        else:
            left, right = ops.matmul(features, self.left), ops.matmul(features, self.right)
            left = ops.reshape(left, (-1, self.num_classes, self.rank))
            change = ops.matmul(left, ops.reshape(right, (-1, self.rank, self.num_decisions)))
        above, below = ops.relu(change - 10.0), ops.relu(-10.0 - change)
        damped = ops.clip(change, -10.0, 10.0) + ops.log(1.0 + above) - ops.log(1.0 + below)
        zero = self.log_means < 0.5 * LOG_ZERO
        return ops.where(zero, LOG_ZERO, self.log_means + damped)


@keras.saving.register_keras_serializable(package="csdl_keras")
class ExpectedCost(WideLayer):
    """Computes expected costs from class probabilities and estimated costs by class.

    `r_k(x) = sum_y P(y|x) exp(U(x))[y, k]`. The argmin of its output is the Bayes decision under a
    cost matrix that is estimated for each example. Outputs are finite for finite inputs, and keep
    their order. Arguments are those of `keras.layers.Layer`.

    Call arguments:
        probabilities: `(batch, K)`, each row summing to 1.
        log_costs: `(batch, K, D)`, natural logarithms `U` of costs by class, `-inf` for 0, passed
            by name.

    Returns:
        `(batch, D)` expected costs.

    Example:

    >>> p, costs = ops.array([[0.8, 0.2]]), ops.array([[[0.5, 1.0], [9.0, 0.5]]])
    >>> print(ops.convert_to_numpy(ExpectedCost()(p, log_costs=ops.log(costs))).round(3))
    [[2.2 0.9]]
    """

    output_kind = "cost"

    def build(self, probabilities_shape: Shape, log_costs_shape: Shape = ()) -> None:
        found = (len(probabilities_shape), len(log_costs_shape))
        if found != (2, 3) or probabilities_shape[1] != log_costs_shape[1]:
            raise ValueError(
                "Pass probabilities (batch, K), and logarithms of costs (batch, K, D) as "
                f"`log_costs=`; received the shapes {probabilities_shape} and {log_costs_shape}."
            )

    def call(self, probabilities: Tensor, *, log_costs: Tensor | None = None) -> Tensor:
        p, u = at_least_float32(probabilities, log_costs)
        p, impossible = p[:, :, None], p[:, :, None] == 0.0
        # Differences of infinities would be NaN.
        u = ops.clip(u, LOG_ZERO, 1e35)
        parts = ops.where(impossible, LOG_ZERO, ops.log(ops.where(impossible, 1.0, p)) + u)
        largest = ops.max(parts, axis=1, keepdims=True)
        total = ops.log(ops.sum(ops.exp(parts - largest), axis=1)) + largest[:, 0]
        costs = bounded_exponential(total, self.compute_dtype)
        return ops.cast(ops.where(total < 0.5 * LOG_ZERO, 0.0, costs), self.compute_dtype)
