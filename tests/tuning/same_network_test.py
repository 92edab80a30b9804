"""The same values and execution give the same network, whatever was trained before."""

import keras_tuner
import numpy as np
import pytest

from csdl_keras import tuning
from tests.support.eager import eager_models
from tests.support.weights import assert_same_weights
from tests.tuning.searches import OBJECTIVE, made, search, small

EXECUTIONS = 2
#: One epoch of two batches.
SHORT = {"epochs": 1, "batch_size": 30}


class Networks(keras_tuner.HyperModel):
    """Hands everything on to a HyperModel, and notes the weights of each execution."""

    #: Raised after the first of several executions, once.
    error = None

    def __init__(self, **arguments):
        super().__init__()
        spaces = {"depth": 1, "learning_rate": (0.1, 0.5), "cost_scale": 1.0, "alpha": 1.0}
        arguments = {"pretraining_learning_rate": 1e-3, "beta": 0.5, **spaces, **arguments}
        self.trained_by = small(**arguments)
        self.found = {}

    def build(self, hp):
        return self.trained_by.build(hp)

    def fit(self, hp, model, *args, callbacks, **kwargs):
        told = self.trained_by.fit(hp, model, *args, callbacks=callbacks, **kwargs)
        execution = callbacks[-1].executions - 1
        # Hyperband's numbers of trials and brackets differ where values are the same.
        values = {name: it for name, it in hp.values.items() if not name.startswith("tuner/")}
        ran = (kwargs.get("initial_epoch", 0), kwargs["epochs"], execution)
        key, weights = (*sorted(values.items()), ran), model.get_weights()
        assert_same_weights(self.found.setdefault(key, weights), weights)
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        return told


class Interrupt(BaseException):
    """Interrupts as Ctrl-C does."""


def grid(networks, folder, tuner_class=keras_tuner.GridSearch, **arguments):
    return made(
        folder, networks, tuner_class, max_trials=2, executions_per_trial=EXECUTIONS, **arguments
    )


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The networks of a search that nothing happened to."""
    networks = Networks()
    with eager_models():
        search(grid(networks, tmp_path_factory.mktemp("expected")), **SHORT)
    assert len(networks.found) == 2 * EXECUTIONS
    first, second, *_ = networks.found.values()
    assert np.abs(first[0] - second[0]).max() > 1e-3  # executions differ
    return networks.found


def check(found, expected):
    assert found.keys() == expected.keys()
    for key, weights in found.items():
        assert_same_weights(weights, expected[key])


@pytest.mark.slow
def test_another_order_a_second_search_and_another_tuner(expected, tmp_path):
    networks = Networks(learning_rate=(0.5, 0.1))
    for number, tuner_class in enumerate((tuning.GridSearch, keras_tuner.RandomSearch)):
        search(grid(networks, tmp_path / str(number), tuner_class), **SHORT)
        check(networks.found, expected)


@pytest.mark.parametrize(
    "tuner_class,error",
    [(keras_tuner.GridSearch, Interrupt()), (tuning.GridSearch, ValueError())],
    ids=["interrupted", "retried"],
)
def test_an_interruption(tuner_class, error, expected, tmp_path):
    networks = Networks()
    networks.error = error
    tuner = grid(networks, tmp_path, tuner_class, max_retries_per_trial=1)
    if isinstance(error, Interrupt):
        with pytest.raises(Interrupt):
            search(tuner, **SHORT)
    search(tuner, **SHORT)
    assert networks.error is None
    check(networks.found, expected)


@pytest.mark.slow
def test_hyperband(tmp_path):
    """Two searches with one object, each of two brackets, promote the same networks."""
    networks = Networks(algorithm="dnn_sosr", learning_rate=tuning.Range(0.1, 0.5))
    counts = []
    for folder in ("a", "b"):
        tuner = keras_tuner.Hyperband(
            networks, OBJECTIVE, max_epochs=2, factor=2, seed=1, directory=tmp_path / folder
        )
        search(tuner, batch_size=30)
        counts.append(len(networks.found))
    assert counts[0] == counts[1]
    assert {key[-1][:2] for key in networks.found} == {(0, 1), (1, 2), (0, 2)}
