"""Bayesian optimisation with a Gaussian process."""

from typing import Any

import keras_tuner
import numpy as np

from csdl_keras.tuning.resumable_oracle import ResumableOracle
from csdl_keras.tuning.resumable_tuner import ResumableTuner


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
