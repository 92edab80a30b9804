"""Base class of searches over the training of an algorithm."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import keras
import keras_tuner

from csdl_keras._utils.checks import check_choice, check_integer
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_cost_matrix
from csdl_keras.metrics import AverageCost
from csdl_keras.models import bayes_classifier
from csdl_keras.training.algorithms import Algorithm, get_algorithm
from csdl_keras.training.bodies import BODIES
from csdl_keras.tuning._search_record import FitArguments, FitData
from csdl_keras.tuning.hyper_model import (
    CheckedHyperModel,
    count_execution,
    trial_fit,
    validation_apart,
)
from csdl_keras.tuning.space import Space, check_positive, check_share, check_space, declare

OPTIMIZERS = {"sgd": keras.optimizers.SGD, "adam": keras.optimizers.Adam}


class AlgorithmHyperModel(CheckedHyperModel):
    """Base class of HyperModels that search how an algorithm is trained.

    A subclass sets `body`, calls `search_training` in its `__init__`, and implements
    `network(hp, seed)`, and `pretrain` if it has that stage. Its documentation describes the
    arguments.
    """

    #: The body of the algorithms that are searched, a key of `BODIES`.
    body: ClassVar[str]
    #: Whether the body may be an object of your own too.
    takes_own_body: ClassVar[bool] = False

    def __init__(
        self,
        algorithm: str | Algorithm,
        input_shape: Sequence[int],
        cost_matrix: ArrayLike | None,
        num_classes: int | None,
        max_cost: float | None,
        seed: int | None,
        name: str | None,
        tunable: bool,
    ):
        super().__init__(name=name, tunable=tunable)
        self.algorithm = get_algorithm(algorithm)
        self.objective = self.algorithm.objective
        own_body = self.takes_own_body and not isinstance(self.algorithm.body, str)
        fits = own_body or issubclass(self.algorithm.body_kind, BODIES[self.body])
        if not fits or not self.objective.searchable:
            raise ValueError(
                f"Expected an algorithm with body {self.body!r} whose training needs no weights "
                f"and no shares of classes, such as NLL or SOSR; received {self.algorithm.name!r}, "
                f"body {self.algorithm.body!r} and training {self.algorithm.training!r}."
            )
        self.input_shape = tuple(input_shape)
        self.cost_matrix = None if cost_matrix is None else check_cost_matrix(cost_matrix)
        if self.cost_matrix is None:
            if not self.objective.on_costs or self.algorithm.pretraining_sees == "errors":
                raise ValueError(
                    f"Expected a `cost_matrix` for {self.algorithm.name!r}, which trains on "
                    "labels; received None."
                )
            self.num_classes = check_integer("num_classes", num_classes, low=2)
        else:
            self.num_classes = len(self.cost_matrix)
            if num_classes not in (None, self.num_classes):
                raise ValueError(
                    f"Expected num_classes={self.num_classes}, the rows of `cost_matrix`; "
                    f"received {num_classes!r}."
                )
        if max_cost is None:
            max_cost = 1.0 if self.cost_matrix is None else float(self.cost_matrix.max())
        self.max_cost = check_positive("max_cost", max_cost)
        self.seed = None if seed is None else check_integer("seed", seed, low=0)

    def search_training(
        self,
        optimizer: Space,
        learning_rate: Space | Mapping[str, Space],
        momentum: Space,
        cost_scale: Space,
        alpha: Space,
    ) -> None:
        """Checks and keeps the spaces of training."""
        self.optimizer = check_space("optimizer", optimizer, _optimizer_name)
        self.learning_rate = self._learning_rates(learning_rate)
        self.momentum = check_space("momentum", momentum, check_share)
        self.cost_scale = check_space("cost_scale", cost_scale, check_positive)
        self.alpha = check_space("alpha", alpha, check_positive)

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
        fit_arguments: FitArguments,
    ) -> None:
        """Runs the stage before training; does nothing unless a subclass has one."""

    def build(self, hp: keras_tuner.HyperParameters) -> keras.Model:
        """Declares the spaces and builds the compiled network."""
        model = self.network(hp, self.seed)
        objective, bayes = self.objective, self.algorithm.weighs_costs
        spaces = {"cost_scale": self.cost_scale, "alpha": self.alpha}
        chosen = {name: declare(hp, name, spaces[name]) for name in objective.searched}
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

        A model that has already been trained, such as one that `keras_tuner.Hyperband`
        promotes, continues from its weights.

        Args:
            hp: the values of the trial.
            model: the model that `build` made with them.
            x: as in `keras.Model.fit`.
            y: labels, or cost vectors without a cost matrix.
            callbacks: KerasTuner's and your callbacks of training; they are not called
                in pre-training, whose epochs are not those of the trial.
            **fit_arguments: arguments of `keras.Model.fit`. With a seed, batches of arrays
                are `ShuffledBatches` of that seed, up to 32 in an execution unless `build`
                compiles with more than 1; pre-training does not see the examples that a
                `validation_split` holds out.

        Returns:
            A `keras.callbacks.History`.

        Raises:
            keras_tuner.errors.FatalValueError: if the data fail their checks or the folder
                holds another search; this stops the search before anything is trained.
        """
        self.check_trial(hp, x, y, callbacks, fit_arguments)
        x, y, fit_arguments = validation_apart(x, y, fit_arguments)
        execution = count_execution(callbacks)
        seed = self.seed
        if seed is not None and execution > 0:
            seed = Seeds(seed, f"execution {execution}").next()
        if not _is_trained(model, fit_arguments):
            if seed != self.seed:
                model.set_weights(self.network(hp, seed).get_weights())
            self.pretrain(hp, model, x, y, seed, fit_arguments)
        return trial_fit(model, x, y, seed, {"callbacks": list(callbacks), **fit_arguments})

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
        return self.objective.classifier(model)

    def _learning_rates(self, space: Space | Mapping[str, Space]) -> dict[str, Space]:
        """Returns a space for each optimizer that is searched."""
        names = [self.optimizer] if isinstance(self.optimizer, str) else self.optimizer
        spaces = space if isinstance(space, Mapping) else dict.fromkeys(names, space)
        missing = [name for name in names if name not in spaces]
        if missing:
            raise ValueError(
                f"Expected `learning_rate` to be a space, or a dict with one for each of {names}; "
                f"received none for {missing}."
            )
        return {name: check_space("learning_rate", spaces[name], check_positive) for name in names}

    def _build_optimizer(self, hp: keras_tuner.HyperParameters) -> keras.optimizers.Optimizer:
        name = declare(hp, "optimizer", self.optimizer)
        made = None
        for each, space in self.learning_rate.items():
            with hp.conditional_scope("optimizer", [each]):
                rate = declare(hp, f"{each}_learning_rate", space)
                arguments = {}
                if each == "sgd":
                    arguments["momentum"] = declare(hp, "momentum", self.momentum)
            if each == name:
                made = OPTIMIZERS[each](rate, **arguments)
        return made


def _is_trained(model: keras.Model, fit_arguments: FitArguments) -> bool:
    """Tells whether a model has been trained before, so that training continues."""
    steps = keras.ops.convert_to_numpy(model.optimizer.iterations)
    return int(steps) > 0 or fit_arguments.get("initial_epoch", 0) > 0


def _optimizer_name(name: str, value: object) -> str:
    return check_choice(name, value, OPTIMIZERS)
