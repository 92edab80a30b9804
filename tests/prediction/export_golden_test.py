"""Exports of models that earlier versions saved answer as those of version 0.2.0 did."""

import keras
import numpy as np
import pytest

import csdl_keras as csdl
from tests.support.artifacts import OPENERS, PATHS
from tests.support.fresh_process import REPOSITORY

DATA = REPOSITORY / "tests" / "data"
GOLDEN = np.load(DATA / "golden" / "exports.npz")


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="TensorFlow writes all files")
@pytest.mark.parametrize("name", sorted({it.partition("/")[0] for it in GOLDEN}))
def test_same_answers_as_before(name, tmp_path):
    model = keras.saving.load_model(DATA / "models" / f"{name}.keras")
    shape, classes = model.input_shape[1:], model.output_shape[-1]
    x = np.random.default_rng(0).normal(scale=5.0, size=(20, *shape)).astype("float32")
    priced = name == "mlp_probability"
    prices = {"cost_matrix": 1 - np.eye(classes, dtype="float32")} if priced else {}
    for format, path in PATHS.items():
        csdl.export(model, tmp_path / path, format, cost_matrix_input=priced)
        found = OPENERS[format](tmp_path / path)({"inputs": x, **prices})
        np.testing.assert_array_equal(found["decision"], GOLDEN[f"{name}/decision"])
        np.testing.assert_allclose(found["costs"], GOLDEN[f"{name}/costs"], rtol=1e-5, atol=1e-5)
