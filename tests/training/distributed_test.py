"""Training on two virtual devices, and tools that watch a training."""

import os
import subprocess
import sys

import keras
import numpy as np
import pytest

import csdl_keras as csdl

COMMON = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import keras, numpy as np
import csdl_keras as csdl

data = csdl.datasets.load("digits")
x, y, x_test = data.x_train[:300], data.y_train[:300], data.x_test[:64]
matrix = csdl.costs.randomized_proportional(y, seed=0)

def outputs(algorithm):
    model = csdl.train(x, y, matrix, algorithm, epochs=1, seed=0)
    return model.predict(x_test, verbose=0)
"""
CODE = {
    "jax": COMMON
    + """
alone = outputs("dnn_bayes"), outputs("calibrated_bayes")
keras.distribution.set_distribution(keras.distribution.DataParallel())
assert len(keras.distribution.list_devices()) == 2
for one, both in zip(alone, (outputs("dnn_bayes"), outputs("calibrated_bayes"))):
    np.testing.assert_allclose(both, one, rtol=1e-3, atol=1e-3)
""",
    # Each replica draws its own shifts and masks, so only a network without any is the same.
    "tensorflow": COMMON
    + """
import tensorflow as tf

devices = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], devices)
alone = outputs("dnn_bayes")
with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    both = outputs("dnn_bayes")
    assert np.isfinite(outputs("calibrated_bayes")).all()
np.testing.assert_allclose(both, alone, rtol=1e-3, atol=1e-3)
""",
}


@pytest.mark.slow
def test_two_devices_train_as_one_does():
    backend = keras.backend.backend()
    if backend not in CODE:
        pytest.skip("Keras distributes on TensorFlow and JAX.")
    done = subprocess.run(
        [sys.executable, "-c", CODE[backend]], capture_output=True, text=True, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr


def small(callbacks=()):
    data = csdl.datasets.load("digits")
    matrix = csdl.costs.randomized_proportional(data.y_train, seed=0)
    x, y, held_out = data.x_train[:200], data.y_train[:200], np.arange(50)
    trainer = csdl.Trainer(x, y, held_out, seed=0, callbacks=callbacks)
    trainer.settings = trainer.settings.limit_epochs(2)
    return trainer.train("dnn_bayes", matrix)


def test_mlflow_logs_each_epoch(tmp_path, monkeypatch):
    mlflow, keras_flavor = pytest.importorskip("mlflow"), pytest.importorskip("mlflow.keras")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri(tmp_path.as_uri())
    mlflow.set_experiment("costs")
    keras_flavor.autolog(log_models=False)
    try:
        with mlflow.start_run() as run:
            trained = small()
    finally:
        keras_flavor.autolog(disable=True)
    client = mlflow.MlflowClient()
    for name in ("loss", "average_cost", "val_loss"):
        logged = [one.value for one in client.get_metric_history(run.info.run_id, name)]
        np.testing.assert_allclose(logged, trained.history[name], rtol=1e-6)


def test_tensorboard_logs_each_epoch(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    trained = small([keras.callbacks.TensorBoard(tmp_path)])
    events = EventAccumulator(str(tmp_path / "validation"), {"tensors": 0})
    events.Reload()
    logged = events.Tensors("epoch_loss")
    assert [one.step for one in logged] == [0, 1]
    values = [float(np.frombuffer(one.tensor_proto.tensor_content, "float32")[0]) for one in logged]
    np.testing.assert_allclose(values, trained.history["val_loss"], rtol=1e-6)
