"""Trained models: they load, decide as their cards say, and go on as any other model."""

import functools
import json
import os
import pathlib

import keras
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import csdl_keras
from csdl_keras import zoo

CARDS = json.loads((zoo._FOLDER / "cards.json").read_text())
TABLE = "breast_cancer/calibrated_bayes"


@functools.cache
def first_of_test(source):
    """The first 500 test examples and the training labels; skips what would be downloaded."""
    if source == "breast_cancer":
        x, y = load_breast_cancer(return_X_y=True)
        rows = csdl_keras.datasets.split(y)
        return x[rows["test"]], y[rows["test"]], y[rows["train"]]
    if not pathlib.Path(os.environ.get("TFDS_DATA_DIR", "-"), source).is_dir():
        pytest.skip(f"{source} is not in TFDS_DATA_DIR.")
    data = csdl_keras.datasets.load(source)
    return data.x_test[:500], data.y_test[:500], data.y_train


def test_the_table_lists_every_file_within_8_megabytes():
    files = sorted(zoo._FOLDER.glob("*.keras"))
    assert [file.stem for file in files] == sorted(name.replace("/", "_") for name in CARDS)
    assert sum(file.stat().st_size for file in files) < 8e6
    frame = zoo.table()
    assert list(frame.index) == list(CARDS) and frame["argmax_error"].between(0, 0.7).all()
    for name in ("mnist", "cifar10"):
        assert {f"{name}/{it}" for it in ("calibrated_bayes", "csdnn", "cnn_sosr")} <= set(CARDS)


@pytest.mark.parametrize("name", CARDS)
def test_a_model_decides_as_its_card_says(name):
    x, y, trained = first_of_test(name.partition("/")[0])
    card = CARDS[name]
    own = card["trained_for"] == "cost_0"
    matrix = csdl_keras.costs.randomized_proportional(trained, card["classes"], seed=0)
    model = zoo.load(name, None if own else matrix)
    assert "x".join(map(str, model.input_shape[1:])) == card["input_shape"]
    cost = csdl_keras.evaluation.average_cost(y, csdl_keras.decide(model, x), matrix)
    assert abs(cost - card["first_500_cost_0"]) < 2e-3 + 0.01 * cost


def test_mistakes_cost_1_by_default_and_other_costs_decide_otherwise():
    x, y, _ = first_of_test("breast_cancer")
    decisions = csdl_keras.decide(zoo.load(TABLE), x)
    assert abs(np.mean(decisions != y) - CARDS[TABLE]["argmax_error"]) < 1e-4
    careful = csdl_keras.decide(zoo.load(TABLE, [[0, 1000], [1, 0]]), x)
    assert (careful == 0).sum() > (decisions == 0).sum()
    asked = csdl_keras.decide(zoo.load(TABLE, [[0, 9, 0.01], [9, 0, 0.01]]), x)
    assert 2 in asked


def test_a_model_is_trained_further_saved_and_exported(tmp_path):
    x, y, _ = first_of_test("breast_cancer")
    matrix = [[0, 9], [1, 0]]
    model = zoo.load(TABLE, matrix)
    model.compile(keras.optimizers.Adam(1e-3), csdl_keras.SOSRLoss(cost_matrix=matrix))
    before = model.evaluate(x, y, verbose=0)
    model.fit(x, y, epochs=5, verbose=0)
    assert model.evaluate(x, y, verbose=0) < before
    model.save(tmp_path / "further.keras")
    again = keras.saving.load_model(tmp_path / "further.keras")
    np.testing.assert_allclose(again.predict(x, verbose=0), model.predict(x, verbose=0), atol=1e-5)


def test_refusals():
    with pytest.raises(ValueError, match="mnist/calibrated_bayes"):
        zoo.load("mnist/calibrated_bayess")
    with pytest.raises(ValueError, match="accepts no `cost_matrix`"):
        zoo.load("mnist/csdnn", csdl_keras.costs.zero_one(10))
    with pytest.raises(ValueError, match="2 classes"):
        zoo.load(TABLE, csdl_keras.costs.zero_one(3))
