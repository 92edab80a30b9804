"""A small results folder with made-up figures."""

import json

import numpy as np
import pandas

from csdl_keras.paper.results import read_table
from csdl_keras.paper.table2 import read_columns

CLASSES, EXAMPLES = 4, 300
#: Shares of wrong decisions; the convolutional rows are far cheaper than the others.
ERRORS = {
    "dnn_blind": 0.6,
    "cnn_blind": 0.3,
    "csosr": 0.5,
    "min": 0.5,
    "dnn_bayes": 0.4,
    "cnn_bayes": 0.05,
    "dnn_sosr": 0.55,
    "csdnn": 0.35,
    "cnn_sosr": 0.15,
    "cnn_weighted": 0.2,
}
DATA = (("mnist", False), ("mnist", True), ("bg_img_rot_synthetic", False), ("mnist_5k", False))
#: Shares of wrong decisions at points of the curve of beta.
BETA_ERRORS = {0.0: 0.4, 0.1: 0.3, 0.4: 0.05, 1.0: 0.4}
SEEDS = (1000, 1001, 1002)
RESULTS = "dataset imbalanced algorithm cost_seed average_cost validation_cost train_size"
BETAS = "dataset imbalanced algorithm cost_seed beta test_cost standard_error validation_cost"


def write_csv(path, header, rows):
    pandas.DataFrame(rows, columns=header.split()).to_csv(path, index=False)


def write_folder(folder, data=DATA, errors=ERRORS, seeds=SEEDS, skip=lambda *key: False):
    """Writes results, decisions, curves and record; `skip(dataset, imb, algorithm, seed)`."""
    generator, spare = np.random.default_rng(0), np.random.default_rng(1)
    betas = []
    (folder / "test_decisions").mkdir(parents=True, exist_ok=True)
    rows = []
    for dataset, imbalanced in data:
        labels = generator.integers(CLASSES, size=EXAMPLES).astype("uint8")
        arrays = {"labels": labels}
        for seed in seeds:
            matrix = generator.uniform(1, 10, size=(CLASSES, CLASSES))
            np.fill_diagonal(matrix, 0)
            arrays[f"matrix_{seed}"] = matrix
            for name, error in errors.items():
                wrong = generator.uniform(size=EXAMPLES) < error
                shift = generator.integers(1, CLASSES, size=EXAMPLES)
                decisions = (labels + wrong * shift) % CLASSES
                if skip(dataset, imbalanced, name, seed):
                    continue
                arrays[f"{name}_{seed}"] = decisions.astype("uint8")
                cost = matrix[labels, decisions].mean()
                key = (dataset, imbalanced, name, seed)
                rows.append((*key, cost, cost * 1.01, 1200))
        seed, matrix = seeds[0], arrays[f"matrix_{seeds[0]}"]
        for beta, error in (BETA_ERRORS if dataset == "mnist" else {}).items():
            wrong = spare.uniform(size=EXAMPLES) < error
            decisions = (labels + wrong * spare.integers(1, CLASSES, EXAMPLES)) % CLASSES
            arrays[f"csdnn_{seed}_beta_{beta:g}"] = decisions.astype("uint8")
            cost, key = matrix[labels, decisions].mean(), (dataset, imbalanced, "csdnn", seed)
            betas.append((*key, beta, cost, 0.02, cost))
        name = f"{dataset}_imb.npz" if imbalanced else f"{dataset}.npz"
        np.savez(folder / "test_decisions" / name, **arrays)
    write_csv(folder / "results.csv", RESULTS, rows)
    write_csv(folder / "beta_curve.csv", BETAS, betas)
    run = {"command": "csdl-keras table2 --out <folder> | tee", "versions": {"keras": "3.15"}}
    (folder / "run.json").write_text(json.dumps({"runs": [run]}))


def read_rows(path):
    return pandas.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")


def write_rows(path, rows):
    pandas.DataFrame(rows).to_csv(path, index=False)


def change_rows(folder, change):
    """Writes into each row of results.csv what `change` returns for it."""
    path = folder / "results.csv"
    write_rows(path, [{**row, **change(row)} for row in read_rows(path)])


def change_arrays(folder, label="mnist", **changes):
    """Changes test decisions; returns those before."""
    path = folder / "test_decisions" / f"{label}.npz"
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **(arrays | changes))
    return arrays


def columns_of(folder):
    return read_columns(folder, read_table(folder, "results.csv"))
