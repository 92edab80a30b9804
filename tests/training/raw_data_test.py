"""Data frames and labels of any type, from training to decisions in another process."""

import keras
import numpy as np
import pandas
import polars
import pytest

import csdl_keras as csdl
from tests.support.fresh_process import run_python

pytestmark = pytest.mark.usefixtures("run_module_eagerly")

RNG = np.random.default_rng(0)
SIZE = 240
FRAME = pandas.DataFrame(
    {
        "amount": RNG.gamma(1.0, 100.0, SIZE),
        "shop": pandas.Series(RNG.choice(["web", "store", None], SIZE), dtype=object),
        "age": np.where(RNG.random(SIZE) < 0.2, np.nan, RNG.integers(18, 80, SIZE)),
        "abroad": RNG.random(SIZE) < 0.5,
        "when": pandas.date_range("2025-01-01T00:30", freq="29h", periods=SIZE).where(
            RNG.random(SIZE) < 0.9
        ),
    }
)
LABELS = np.where((FRAME["shop"] == "web") & FRAME["abroad"], "fraud", "right")
TRAIN, HELD = ((FRAME[part], LABELS[part]) for part in (slice(0, 160), slice(160, SIZE)))
COSTS = [[0, 9], [1, 0]]
SETTINGS = csdl.Settings().limit_epochs(2).replace({"auto.batch_size": 80})


def trained(algorithm="calibrated_bayes", train=TRAIN, held=HELD, costs=COSTS, **others):
    given = {"settings": SETTINGS, "seed": 0, **others}
    return csdl.train(*train, costs, algorithm, validation_data=held, **given)


def test_one_file_takes_raw_rows(tmp_path):
    model = trained()
    decisions = csdl.decide(model, FRAME)
    model.save(tmp_path / "model.keras")
    FRAME.to_json(tmp_path / "frame.json", date_format="iso")
    code = (
        "import keras, pandas, csdl_keras as csdl; "
        f"model = keras.saving.load_model({str(tmp_path / 'model.keras')!r}); "
        f"frame = pandas.read_json({str(tmp_path / 'frame.json')!r}, convert_dates=False); "
        "print(*csdl.decide(model, frame[list(frame)[::-1]]), *model.classes)"
    )
    printed = run_python(code).split()
    assert printed == [*map(str, decisions), "fraud", "right"]
    expected = model.predict(FRAME, verbose=0)
    for rows in (polars.from_pandas(FRAME), FRAME.to_dict("list"), model.encode(FRAME)):
        np.testing.assert_allclose(model.predict(rows, verbose=0), expected, rtol=1e-5)
    strange, missing = FRAME.assign(shop="moon"), FRAME.assign(shop=None)
    np.testing.assert_array_equal(model.encode(strange), model.encode(missing))
    with pytest.raises(ValueError, match=r"Columns \['age'\] are missing"):
        csdl.decide(model, FRAME.drop(columns="age"))


ENSEMBLE = pytest.param("ensemble_bayes", marks=pytest.mark.slow)


@pytest.mark.parametrize("algorithm", [ENSEMBLE, "cost_model"])
def test_other_algorithms_take_raw_rows_too(algorithm, tmp_path):
    model = trained(algorithm, settings=SETTINGS.limit_epochs(1).replace({"members": 2}))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    expected = csdl.decide(model, FRAME)
    np.testing.assert_array_equal(csdl.decide(loaded, FRAME), expected)


def test_nan_is_missing_in_data_frames_alone():
    rows, y = np.ones((20, 3)), np.arange(20) % 2
    rows[2, 1] = np.nan
    for wrong in (rows, np.nan_to_num(rows, nan=np.inf)):
        with pytest.raises(ValueError, match="`x` to be finite"):
            csdl.train(wrong, y, COSTS)
    csdl.Trainer(pandas.DataFrame(rows), y)
    with pytest.raises(ValueError, match="received dtype object.*pass the data frame itself"):
        csdl.train(FRAME.to_numpy(), LABELS, COSTS)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"held": (HELD[0], ["fraud", "theft"] * 40)}, "'theft', which is not one of"),
        ({"held": (HELD[0].to_numpy(), HELD[1])}, "must be a data frame, like `x`"),
        ({"costs": 1 - np.eye(3)}, "each of the labels .'fraud', 'right'.*received 3"),
        ({"algorithm": "csosr"}, "'csosr' needs integer labels"),
        ({"algorithm": "dnn_bayes"}, "'dnn_bayes' does not support data frames with categories"),
    ],
)
def test_what_is_refused_before_training(changes, match):
    with pytest.raises(ValueError, match=match):
        trained(**changes)


@pytest.mark.parametrize("place", ["x", "unlabelled"])
def test_inputs_of_pretraining_are_asked_to_be_scaled(place):
    given = {"x": np.ones((40, 2)), "unlabelled": np.ones((40, 2)), place: np.full((40, 2), 255.0)}
    trainer = csdl.Trainer(y=np.arange(40) % 2, settings=SETTINGS, **given)
    with pytest.raises(ValueError, match=r"lie in \[0, 1\].* to 255\."):
        trainer.train("csdnn", COSTS)


def test_columns_are_matched_by_name_where_the_network_takes_plain_rows(tmp_path):
    frame = FRAME[["amount"]].assign(other=np.arange(SIZE) / 9.0)
    model = csdl.train(frame, LABELS, COSTS, "dnn_bayes", epochs=1, seed=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.classes.tolist() == ["fraud", "right"]
    expected = model.predict(frame, verbose=0)
    np.testing.assert_allclose(loaded.predict(frame[list(frame)[::-1]], verbose=0), expected)
