"""Measures cost against seconds for each effort, the paper's algorithms and the peers.

    python benchmarks/run.py effort --out benchmarks/results/effort

Images in four sets, each also in its imbalanced variant: `mnist_5k`, `digits`, 10,000 images of
CIFAR-10, and 10,000 of a synthetic bg-img-rot, of whose imbalanced variant there are 8,747 (the
last two from TFDS' folder; CIFAR-10 may be a copy). Test images are not used in training. Each
training decides for five cost matrices, `randomized_proportional(y, seed=1000 + i)`; algorithms
that train on costs are trained for each. Costs are means over matrices. `error_rate` belongs to
these decisions, `argmax_error` to the most probable classes. Seconds are those of one training
with its calibration. Ways that begin with `0.3.0` use the networks of that version.
`effort.png` also shows the peers of `benchmarks/results/peers`.
"""

import argparse
import pathlib
import time
from collections.abc import Iterator
from typing import NamedTuple

import keras
import numpy as np
from cost_matrices import cost_matrices
from results import RESULTS, Results, markdown_table, rows_of

import csdl_keras as csdl
from csdl_keras.prediction.bayes_classifier import probability_model
from csdl_keras.training import EFFORTS

FIELDS = ("set", "seed", "way", "average_cost", "error_rate", "seconds", "argmax_error")
SETS = {"mnist_5k": None, "digits": None, "cifar10": 10_000, "bg_img_rot_synthetic": 10_000}
MATRICES = 5
PAPER = ("dnn_bayes", "cnn_bayes", "csdnn")


def load(name: str) -> csdl.datasets.DataSet:
    """Returns a set by its name, with `_imb` for the imbalanced variant."""
    base = name.removesuffix("_imb")
    data = csdl.datasets.load(base, imbalanced=name != base)
    size = SETS[base]
    return data if size is None else csdl.datasets.subset(data, min(size, len(data.y_train_val)))


def run(data: csdl.datasets.DataSet, way: str, seed: int) -> dict[str, float | str]:
    """Trains one way and returns its columns."""
    algorithm, options = ("calibrated_bayes", {"effort": way}) if way in EFFORTS else (way, {})
    kind = csdl.ALGORITHMS[algorithm]
    by_probabilities = kind.shares_training and kind.weighs_costs
    costs, errors, seconds, predicted, argmax_error = [], [], [], None, ""
    trainer = csdl.Trainer(
        data.x_train, data.y_train, validation_data=(data.x_val, data.y_val), seed=seed
    )
    for matrix in cost_matrices(data, MATRICES):
        if predicted is None or not kind.shares_training:
            start = time.perf_counter()
            model = trainer.train(algorithm, matrix, **options).model
            seconds.append(time.perf_counter() - start)
            if by_probabilities:
                predicted = probability_model(model).predict(data.x_test, verbose=0)
                wrong = predicted.argmax(axis=1) != data.y_test
                argmax_error = round(float(np.mean(wrong)), 5)
            else:
                predicted = csdl.decide(model, data.x_test)
        decided = csdl.bayes_decisions(predicted, matrix) if by_probabilities else predicted
        costs.append(matrix[data.y_test, decided].mean())
        errors.append(np.mean(decided != data.y_test))
    return {
        "average_cost": round(float(np.mean(costs)), 5),
        "error_rate": round(float(np.mean(errors)), 5),
        "seconds": round(float(np.mean(seconds)), 1),
        "argmax_error": argmax_error,
    }


def peers(name: str) -> Iterator[np.ndarray]:
    """Yields mean cost and mean seconds of the peers that were measured on a set."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows_of(RESULTS / "peers" / "peers.csv"):
        if row["dataset"] == name:
            pair = float(row["average_cost"]), float(row["seconds"])
            found.setdefault(row["method"], []).append(pair)
    for method, pairs in found.items():
        if not method.startswith("csdl_keras"):
            yield np.mean(pairs, axis=0)


class Mean(NamedTuple):
    """The cost of a way on a set: means over seeds, and the standard error of the mean."""

    cost: float
    spread: float
    seconds: float
    seeds: int
    argmax_error: float


def means(rows: list[dict[str, str]]) -> dict[tuple[str, str], Mean]:
    """Returns means by set and way."""
    groups: dict[tuple[str, str], list[list[float]]] = {}
    for row in rows:
        # This column is empty in rows from before 2026-11-30.
        columns = (row["average_cost"], row["seconds"], row["argmax_error"] or "nan")
        groups.setdefault((row["set"], row["way"]), []).append(list(map(float, columns)))
    found = {}
    for key, values in groups.items():
        costs, seconds, errors = np.array(values).T
        spread = costs.std(ddof=1) / np.sqrt(len(costs)) if len(costs) > 1 else np.nan
        found[key] = Mean(
            float(costs.mean()), float(spread), float(seconds.mean()), len(costs), errors.mean()
        )
    return found


def table(rows: list[dict[str, str]]) -> str:
    """Formats mean costs, seconds and errors in Markdown."""
    found = means(rows)
    sets = list(dict.fromkeys(name for name, _ in found))
    ways = list(dict.fromkeys(way for _, way in found))

    def cell(name: str, way: str) -> str:
        if (name, way) not in found:
            return ""
        one = found[name, way]
        spread = f" ± {one.spread:.4f} (n = {one.seeds})" if one.seeds > 1 else ""
        return f"{one.cost:.4f}{spread}, {one.seconds:.0f} s{_error(one)}"

    body = [[way, *(cell(name, way) for name in sets)] for way in ways]
    head = ["average test cost, seconds, argmax error", *sets]
    return "\n".join(markdown_table(head, body))


def _error(one: Mean) -> str:
    return "" if np.isnan(one.argmax_error) else f", {one.argmax_error:.1%}"


def plot(rows: list[dict[str, str]], path: pathlib.Path) -> None:
    """Draws cost against seconds of each set, on logarithmic axes."""
    from matplotlib.figure import Figure

    found = means(rows)
    sets = list(dict.fromkeys(name for name, _ in found))
    ways = list(dict.fromkeys(way for _, way in found))
    figure = Figure(figsize=(9, 1 + 3.2 * -(-len(sets) // 2)), layout="constrained")
    for place, name in enumerate(sets, start=1):
        axes = figure.add_subplot(-(-len(sets) // 2), 2, place)
        pairs = np.reshape(list(peers(name)), (-1, 2))
        axes.plot(np.maximum(pairs[:, 1], 0.05), pairs[:, 0], "x", color="0.7", label="peers")
        for index, way in enumerate(ways):
            one = found.get((name, way), Mean(np.nan, 0, np.nan, 0, np.nan))
            marker = "o" if way in EFFORTS else "s"
            axes.errorbar(
                one.seconds,
                one.cost,
                np.nan_to_num(one.spread),
                fmt=marker,
                c=f"C{index}",
                label=way,
            )
        axes.set(xscale="log", yscale="log", title=name)
        axes.set(xlabel="seconds of training", ylabel="average test cost")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=5)
    figure.savefig(path, dpi=100)


def guide_tables(rows: list[dict[str, str]]) -> dict[str, list[str]]:
    """Returns the included table: cost, seconds and error of each way on each set."""
    found = means(rows)
    ways = [way for way in dict.fromkeys(way for _, way in found) if "before" not in way]
    ways = [way for way in ways if way in EFFORTS] + [way for way in ways if way not in EFFORTS]
    body = []
    for dataset in dict.fromkeys(name for name, _ in found):
        cells = [f"`{dataset}`"]
        for way in ways:
            one = found.get((dataset, way))
            spread = f" ± {one.spread:.3f}" if one and one.seeds > 2 else ""
            cells.append(f"{one.cost:.3f}{spread}, {one.seconds:.0f} s{_error(one)}" if one else "")
        body.append(cells)
    names = [f'`"{way}"`' if way in EFFORTS else f"`{way}`" for way in ways]
    head = ["average test cost, seconds, argmax error", *names]
    return {"means": markdown_table(head, body)}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this benchmark."""
    every = [f"{name}{suffix}" for name in SETS for suffix in ("", "_imb")]
    parser.add_argument("--sets", default=",".join(every))
    parser.add_argument("--ways", default=",".join((*EFFORTS, *PAPER)))
    parser.add_argument("--seeds", type=int, default=3)


def measure(arguments: argparse.Namespace, results: Results) -> None:
    """Measures the rows that are missing, and draws all rows."""
    for seed in range(arguments.seeds):
        for name in arguments.sets.split(","):
            data = load(name)
            for way in arguments.ways.split(","):
                if (name, str(seed), way) not in results.done(3):
                    row = {"set": name, "seed": seed, "way": way, **run(data, way, seed)}
                    results.append([row])
                    print(*row.values(), flush=True)
                    keras.utils.clear_session()
    plot(results.rows(), results.path.with_suffix(".png"))
