"""Networks of one's own through the default algorithms."""

import keras
import numpy as np
import pandas
import pytest

import csdl_keras as csdl
from csdl_keras.training.own_network import OwnNetwork
from tests.support.weights import assert_same_weights

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)).astype("float32")
Y = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)
COSTS = [[0, 1], [5, 0]]
SETTINGS = csdl.Settings().limit_epochs(2)


def chain(*layers):
    """A function that builds a network of a layer of 6 units and others."""

    def build(input_shape, num_classes):
        inputs = keras.Input(input_shape)
        tensor = keras.layers.Dense(6, "tanh")(inputs)
        for make in layers:
            tensor = make(num_classes)(tensor)
        return keras.Model(inputs, tensor)

    return build


NETWORKS = {
    "features": chain(),
    "logits": chain(keras.layers.Dense),
    "one logit": chain(lambda k: keras.layers.Dense(1)),
    "softmax": chain(lambda k: keras.layers.Dense(k, "softmax")),
    "softmax layer": chain(keras.layers.Dense, lambda k: keras.layers.Softmax()),
    "one unit": chain(lambda k: keras.layers.Dense(1, "sigmoid")),
    "model": keras.Sequential([keras.layers.Dense(6, "relu")]),
}


def trained(algorithm, network, x=X, y=Y, **others):
    given = {"settings": SETTINGS, "seed": 0, "network": network, **others}
    return csdl.train(x[:40], y[:40], COSTS, algorithm, validation_data=(x[40:], y[40:]), **given)


@pytest.mark.parametrize("network", NETWORKS)
def test_ends_are_found_and_completed(network, tmp_path):
    """Every end gives the width that an algorithm needs; one trained model is reloaded."""
    build = NETWORKS[network]
    for output in ("probability", "features"):
        made = OwnNetwork(network=build).build(X, 2, output, seed=0)
        assert made.output_shape == (None, 2 if output == "probability" else 6)
    model = trained("cost_model" if network == "softmax layer" else "dnn_bayes", build)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert csdl.decide(loaded, X).tolist() == csdl.decide(model, X).tolist()


def test_members_begin_at_new_weights_unless_frozen():
    inputs = keras.Input((5,))
    norm, frozen = keras.layers.Normalization(), keras.layers.Dense(4, trainable=False)
    norm.adapt(X)
    same = keras.initializers.GlorotUniform(seed=1)
    trained_one = keras.layers.Dense(4, kernel_initializer=same)
    network = keras.Model(inputs, trained_one(frozen(norm(inputs))))
    one, other = (OwnNetwork(network=network).build(X, 2, "features", seed=seed) for seed in (0, 1))
    for copy in (one, other):
        np.testing.assert_array_equal(copy.layers[1].mean, norm.mean)
        np.testing.assert_array_equal(copy.layers[2].get_weights()[0], frozen.get_weights()[0])
    starts = [it.layers[3].get_weights()[0] for it in (one, other, network)]
    assert all(np.abs(starts[i] - starts[j]).max() > 1e-3 for i, j in ((0, 1), (0, 2), (1, 2)))


def test_raw_rows_enter_a_network():
    frame = pandas.DataFrame(X).assign(kind=np.where(Y, "a", "b"), note=[None, 1.0] * 30)
    shapes = []

    def build(input_shape, num_classes):
        shapes.append(input_shape)
        return NETWORKS["logits"](input_shape, num_classes)

    model = trained("cost_model", build, frame)
    assert csdl.decide(model, frame).shape == (60,) and set(shapes) == {(5 + 1 + 1 + 2,)}


def test_costs_are_estimated_by_networks_of_costs_and_of_features():
    def costs(shape, num_classes):
        return csdl.models.mlp(shape, num_classes, (6,), output="cost")

    for network in (costs, NETWORKS["features"]):
        assert csdl.output_kind(trained("dnn_sosr", network)) == "cost"


def test_caches_tell_models_apart():
    def key(network):
        trainer = csdl.Trainer(X, Y, seed=0, network=network)
        return trainer.key("dnn_blind", COSTS)

    def model(units):
        keras.utils.set_random_seed(0)
        return keras.Sequential([keras.Input((5,)), keras.layers.Dense(units)])

    changed = model(3)
    changed.set_weights([array + 1 for array in changed.get_weights()])
    keys = [key(one) for one in (model(3), model(3), model(4), changed, None)]
    assert keys[0] == keys[1] and len(set(keys)) == 4


@pytest.mark.parametrize(
    ("algorithm", "network", "match"),
    [
        ("dnn_bayes", "resnet", "`network` must be an uncompiled keras.Model or a function"),
        ("calibrated_bayes", lambda shape, k: 3, "must return an uncompiled keras.Model, not 3"),
        ("csdnn", chain(), "'csdnn' does not support `network`"),
        (
            "calibrated_bayes",
            csdl.models.mlp((4,), 2, (6,)),
            r"expected shape=\(None, 4\), found shape=\(.*, 5\)",
        ),
        (
            "calibrated_bayes",
            csdl.models.mlp((5,), 9, (6,)),
            "with 9 outputs; it needs one for each of 2 classes",
        ),
        (
            "cost_model",
            csdl.models.mlp((5,), 2, (6,), output="cost"),
            "outputs 'cost', but the algorithm needs",
        ),
        ("dnn_sosr", chain(keras.layers.Dense), "outputs 'logits', but the algorithm needs 'cost'"),
    ],
)
def test_what_is_refused(algorithm, network, match):
    with pytest.raises(ValueError, match=match):
        trained(algorithm, network)


def test_a_backbone_made_outside_of_the_function():
    """Each network gets a copy, and what the user made stays as it is."""
    backbone = keras.Sequential([keras.Input((5,)), keras.layers.Dense(6, "relu")])
    before = [array.copy() for array in backbone.get_weights()]
    settings = csdl.Settings(members=2).replace({"auto.batch_size": 10}).limit_epochs(2)
    for trainable in (False, True):
        backbone.trainable = trainable
        model = trained(
            "ensemble_bayes",
            lambda shape, k: keras.Sequential([backbone, keras.layers.Dense(k, "softmax")]),
            settings=settings,
        )
        members = [it for it in model._flatten_layers() if it.name == backbone.name]
        assert len(members) == 2
        for member in members:
            changed = np.abs(member.get_weights()[0] - before[0]).max()
            assert (changed > 0) == trainable
        assert_same_weights(backbone, before)


def test_a_chain_without_inputs_takes_other_data_later():
    network = keras.Sequential([keras.layers.Dense(6, "relu")])
    for width in (5, 4):
        assert trained("dnn_bayes", network, X[:, :width]).input_shape == (None, width)
    assert not network.built
