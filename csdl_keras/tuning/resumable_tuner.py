"""What the tuners of this package share."""

from collections.abc import Callable
from typing import Any, ClassVar

import keras_tuner

from csdl_keras.tuning.resumable_oracle import write_json

# KerasTuner takes the seed 0 for no seed.
SEED_FOR_0 = 10_001


class ResumableTuner(keras_tuner.Tuner):
    """Base class: a tuner whose search goes on where it was killed.

    Args:
        hypermodel: a `keras_tuner.HyperModel`, or a function of
            `keras_tuner.HyperParameters` that returns a compiled model.
        objective: as in KerasTuner; `None` is `val_average_cost`, minimised.
        max_trials: most trials.
        seed: seed of the proposals.
        announce: called with each `keras_tuner.engine.trial.Trial` that has ended.
        **kwargs: other arguments of the oracle and of `keras_tuner.Tuner`.
    """

    oracle_class: ClassVar[Any]
    oracle_arguments: ClassVar[tuple[str, ...]] = (
        "hyperparameters",
        "tune_new_entries",
        "allow_new_entries",
        "max_retries_per_trial",
        "max_consecutive_failed_trials",
    )

    def __init__(
        self,
        hypermodel: Any,
        objective: Any = None,
        max_trials: int | None = 10,
        seed: int | None = None,
        announce: Callable[[Any], None] = lambda trial: None,
        **kwargs: Any,
    ):
        if objective is None:
            objective = keras_tuner.Objective("val_average_cost", "min")
        own = {name: kwargs.pop(name) for name in self.oracle_arguments if name in kwargs}
        oracle = self.oracle_class(
            objective=objective,
            max_trials=max_trials,
            seed=SEED_FOR_0 if seed == 0 else seed,
            **own,
        )
        self._announce = announce
        super().__init__(oracle, hypermodel, **kwargs)
        if not self._is_worker():
            self.save()  # KerasTuner does so after the first trial, which is lost until then

    def on_trial_end(self, trial: Any) -> None:
        """Ends a trial and announces it."""
        super().on_trial_end(trial)
        self._announce(self.oracle.get_trial(trial.trial_id))

    def save(self) -> None:
        """Writes the state of the search."""
        if not self._is_worker():
            self.oracle.save()
        write_json(self._get_tuner_fname(), self.get_state())
