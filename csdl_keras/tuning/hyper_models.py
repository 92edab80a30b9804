"""HyperModels with the search spaces of algorithms' networks."""

import dataclasses
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import keras
import keras_tuner
import numpy as np
from keras_tuner.errors import FatalValueError

from csdl_keras import models
from csdl_keras._utils.checks import check_integer, check_number
from csdl_keras._utils.seeds import Seeds
from csdl_keras._utils.types import ArrayLike
from csdl_keras.costs import check_cost_matrix, check_cost_vectors, check_labels, zero_one
from csdl_keras.fitting.cache import StageCache, check_cache
from csdl_keras.fitting.fit import executed_steps, follows_seed, seeded_fit
from csdl_keras.metrics import AverageCost
from csdl_keras.pretraining.pretrain import pretrain
from csdl_keras.training.algorithms import Algorithm, get_algorithm

#: A value, a sequence of values, or a `Range`.
Space: TypeAlias = Any


@dataclasses.dataclass(frozen=True)
class Range:
    """A search space of all numbers from `low` to `high`, both included.

    The numbers are integers if both ends (and the step) are integers.

    Args:
        low: the smallest number.
        high: the largest number, above `low`.
        step: difference between successive numbers, or with `"log"` their
            ratio; `None` (default) allows all numbers.
        sampling: `"linear"` (default), or `"log"`, which draws every order of
            magnitude equally often.

    Example:

    >>> from csdl_keras import tuning
    >>> tuning.Range(1e-3, 1e-1, sampling="log")
    Range(low=0.001, high=0.1, step=None, sampling='log')
    """

    low: float
    high: float
    step: float | None = None
    sampling: str = "linear"

    def __post_init__(self) -> None:
        check_number("high", self.high, low=self.low, exclude_low=True)


def declare(hp: keras_tuner.HyperParameters, name: str, space: Space) -> Any:
    """Returns the value of a hyperparameter, and declares its space if it is new."""
    if isinstance(space, Range):
        ends = (space.low, space.high, 1 if space.step is None else space.step)
        kind = hp.Int if all(isinstance(end, numbers.Integral) for end in ends) else hp.Float
        return kind(name, space.low, space.high, step=space.step, sampling=space.sampling)
    values = np.ravel(space).tolist()  # KerasTuner requires one type.
    return hp.Choice(name, values) if len(values) > 1 else hp.Fixed(name, *values)


_OPTIMIZERS = {"sgd": keras.optimizers.SGD, "adam": keras.optimizers.Adam}
_RATES = {"sgd": Range(0.01, 1.0, sampling="log"), "adam": Range(1e-4, 1e-2, sampling="log")}


class AlgorithmHyperModel(keras_tuner.HyperModel):
    """Base class of HyperModels that search how an algorithm is trained."""

    #: The body of the supported algorithms, a key of `BODIES`.
    body: ClassVar[str]
    #: The default space of each hyperparameter.
    choices: ClassVar[dict[str, Space]] = {
        "optimizer": ("sgd", "adam"),
        "learning_rate": _RATES,
        "momentum": 0.9,
        "cost_scale": (1.0, 3.0, 10.0),
        "alpha": (1.0, 4.0),
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
        **spaces: Space,
    ):
        super().__init__()
        self.algorithm = get_algorithm(algorithm)
        if self.algorithm.body != self.body or not self.algorithm.objective.searchable:
            raise ValueError(
                f"{self.algorithm.name!r} cannot be searched by {type(self).__name__}, which needs "
                f"the body {self.body!r} and training with NLL or SOSR."
            )
        self.input_shape = tuple(input_shape)
        self.cost_matrix = None if cost_matrix is None else check_cost_matrix(cost_matrix)
        rows = None if self.cost_matrix is None else len(self.cost_matrix)
        on_costs = self.algorithm.objective.on_costs
        if rows is None and (not on_costs or self.algorithm.pretraining_sees == "errors"):
            name = self.algorithm.name
            raise ValueError(f"{name!r} trains on labels, so it needs a `cost_matrix`.")
        self.num_classes = check_integer("num_classes", num_classes or rows, low=2)
        if max_cost is None:
            max_cost = 1.0 if self.cost_matrix is None else float(self.cost_matrix.max())
        self.max_cost = check_number("max_cost", max_cost, 0, exclude_low=True)
        self.seed = None if seed is None else check_integer("seed", seed, low=0)
        if unknown := spaces.keys() - self.choices.keys():
            raise TypeError(f"Spaces {sorted(unknown)} are unknown. Use any of {[*self.choices]}.")
        #: The space of each hyperparameter.
        self.spaces = {**self.choices, **spaces}
        rates = self.spaces.pop("learning_rate")
        for name in np.ravel(self.spaces["optimizer"]):
            rate = rates[name] if isinstance(rates, Mapping) else rates
            self.spaces[f"{name}_learning_rate"] = rate

    def value(self, hp: keras_tuner.HyperParameters, name: str) -> Any:
        """Returns the value of a hyperparameter, and declares its space if it is new."""
        return declare(hp, name, self.spaces[name])

    def network(self, hp: keras_tuner.HyperParameters, seed: int | None) -> keras.Model:
        """Returns the untrained, uncompiled network."""
        raise NotImplementedError(f"{type(self).__name__} must implement `network`.")

    def pretraining(self, hp: keras_tuner.HyperParameters) -> dict[str, Any] | None:
        """Declares spaces and returns the arguments of `csdl_keras.pretrain`; `None` without it."""
        return None

    def build(self, hp: keras_tuner.HyperParameters) -> keras.Model:
        """Declares the spaces and builds the compiled network."""
        model = self.network(hp, self.seed)
        self.pretraining(hp)  # Declares its spaces.
        objective, bayes = self.algorithm.objective, self.algorithm.weighs_costs
        chosen = {name: self.value(hp, name) for name in objective.searched}
        if objective.on_costs:
            chosen["cost_scale"] = chosen.get("cost_scale", 1.0) / self.max_cost
            chosen["cost_matrix"] = self.cost_matrix
        metric = AverageCost(self.cost_matrix, output=objective.output, bayes=bayes)
        name = self.value(hp, "optimizer")
        optimizer: Any = None
        for each in [it for it in _OPTIMIZERS if f"{it}_learning_rate" in self.spaces]:
            with hp.conditional_scope("optimizer", [each]):
                arguments = {"learning_rate": self.value(hp, f"{each}_learning_rate")}
                if each == "sgd":
                    arguments["momentum"] = self.value(hp, "momentum")
            if each == name:
                optimizer = _OPTIMIZERS[each](**arguments)
        # Checkpoints would omit the state of an optimizer that is not built.
        optimizer.build(model.trainable_variables)
        model.compile(optimizer, loss=objective.make_loss(**chosen), metrics=[metric])
        return model

    def fit(
        self,
        hp: keras_tuner.HyperParameters,
        model: keras.Model,
        x: Any = None,
        y: Any = None,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        validation_data: Any = None,
        **fit_arguments: Any,
    ) -> keras.callbacks.History:
        """Pre-trains the model if the algorithm does, and trains it; called by KerasTuner.

        A model promoted by `keras_tuner.Hyperband` continues from its weights. Wrong arguments end
        the search; a training that diverges only fails its trial.
        """
        if validation_data is None:
            raise FatalValueError("tuner.search(...) needs `validation_data` to compare trials.")
        held_out = validation_data[1:2] if isinstance(validation_data, (tuple, list)) else ()
        arguments = dict(fit_arguments, validation_data=validation_data)
        batch_size, seed = arguments.get("batch_size") or 32, self._execution_seed(callbacks)
        trained = int(keras.ops.convert_to_numpy(model.optimizer.iterations)) > 0
        try:
            for targets in (y, *held_out):
                if targets is not None and self.cost_matrix is None:
                    check_cost_vectors(targets, self.num_classes)
                elif targets is not None:
                    check_labels(np.ravel(targets), self.num_classes)
            if not trained and not arguments.get("initial_epoch"):
                if seed != self.seed:
                    model.set_weights(self.network(hp, seed).get_weights())
                if (chosen := self.pretraining(hp)) is not None:
                    pretrain(model, x, y, seed=seed, batch_size=batch_size, verbose=0, **chosen)
            if seed is not None:
                keras.utils.set_random_seed(seed)
                if model.steps_per_execution == 1 and follows_seed(x, arguments):
                    model.steps_per_execution = executed_steps(len(x), batch_size)
            # A trial that diverges has cost NaN, which KerasTuner handles.
            return seeded_fit(model, x, y, seed, may_diverge=True, callbacks=callbacks, **arguments)
        except ValueError as error:
            raise FatalValueError(str(error)) from error

    def classifier(self, model: keras.Model) -> keras.Model:
        """Returns a model of `tuner.get_best_models()` with its decision rule."""
        if self.cost_matrix is not None and self.algorithm.weighs_costs:
            return models.bayes_classifier(model, self.cost_matrix)
        return self.algorithm.objective.classifier(model)

    def _execution_seed(self, callbacks: Sequence[keras.callbacks.Callback]) -> int | None:
        """Returns the seed of this execution of a trial; the first has that of the search."""
        # The executions of a trial share a callback `SaveBestEpoch`, whose class is not public.
        checkpoint: Any = next((it for it in callbacks if hasattr(it, "best_value")), None)
        execution = getattr(checkpoint, "executions", 0)
        if checkpoint is not None:
            checkpoint.executions = execution + 1
        return Seeds(self.seed, f"execution {execution}").next() if execution else self.seed


class CSDNNHyperModel(AlgorithmHyperModel):
    """Searches β, depth and training of a pre-trained fully connected network.

    Trials are compared by `val_average_cost`, the average cost of the algorithm's decisions. With a
    `seed`, the same values give the same network; each execution of a trial has its own seed. A
    *space* is one value, a sequence of values to choose from, or a `tuning.Range`.

    Args:
        input_shape: shape of an input without the batch.
        cost_matrix: `(K, K)`, `C[true, decision]`, with integer labels as targets. `None`
            (default), for SOSR only, with cost vectors `(N, K)` as targets.
        algorithm: a fully connected `Algorithm` that trains with NLL or SOSR, or its name.
            Defaults to `"csdnn"`.
        cache: as in `csdl_keras.pretrain`; trials share pre-trained layers.
        num_classes: `K`, required without a cost matrix.
        max_cost: the largest cost, by which losses divide costs; `None` (default) is
            that of the matrix, or 1 for cost vectors.
        seed: seed of weights, corruption and shuffling. Defaults to 0; `None`
            follows `keras.utils.set_random_seed`.
        beta, corruption, pretraining_learning_rate, pretraining_epochs: spaces of the arguments of
            `csdl_keras.pretrain`, and of Adam's learning rate in it. The default space of β is the
            paper's.
        depth, units: spaces of the number of hidden layers, and of units in each.
        optimizer: space of `"sgd"` and `"adam"` in training.
        learning_rate: space, or a dict with a space for each optimizer.
        momentum: space of the momentum of SGD. Defaults to 0.9.
        cost_scale: space of the largest cost after scaling in training.
        alpha: space of the sharpness of the SOSR loss in training.

    References:
        - Chung, Lin, Yang, IJCAI 2016, section "Experimental Results"

    Example:

    >>> import keras_tuner, numpy as np
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CSDNNHyperModel(
    ...     (64,), 1 - np.eye(10), beta=[0.0, 0.25], depth=tuning.Range(1, 3)
    ... )
    >>> hp = keras_tuner.HyperParameters()
    >>> model = hyper_model.build(hp)
    >>> hp.get("beta"), hp.get("depth"), model.output_shape
    (0.0, 1, (None, 10))
    """

    body = "mlp"
    choices = AlgorithmHyperModel.choices | {
        "beta": (0.0, 0.05, 0.1, 0.25, 0.4, 0.75, 1.0),
        "depth": (1, 2, 3, 4, 5),
        "units": (100, 250, 500),
        "corruption": (0.0, 0.1, 0.25, 0.4),
        "pretraining_learning_rate": Range(1e-4, 1e-2, sampling="log"),
        "pretraining_epochs": 10,
    }

    def __init__(
        self,
        input_shape: Sequence[int],
        cost_matrix: ArrayLike | None = None,
        algorithm: str | Algorithm = "csdnn",
        *,
        cache: StageCache | None = None,
        **kwargs: Any,
    ):
        super().__init__(input_shape, cost_matrix, algorithm, **kwargs)
        self.cache = check_cache(cache, self.seed)

    def network(self, hp: keras_tuner.HyperParameters, seed: int | None) -> keras.Model:
        units = (self.value(hp, "units"),) * self.value(hp, "depth")
        output = self.algorithm.output
        return models.mlp(self.input_shape, self.num_classes, units, output=output, seed=seed)

    def pretraining(self, hp: keras_tuner.HyperParameters) -> dict[str, Any] | None:
        sees = self.algorithm.pretraining_sees
        if sees is None:
            return None
        on_errors = sees == "errors"
        return {
            "beta": 0.0 if sees == "inputs" else self.value(hp, "beta"),
            "corruption": self.value(hp, "corruption"),
            "optimizer": keras.optimizers.Adam(self.value(hp, "pretraining_learning_rate")),
            "epochs": self.value(hp, "pretraining_epochs"),
            "cost_matrix": zero_one(self.num_classes) if on_errors else self.cost_matrix,
            "cost_scale": 1.0 if on_errors else 1.0 / self.max_cost,
            "cache": self.cache,
        }


class CNNHyperModel(AlgorithmHyperModel):
    """Searches the training of Caffe's convolutional network by a cost-sensitive algorithm.

    Trials and *spaces* are as in `CSDNNHyperModel`.

    Args:
        input_shape: `(height, width, channels)` of images in [0, 1].
        cost_matrix: as in `CSDNNHyperModel`; `None` (default) for `cnn_sosr` only.
        algorithm: `"cnn_blind"`, `"cnn_bayes"` (default), `"cnn_sosr"`, or such an `Algorithm`.
        variant: space of `"quick"` (default) and `"full"`, see `models.caffe_cifar10`.
        mean: as in `models.caffe_cifar10`. Defaults to 0.
        optimizer: space of `"sgd"` (default) and `"adam"`.
        **kwargs: `num_classes`, `max_cost`, `learning_rate`, `momentum`, `cost_scale`, `alpha`
            and `seed`, as in `CSDNNHyperModel`.

    Example:

    >>> import keras_tuner, numpy as np
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CNNHyperModel((16, 16, 1), 1 - np.eye(3), variant=["quick", "full"])
    >>> hp = keras_tuner.HyperParameters()
    >>> hyper_model.build(hp).name, hp.get("optimizer")
    ('caffe_cifar10_quick', 'sgd')
    """

    body = "cnn"
    choices = AlgorithmHyperModel.choices | {
        "variant": "quick",
        "optimizer": "sgd",
        "learning_rate": Range(1e-4, 3e-3, sampling="log"),
    }

    def __init__(
        self,
        input_shape: Sequence[int],
        cost_matrix: ArrayLike | None = None,
        algorithm: str | Algorithm = "cnn_bayes",
        *,
        mean: ArrayLike = 0.0,
        **kwargs: Any,
    ):
        super().__init__(input_shape, cost_matrix, algorithm, **kwargs)
        self.mean = mean

    def network(self, hp: keras_tuner.HyperParameters, seed: int | None) -> keras.Model:
        return models.caffe_cifar10(
            self.input_shape,
            self.num_classes,
            variant=self.value(hp, "variant"),
            output=self.algorithm.output,
            mean=self.mean,
            seed=seed,
        )
