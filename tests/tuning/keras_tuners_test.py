"""Every tuner that KerasTuner ships, with every HyperModel of the package."""

import keras
import keras_tuner
import numpy as np
import pytest

import csdl_keras as csdl
from csdl_keras import tuning
from tests.tuning.searches import FIT, TRAIN, VALIDATION, C, X, Y, outcomes, small

OBJECTIVE = keras_tuner.Objective("val_average_cost", "min")
#: All public ones but the base class and the one for models of scikit-learn.
TUNERS = {
    name: found
    for name, found in vars(keras_tuner).items()
    if isinstance(found, type)
    and issubclass(found, keras_tuner.Tuner)
    and name not in ("Tuner", "SklearnTuner")
}
IMAGES = np.repeat(np.repeat(X[:, :4].reshape(-1, 2, 2, 1), 4, axis=1), 4, axis=2)


def csdnn():
    return small(depth=1, pretraining_learning_rate=1e-3, learning_rate=tuning.Range(0.1, 0.5))


def cnn():
    return tuning.CNNHyperModel((8, 8, 1), C, learning_rate=tuning.Range(0.01, 0.1))


def decision():
    return tuning.DecisionHyperModel(csdl.models.mlp((6,), 3, (5,), seed=0), C)


HYPER_MODELS = {"csdnn": csdnn, "cnn": cnn, "decision": decision}


def made(name, hyper_model, folder, **arguments):
    """A short search: three trials, or those of Hyperband's brackets of one and two epochs."""
    length = {"max_epochs": 2, "factor": 2} if name == "Hyperband" else {"max_trials": 3}
    common = {"objective": OBJECTIVE, "seed": 1, "directory": folder}
    return TUNERS[name](hyper_model, **common, **length, **arguments)


def search(tuner, x=X):
    validation = (x[VALIDATION], Y[VALIDATION])
    tuner.search(x[TRAIN], Y[TRAIN], validation_data=validation, **FIT)
    return tuner


def test_they_are_these():
    assert TUNERS.keys() == {"RandomSearch", "GridSearch", "BayesianOptimization", "Hyperband"}


@pytest.mark.parametrize("kind", HYPER_MODELS)
@pytest.mark.parametrize("name", TUNERS)
def test_the_best_model_is_what_was_recorded(name, kind, tmp_path):
    hyper_model = HYPER_MODELS[kind]()
    x = IMAGES if kind == "cnn" else X
    tuner = search(made(name, hyper_model, tmp_path), x)
    found = outcomes(tuner)
    assert [status for status, *_ in found.values()] == ["COMPLETED"] * len(found)
    scores = [score for *_, score in found.values()]
    assert len(scores) >= 3 and tuner.oracle.get_best_trials()[0].score == min(scores)
    model = tuner.get_best_models()[0]
    told = model.evaluate(x[VALIDATION], Y[VALIDATION], verbose=0, return_dict=True)
    np.testing.assert_allclose(told["average_cost"], min(scores), atol=1e-6)
    decided = csdl.decide(hyper_model.classifier(model), x[VALIDATION])
    np.testing.assert_allclose(C[Y[VALIDATION], decided].mean(), min(scores), atol=1e-6)


class Begins(keras.callbacks.Callback):
    """Notes the weights with which each training begins; all copies share the list."""

    def __init__(self):
        super().__init__()
        self.weights = []

    def on_train_begin(self, logs=None):
        self.weights.append(self.model.get_weights())

    def __deepcopy__(self, memo):
        return self


@pytest.mark.parametrize("kind", ["csdnn", "cnn"])
@pytest.mark.parametrize("executions", [1, 2])
def test_a_promoted_trial_goes_on_from_its_weights(kind, executions, tmp_path, monkeypatch):
    hyper_model, begins, given, pretrained = HYPER_MODELS[kind](), Begins(), [], []
    fit, pretrain = hyper_model.fit, hyper_model.pretrain

    def noted(hp, model, *args, **kwargs):
        given.append((kwargs["initial_epoch"], model.get_weights()))
        return fit(hp, model, *args, **kwargs)

    def counted(*args, **kwargs):
        pretrained.append(given[-1][0])
        return pretrain(*args, **kwargs)

    monkeypatch.setattr(hyper_model, "fit", noted)
    monkeypatch.setattr(hyper_model, "pretrain", counted)
    x = IMAGES if kind == "cnn" else X
    tuner = made("Hyperband", hyper_model, tmp_path, executions_per_trial=executions)
    validation = (x[VALIDATION], Y[VALIDATION])
    tuner.search(x[TRAIN], Y[TRAIN], validation_data=validation, callbacks=[begins], **FIT)
    promoted = [index for index, (initial, _) in enumerate(given) if initial > 0]
    assert promoted and len(promoted) % executions == 0
    assert pretrained == [0] * (len(given) - len(promoted))
    for index in promoted:
        for one, other in zip(given[index][1], begins.weights[index], strict=True):
            np.testing.assert_array_equal(one, other)


def test_loaded_weights_are_trained_further(tmp_path):
    """Without an `initial_epoch`, too."""
    hyper_model, hp = small(depth=1, optimizer="adam"), keras_tuner.HyperParameters()
    arguments = {"validation_data": (X[VALIDATION], Y[VALIDATION]), **FIT}
    model = hyper_model.build(hp)
    hyper_model.fit(hp, model, X[TRAIN], Y[TRAIN], **arguments)
    model.save_weights(tmp_path / "a.weights.h5")
    again, begins = hyper_model.build(hp), Begins()
    again.load_weights(tmp_path / "a.weights.h5")
    hyper_model.fit(hp, again, X[TRAIN], Y[TRAIN], callbacks=[begins], **arguments)
    for one, other in zip(model.get_weights(), begins.weights[0], strict=True):
        np.testing.assert_array_equal(one, other)
