"""Bodies, pre-trainings and objectives of one's own, and what a cache keeps of them."""

import dataclasses

import keras
import pytest

import csdl_keras as csdl
from csdl_keras.training import Algorithm, Body, Objective, Pretraining
from tests.support.trainers import DATA, MATRICES, SETTINGS, Counter, make_trainer
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_module_eagerly")
X, Y, C = DATA.x_train.reshape(len(DATA.x_train), -1), DATA.y_train, MATRICES[0]


def squared(costs, outputs):
    return keras.ops.mean(keras.ops.square(costs - outputs), axis=-1)


squared.version = 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Narrow(Body):
    units: int = 4
    can_pretrain = True
    version = 1

    def build(self, x, num_outputs, output, seed):
        return csdl.models.mlp(x.shape[1:], num_outputs, (self.units,), output=output, seed=seed)


class Halved(Pretraining):
    """Halves the weights of hidden layers."""

    version = 1

    def run(self, model, x, costs, **others):
        for layer in self.layers(model):
            layer.set_weights([array / 2 for array in layer.get_weights()])


BODY = Narrow(epochs=2, min_steps=1)
TOY = Algorithm(
    "toy", "Toy", BODY, Halved(sees="inputs"), Objective("squared", squared), "argmin", False
)


def test_it_is_trained_and_found(tmp_path):
    first, again = (
        make_trainer(cache=csdl.StageCache(tmp_path)).train(TOY, C).model for _ in range(2)
    )
    assert_same_weights(first, again)
    own = make_trainer(costs=C[Y]).train(TOY)
    assert_same_weights(own.model, first, rtol=1e-4, atol=1e-5)


def test_other_decisions():
    able = Objective("squared", squared, other_decisions=True)
    matrix = csdl.costs.with_abstain(C, 0.5)
    model = make_trainer().train(dataclasses.replace(TOY, training=able), matrix).model
    assert model.output_shape == (None, 11)


def new(kind, **fields):
    """A class of the same name, of another version or of none."""
    return type(kind.__name__, (kind,), {"__module__": __name__, "version": None, **fields})


@pytest.mark.parametrize(
    "change",
    [
        {"training": Objective("squared", squared, unit="mean")},
        {"body": dataclasses.replace(BODY, units=5)},
        {"body": new(Narrow, version=2)(epochs=2, min_steps=1)},
        {"pretraining": Halved(sees="errors")},
        {"pretraining": new(Halved, version=2)(sees="inputs")},
    ],
    ids=lambda change: " ".join(change),
)
def test_other_parts_of_one_name_are_other_trainings(change):
    trainer = make_trainer()
    assert trainer.key(TOY, C) == trainer.key(dataclasses.replace(TOY, name="other"), C)
    assert trainer.key(TOY, C) != trainer.key(dataclasses.replace(TOY, **change), C)


def network(shape, num_classes, units=4):
    return keras.Sequential(
        [keras.Input(shape), keras.layers.Dense(units), keras.layers.Dense(num_classes, "softmax")]
    )


#: The user's object, and what `Trainer` is given, by what it is.
OBJECTS = {
    "builder": lambda: (one := lambda *args: network(*args), {"network": one}),
    "loss class": lambda: (
        one := new(csdl.SOSRLoss),
        {"algorithm": dataclasses.replace(TOY, training=Objective("a", one))},
    ),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_a_cache_knows_objects_by_their_version_alone(kind, tmp_path):
    own, arguments = OBJECTS[kind]()
    algorithm = arguments.pop("algorithm", "dnn_blind")

    def fits():
        counter = Counter()
        arguments.update(settings=SETTINGS, seed=0, callbacks=[counter])
        csdl.Trainer(X, Y, cache=csdl.StageCache(tmp_path), **arguments).train(algorithm, C)
        return counter.fits, len(list(tmp_path.rglob("*.npz")))

    assert fits() == fits() == (1, 0)
    own.version = 1
    trained, found = fits(), fits()
    assert trained[0] == 1 and found == (0, trained[1])
    own.version = 2
    assert fits()[0] == 1


def test_a_builder_without_a_version_may_build_another_network():
    """A network is never given the weights of another one."""
    units = [3]
    trainer = csdl.Trainer(
        X, Y, settings=SETTINGS, seed=0, network=lambda *given: network(*given, units[0])
    )
    for units[0] in (3, 5, 3):
        model = trainer.train("dnn_blind", C).model
        assert units[0] in {getattr(layer, "units", None) for layer in model.layers}


def test_outputs_of_another_kind_than_the_objective_trains_are_refused_before_training():
    class Scores(Narrow):
        def build(self, x, num_outputs, output, seed):
            return keras.Sequential([keras.Input(x.shape[1:]), keras.layers.Dense(num_outputs)])

    counter, scores = Counter(), csdl.Algorithm("a", "A", Scores(), "none", "nll", "bayes")
    with pytest.raises(ValueError, match="does not output probabilities. End it in a softmax"):
        make_trainer(callbacks=[counter]).train(scores, C)

    class Softmax(Narrow):
        def build(self, x, num_outputs, output, seed):
            return network(x.shape[1:], num_outputs)

    costs = csdl.Algorithm("a", "A", Softmax(), "none", Objective("a", squared), "argmin")
    with pytest.raises(ValueError, match="so it outputs probabilities"):
        make_trainer(callbacks=[counter]).train(costs, C)
    assert counter.fits == 0


@pytest.mark.parametrize(("name", "value"), [("output", "logit"), ("predictions", ("argmax",))])
def test_wrong_objectives(name, value):
    with pytest.raises(ValueError, match=f"`{name}`"):
        Objective(**{"name": "squared", "loss": squared, name: value})
