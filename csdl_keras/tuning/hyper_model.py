"""The base class of searches over the training of an algorithm."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import keras
import keras_tuner
import numpy as np
from keras_tuner.errors import FatalValueError

from csdl_keras._utils.checks import check_choice, check_integer
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_cost_matrix, check_cost_vectors, check_labels
from csdl_keras.fitting.fit import executed_steps, follows_seed, seeded_fit
from csdl_keras.metrics import AverageCost
from csdl_keras.models import bayes_classifier
from csdl_keras.training.algorithms import Algorithm, get_algorithm
from csdl_keras.training.bodies import BODIES
from csdl_keras.tuning.space import (
    Check,
    Range,
    Space,
    check_positive,
    check_share,
    check_space,
    declare,
)

#: Inputs or targets of `keras.Model.fit`: arrays, tensors or a dataset of any backend.
FitData: TypeAlias = Any

OPTIMIZERS = {"sgd": keras.optimizers.SGD, "adam": keras.optimizers.Adam}
LEARNING_RATES = {
    "sgd": Range(0.01, 1.0, sampling="log"),
    "adam": Range(1e-4, 1e-2, sampling="log"),
}


class AlgorithmHyperModel(keras_tuner.HyperModel):
    """Base class of HyperModels that search how an algorithm is trained.

    A subclass sets `body`, adds `choices`, and implements `network(hp, seed)`, and `pretrain` if
    it has that stage.
    """

    #: The body of the algorithms that are searched, a key of `BODIES`.
    body: ClassVar[str]
    #: The default space of each hyperparameter, and the check of a value.
    choices: ClassVar[dict[str, tuple[Space, Check]]] = {
        "optimizer": (("sgd", "adam"), lambda n, value: check_choice(n, value, OPTIMIZERS)),
        "learning_rate": (LEARNING_RATES, check_positive),
        "momentum": (0.9, check_share),
        "cost_scale": ((1.0, 3.0, 10.0), check_positive),
        "alpha": ((1.0, 4.0), check_positive),
    }

    def __init__(
        self,
        input_shape: Sequence[int],
        cost_matrix: ArrayLike | None,
        algorithm: str | Algorithm,
        *,
        num_classes: int | None = None,
        max_cost: float | None = None,
        seed: int | None = 0,
        name: str | None = None,
        tunable: bool = True,
        **spaces: Space,
    ):
        super().__init__(name=name, tunable=tunable)
        if unknown := spaces.keys() - self.choices.keys():
            raise TypeError(f"Expected spaces of {[*self.choices]}; received {sorted(unknown)}.")
        self.algorithm = get_algorithm(algorithm)
        own = not isinstance(self.algorithm.body, str)
        if own or self.algorithm.body_kind is not BODIES[self.body]:
            raise ValueError(
                f"Expected an algorithm with body {self.body!r}; received {self.algorithm.name!r}, "
                f"body {self.algorithm.body!r}."
            )
        if not self.algorithm.objective.searchable:
            raise ValueError(
                "Expected an algorithm whose training needs no weights and no shares of classes, "
                f"such as NLL or SOSR; received {self.algorithm.name!r}."
            )
        self.input_shape = tuple(input_shape)
        self.cost_matrix = None if cost_matrix is None else check_cost_matrix(cost_matrix)
        rows = None if self.cost_matrix is None else len(self.cost_matrix)
        on_costs = self.algorithm.objective.on_costs
        if rows is None and (not on_costs or self.algorithm.pretraining_sees == "errors"):
            raise ValueError(
                f"Expected a `cost_matrix` for {self.algorithm.name!r}, which trains on "
                "labels; received None."
            )
        self.num_classes = check_integer("num_classes", num_classes or rows, low=2)
        if rows not in (None, self.num_classes):
            raise ValueError(
                f"Expected num_classes={rows}, the rows of `cost_matrix`; received {num_classes!r}."
            )
        if max_cost is None:
            max_cost = 1.0 if self.cost_matrix is None else float(self.cost_matrix.max())
        self.max_cost = check_positive("max_cost", max_cost)
        self.seed = None if seed is None else check_integer("seed", seed, low=0)
        spaces = {name: default for name, (default, _) in self.choices.items()} | spaces
        rates = spaces.pop("learning_rate")
        #: The space of each hyperparameter.
        self.spaces = {
            name: check_space(name, space, self.choices[name][1]) for name, space in spaces.items()
        }
        names = self.spaces["optimizer"]
        names = [names] if isinstance(names, str) else names
        rates = rates if isinstance(rates, Mapping) else dict.fromkeys(names, rates)
        if missing := [name for name in names if name not in rates]:
            raise ValueError(
                f"Expected `learning_rate` to be a space, or a dict with one for each of {names}; "
                f"received none for {missing}."
            )
        for name in names:
            space = check_space("learning_rate", rates[name], check_positive)
            self.spaces[f"{name}_learning_rate"] = space

    def value(self, hp: keras_tuner.HyperParameters, name: str) -> Any:
        """Returns the value of a hyperparameter, whose space it declares if it is new."""
        return declare(hp, name, self.spaces[name])

    def network(self, hp: keras_tuner.HyperParameters, seed: int | None) -> keras.Model:
        """Builds the untrained network, not compiled."""
        raise NotImplementedError(f"{type(self).__name__} must implement `network`.")

    def pretrain(
        self,
        hp: keras_tuner.HyperParameters,
        model: keras.Model,
        x: FitData,
        y: FitData,
        seed: int | None,
        fit_arguments: Mapping[str, Any],
    ) -> None:
        """Runs the stage before training; does nothing unless a subclass has one."""

    def build(self, hp: keras_tuner.HyperParameters) -> keras.Model:
        """Declares the spaces and builds the compiled network."""
        model = self.network(hp, self.seed)
        objective, bayes = self.algorithm.objective, self.algorithm.weighs_costs
        chosen = {name: self.value(hp, name) for name in objective.searched}
        if objective.on_costs:
            chosen["cost_scale"] = chosen.get("cost_scale", 1.0) / self.max_cost
            chosen["cost_matrix"] = self.cost_matrix
        loss = objective.make_loss(**chosen)
        metric = AverageCost(self.cost_matrix, output=objective.output, bayes=bayes)
        optimizer = self._build_optimizer(hp)
        # Checkpoints include its state; they would skip one that is not built, with a warning.
        optimizer.build(model.trainable_variables)
        model.compile(optimizer, loss=loss, metrics=[metric])
        return model

    def fit(
        self,
        hp: keras_tuner.HyperParameters,
        model: keras.Model,
        x: FitData = None,
        y: FitData = None,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        **fit_arguments: Any,
    ) -> keras.callbacks.History:
        """Pre-trains the model if the algorithm does, and trains it; called by KerasTuner.

        A model that has been trained, such as one that `keras_tuner.Hyperband` promotes,
        continues from its weights.

        Args:
            hp: the values of the trial.
            model: the model that `build` made with them.
            x: as in `keras.Model.fit`.
            y: labels, or cost vectors without a cost matrix.
            callbacks: of training; pre-training, whose epochs are others, does not call them.
            **fit_arguments: arguments of `keras.Model.fit`. Pre-training does not see what a
                `validation_split` holds out.

        Returns:
            A `keras.callbacks.History`.

        Raises:
            keras_tuner.errors.FatalValueError: which ends the search, if arguments are wrong; a
                training that diverges only fails its trial.
        """
        try:
            return self._fit(hp, model, x, y, list(callbacks), dict(fit_arguments))
        except ValueError as error:
            raise FatalValueError(str(error)) from error

    def _fit(
        self,
        hp: keras_tuner.HyperParameters,
        model: keras.Model,
        x: FitData,
        y: FitData,
        callbacks: list[keras.callbacks.Callback],
        arguments: dict[str, Any],
    ) -> keras.callbacks.History:
        if arguments.get("validation_data") is None and not arguments.get("validation_split"):
            raise ValueError(
                "Expected `validation_data` or `validation_split` in tuner.search(...), since "
                "trials are compared by 'val_average_cost'; received neither."
            )
        held_out = arguments.get("validation_data")
        pairs = [(y,), held_out[1:2] if isinstance(held_out, (tuple, list)) else ()]
        for targets in (it[0] for it in pairs if it and it[0] is not None):
            if self.cost_matrix is None:
                check_cost_vectors(targets, self.num_classes)
            else:
                check_labels(np.ravel(targets), self.num_classes)
        x, y = _hold_out(x, y, arguments)
        seed, execution = self.seed, _count_execution(callbacks)
        if seed is not None and execution > 0:
            seed = Seeds(seed, f"execution {execution}").next()
        trained = int(keras.ops.convert_to_numpy(model.optimizer.iterations)) > 0
        if not trained and not arguments.get("initial_epoch"):
            if seed != self.seed:
                model.set_weights(self.network(hp, seed).get_weights())
            self.pretrain(hp, model, x, y, seed, arguments)
        if seed is not None:
            keras.utils.set_random_seed(seed)
            if model.steps_per_execution == 1 and follows_seed(x, arguments):
                model.steps_per_execution = executed_steps(
                    len(x), arguments.get("batch_size") or 32
                )
        # A trial that diverges costs NaN, which KerasTuner understands.
        return seeded_fit(model, x, y, seed, may_diverge=True, callbacks=callbacks, **arguments)

    def classifier(self, model: keras.Model) -> keras.Model:
        """Adds the decision rule to a trained model of the search, to save and use it.

        Args:
            model: a model from `tuner.get_best_models()`.

        Returns:
            The model itself, or its `bayes_classifier` if the algorithm makes the Bayes
            decision.
        """
        if self.cost_matrix is not None and self.algorithm.weighs_costs:
            return bayes_classifier(model, self.cost_matrix)
        return self.algorithm.objective.classifier(model)

    def _build_optimizer(self, hp: keras_tuner.HyperParameters) -> keras.optimizers.Optimizer:
        name = self.value(hp, "optimizer")
        made = None
        for each in [it for it in OPTIMIZERS if f"{it}_learning_rate" in self.spaces]:
            with hp.conditional_scope("optimizer", [each]):
                arguments = {"learning_rate": self.value(hp, f"{each}_learning_rate")}
                if each == "sgd":
                    arguments["momentum"] = self.value(hp, "momentum")
            if each == name:
                made = OPTIMIZERS[each](**arguments)
        return made


def _hold_out(x: FitData, y: FitData, arguments: dict[str, Any]) -> tuple[FitData, FitData]:
    """Moves the last examples, a `validation_split`, to `validation_data`, as in `fit`.

    It happens before pre-training, which must not see their costs either.
    """
    share = arguments.pop("validation_split", None)
    if not share or arguments.get("validation_data") is not None:
        return x, y
    end = math.floor(len(x) * (1.0 - share))
    weights = arguments.pop("sample_weight", None)
    held_out = [x[end:], y[end:]]
    if weights is not None:
        arguments["sample_weight"] = weights[:end]
        held_out.append(weights[end:])
    arguments["validation_data"] = tuple(held_out)
    return x[:end], y[:end]


def _count_execution(callbacks: Sequence[keras.callbacks.Callback]) -> int:
    """Returns which execution of its trial this is, from 0.

    KerasTuner hands one checkpoint of the best epoch to all executions of a trial, and another
    one when the trial is run again. The count is kept there, so that no earlier trial, search
    or interruption affects it.
    """
    # Its class, SaveBestEpoch, is not among KerasTuner's public names.
    checkpoints: list[Any] = [it for it in callbacks if hasattr(it, "best_value")]
    if not checkpoints:
        return 0
    execution = getattr(checkpoints[0], "executions", 0)
    checkpoints[0].executions = execution + 1
    return execution
