"""Random search."""

from collections.abc import Callable
from typing import Any

import keras_tuner
import numpy as np

from csdl_keras.tuning.resumable import ResumableOracle, ResumableTuner


class RandomSearchOracle(ResumableOracle, keras_tuner.oracles.RandomSearchOracle):
    """KerasTuner's oracle, with files that a kill cannot break."""


class RandomSearch(ResumableTuner):
    """`keras_tuner.RandomSearch`, by default for the lowest `val_average_cost`.

    Args:
        hypermodel: a HyperModel, such as `CSDNNHyperModel`.
        objective: as in KerasTuner; `None` (default) is `val_average_cost`, minimised.
        max_trials: most trials. Defaults to 10.
        seed: seed of the proposals, `None` (default) for a random one.
        announce: called with each `keras_tuner.engine.trial.Trial` that has ended.
        **kwargs: other arguments of `keras_tuner.RandomSearch`, such as
            `directory`, `project_name`, `overwrite` and `executions_per_trial`.

    Raises:
        ValueError: if trials in the folder ended with other choices, or, in `search`,
            with other data or arguments; if another process searches there.

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
    """KerasTuner's oracle, which also keeps how far it has come.

    KerasTuner 1.4.8 does not: after a reload its search ends at once, or raises a KeyError.
    """

    _ordered_ids: Any

    def get_state(self) -> dict[str, Any]:
        """The oracle's state with its place in the grid."""
        return {
            **super().get_state(),
            "ordered_ids": self._ids_in_order(),
            "populate_next": self._populate_next,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes a state up."""
        super().set_state(state)
        self._ordered_ids = type(self._ordered_ids)()
        for trial_id in state["ordered_ids"]:
            self._ordered_ids.insert(trial_id)
        self._populate_next = list(state["populate_next"])

    def take_up(self, trial_id: str) -> None:
        """As at the end of any trial, what follows it in the grid has its turn."""
        self._populate_next.append(trial_id)

    def _ids_in_order(self) -> list[str]:
        ids = []
        index = self._ordered_ids._next_index[None]
        while index is not None:
            ids.append(self._ordered_ids._memory[index])
            index = self._ordered_ids._next_index[index]
        return ids


class GridSearch(ResumableTuner):
    """`keras_tuner.GridSearch` that can be resumed, for the lowest `val_average_cost`.

    Of a `Range` without a step, KerasTuner tries ten values.

    Args:
        hypermodel: a HyperModel, such as `CSDNNHyperModel`.
        objective: as in KerasTuner; `None` (default) is `val_average_cost`, minimised.
        max_trials: most trials; `None` (default) is the whole grid.
        seed: as in KerasTuner.
        announce: called with each `keras_tuner.engine.trial.Trial` that has ended.
        **kwargs: other arguments of `keras_tuner.GridSearch`, such as
            `directory`, `project_name`, `overwrite` and `executions_per_trial`.

    Raises:
        ValueError: if trials in the folder ended with other choices, or, in `search`,
            with other data or arguments; if another process searches there.

    Example:

    >>> import tempfile
    >>> import numpy as np
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CSDNNHyperModel((64,), 1 - np.eye(10))
    >>> tuner = GridSearch(hyper_model, max_trials=5, directory=tempfile.mkdtemp())
    >>> tuner.oracle.objective.name, tuner.remaining_trials
    ('val_average_cost', 5)
    """

    oracle_class = GridSearchOracle

    def __init__(
        self,
        hypermodel: Any,
        objective: Any = None,
        max_trials: int | None = None,
        seed: int | None = None,
        announce: Callable[[Any], None] = lambda trial: None,
        **kwargs: Any,
    ):
        super().__init__(hypermodel, objective, max_trials, seed, announce, **kwargs)


class BayesianOptimizationOracle(ResumableOracle, keras_tuner.oracles.BayesianOptimizationOracle):
    """KerasTuner's oracle, which also keeps the state of its random numbers."""

    def get_state(self) -> dict[str, Any]:
        """The oracle's state with that of its random numbers."""
        kind, keys, *rest = self._random_state.get_state()
        return {**super().get_state(), "random_state": [kind, keys.tolist(), *rest]}

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes a state up."""
        super().set_state(state)
        kind, keys, *rest = state["random_state"]
        self._random_state.set_state((kind, np.array(keys, np.uint32), *rest))


class BayesianOptimization(ResumableTuner):
    """`keras_tuner.BayesianOptimization`, by default for the lowest `val_average_cost`.

    Needs scikit-learn, which comes with `pip install "csdl_keras[compare]"`.

    Args:
        hypermodel: a HyperModel, such as `CSDNNHyperModel`.
        objective: as in KerasTuner; `None` (default) is `val_average_cost`, minimised.
        max_trials: most trials. Defaults to 10.
        seed: seed of the proposals, `None` (default) for a random one.
        announce: called with each `keras_tuner.engine.trial.Trial` that has ended.
        **kwargs: other arguments of `keras_tuner.BayesianOptimization`, such as
            `num_initial_points`, `directory`, `project_name` and `overwrite`.

    Raises:
        ValueError: if trials in the folder ended with other choices, or, in `search`,
            with other data or arguments; if another process searches there.

    Example:

    >>> import tempfile
    >>> import numpy as np
    >>> from csdl_keras import tuning
    >>> hyper_model = tuning.CSDNNHyperModel((64,), 1 - np.eye(10))
    >>> tuner = BayesianOptimization(hyper_model, max_trials=5, directory=tempfile.mkdtemp())
    >>> tuner.oracle.objective.name, tuner.remaining_trials
    ('val_average_cost', 5)
    """

    oracle_class = BayesianOptimizationOracle
    oracle_arguments = (*ResumableTuner.oracle_arguments, "num_initial_points", "alpha", "beta")
