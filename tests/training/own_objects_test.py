"""A cache keeps stages of the user's objects only by their `version`; others train each time."""

import dataclasses
import functools

import keras
import pytest

import csdl_keras as csdl
from csdl_keras.training import MLP, Algorithm, AutoEncoders, Body, Objective, Pretraining
from tests.pretraining.layer_cache_test import ARGUMENTS
from tests.support.trainers import DATA, MATRICES, SETTINGS, VALIDATION, Counter
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
X, Y, C = DATA.x_train.reshape(len(DATA.x_train), -1), DATA.y_train, MATRICES[0]
QUICK = {"epochs": 1, "min_steps": 1}


def new(kind, **fields):
    """A subclass, which alone gets a version."""
    return type("Own", (kind,), fields)


def build(self, x, num_outputs, output, seed):
    return csdl.models.mlp(x.shape[1:], num_outputs, (4,), output=output, seed=seed)


def activation():
    @keras.saving.register_keras_serializable("tests")  # Keras finds it when it copies layers.
    def own(x):
        return x

    return own


def network(shape, num_classes, units=4):
    return keras.Sequential(
        [keras.Input(shape), keras.layers.Dense(units), keras.layers.Dense(num_classes, "softmax")]
    )


def of_layer(layer):
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.Input((64,)), layer, keras.layers.Dense(10, "softmax")])


def algorithm(body="mlp", pretraining="none", training="sosr", prediction="argmin"):
    return Algorithm("own", "Own", body, pretraining, training, prediction)


def halve(self, model, x, costs, **others):
    for layer in self.layers(model):
        layer.set_weights([array / 2 for array in layer.get_weights()])


def squared():
    return lambda costs, outputs: keras.ops.mean(keras.ops.square(costs - outputs), axis=-1)


#: The user's object, and where `Trainer` gets it, by what it is.
OBJECTS = {
    "builder": lambda: (one := lambda *args: network(*args), {"network": one}),
    "partial of a builder": lambda: (
        one := lambda *args, **choices: network(*args, **choices),
        {"network": functools.partial(one, units=3)},
    ),
    "builder that is an object": lambda: (
        one := new(object, __call__=lambda self, *args: network(*args))(),
        {"network": one},
    ),
    "layer of a model": lambda: (
        one := new(keras.layers.Dense),
        {"network": of_layer(one(5))},
    ),
    "activation of a model": lambda: (
        one := activation(),
        {"network": of_layer(keras.layers.Activation(one))},
    ),
    "body": lambda: (one := new(Body, build=build), {"algorithm": algorithm(one(**QUICK))}),
    "body of settings": lambda: (
        one := new(MLP),
        {"settings": dataclasses.replace(SETTINGS, mlp=one(hidden_units=(4,), **QUICK))},
    ),
    "pre-training": lambda: (
        one := new(Pretraining, run=halve),
        {"algorithm": algorithm("mlp", one(sees="inputs"))},
    ),
    "pre-training of settings": lambda: (
        one := new(AutoEncoders),
        {
            "settings": dataclasses.replace(SETTINGS, pretraining=one(epochs=1)),
            "algorithm": "csdnn",
        },
    ),
    "objective": lambda: (
        one := new(Objective),
        {"algorithm": algorithm(training=one("a", csdl.SOSRLoss))},
    ),
    "loss function": lambda: (
        one := squared(),
        {"algorithm": algorithm(training=Objective("a", one))},
    ),
    "loss class": lambda: (
        one := new(csdl.SOSRLoss),
        {"algorithm": algorithm(training=Objective("a", one))},
    ),
}


class Trained(Counter):
    """Counts trainings, of pre-trainings those that fit, and the folder's files."""

    def __call__(self, folder, algorithm="dnn_bayes", trainer=None, **arguments):
        before = self.fits
        arguments = {"settings": SETTINGS, "seed": 0, **arguments}
        trainer = trainer or csdl.Trainer(
            X,
            Y,
            (VALIDATION[0].reshape(-1, 64), VALIDATION[1]),
            cache=csdl.StageCache(folder),
            callbacks=[self],
            **arguments,
        )
        name = "calibrated_bayes" if "network" in arguments else algorithm
        self.classifier = trainer.train(name, C).model
        return self.fits > before, len(list(folder.rglob("*.npz")))


@pytest.mark.filterwarnings("ignore:The object being serialized includes a `lambda`")
@pytest.mark.parametrize("kind", OBJECTS)
def test_stages_are_found_by_a_version_alone(kind, tmp_path, tried):
    own, arguments = OBJECTS[kind]()
    trained = Trained()
    for _ in range(2):
        assert trained(tmp_path, **arguments) == (True, 0)
    own.version = 1
    found = [trained(tmp_path, **arguments) for _ in range(2)]
    assert [again for again, _ in found] == [True, False] and found[0][1] == found[1][1] > 0
    first = trained.classifier
    own.version = 2
    assert trained(tmp_path, **arguments)[0]
    own.version = 1
    assert not trained(tmp_path, **arguments)[0]
    assert_same_weights(trained.classifier, first)
    tried("places of objects of the user's", 1)


def test_what_a_builder_imports_may_change():
    """A network is never given the weights of another one."""
    trainer = csdl.Trainer(X, Y, settings=SETTINGS, seed=0, network=lambda *it: network(*it, UNITS))
    for units in (3, 5, 3):
        global UNITS
        UNITS = units
        model = trainer.train("calibrated_bayes", C).model
        assert units in {getattr(layer, "units", None) for layer in model._flatten_layers()}


@pytest.mark.slow
def test_in_several_processes(tmp_path):
    """They send back what no cache keeps, also what training needs of pre-training."""
    own = algorithm("mlp", OWN_PRETRAINING, "nll", "bayes")
    arguments = {"settings": SETTINGS, "seed": 0, "cache": csdl.StageCache(tmp_path)}
    requests = [(own, C), ("dnn_bayes", C), (own, MATRICES[1])]
    one, two = (
        dict(csdl.Trainer(X, Y, jobs=jobs, **arguments).train_all(requests)) for jobs in (1, 2)
    )
    assert one.keys() == two.keys() == {0, 1, 2}
    for index, found in one.items():
        assert_same_weights(found.model, two[index].model, rtol=1e-4, atol=1e-5)
    assert len(list(tmp_path.rglob("*.npz"))) == 1


class Shrunk(Pretraining):
    run = halve


OWN_PRETRAINING = Shrunk(sees="inputs")


class TestPretrain:
    def pretrained(self, cache, activation=None, optimizer="adam"):
        keras.utils.set_random_seed(0)
        hidden = keras.layers.Dense(5, "sigmoid")
        layers = [keras.Input((6,)), keras.layers.Activation(activation), hidden]
        model = keras.Sequential([*layers, keras.layers.Dense(3)])
        counter = Counter()
        arguments = {**ARGUMENTS, "optimizer": optimizer, "callbacks": [counter]}
        csdl.pretrain(model, cache=cache, **arguments)
        return counter.fits

    @pytest.mark.filterwarnings("ignore:The object being serialized includes a `lambda`")
    @pytest.mark.parametrize("kind", ["layer below", "optimizer", "schedule"])
    def test_layers_are_found_by_a_version_alone(self, kind, tmp_path):
        if kind == "layer below":
            own = activation()
            arguments = {"activation": own}
        elif kind == "optimizer":
            own = new(keras.optimizers.Adam)
            arguments = {"optimizer": own()}
        else:
            own = new(keras.optimizers.schedules.ExponentialDecay)
            keras.saving.register_keras_serializable("tests")(own)
            arguments = {"optimizer": keras.optimizers.SGD(own(0.1, 5, 0.9))}
        cache = csdl.StageCache(tmp_path)
        assert [self.pretrained(cache, **arguments) for _ in range(2)] == [1, 1]
        assert not list(tmp_path.rglob("*.npz"))
        own.version = 1
        assert [self.pretrained(cache, **arguments) for _ in range(2)] == [1, 0]
        own.version = 2
        assert self.pretrained(cache, **arguments) == 1
