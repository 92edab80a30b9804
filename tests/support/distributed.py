"""Training that runs in processes with several devices, and how far it comes out differently."""

import contextlib
import json
from typing import Any

import keras
import numpy as np

import csdl_keras as csdl
from csdl_keras import training

EXAMPLES, BATCH_SIZE = 80, 20
RNG = np.random.default_rng(0)
X = RNG.random((EXAMPLES, 6)).astype("float32")
Y = RNG.integers(3, size=EXAMPLES)
C = np.array([[0.0, 1.0, 0.5], [0.2, 0.0, 0.8], [0.9, 0.4, 0.0]])
COSTS = C[Y].astype("float32")
PRETRAINING = {"beta": 0.25, "corruption": 0.25, "epochs": 2, "seed": 0, "verbose": 0}


def train() -> list[np.ndarray]:
    """The weights of a network after pre-training of two layers and training on costs."""
    keras.utils.set_random_seed(0)
    model = csdl.models.mlp((6,), 3, (5, 4), output="cost", seed=0)
    csdl.pretrain(model, X, costs=COSTS, batch_size=BATCH_SIZE, **PRETRAINING)
    model.compile("sgd", loss=csdl.SOSRLoss(C), metrics=[csdl.AverageCost(C)])
    model.fit(X, Y, batch_size=BATCH_SIZE, epochs=2, verbose=0)
    return model.get_weights()


def train_from(pretraining: Any, training: Any) -> list[np.ndarray]:
    """The same from datasets of batches."""
    keras.utils.set_random_seed(0)
    model = csdl.models.mlp((6,), 3, (5, 4), output="cost", seed=0)
    csdl.pretrain(model, pretraining, **PRETRAINING)
    model.compile("sgd", loss=csdl.SOSRLoss(C))
    model.fit(training, epochs=2, verbose=0)
    return model.get_weights()


def train_row() -> list[np.ndarray]:
    """The weights of a whole algorithm."""
    settings = csdl.Settings(
        mlp=training.MLP(hidden_units=(5, 4), batch_size=BATCH_SIZE)
    ).limit_epochs(2)
    validation = (X[:40], Y[:40])
    return csdl.train(
        X, Y, C, "csdnn", validation_data=validation, settings=settings, seed=0
    ).get_weights()


def tell(*pairs: tuple[list[np.ndarray], list[np.ndarray]]) -> None:
    """Prints the largest difference between the weights of each pair."""
    print(json.dumps([largest_difference(*pair) for pair in pairs]))


def largest_difference(weights: list[np.ndarray], others: list[np.ndarray]) -> float:
    pairs = zip(weights, others, strict=True)
    return max(float(np.abs(weight - other).max()) for weight, other in pairs)


def mirrored_strategy() -> None:
    """TensorFlow: one device beside two replicas."""
    import tensorflow as tf

    device = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(device, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy(
        ["CPU:0", "CPU:1"], cross_device_ops=tf.distribute.HierarchicalCopyAllReduce()
    )
    results = []
    for scope in (contextlib.nullcontext, strategy.scope):
        with scope():
            results.append((train(), train_row()))
    tell(*zip(*results, strict=True))


def data_parallel() -> None:
    """JAX: one device beside four."""
    alone = train(), train_row()
    devices = keras.distribution.list_devices()
    assert len(devices) == 4
    keras.distribution.set_distribution(keras.distribution.DataParallel(devices=devices))
    tell(*zip(alone, (train(), train_row()), strict=True))


def worker(process: int, port: int) -> None:
    """JAX: one of two processes, each with half of each batch, beside one with all of it."""
    import jax
    import tensorflow as tf

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    keras.distribution.initialize(f"127.0.0.1:{port}", 2, process)

    def halves(*arrays: np.ndarray) -> Any:
        parts = tuple(a.reshape(-1, 2, BATCH_SIZE // 2, *a.shape[1:])[:, process] for a in arrays)
        return tf.data.Dataset.from_tensor_slices(parts)

    devices = keras.distribution.list_devices()
    assert len(devices) == 2
    keras.distribution.set_distribution(
        keras.distribution.DataParallel(devices=devices, auto_shard_dataset=False)
    )
    weights = train_from(halves(X, COSTS), halves(X, Y))
    keras.distribution.set_distribution(None)
    with jax.default_device(jax.local_devices()[0]):
        alone = train_from(whole(X, COSTS), whole(X, Y))
    tell((weights, alone))


def whole(*arrays: np.ndarray) -> Any:
    import tensorflow as tf

    return tf.data.Dataset.from_tensor_slices(arrays).batch(BATCH_SIZE)
