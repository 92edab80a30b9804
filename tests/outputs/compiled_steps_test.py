"""Checks of outputs in steps that PyTorch compiles."""

import keras
import pytest

from tests.support.fresh_process import run_python

# Trains by compiled steps; prints whether checks found the models, and the warnings.
COMPILED = """
import warnings, keras, numpy as np, csdl_keras as csdl
x, y, C = np.random.normal(size=(8, 3)), np.arange(8) % 3, 1 - np.eye(3)

def fit(end, loss, metric, y=y, **arguments):
    model = keras.Sequential([keras.Input((3,)), end])
    model.compile("sgd", loss, metrics=[metric], jit_compile=True)
    return model.fit(x, y, verbose=0, **arguments).history["average_cost"][0]

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    fit(csdl.CostOutput(3), csdl.SOSRLoss(C), csdl.AverageCost(C))
    softmax = keras.layers.Dense(3, "softmax")
    print(np.isfinite(fit(softmax, "sparse_categorical_crossentropy", csdl.AverageCost(C))))
    weighted = "mse", csdl.AverageCost(), C[y]
    for wrong, weights in ((weighted, {0: 1}), ((csdl.MINLoss(C), csdl.AverageCost(C)), None)):
        try:
            fit(csdl.CostOutput(3), *wrong, class_weight=weights)
        except ValueError as error:
            print(str(error).count("Expected") == 1)
print([str(one.message) for one in said if "_getframe" in str(one.message)])
"""


@pytest.mark.skipif(
    keras.backend.backend() != "torch", reason="on other backends nothing traces Python itself"
)
def test_compiled_steps_say_nothing_and_know_the_model():
    # In a fresh process, since PyTorch warns once.
    assert run_python(COMPILED, KERAS_BACKEND="torch").split() == ["True"] * 3 + ["[]"]
