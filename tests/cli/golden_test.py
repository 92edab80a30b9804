"""`results.csv` of `compare` holds the figures that it held before the command was written anew."""

import pathlib

import keras
import numpy as np
import pandas
import pytest
from PIL import Image

from csdl_keras_cli.main import main

GOLDEN = pathlib.Path(__file__).parents[1] / "data" / "golden"
COMPARE = "compare --epochs 12 --seed 3 --algorithms dnn_blind,dnn_bayes,csdnn".split()
COSTS = ",low,mid,high\nlow,0,2,9\nmid,3,0,4\nhigh,30,8,0\n"


def own_table(folder):
    random = np.random.default_rng(0)
    size = random.normal(size=200).round(3)
    frame = pandas.DataFrame({"id": range(200), "size": size})
    frame["job"] = random.choice(["nurse", "baker", ""], 200)
    frame["claims"] = np.where(random.random(200) < 0.2, np.nan, random.integers(0, 9, 200))
    noisy = size + random.normal(scale=0.2, size=200)
    frame["risk"] = np.array(["low", "mid", "high"])[np.digitize(noisy, [-0.4, 0.5])]
    frame.to_csv(folder / "risks.csv", index=False)
    return ["--data", str(folder / "risks.csv"), "--label", "risk", "--drop", "id"]


def own_images(folder):
    rng = np.random.default_rng(1)
    for place, label in enumerate(("low", "mid", "high")):
        (folder / "pictures" / label).mkdir(parents=True)
        for number in range(12):
            pixels = rng.integers(0, 120, (12, 12, 3)) + 60 * place * (np.arange(12) > 5)[:, None]
            image = Image.fromarray(pixels.astype("uint8"))
            image.save(folder / "pictures" / label / f"{number:02}.png")
    return ["--data", str(folder / "pictures"), "--image-size", "8"]


def digits(folder):
    return ["--dataset", "digits", "--train-size", "400", "--cost-seeds", "1"]


@pytest.mark.slow
@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="made on TensorFlow")
@pytest.mark.parametrize("data", [digits, own_table, own_images])
def test_results_are_those_of_the_code_before(data, tmp_path):
    arguments = data(tmp_path)
    if data is not digits:
        (tmp_path / "costs.csv").write_text(COSTS)
        arguments += ["--cost-matrix", str(tmp_path / "costs.csv")]
    algorithms = f"{COMPARE[-1]},calibrated_bayes"
    assert main([*COMPARE[:-1], algorithms, *arguments, "--out", str(tmp_path / "run")]) == 0
    found = pandas.read_csv(tmp_path / "run" / "results.csv").drop(columns="train_seconds")
    expected = pandas.read_csv(GOLDEN / f"compare_{data.__name__}.csv")
    assert [*found.algorithm[1:5:2]] == ["logistic", "boosting" if data is own_table else "forest"]
    found = found[found.algorithm.isin(expected.algorithm)].reset_index(drop=True)
    expected = expected.drop(columns="against_best")  # There were fewer rows.
    pandas.testing.assert_frame_equal(found[expected.columns], expected, rtol=1e-6)
