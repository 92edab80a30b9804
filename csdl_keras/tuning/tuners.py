"""KerasTuner's random, grid and Bayesian search as resumable tuners."""

from collections.abc import Callable
from typing import Any, TypeAlias

import keras_tuner
import numpy as np
from keras_tuner.engine.trial import Trial

from csdl_keras.tuning.resumable import HyperModel, Objective, ResumableOracle, ResumableTuner

#: What an oracle saves, for JSON.
State: TypeAlias = dict[str, Any]


class RandomSearchOracle(ResumableOracle, keras_tuner.oracles.RandomSearchOracle):
    """KerasTuner's oracle, which can be resumed."""


class RandomSearch(ResumableTuner):
    """`keras_tuner.RandomSearch` that can be resumed, by default for the lowest average cost.

    Args:
        hypermodel: a HyperModel, such as `CSDNNHyperModel`, or a function of
            `keras_tuner.HyperParameters` that returns a compiled model.
        objective: as in KerasTuner; `None` (default) minimises `val_average_cost`.
        max_trials: largest number of trials. Defaults to 10.
        seed: seed of the proposals; `None` (default) draws one.
        announce: called with each `keras_tuner.engine.trial.Trial` that has ended.
        **kwargs: other arguments of `keras_tuner.RandomSearch`, such as
            `directory`, `project_name`, `overwrite` and `executions_per_trial`.

    Raises:
        ValueError: if trials in the folder ended with other choices; in `search`, also
            if they ended with other data or arguments, or another process searches there.

    Example:

    ```python
    tuner = csdl_keras.tuning.RandomSearch(hyper_model, max_trials=20, directory="search")
    tuner.search(x, y, validation_data=(x_val, y_val), epochs=20, batch_size=100)
    model = hyper_model.classifier(tuner.get_best_models()[0])
    ```

    >>> import tempfile
    >>> import numpy as np
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CSDNNHyperModel((64,), 1 - np.eye(10))
    >>> tuner = RandomSearch(hyper_model, max_trials=5, directory=tempfile.mkdtemp())
    >>> tuner.oracle.objective.name, tuner.remaining_trials
    ('val_average_cost', 5)
    """

    oracle_class = RandomSearchOracle


class GridSearchOracle(ResumableOracle, keras_tuner.oracles.GridSearchOracle):
    """KerasTuner's oracle, which also saves its place in the grid.

    KerasTuner 1.4.8 does not: after a reload its search ends at once or raises a KeyError.
    """

    _ordered_ids: Any

    def get_state(self) -> State:
        """Returns the oracle's state with its place in the grid."""
        return {
            **super().get_state(),
            "ordered_ids": self._ids_in_order(),
            "populate_next": self._populate_next,
        }

    def set_state(self, state: State) -> None:
        """Restores a state."""
        super().set_state(state)
        self._ordered_ids = type(self._ordered_ids)()
        for trial_id in state["ordered_ids"]:
            self._ordered_ids.insert(trial_id)
        self._populate_next = list(state["populate_next"])

    def take_up(self, trial_id: str) -> None:
        """Queues the trial's successor in the grid, as KerasTuner does when a trial ends."""
        self._populate_next.append(trial_id)

    def _ids_in_order(self) -> list[str]:
        ids = []
        index = self._ordered_ids._next_index[None]
        while index is not None:
            ids.append(self._ordered_ids._memory[index])
            index = self._ordered_ids._next_index[index]
        return ids


class GridSearch(ResumableTuner):
    """`keras_tuner.GridSearch` that can be resumed, by default for the lowest average cost.

    The arguments are those of `RandomSearch`, but `max_trials` is `None` by default, which
    searches the whole grid, and the others are those of `keras_tuner.GridSearch`. KerasTuner
    tries ten values of a `Range` without a step.

    Example:

    >>> import tempfile
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CSDNNHyperModel((64,), [[0, 1], [5, 0]])
    >>> GridSearch(hyper_model, max_trials=5, directory=tempfile.mkdtemp()).remaining_trials
    5
    """

    oracle_class = GridSearchOracle

    def __init__(
        self,
        hypermodel: HyperModel,
        objective: Objective | None = None,
        max_trials: int | None = None,
        seed: int | None = None,
        announce: Callable[[Trial], None] = lambda trial: None,
        **kwargs: Any,
    ):
        super().__init__(hypermodel, objective, max_trials, seed, announce, **kwargs)


class BayesianOptimizationOracle(ResumableOracle, keras_tuner.oracles.BayesianOptimizationOracle):
    """KerasTuner's oracle, which also saves the state of its random numbers."""

    def get_state(self) -> State:
        """Returns the oracle's state with that of its random numbers."""
        kind, keys, *rest = self._random_state.get_state()
        return {**super().get_state(), "random_state": [kind, keys.tolist(), *rest]}

    def set_state(self, state: State) -> None:
        """Restores a state."""
        super().set_state(state)
        kind, keys, *rest = state["random_state"]
        self._random_state.set_state((kind, np.array(keys, np.uint32), *rest))


class BayesianOptimization(ResumableTuner):
    """`keras_tuner.BayesianOptimization` that can be resumed, by default for the lowest cost.

    The arguments are those of `RandomSearch`, but the others are those of
    `keras_tuner.BayesianOptimization`, such as `num_initial_points`.

    Example:

    >>> import tempfile
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CSDNNHyperModel((64,), [[0, 1], [5, 0]])
    >>> tuner = BayesianOptimization(hyper_model, max_trials=5, directory=tempfile.mkdtemp())
    >>> tuner.remaining_trials
    5
    """

    oracle_class = BayesianOptimizationOracle
    oracle_arguments = (*ResumableTuner.oracle_arguments, "num_initial_points", "alpha", "beta")
