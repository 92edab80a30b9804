"""The same values and execution give the same network, whatever was trained before."""

import keras_tuner
import numpy as np
import pytest

from csdl_keras import tuning
from tests.support.eager import eager_models
from tests.tuning.searches import search, small

OBJECTIVE = keras_tuner.Objective("val_average_cost", "min")
EXECUTIONS = 2


class Networks(keras_tuner.HyperModel):
    """Hands everything on to a HyperModel, and notes what each execution came to.

    Args:
        trained_by: the HyperModel.
    """

    def __init__(self, trained_by):
        super().__init__()
        self.trained_by = trained_by
        self.found = {}

    def build(self, hp):
        return self.trained_by.build(hp)

    def fit(self, hp, model, *args, callbacks, **kwargs):
        told = self.trained_by.fit(hp, model, *args, callbacks=callbacks, **kwargs)
        execution = callbacks[-1].executions - 1
        # Hyperband's numbers of trials and brackets differ where values are the same.
        values = {name: it for name, it in hp.values.items() if not name.startswith("tuner/")}
        ran = (kwargs.get("initial_epoch", 0), kwargs["epochs"], execution)
        self.note((*sorted(values.items()), ran), model.get_weights())
        return told

    def note(self, key, weights):
        for one, other in zip(self.found.setdefault(key, weights), weights, strict=True):
            np.testing.assert_array_equal(one, other)


class Interrupt(BaseException):
    """As Ctrl-C does."""


class InterruptedNetworks(Networks):
    """Stops behind the first of several executions, once."""

    stop = True

    def fit(self, hp, model, *args, **kwargs):
        told = super().fit(hp, model, *args, **kwargs)
        if self.stop:
            self.stop = False
            raise self.error
        return told


def hyper_model(**arguments):
    spaces = {"depth": 1, "learning_rate": (0.1, 0.5), "cost_scale": 1.0, "alpha": 1.0}
    return small(pretraining_learning_rate=1e-3, beta=0.5, **{**spaces, **arguments})


def grid(noting, folder, tuner_class=keras_tuner.GridSearch, **arguments):
    common = {"objective": OBJECTIVE, "max_trials": 2, "executions_per_trial": EXECUTIONS}
    return tuner_class(noting, directory=folder, seed=1, **{**common, **arguments})


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The networks of a search that nothing happened to."""
    noting = Networks(hyper_model())
    with eager_models():
        search(grid(noting, tmp_path_factory.mktemp("expected")))
    assert len(noting.found) == 2 * EXECUTIONS
    first, second, *_ = noting.found.values()
    assert np.abs(first[0] - second[0]).max() > 1e-3  # executions differ
    return noting.found


def check(found, expected):
    assert found.keys() == expected.keys()
    for key, weights in found.items():
        for one, other in zip(weights, expected[key], strict=True):
            np.testing.assert_array_equal(one, other)


class TestTheSameNetworks:
    def test_in_another_order(self, expected, tmp_path):
        noting = Networks(hyper_model(learning_rate=(0.5, 0.1)))
        search(grid(noting, tmp_path))
        check(noting.found, expected)

    def test_in_a_second_search_and_by_another_tuner(self, expected, tmp_path):
        noting = Networks(hyper_model())
        for number, tuner_class in enumerate((tuning.GridSearch, keras_tuner.RandomSearch)):
            search(grid(noting, tmp_path / str(number), tuner_class))
            check(noting.found, expected)

    @pytest.mark.parametrize("error", [Interrupt, ValueError])
    @pytest.mark.parametrize("tuner_class", [keras_tuner.GridSearch, tuning.GridSearch])
    def test_interrupted_and_retried(self, tuner_class, error, expected, tmp_path):
        noting = InterruptedNetworks(hyper_model())
        noting.error = error
        tuner = grid(noting, tmp_path, tuner_class, max_retries_per_trial=1)
        if error is Interrupt:
            with pytest.raises(Interrupt):
                search(tuner)
        search(tuner)
        assert not noting.stop
        check(noting.found, expected)

    def test_hyperband(self, tmp_path):
        """Two searches with one object, each of two brackets, promote the same networks."""
        rates = tuning.Range(0.1, 0.5)
        noting = Networks(hyper_model(algorithm="dnn_sosr", learning_rate=rates))
        counts = []
        for folder in ("a", "b"):
            arguments = {"max_epochs": 2, "factor": 2, "executions_per_trial": EXECUTIONS}
            search(
                keras_tuner.Hyperband(
                    noting, OBJECTIVE, seed=1, directory=tmp_path / folder, **arguments
                )
            )
            counts.append(len(noting.found))
        assert counts[0] == counts[1]
        assert {key[-1][:2] for key in noting.found} == {(0, 1), (1, 2), (0, 2)}
