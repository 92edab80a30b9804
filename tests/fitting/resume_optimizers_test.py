"""`Resume` with every optimizer of Keras and their options: nothing is lost."""

import keras
import pytest

from tests.support.resumed_fits import adam, check, fit, interrupt

QUICK = ("accumulation", "schedule")


DECAYING = keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=3, decay_rate=0.5)
OPTIMIZERS = {
    "average, overwriting": lambda: adam(use_ema=True, ema_overwrite_frequency=2),
    "accumulation": lambda: adam(gradient_accumulation_steps=3),
    "schedule": lambda: keras.optimizers.SGD(DECAYING, momentum=0.9),
    "clipnorm": lambda: adam(clipnorm=0.1, weight_decay=0.01),
    "global_clipnorm": lambda: adam(global_clipnorm=0.1, amsgrad=True),
    **{
        name: (lambda kind=kind: kind(learning_rate=0.05))
        for name, kind in vars(keras.optimizers).items()
        if isinstance(kind, type)
        and issubclass(kind, keras.optimizers.Optimizer)
        and name not in ("Optimizer", "LossScaleOptimizer", "MultiOptimizer")
    },
}


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in OPTIMIZERS],
)
def test_optimizers(name, tmp_path, nothing_lost):
    expected = fit(tmp_path / "undisturbed", optimizer=OPTIMIZERS[name], epochs=2)
    found = interrupt(tmp_path / "fit", [1], optimizer=OPTIMIZERS[name], epochs=2)
    check(nothing_lost, "optimizers", found, expected, 1)
