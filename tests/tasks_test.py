"""Twelve tasks of users, each in at most 15 lines, with an outcome that shows that it worked."""

import keras
import numpy as np
import pandas
import pytest
from keras import layers
from sklearn.linear_model import LogisticRegression

import csdl_keras as csdl
from csdl_keras.evaluation import average_cost, estimate_priors
from tests.support.fresh_process import run_python

COSTS = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [12.0, 6.0, 0.0]])
FAST = csdl.Settings().limit_epochs(8).replace({"auto.batch_size": 100, "auto.learning_rate": 0.01})


def examples(number, seed, shares=(0.4, 0.4, 0.2)):
    """Overlapping classes, normal around a mean for each."""
    rng = np.random.default_rng(seed)
    y = rng.choice(len(shares), size=number, p=shares)
    x = 1.5 * np.eye(len(shares))[y] + rng.normal(size=(number, len(shares)))
    return x.astype("float32"), y


def transactions(number):
    """Countries and amounts of transactions, and which are fraud: many of one country."""
    rng = np.random.default_rng(0)
    countries, amounts = rng.choice(["DE", "FR", "XX"], number), rng.lognormal(4, 1.5, number)
    fraud = rng.uniform(size=number) < np.where(countries == "XX", 0.3, 0.03)
    return pandas.DataFrame({"country": countries, "amount": amounts}), fraud


def frozen_backbone():
    """Returns the first block of a network of `keras.applications`, with random weights."""
    whole = keras.applications.MobileNetV2((32, 32, 3), 0.35, weights=None)
    # Without weights from elsewhere, signals of later blocks are too small to learn from.
    backbone = keras.Model(whole.input, whole.get_layer("expanded_conv_project_BN").output)
    backbone.trainable = False
    return backbone


(X, Y), VALIDATION, (X_TEST, Y_TEST) = (examples(n, n) for n in (600, 400, 1500))
# Its network is trained once, whatever the costs.
TRAINER = csdl.Trainer(X, Y, VALIDATION, settings=FAST, seed=0)
BLIND_COST = average_cost(Y_TEST, LogisticRegression().fit(X, Y).predict(X_TEST), COSTS)


def trained(cost_matrix=COSTS):
    return TRAINER.train("calibrated_bayes", cost_matrix).model


def test_money_with_gains():
    """Amounts of profit, gains among them, become costs of which decisions earn more."""
    profit = np.array([[5.0, -1.0, -2.0], [1.0, 2.0, 0.0], [-50.0, -30.0, 10.0]])
    model = trained(csdl.costs.regret(-profit))
    earned = profit[Y_TEST, csdl.decide(model, X_TEST)].mean()
    likeliest = profit[Y_TEST, LogisticRegression().fit(X, Y).predict(X_TEST)].mean()
    assert earned > max(likeliest, profit[Y_TEST].mean(axis=0).max()) + 0.2


def test_fraud_from_a_data_frame_with_amounts():
    """A transaction is blocked at the fee of a call, if more than that is at stake."""
    frame, fraud = transactions(2000)
    labels = np.where(fraud, "fraud", "genuine")
    costs = csdl.costs.from_binary(tp_cost=20, fp_cost=20, tn_cost=0, fn_cost=frame["amount"])
    costs = costs[:, ::-1, ::-1]  # classes are in the order of their names: fraud, genuine
    train, test = slice(0, 1200), slice(1200, None)
    model = csdl.train(frame[train], labels[train], costs=costs[train], settings=FAST, seed=0)
    decided = csdl.decide(model, frame[test], costs=costs[test])
    paid = average_cost(1 - fraud[test], decided, costs[test])
    assert paid < 0.95 * min(costs[test][np.arange(800), 1 - fraud[test]].mean(axis=0))


def test_tf_data():
    """A network that learns costs from batches of a `tf.data.Dataset`."""
    tf = pytest.importorskip("tensorflow")
    batches = tf.data.Dataset.from_tensor_slices((X, COSTS[Y].astype("float32")))
    model = csdl.models.mlp((3,), 3, (16,), output="cost")
    model.compile(keras.optimizers.Adam(0.01), loss=csdl.SOSRLoss())
    model.fit(batches.shuffle(600, seed=0).batch(50), epochs=10, verbose=0)
    assert average_cost(Y_TEST, csdl.decide(model, X_TEST), COSTS) < 0.8 * BLIND_COST


def test_early_stopping_on_cost():
    """Training ends, and goes back, by the cost of Bayes decisions on validation data."""
    model = csdl.models.mlp((3,), 3, (16,))
    cost = csdl.AverageCost(COSTS, output="probability", bayes=True)
    model.compile(keras.optimizers.Adam(0.1), "sparse_categorical_crossentropy", metrics=[cost])
    stop = keras.callbacks.EarlyStopping(
        "val_average_cost", mode="min", patience=3, restore_best_weights=True
    )
    history = model.fit(X, Y, 100, 30, 0, [stop], validation_data=VALIDATION).history
    best = csdl.bayes_classifier(model, COSTS)
    found = average_cost(VALIDATION[1], csdl.decide(best, VALIDATION[0]), COSTS)
    assert found == pytest.approx(min(history["val_average_cost"]), rel=1e-3)
    assert len(history["val_average_cost"]) < 30 and found < 0.8 * BLIND_COST


@pytest.mark.slow  # Shorter tests hold the parts of this task.
def test_reload_in_a_new_process(tmp_path):
    """A file decides as the model did, where nothing else of its training is known."""
    model = trained()
    model.save(tmp_path / "model.keras")
    np.save(tmp_path / "x.npy", X_TEST)
    decided = run_python(
        "import csdl_keras, keras, numpy as np\n"
        f"model = keras.saving.load_model({str(tmp_path / 'model.keras')!r})\n"
        f"print(csdl_keras.decide(model, np.load({str(tmp_path / 'x.npy')!r})).tolist())"
    )
    assert decided.strip().splitlines()[-1] == str(csdl.decide(model, X_TEST).tolist())


def test_probabilities_of_scikit_learn():
    """Whatever computed probabilities, decisions under them cost less than the likeliest class."""
    probabilities = LogisticRegression().fit(X, Y).predict_proba(X_TEST)
    decided = csdl.bayes_decisions(probabilities, COSTS)
    assert average_cost(Y_TEST, decided, COSTS) < 0.8 * BLIND_COST


@pytest.mark.slow  # Shorter tests hold the parts of this task.
def test_backbone_of_keras_applications():
    """A frozen backbone with a head of its own goes through a default algorithm."""
    rng = np.random.default_rng(0)
    images = rng.uniform(0, 255, (240, 32, 32, 3)).astype("float32")
    y = np.arange(240) % 2
    images[y == 1, :, :, 0] *= 0.2  # class 1 has little red
    head = [layers.GlobalAveragePooling2D(), layers.BatchNormalization(momentum=0.8)]
    network = keras.Sequential([layers.Rescaling(1 / 127.5, -1), frozen_backbone(), *head])
    train, held = (images[:160], y[:160]), (images[160:200], y[160:200])
    faster = FAST.replace({"auto.learning_rate": 0.1})
    choices = {"validation_data": held, "network": network, "settings": faster, "seed": 0}
    model = csdl.train(*train, [[0, 1], [9, 0]], **choices)
    decided = csdl.decide(model, images[160:])
    assert average_cost(y[160:], decided, [[0, 1], [9, 0]]) < 0.4  # deciding 1 always costs 0.5


def test_new_prices():
    """Prices change after training: the model follows at once, and its file keeps them."""
    prices = np.array([[0.0, 9.0, 9.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    model = trained()
    before = average_cost(Y_TEST, csdl.decide(model, X_TEST), prices)
    model.set_cost_matrix(prices)
    after = average_cost(Y_TEST, csdl.decide(model, X_TEST), prices)
    assert after < 0.7 * before


def test_other_class_frequencies():
    """Where a class is rarer than in training, as unlabelled examples show."""
    x, y = examples(1500, 7, (0.7, 0.28, 0.02))
    classifier = LogisticRegression().fit(X, Y)
    shares = np.bincount(Y) / len(Y)
    found = estimate_priors(classifier.predict_proba(x), shares)
    assert np.abs(found.priors - np.bincount(y) / len(y)).max() < 0.05
    model = trained()
    adjusted = csdl.adjust_priors(model, shares, found.priors)
    before, after = (average_cost(y, csdl.decide(each, x), COSTS) for each in (model, adjusted))
    assert after < 0.8 * before


def test_abstaining():
    """A third decision, to ask an expert at a price, is taken where it pays."""
    costs = csdl.costs.with_abstain(COSTS, 0.3)
    with_expert, without = trained(costs), trained()
    decided = csdl.decide(with_expert, X_TEST)
    assert 0.05 < np.mean(decided == 3) < 0.95
    alone = average_cost(Y_TEST, csdl.decide(without, X_TEST), COSTS)
    assert average_cost(Y_TEST, decided, costs) < min(0.9 * alone, 0.3)


def test_a_search(tmp_path):
    """The learning rate of a classifier is found by the cost of its decisions."""
    tuning = pytest.importorskip("csdl_keras.tuning")
    spaces = {"units": 16, "depth": 1, "optimizer": "adam", "learning_rate": [1e-5, 0.03]}
    hyper_model = tuning.CSDNNHyperModel((3,), COSTS, "dnn_bayes", **spaces)
    search = tuning.GridSearch(hyper_model, directory=tmp_path)
    search.search(X, Y, batch_size=100, validation_data=VALIDATION, epochs=5, verbose=0)
    best = hyper_model.classifier(search.get_best_models()[0])
    assert search.get_best_hyperparameters()[0]["adam_learning_rate"] == 0.03
    assert average_cost(Y_TEST, csdl.decide(best, X_TEST), COSTS) < 0.8 * BLIND_COST


def test_segmentation():
    """A missed tumour pixel costs 20 times as much as one that is marked for nothing."""
    rng = np.random.default_rng(0)
    marks = (rng.uniform(size=(80, 8, 8)) < 0.2).astype("int64")
    images = (marks + rng.normal(scale=0.7, size=marks.shape))[..., None].astype("float32")
    matrix = np.array([[0.0, 1.0], [20.0, 0.0]])
    network = keras.Sequential(
        [keras.Input((8, 8, 1)), layers.Conv2D(1, 3, 1, "same", activation="sigmoid")]
    )
    network.compile(keras.optimizers.Adam(0.1), "binary_crossentropy")
    network.fit(images[:60], marks[:60, ..., None], epochs=10, verbose=0)
    decided = csdl.decide(csdl.bayes_classifier(network, matrix), images[60:])
    likeliest = (network.predict(images[60:], verbose=0)[..., 0] > 0.5).astype(int)
    paid, blind = (matrix[marks[60:], each].mean() for each in (decided, likeliest))
    assert decided.shape == (20, 8, 8) and paid < 0.7 * blind
