"""Compares calibrations by the cost of decisions: none, temperature, biases, vector scaling.

    python benchmarks/calibration.py --out benchmarks/results/calibration

The network of the default algorithms, alone and five averaged, on the data sets and
splits of `peers.py`, whose trained networks it finds in `--cache`. Each calibration is
fitted on the validation examples and scored on the test examples, by costs averaged over
cost matrices `randomized_proportional(y, seed=1000 + i)`. Writes `calibration.csv` row by
row, from which a later call continues, and `calibration.md`.
"""

import argparse
import dataclasses
import time

import numpy as np
from cost_matrices import cost_matrices
from formats import MeanRatio, markdown_table
from peers import OURS, load, splits_parser
from results_table import ResultsTable
from scipy import optimize, special

import csdl_keras as csdl
from csdl_keras.prediction.calibrate import fit_temperature

FIELDS = ("dataset", "split", "members", "method", "average_cost", "nll", "ece", "classwise")
SMALLEST = 1e-7
SPREADS = (0.5, 1.0, None)


def scaled(logs: np.ndarray, temperature: float, bias: np.ndarray) -> np.ndarray:
    """Returns calibrated probabilities."""
    return special.softmax(logs / temperature + bias, axis=1)


def vector_scaling(logs: np.ndarray, labels: np.ndarray, spread: float | None):
    """Fits a factor and a bias for each class; returns the map of log-probabilities."""
    rows, (size, classes) = np.arange(len(logs)), logs.shape
    weight = 0.0 if spread is None else 1.0 / spread**2

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        factors, bias = np.exp(values[:classes]), values[classes:]
        scores = logs * factors + bias
        error = special.softmax(scores, axis=1)
        value = np.mean(special.logsumexp(scores, axis=1) - scores[rows, labels])
        error[rows, labels] -= 1.0
        slope = np.concatenate([(error * logs).mean(axis=0) * factors, error.mean(axis=0)])
        return value + weight * np.sum(values**2) / 2 / size, slope + weight * values / size

    bounds = [(-20.0, 20.0)] * classes + [(None, None)] * classes
    found = optimize.minimize(loss, np.zeros(2 * classes), jac=True, bounds=bounds).x
    factors, bias = np.exp(found[:classes]), found[classes:]
    return lambda x: special.softmax(x * factors + bias, axis=1)


def calibrations(logs: np.ndarray, labels: np.ndarray):
    """Yields names and functions from log-probabilities to calibrated probabilities."""
    yield "none", lambda x: special.softmax(x, axis=1)
    for spread in SPREADS:
        name = "no prior" if spread is None else f"prior {spread}"
        temperature, bias = fit_temperature(np.exp(logs), labels, False, spread)
        yield f"temperature, {name}", lambda x, t=temperature, b=bias: scaled(x, t, b)
        temperature, bias = fit_temperature(np.exp(logs), labels, True, spread)
        yield f"bias-corrected, {name}", lambda x, t=temperature, b=bias: scaled(x, t, b)
        yield f"vector, {name}", vector_scaling(logs, labels, spread)


def measure(name: str, split: int, members: int, arguments: argparse.Namespace) -> list[dict]:
    """Measures the rows of the results for one network or ensemble."""
    data = load(name, split, arguments.train_size)
    matrices = cost_matrices(data, arguments.cost_seeds)
    algorithm = dataclasses.replace(
        OURS["one network, Bayes"], name="blind", prediction="argmax", members=members
    )
    trainer = csdl.Trainer(
        data.x_train,
        data.y_train,
        (data.x_val, data.y_val),
        seed=split,
        cache=csdl.StageCache(arguments.cache),
    )
    model = trainer.train(algorithm, matrices[0]).model
    logs, logs_test = (
        np.log(np.maximum(model.predict(x, verbose=0).astype("float64"), SMALLEST))
        for x in (data.x_val, data.x_test)
    )
    rows, y = [], data.y_test
    for method, calibrate in calibrations(logs, data.y_val):
        found = calibrate(logs_test)
        costs = [matrix[y, (found @ matrix).argmin(axis=1)].mean() for matrix in matrices]
        scores = (
            float(np.mean(costs)),
            float(-np.log(np.maximum(found[np.arange(len(y)), y], 1e-12)).mean()),
            csdl.evaluation.calibration_error(y, found),
            csdl.evaluation.calibration_error(y, found, classwise=True),
        )
        values = (name, split, members, method, *scores)
        rows.append(dict(zip(FIELDS, values, strict=True)))
    return rows


def table(rows: list[dict]) -> str:
    """Formats cost, likelihood and calibration error after each calibration in Markdown."""
    head = ("calibration", "cost", "against none", "NLL", "ECE", "classwise ECE")
    found = {(r["dataset"], r["members"], r["method"], r["split"]): r for r in rows}
    blocks = dict.fromkeys((r["dataset"], r["members"]) for r in rows)
    lines = []
    for dataset, members in blocks:
        body = []
        for method in dict.fromkeys(r["method"] for r in rows):
            own = [r for k, r in found.items() if k[:3] == (dataset, members, method)]
            base = [found[dataset, members, "none", r["split"]] for r in own]
            ratio = MeanRatio.of(*([float(r["average_cost"]) for r in rs] for rs in (own, base)))
            against_none = "1.00x" if method == "none" else ratio.text("x")
            means = [np.mean([float(r[f]) for r in own]) for f in FIELDS[4:]]
            body.append([method, f"{means[0]:.4f}", against_none, *(f"{m:.3f}" for m in means[1:])])
        lines += [f"{dataset}, {members} network{'s' if members != '1' else ''}:", ""]
        lines += [*markdown_table(head, body), ""]
    lines += ["Means over splits; against none: geometric mean over splits and its 95 % interval."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Runs the program."""
    options = splits_parser(__doc__)
    options.add_argument("--datasets", default="digits,digits_imb")
    options.add_argument("--members", default="1,5", help="sizes of ensembles (default 1,5)")
    arguments = options.parse_args()
    results = ResultsTable(arguments.out, "calibration", FIELDS)
    done = results.done(3)
    for name in arguments.datasets.split(","):
        for split in range(arguments.splits):
            for members in arguments.members.split(","):
                if (name, str(split), members) in done:
                    continue
                start = time.perf_counter()
                results.append(measure(name, split, int(members), arguments))
                seconds = time.perf_counter() - start
                print(f"{name}, split {split}, {members}: {seconds:.0f} s", flush=True)
    results.report(table(results.rows()))


if __name__ == "__main__":
    main()
