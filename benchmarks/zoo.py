"""Trains the models of `csdl_keras.zoo`, and writes their files and the table of their cards.

python benchmarks/zoo.py mnist/calibrated_bayes cifar10/csdnn
"""

import io
import json
import platform
import sys
import tempfile
import time
import types
import zipfile
from pathlib import Path

import h5py
import joblib
import keras
import numpy as np
from sklearn.datasets import load_breast_cancer

import csdl_keras
from csdl_keras.prediction.bayes_classifier import probability_model

FOLDER = Path(csdl_keras.__file__).parent / "zoo"
MATRICES = 5
PARTS = ("train", "val", "test")

IMAGES = {
    "mnist": "MNIST: 50,000 images train, 10,000 validate, 10,000 are its test set",
    "cifar10": "CIFAR-10 re-encoded as JPEG of quality 75: 41,667 images train, 8,333 validate, "
    "10,000 are its test set, re-encoded as well",
}
#: Epochs and filters of `calibrated_bayes`, units of `csdnn`, so that all files have 8 MB at most.
CHOICES = {
    "mnist/calibrated_bayes": {"auto.epochs": 12, "auto.filters": (16, 32, 64, 128)},
    "mnist/csdnn": {"mlp.hidden_units": (256, 128)},
    "mnist/cnn_sosr": {},
    "cifar10/calibrated_bayes": {"auto.epochs": 10, "auto.filters": (20, 40, 80, 160)},
    "cifar10/csdnn": {"mlp.hidden_units": (64, 64)},
    "cifar10/cnn_sosr": {"cnn.epochs": 20},
    "breast_cancer/calibrated_bayes": {"members": 2},
}


def data_of(name: str) -> types.SimpleNamespace:
    """Loads the data of a model; class 0 of the table is malignant."""
    source = name.partition("/")[0]
    if source != "breast_cancer":
        data = csdl_keras.datasets.load(source)
        parts = {f"{it}_{part}": getattr(data, f"{it}_{part}") for it in "xy" for part in PARTS}
        return types.SimpleNamespace(name=source, num_classes=data.num_classes, **parts)
    x, y = load_breast_cancer(return_X_y=True)
    rows = csdl_keras.datasets.split(y)
    parts = {
        f"{k}_{part}": it[rows[part]] for k, it in zip("xy", (x, y), strict=True) for part in PARTS
    }
    return types.SimpleNamespace(name=source, num_classes=2, **parts)


def with_16_bits(model: keras.Model, path: Path) -> None:
    """Saves a model with its weights in 16 bits, as Keras' own format."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model.keras"))
        with (
            zipfile.ZipFile(Path(folder, "model.keras")) as read,
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as written,
        ):
            for part in read.namelist():
                content = read.read(part)
                written.writestr(part, halved(content) if part.endswith(".h5") else content)


def halved(content: bytes) -> bytes:
    """Returns an HDF5 file with arrays of more than 64 float32 values as float16."""
    target = io.BytesIO()
    with h5py.File(io.BytesIO(content)) as read, h5py.File(target, "w") as written:

        def copy(name: str, item: h5py.Dataset | h5py.Group) -> None:
            if isinstance(item, h5py.Group):
                written.require_group(name).attrs.update(item.attrs)
                return
            small = item.dtype != np.float32 or item.size <= 64
            values = item[()] if small else item[()].astype(np.float16)
            assert small or np.isfinite(values).all()
            written.create_dataset(name, data=values)

        read.visititems(copy)
    return target.getvalue()


def decided(model: keras.Model, x: np.ndarray, matrices: list[np.ndarray]) -> np.ndarray:
    """Returns the decisions under each matrix, or a cost model's own decisions."""
    part = probability_model(model)
    if part is None:
        return np.stack([csdl_keras.decide(model, x)] * len(matrices))
    probabilities = part.predict(x, verbose=0)
    return np.stack([csdl_keras.bayes_decisions(probabilities, it) for it in matrices])


def make(name: str, cache: str) -> dict:
    """Trains one model, writes its file and returns its card."""
    data, algorithm = data_of(name), name.partition("/")[2]
    choices = CHOICES[name]
    trainer = csdl_keras.Trainer(
        data.x_train,
        data.y_train,
        (data.x_val, data.y_val),
        settings=csdl_keras.Settings().replace(choices),
        seed=0,
        cache=csdl_keras.StageCache(cache),
    )
    matrices = [
        csdl_keras.costs.randomized_proportional(data.y_train, data.num_classes, seed=seed)
        for seed in range(MATRICES)
    ]
    own = algorithm != "calibrated_bayes"
    trained = trainer.train(algorithm, matrices[0], effort=None if own else "best")
    model = trained.model if own else probability_model(trained.model)
    path = FOLDER / f"{name.replace('/', '_')}.keras"
    with_16_bits(model, path)
    tried = [csdl_keras.costs.zero_one(data.num_classes), *matrices]
    before = decided(model, data.x_test, tried)
    after = decided(keras.saving.load_model(path), data.x_test, tried)
    costs = [
        csdl_keras.evaluation.average_cost(data.y_test, chosen, matrix)
        for chosen, matrix in zip(after, tried, strict=True)
    ]
    return {
        "input_shape": "x".join(map(str, data.x_test.shape[1:])),
        "classes": data.num_classes,
        "parameters": model.count_params(),
        "file_size_mb": round(path.stat().st_size / 1e6, 2),
        "training_seconds": round(trained.seconds),
        "argmax_error": round(costs[0], 4),
        **{f"cost_{seed}": round(cost, 4) for seed, cost in enumerate(costs[1 : 2 if own else 6])},
        "first_500_cost_0": round(
            csdl_keras.evaluation.average_cost(data.y_test[:500], after[1, :500], matrices[0]), 4
        ),
        "decisions_changed_by_16_bits": int((before != after).any(axis=0).sum()),
        "trained_for": "cost_0" if own else "any cost matrix",
        "data": IMAGES.get(
            data.name, "table of scikit-learn: 60 % train, 20 % validate, 20 % test"
        ),
        "choices": "; ".join(f"{key}={value}" for key, value in choices.items()),
        "command": f"python benchmarks/zoo.py {name}",
        "versions": f"keras {keras.__version__}, {keras.backend.backend()}, Python "
        f"{platform.python_version()}, {csdl_keras.__version__}",
        "date": time.strftime("%Y-%m-%d"),
    }


def main() -> None:
    """Makes the models that the command names, and replaces their cards as each is done."""
    path = FOLDER / "cards.json"
    for name in sys.argv[1:] or CHOICES:
        with joblib.parallel_config(n_jobs=2):
            card = make(name, ".cache/zoo")
        cards = json.loads(path.read_text()) if path.exists() else {}
        cards[name] = card
        ordered = {it: cards[it] for it in CHOICES if it in cards}
        path.write_text(json.dumps(ordered, indent=2) + "\n")


if __name__ == "__main__":
    main()
