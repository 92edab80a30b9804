"""Every algorithm on tiny data with a seed: the outputs of its model on test examples."""

import dataclasses
import functools
from collections.abc import Iterable, Iterator

import keras
import numpy as np
import pandas
from sklearn.datasets import load_breast_cancer, load_digits

import csdl_keras as csdl
from csdl_keras.training import MLP, AutoEncoders, AutoNetwork, CaffeCNN

SETTINGS = csdl.Settings(
    mlp=MLP(hidden_units=(16, 12), epochs=4, min_steps=1, batch_size=20),
    cnn=CaffeCNN(epochs=2, min_steps=1, batch_size=40),
    auto=AutoNetwork(epochs=4, min_steps=1, filters=(4, 8), batch_size=40),
    pretraining=AutoEncoders(epochs=2),
)
MATRIX = np.array(
    [[0.0, 1.0, 4.0, 2.0], [9.0, 0.0, 2.0, 1.0], [0.5, 7.0, 0.0, 3.0], [6.0, 2.0, 1.0, 0.0]]
)
TABLE_MATRIX = np.array([[0.0, 1.0], [20.0, 0.0]])


@functools.cache
def images() -> tuple[np.ndarray, np.ndarray]:
    x, y = load_digits(return_X_y=True)
    kept = np.flatnonzero(y < 4)[:360]
    return (x[kept] / 16.0).reshape(-1, 8, 8, 1).astype("float32"), y[kept]


@functools.cache
def table() -> tuple[pandas.DataFrame, np.ndarray]:
    x, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = x.iloc[:360, :5].copy()
    frame["size"] = pandas.cut(frame["mean area"], [0, 400, 700, 5000], labels=["s", "m", "l"])
    frame.loc[frame.index[::7], "mean texture"] = np.nan
    return frame, y.to_numpy()[:360]


def parts(x, y) -> list:
    """Training, validation and test examples."""
    return [(x[start:stop], y[start:stop]) for start, stop in ((0, 200), (200, 280), (280, 360))]


def outputs(model, x) -> np.ndarray:
    if isinstance(model, keras.Model):
        return model.predict(x, verbose=0)
    return model.predict_costs(np.reshape(x, (len(x), -1)))


#: Algorithms by the data that they are trained on.
NAMES = {
    "images": tuple(csdl.ALGORITHMS),
    "table": ("calibrated_bayes", "cost_model"),
    "folds": ("ensemble_bayes",),
}


def answers(data: str, names: Iterable[str]) -> Iterator[tuple[str, np.ndarray]]:
    """Yields the outputs of each model that is trained on images, a table or its folds."""
    train, val, test = parts(*(images() if data == "images" else table()))
    matrix = MATRIX if data == "images" else TABLE_MATRIX
    validation, settings = val, SETTINGS
    if data == "folds":
        validation, settings = None, dataclasses.replace(SETTINGS, members=2)
    trainer = csdl.Trainer(*train, validation_data=validation, settings=settings, seed=0)
    for name in names:
        yield f"{data}/{name}", outputs(trainer.train(name, matrix).model, test[0])
