"""Writes the models of this folder: `python -m tests.data.models.make`, on TensorFlow.

Each is a `.keras` file of the version that `made_by.json` names, and `expected.npz` holds its
inputs and targets, and what it answered. `tests/models/kept_models_test.py` loads them with
whatever the package has become since; they are made anew only if that is meant to fail.
"""

import json
import pathlib
import re
import subprocess
import zipfile
from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

import csdl_keras as csdl
from tests.support.saved_objects import (
    CASES,
    COSTS,
    LABELS,
    MATRIX,
    WITH_ABSTAIN,
    Case,
    X,
    answers,
    network,
    softmax,
    trained,
)

FOLDER = pathlib.Path(__file__).parent


def pretrained() -> Case:
    """A network between the stages: its hidden layers are pre-trained with costs."""
    model = csdl.models.mlp((4,), 3, (5, 4), output="cost")
    csdl.pretrain(model, X, costs=COSTS, beta=0.25, corruption=0.25, epochs=1, seed=1, verbose=0)
    return trained(model, X, COSTS, loss=csdl.SOSRLoss(), metrics=[csdl.AverageCost()])


def calibrated(method: str) -> keras.Model:
    return csdl.calibrate(network(softmax()), X, LABELS, method=method)


def caffe(name: str) -> Case:
    """Caffe's network with weights of period 101, which compress to a hundredth."""
    case = CASES[name]()
    values = np.random.default_rng(2).normal(0, 0.05, size=101)
    case.model.set_weights([np.resize(values, w.shape) for w in case.model.get_weights()])
    return case


def weighted() -> Case:
    """Named outputs with a loss, a weight and metrics of their own."""
    inputs = keras.Input((4,), name="x")
    hidden = keras.layers.Dense(5, "sigmoid")(inputs)
    model = keras.Model(
        inputs,
        {
            "class": keras.layers.Dense(3, "softmax", name="class")(hidden),
            "cost": csdl.CostOutput(3, name="cost")(hidden),
        },
    )
    return trained(
        model,
        X,
        {"class": LABELS, "cost": COSTS},
        loss={"class": "sparse_categorical_crossentropy", "cost": csdl.losses.PoissonCostLoss()},
        loss_weights={"class": 1.0, "cost": 0.5},
        metrics={
            "class": [csdl.AverageCost(MATRIX, output="probability", bayes=True, class_id=1)],
            "cost": [csdl.DecisionAccuracy(output="cost")],
        },
    )


def end_to_end(name: str) -> Case:
    """What `train` returns."""
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3
    x = (rng.uniform(size=(60, 4)) + y[:, None]).astype("float32") / 3
    settings = csdl.Settings(hidden_units=(5,), pretraining_epochs=1).limit_epochs(1)
    model = csdl.train(x, y, MATRIX, name, settings=settings, seed=1, verbose=0)
    return Case(model, x[:5])


MODELS: dict[str, Callable[[], Case]] = {
    **CASES,
    **{name: lambda name=name: caffe(name) for name in CASES if name.startswith("caffe_")},
    "pretrained": pretrained,
    "calibrated": lambda: Case(calibrated("temperature")),
    "calibrated with biases": lambda: Case(calibrated("bias_corrected")),
    "calibrated, Bayes": lambda: Case(csdl.bayes_classifier(calibrated("temperature"), MATRIX)),
    "abstaining, decision_model": lambda: Case(
        csdl.decision_model(csdl.bayes_classifier(network(softmax()), WITH_ABSTAIN))
    ),
    "abstaining, serving_model": lambda: Case(
        csdl.models.serving_model(csdl.bayes_classifier(calibrated("temperature"), WITH_ABSTAIN))
    ),
    "several outputs": weighted,
    **{
        f"train {name}": lambda name=name: end_to_end(name)
        for name in ("dnn_blind", "min", "scae_bayes", "csdnn", "dnn_weighted")
    },
}


def save(model: keras.Model, path: pathlib.Path) -> None:
    """Saves a model; Keras does not compress the parts of its archive."""
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def main() -> None:
    """Writes the models, their inputs and answers, and the versions."""
    keras.utils.set_random_seed(0)
    arrays: dict[str, np.ndarray] = {}
    for name, make in MODELS.items():
        case = make()
        file_name = re.sub(r"\W+", "_", name)
        save(case.model, FOLDER / f"{file_name}.keras")
        targets = case.y if isinstance(case.y, dict) else {"": case.y}
        found = {f"y/{key}": y for key, y in targets.items() if y is not None}
        found |= {"x": case.x, **answers(case)}
        arrays |= {f"{file_name}/{key}": array for key, array in found.items()}
    np.savez_compressed(FOLDER / "expected.npz", **arrays)
    git = ["git", "log", "-1", "--format=%H", "--", "csdl_keras"]
    commit = subprocess.run(git, cwd=FOLDER.parents[2], capture_output=True, text=True, check=True)
    made_by = {
        "command": "python -m tests.data.models.make",
        "commit": commit.stdout.strip(),
        "csdl_keras": csdl.__version__,
        "keras": keras.__version__,
        "tensorflow": tf.__version__,
    }
    (FOLDER / "made_by.json").write_text(json.dumps(made_by, indent=2) + "\n")


if __name__ == "__main__":
    main()
