"""Which calibration pays in decisions: none, a temperature, biases too, or vector scaling.

    python benchmarks/calibration.py --out benchmarks/results/calibration

The network of the default rows, alone and five of it averaged, on the data sets
and splits of `peers.py`, whose trained networks it finds in `--cache`. Each
calibration is fitted on the validation examples; what is reported is that of the
test examples, costs as means over cost matrices `randomized_proportional(y,
seed=1000 + i)`. Writes `calibration.csv` as it goes (run it again and it goes on
where it stopped) and `calibration.md`.
"""

import argparse
import dataclasses
import pathlib
import time

import numpy as np
from peers import FIRST_COST_SEED, OURS, load
from results_table import ResultsTable
from scipy import optimize, special, stats

import csdl_keras as csdl
from csdl_keras.prediction.calibrate import fit_temperature

FIELDS = ("dataset", "split", "members", "method", "average_cost", "nll", "ece", "classwise")
SMALLEST = 1e-7
SPREADS = (0.5, 1.0, None)


def scaled(logs: np.ndarray, temperature: float, bias: np.ndarray) -> np.ndarray:
    """Calibrated probabilities."""
    return special.softmax(logs / temperature + bias, axis=1)


def vector_scaling(logs: np.ndarray, labels: np.ndarray, spread: float | None):
    """A factor and a bias for each class: what makes probabilities of log-probabilities."""
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
    """Names, and functions from log-probabilities to probabilities."""
    yield "none", lambda x: special.softmax(x, axis=1)
    for spread in SPREADS:
        name = "no prior" if spread is None else f"prior {spread}"
        temperature, bias = fit_temperature(np.exp(logs), labels, False, spread)
        yield f"temperature, {name}", lambda x, t=temperature, b=bias: scaled(x, t, b)
        temperature, bias = fit_temperature(np.exp(logs), labels, True, spread)
        yield f"bias-corrected, {name}", lambda x, t=temperature, b=bias: scaled(x, t, b)
        yield f"vector, {name}", vector_scaling(logs, labels, spread)


def measure(name: str, split: int, members: int, arguments: argparse.Namespace) -> list[dict]:
    """Rows of the results for one network, or one ensemble."""
    data = load(name, split, arguments.train_size)
    matrices = [
        csdl.costs.randomized_proportional(
            data.y_train_val, data.num_classes, seed=FIRST_COST_SEED + i
        )
        for i in range(arguments.cost_seeds)
    ]
    row = dataclasses.replace(
        OURS["one network, Bayes"], name="blind", prediction="argmax", members=members
    )
    trainer = csdl.Trainer(
        data.x_train,
        data.y_train,
        (data.x_val, data.y_val),
        seed=split,
        cache=csdl.StageCache(arguments.cache),
    )
    model = trainer.train(row, matrices[0]).model
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
    """Markdown: what each calibration makes of cost, likelihood and calibration error."""
    found = {(r["dataset"], r["members"], r["method"], r["split"]): r for r in rows}
    blocks = dict.fromkeys((r["dataset"], r["members"]) for r in rows)
    lines = []
    for dataset, members in blocks:
        lines += [
            f"{dataset}, {members} network{'s' if members != '1' else ''}:",
            "",
            "| calibration | cost | against none | NLL | ECE | classwise ECE |",
            "| --- | ---: | ---: | ---: | ---: | ---: |",
        ]
        for method in dict.fromkeys(r["method"] for r in rows):
            own = [r for k, r in found.items() if k[:3] == (dataset, members, method)]
            base = [found[dataset, members, "none", r["split"]] for r in own]
            logs = np.log(
                [
                    float(a["average_cost"]) / float(b["average_cost"])
                    for a, b in zip(own, base, strict=True)
                ]
            )
            words = f"{np.exp(logs.mean()):.2f}x"
            if len(logs) > 1 and method != "none":
                half = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / len(logs) ** 0.5
                low, high = np.exp(logs.mean() - half), np.exp(logs.mean() + half)
                words += f" ({low:.2f}–{high:.2f})"
            means = [np.mean([float(r[f]) for r in own]) for f in FIELDS[4:]]
            cells = [method, f"{means[0]:.4f}", words, *(f"{m:.3f}" for m in means[1:])]
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    lines += ["Means over splits; against none: geometric mean over splits and its 95 % interval."]
    return "\n".join(lines) + "\n"


def main():
    """Runs the measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", default="digits,digits_imb")
    parser.add_argument("--splits", type=int, default=5, help="seeds of the split (default 5)")
    parser.add_argument("--members", default="1,5", help="sizes of ensembles (default 1,5)")
    parser.add_argument("--train-size", type=int, help="examples to learn from (default all)")
    parser.add_argument("--cost-seeds", type=int, default=5, help="cost matrices (default 5)")
    parser.add_argument(
        "--cache", default="csdl_runs/stages", help="folder of trained networks (%(default)s)"
    )
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the results")
    arguments = parser.parse_args()
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
