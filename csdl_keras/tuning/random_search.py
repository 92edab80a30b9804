"""Random search."""

import keras_tuner

from csdl_keras.tuning.resumable_oracle import ResumableOracle
from csdl_keras.tuning.resumable_tuner import ResumableTuner


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
