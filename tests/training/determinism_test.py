"""Training twice from one seed: the same weights and decisions, bit for bit."""

import dataclasses
import hashlib

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.support.fresh_process import run_python
from tests.support.trainers import DATA, MATRICES, VALIDATION, make_trainer

# One of each body, and of each way to draw at random.
KINDS = ("csdnn", "cnn_bayes", "csosr", "calibrated_bayes")
ENSEMBLE = dataclasses.replace(csdl.ALGORITHMS["ensemble_bayes"], members=2)


def trained(algorithm, **arguments):
    """Weights, or what stands for them in a kernel machine."""
    trainer = make_trainer(validation_data=VALIDATION, **arguments)
    model = trainer.train(algorithm, MATRICES[0]).model
    if isinstance(model, keras.Model):
        return model.get_weights()
    return [model.predict_costs(DATA.x_test.reshape(len(DATA.x_test), -1))]


@pytest.mark.parametrize("algorithm", KINDS)
def test_the_global_seed(algorithm, run_eagerly):
    found = []
    for _ in range(2):
        keras.utils.set_random_seed(3)
        found.append(trained(algorithm, seed=None))
    assert all(map(np.array_equal, *found))


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["csdnn", ENSEMBLE])
def test_a_seed_of_its_own(algorithm, run_eagerly):
    found = []
    for disturbance in (1, 2):
        keras.utils.set_random_seed(disturbance)
        found.append(trained(algorithm))
    assert all(map(np.array_equal, *found))


def digest():
    return hashlib.sha256(b"".join(array.tobytes() for array in trained("csdnn"))).hexdigest()


@pytest.mark.slow
def test_fresh_processes_agree():
    code = "from tests.training.determinism_test import digest; print('\\n' + digest())"
    one, other = (run_python(code, PYTHONHASHSEED=seed).split()[-1] for seed in ("1", "2"))
    assert one == other and len(one) == 64
