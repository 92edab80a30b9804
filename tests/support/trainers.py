"""A small trainer that tests share."""

import keras

import csdl_keras as csdl
from csdl_keras.training.train import Trainer

DATA = csdl.datasets.load("digits", train_size=229)  # 200 for training
MATRICES = [csdl.costs.randomized_proportional(DATA.y_train_val, seed=seed) for seed in (0, 1)]
SETTINGS = csdl.Settings().replace(
    {
        "mlp.hidden_units": (16,),
        "mlp.epochs": 2,
        "pretraining.epochs": 2,
        "cnn.epochs": 1,
        "mlp.min_steps": 1,
        "cnn.min_steps": 1,
        "auto.epochs": 1,
        "auto.min_steps": 1,
    }
)
LONGER = SETTINGS.replace(
    {"mlp.batch_size": 25, "mlp.epochs": 9, "mlp.patience": 3, "pretraining.epochs": 1}
)
VALIDATION = (DATA.x_val, DATA.y_val)


class Counter(keras.callbacks.Callback):
    """Counts calls of `fit`."""

    observes_only = True
    fits = 0

    def on_train_begin(self, logs=None):
        self.fits += 1


def make_trainer(**kwargs):
    arguments = {"settings": SETTINGS, "seed": 0}
    return Trainer(DATA.x_train, DATA.y_train, **{**arguments, **kwargs})


def outputs(model):
    """What a trained model says of the test images."""
    return model.predict(DATA.x_test, verbose=0)
