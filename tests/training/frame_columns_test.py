"""Columns of data frames are found by name, whatever network an algorithm trains."""

import keras
import numpy as np
import pandas
import polars
import pytest

import csdl_keras as csdl
from tests.support.fresh_process import run_python

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

RNG = np.random.default_rng(0)
FRAME = pandas.DataFrame(RNG.uniform(size=(40, 3)).round(2), columns=["a", "b", "c"])
LABELS = (FRAME["a"] > 0.5).to_numpy().astype(int)
COSTS = [[0, 1], [2, 0]]
SETTINGS = csdl.Settings().replace({"mlp.hidden_units": (5,)}).limit_epochs(1)
OTHERS = [FRAME[["c", "b", "a"]], FRAME.assign(id=7), polars.from_pandas(FRAME[["b", "c", "a"]])]


def trained(algorithm, x=FRAME, **others):
    return csdl.train(algorithm, x, LABELS, COSTS, settings=SETTINGS, seed=0, **others)


def check_names(model, expected):
    for rows in (FRAME, FRAME.to_numpy(), *OTHERS):
        np.testing.assert_array_equal(model.predict(rows, verbose=0), expected)
    np.testing.assert_array_equal(csdl.decide(model, OTHERS[0]), csdl.decide(model, FRAME))
    for wrong in (FRAME.rename(columns={"a": "income"}), FRAME[["b", "c"]]):
        for call in (model.predict, lambda rows: csdl.decide(model, rows)):
            with pytest.raises(ValueError, match="none of the name 'a'"):
                call(wrong)


@pytest.mark.parametrize(
    ("algorithm", "networks"),
    [("dnn_bayes", 1), ("dnn_bayes", 2), ("csdnn", 1), ("dnn_sosr", 2), ("min", 1)]
    + [("dnn_weighted", 1), ("sdae_bayes", 1)],
)
def test_columns_are_matched_by_name(algorithm, networks, tmp_path):
    model = trained(algorithm, ensemble=networks)
    # The network is the one of an array.
    expected = trained(algorithm, FRAME.to_numpy(), ensemble=networks).predict(FRAME.to_numpy())
    check_names(model, expected)
    model.save(tmp_path / "model.keras")
    check_names(keras.saving.load_model(tmp_path / "model.keras"), expected)


def test_what_is_made_of_such_a_model_keeps_its_columns():
    model = trained("dnn_bayes", validation_data=(FRAME, LABELS))
    calibrated = csdl.calibrate(model, OTHERS[0], LABELS)
    check_names(calibrated, calibrated.predict(FRAME.to_numpy(), verbose=0))
    np.testing.assert_array_equal(
        csdl.decide(model, OTHERS[0], costs=COSTS), csdl.decide(model, FRAME, costs=COSTS)
    )
    model.set_cost_matrix([[0, 0], [2, 0]])
    assert csdl.decide(model, OTHERS[0]).all()
    assert csdl.decision_model(model).predict(OTHERS[0], verbose=0).shape == (40,)


def test_a_fresh_process_matches_names(tmp_path):
    trained("dnn_bayes").save(tmp_path / "model.keras")
    code = (
        "import keras, pandas, csdl_keras as csdl; "
        f"model = keras.saving.load_model({str(tmp_path / 'model.keras')!r}); "
        "print(*model.encode(pandas.DataFrame({'c': [3.0], 'b': [2.0], 'a': [1.0]}))[0])"
    )
    assert run_python(code).split() == ["1.0", "2.0", "3.0"]


def test_a_cache_shares_networks_of_other_columns():
    cache, models = csdl.StageCache(), []
    for frame in (FRAME, FRAME.rename(columns={"a": "income"})):
        trainer = csdl.Trainer(frame, LABELS, settings=SETTINGS, seed=0, cache=cache)
        models.append(trainer.train("dnn_bayes", COSTS).model)
        np.testing.assert_array_equal(models[0].predict(FRAME), models[-1].predict(frame))
    with pytest.raises(ValueError, match="none of the name 'income'"):
        models[1].predict(FRAME)


def test_columns_of_unlabelled_rows_are_matched_by_name():
    stages = [
        csdl.Trainer(FRAME, LABELS, seed=0, unlabelled=rows).stages("csdnn", COSTS)
        for rows in (FRAME, FRAME[["c", "b", "a"]])
    ]
    assert stages[0] == stages[1]
    with pytest.raises(ValueError, match="none of the name 'a'"):
        csdl.Trainer(FRAME, LABELS, unlabelled=FRAME[["b", "c"]])
