"""The objectives of training: losses, outputs and supported decisions."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import keras
import numpy as np

from csdl_keras._utils.checks import check_choice
from csdl_keras._utils.types import Tensor
from csdl_keras.costs.conversions import regret
from csdl_keras.losses.base import CostLoss
from csdl_keras.losses.cost_regression import LogisticCostLoss, ObservedCostLoss, PoissonCostLoss
from csdl_keras.losses.min_loss import MINLoss
from csdl_keras.losses.sosr_loss import OneSidedLoss, SOSRLoss
from csdl_keras.metrics.decision_metrics import AverageCost
from csdl_keras.models.expected_cost_model import expected_cost_model, labelled_costs
from csdl_keras.prediction.bayes_classifier import cost_estimator
from csdl_keras.training.bodies import Body
from csdl_keras.training.data import Examples

_OUTPUTS = {"probability": ("argmax", "bayes"), "cost": ("argmin",)}


@dataclasses.dataclass(frozen=True)
class Objective:
    """The objective of a network's training.

    Pass your own objective to `Algorithm` instead of a name. A cache keeps its training if your
    loss has a `version`, see `csdl_keras.StageCache`.

    Args:
        name: name in messages and descriptions.
        loss: a function of costs (without `on_costs`, of labels) and outputs, both `(batch, D)`,
            that returns `(batch,)`; or a subclass of `keras.losses.Loss`, to whose constructor
            `cost_matrix` and `cost_scale` are passed. `None` for bodies that are not networks.
        output: output of the network, `"cost"` (default) or `"probability"`.
        link: `"log"` or `"logit"`, if the network outputs costs on that scale.
        on_costs: whether the loss depends on costs, not only on labels. Defaults to True.
        weighted: whether examples are weighted by the mean cost of mistaking their class.
        priors: whether `priors`, the shares of classes, are also passed to the loss.
        unit: divisor of costs: the `"largest"` (default), or the `"mean"` of those above 0, if a
            few may be far larger.
        other_decisions: whether it supports decisions other than classes, such as to abstain.
        predictions: supported predictions; by default all that fit `output`.
        searched: arguments of the loss for which searches have spaces.
        hinge: name of the objective that replaces it under `Settings(hard_hinge=True)`.
        series: the `Algorithm.series` of algorithms that train on costs with it. Defaults to
            `"baseline"`.

    Example:

    >>> import keras
    >>> from csdl_keras import training
    >>> def squared(costs, outputs):
    ...     return keras.ops.mean((costs - outputs) ** 2, axis=-1)
    >>> training.Objective("squared", squared).predictions
    ('argmin',)
    """

    name: str
    loss: Callable[..., Any] | None
    output: str = "cost"
    link: str | None = None
    on_costs: bool = True
    weighted: bool = False
    priors: bool = False
    unit: str = "largest"
    other_decisions: bool = False
    predictions: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    hinge: str | None = None
    series: str = "baseline"

    #: Whether its network also computes probabilities.
    calibrates: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choice("output", self.output, _OUTPUTS)
        check_choice("unit", self.unit, ("largest", "mean"))
        for one in self.predictions:
            check_choice("predictions", one, _OUTPUTS[self.output])
        if not self.predictions:
            object.__setattr__(self, "predictions", _OUTPUTS[self.output])

    @property
    def blind(self) -> bool:
        """True if training does not depend on costs."""
        return not self.on_costs and not self.weighted

    @property
    def searchable(self) -> bool:
        """True if `csdl_keras.tuning` supports it, that is, without sample weights or priors."""
        return self.loss is not None and not (self.weighted or self.priors or self.calibrates)

    def unit_of(self, matrix: np.ndarray, largest: float | None = None) -> float:
        """Returns the divisor of costs; `largest` replaces the largest cost of the matrix."""
        if self.unit == "mean":
            return float(matrix[matrix > 0].mean())
        return float(matrix.max()) if largest is None else largest

    def build(
        self, body: Body, x: np.ndarray, matrix: np.ndarray, unit: float, seed: int | None
    ) -> keras.Model:
        """Returns the untrained network of a body for inputs `x`."""
        # The network outputs probabilities of classes, or costs of decisions.
        width = matrix.shape[1 if self.output == "cost" else 0]
        return body.build(x, width, self.output, seed)

    def targets(self, data: Examples, matrix: np.ndarray, unit: float) -> Any:
        """Returns the targets `y` for `fit`."""
        return data.y if not self.on_costs or data.costs is None else data.costs

    def make_loss(self, **arguments: Any) -> Any:
        """Returns the loss for `compile`, with `arguments` if it depends on costs."""
        assert self.loss is not None  # Every network has a loss.
        if "cost_matrix" in inspect.signature(self.loss).parameters:
            return self.loss(**arguments)
        loss = self.loss() if isinstance(self.loss, type) else self.loss
        if not self.on_costs:
            return loss
        return _FunctionLoss(getattr(loss, "call", loss), self.output, **arguments)

    def compile_arguments(self, data: Examples, matrix: np.ndarray, unit: float) -> dict[str, Any]:
        """Returns the arguments `loss` and `metrics` of `compile`."""
        by_labels = not self.on_costs or data.costs is None
        costs: dict[str, Any] = {}
        if self.on_costs:
            # A matrix is scaled before it is rounded to float32, cost vectors within the loss.
            costs = {"cost_matrix": matrix / unit} if by_labels else {"cost_scale": 1 / unit}
        if self.priors:
            costs["priors"] = np.bincount(data.y, minlength=len(matrix)) / len(data.y)
        # Early stopping must not use costs if training does not. Mean costs of a class may all be
        # above 0, so their regret is used; a cost matrix is 0 for the right decision.
        errors = 1.0 - np.eye(len(matrix))
        prices = errors if self.blind else regret(matrix) if by_labels else None
        # Costs of all examples were checked; those of a fold may be one-hot by chance.
        metric = AverageCost(prices, output=self.output, binary_costs=True)
        return {"loss": self.make_loss(**costs), "metrics": [metric]}

    def sample_weight(self, data: Examples, matrix: np.ndarray) -> Any:
        """Returns weights of the examples, 1 on average, or `None`."""
        if not self.weighted:
            return None
        costs = matrix[data.y] if data.costs is None else data.costs
        weights = costs.sum(axis=1) / (costs.shape[1] - 1)
        return weights / weights.mean()

    def classifier(self, network: keras.Model) -> keras.Model:
        """Returns the trained network as a model for `csdl_keras.decide`."""
        return network if self.link is None else cost_estimator(network, self.link)


class _FunctionLoss(CostLoss):
    """A loss that calls a function of costs and outputs; it cannot be saved."""

    prices_any_decision = True

    def __init__(self, function: Callable[..., Tensor], output_kind: str, **arguments: Any):
        super().__init__(**arguments)
        self.function, self.output_kind = function, output_kind

    def cost_loss(self, costs: Tensor, estimates: Tensor) -> Tensor:
        return self.function(costs, estimates)


@dataclasses.dataclass(frozen=True)
class _ExpectedCost(Objective):
    """Trains class probabilities and costs by class, see `models.expected_cost_model`."""

    calibrates: ClassVar[bool] = True

    def build(
        self, body: Body, x: np.ndarray, matrix: np.ndarray, unit: float, seed: int | None
    ) -> keras.Model:
        features = body.build(x, len(matrix), "features", seed)
        return expected_cost_model(features, matrix / unit, seed=seed)

    def targets(self, data: Examples, matrix: np.ndarray, unit: float) -> Any:
        costs = matrix[data.y] if data.costs is None else data.costs
        return labelled_costs(data.y, costs / unit, binary_costs=True)

    def compile_arguments(self, data: Examples, matrix: np.ndarray, unit: float) -> dict[str, Any]:
        return {
            "loss": {
                "probability": keras.losses.SparseCategoricalCrossentropy(),
                "class_costs": ObservedCostLoss(),
            },
            # The costs were checked before they were scaled.
            "metrics": {"expected_cost": [AverageCost(output="cost", binary_costs=True)]},
        }

    def classifier(self, network: keras.Model) -> keras.Model:
        return network.cost_model()


_CROSS_ENTROPY = keras.losses.SparseCategoricalCrossentropy
_LIKELIHOOD: dict[str, Any] = {"output": "probability", "on_costs": False}
_REGRESSION: dict[str, Any] = {"other_decisions": True, "series": "regression"}

#: Objectives by their names in `Algorithm`.
OBJECTIVES: dict[str, Objective] = {
    objective.name: objective
    for objective in (
        Objective("nll", _CROSS_ENTROPY, other_decisions=True, **_LIKELIHOOD),
        Objective(
            "weighted_nll", _CROSS_ENTROPY, weighted=True, predictions=("argmax",), **_LIKELIHOOD
        ),
        Objective("min", MINLoss, output="probability", priors=True, predictions=("argmax",)),
        Objective(
            "sosr", SOSRLoss, searched=("cost_scale", "alpha"), hinge="one_sided", series="SOSR"
        ),
        Objective("one_sided", OneSidedLoss, series="regression"),
        Objective("poisson", PoissonCostLoss, link="log", unit="mean", **_REGRESSION),
        Objective("logistic", LogisticCostLoss, link="logit", **_REGRESSION),
        Objective("one_sided_svm", None),
        _ExpectedCost("expected_cost", ObservedCostLoss, unit="mean", **_REGRESSION),
    )
}
