"""Training twice from one seed: the same weights and decisions, bit for bit."""

import dataclasses

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras.training.algorithm import Algorithm
from tests.support.fresh_process import run_python
from tests.support.trainers import DATA, MATRICES, SETTINGS, VALIDATION, make_trainer

# One of each body, pre-training, training, and way to make several networks into one.
KINDS: dict[str, str | Algorithm] = {
    "fully-connected, Bayes": "dnn_bayes",
    "auto-encoders": "sdae_bayes",
    "error-aware auto-encoders": "seae_sosr",
    "cost-aware auto-encoders, SOSR": "csdnn",
    "MIN": "min",
    "weights": "dnn_weighted",
    "Poisson": Algorithm("poisson", "Poisson", "mlp", "none", "poisson", "argmin"),
    "logistic": Algorithm("logistic", "Logistic", "mlp", "none", "logistic", "argmin"),
    "convolutional": "cnn_bayes",
    "kernel machine": "csosr",
    "expected costs": "cost_model",
    "images, calibrated, an ensemble": dataclasses.replace(
        csdl.ALGORITHMS["ensemble_bayes"], members=2
    ),
}
#: Those that share all but their row's data with another kind.
ALIKE = ("auto-encoders", "error-aware auto-encoders", "weights", "logistic")
TABLES = tuple(x.reshape(len(x), -1) for x in (DATA.x_train, DATA.x_val))


def outputs(model):
    """What a trained model says of test images, and of a machine its costs."""
    if isinstance(model, keras.Model):
        return model.predict(DATA.x_test, verbose=0)
    return model.predict_costs(DATA.x_test.reshape(len(DATA.x_test), -1))


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.slow if kind in ALIKE else ()) for kind in KINDS],
)
class TestKinds:
    def test_the_global_seed(self, kind, run_eagerly):
        found = []
        for _ in range(2):
            keras.utils.set_random_seed(3)
            trainer = make_trainer(seed=None, validation_data=VALIDATION)
            found.append(outputs(trainer.train(KINDS[kind], MATRICES[0]).model))
        np.testing.assert_array_equal(*found)

    @pytest.mark.slow
    def test_a_seed_of_its_own(self, kind, run_eagerly):
        found = []
        for disturbance in (1, 2):
            keras.utils.set_random_seed(disturbance)
            trainer = make_trainer(validation_data=VALIDATION)
            found.append(outputs(trainer.train(KINDS[kind], MATRICES[0]).model))
        np.testing.assert_array_equal(*found)


def test_members_trained_as_one_network(run_eagerly):
    found = []
    for disturbance in (1, 2):
        keras.utils.set_random_seed(disturbance)
        row = dataclasses.replace(csdl.ALGORITHMS["ensemble_bayes"], members=2)
        validation = (TABLES[1], DATA.y_val)
        trainer = csdl.Trainer(TABLES[0], DATA.y_train, validation, SETTINGS, seed=0)
        found.append(trainer.train(row, MATRICES[0]).model.predict(TABLES[1], verbose=0))
    np.testing.assert_array_equal(*found)


def test_another_seed_is_another_network(run_eagerly):
    one, other = (
        outputs(make_trainer(seed=seed).train("dnn_bayes", MATRICES[0]).model) for seed in (0, 1)
    )
    assert np.abs(one - other).max() > 1e-4


FRESH = """
import hashlib
from tests.training.determinism_test import outputs
from tests.support.trainers import MATRICES, VALIDATION, make_trainer

model = make_trainer(validation_data=VALIDATION).train("csdnn", MATRICES[0]).model
print("digest", hashlib.sha256(outputs(model).tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_fresh_processes_agree():
    digests = [run_python(FRESH, PYTHONHASHSEED=seed).split()[-1] for seed in ("1", "2")]
    assert digests[0] == digests[1] and len(digests[0]) == 64
