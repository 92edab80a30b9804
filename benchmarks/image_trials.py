"""Measures what changes of the networks for images are worth, on images that are in no test set.

    python benchmarks/image_trials.py --out benchmarks/results/effort --keep .cache/image_trials

Trains the networks of `image_trials_cases.trials()` on development sets, and writes what each costs
to `image_trials.csv` as it comes, from which a later call continues: the average over 20 matrices
`randomized_proportional(y, seed=2000 + i)` of what the Bayes decision costs on the evaluation
images, with one temperature from the images for calibration, and with the temperature that suits
the evaluation images (`true`), each for one view of an image, five shifted ones, and those with
their mirror images. `tried.csv` and `image_trials.md` have the ratio of each change. Sets come from
TFDS' folder. `--keep` keeps the probabilities for `image_calibration.py`.
"""

import dataclasses
import functools
import hashlib
import pathlib
import time

import keras
import numpy as np
from formats import markdown_table
from image_trials_cases import Options, trials
from image_trials_network import Predict, train
from image_trials_sets import SETS, DevelopmentSet
from keras import ops
from results_table import ResultsTable, parser

import csdl_keras as csdl
from csdl_keras.layers import ImageViews
from csdl_keras.prediction.calibrate import fit_temperature

VIEWS = ("one", "shifted", "mirrored")
FIELDS = ("options", "seconds", *(f"{kind}_{view}" for view in VIEWS for kind in ("cost", "true")))
RATIOS = ("tried", "set", "cost_with", "cost_without", "ratio", "seconds_ratio", "cost_with_true")
MATRICES = 20


def views(predict: Predict, x: np.ndarray) -> dict[str, np.ndarray]:
    """Returns class probabilities by the views of an image that they are averaged over."""
    layer = ImageViews(pixels=1, flip=True)
    parts = []
    for start in range(0, len(x), 1000):
        part = x[start : start + 1000]
        copies = ops.convert_to_numpy(layer(part))
        parts.append(predict(copies).reshape(layer.views, len(part), -1))
    sums = np.concatenate(parts, axis=1)
    return {"one": sums[0], "shifted": sums[:5].mean(axis=0), "mirrored": sums.mean(axis=0)}


def probabilities(options: Options, data: DevelopmentSet) -> tuple[list[dict], float]:
    """Trains; returns probabilities of calibration and evaluation images by view, and seconds."""
    seconds, found = 0.0, []
    for index in range(options.networks):
        one = dataclasses.replace(options, networks=1, seed=options.seed + index)
        start = time.perf_counter()
        for predict in train(one, data):
            seconds += time.perf_counter() - start
            found.append([views(predict, x) for x in (data.x_val, data.x_eval)])
            start = time.perf_counter()
        keras.utils.clear_session()
    means = [
        {view: np.mean([parts[place][view] for parts in found], axis=0) for view in VIEWS}
        for place in range(2)
    ]
    return means, seconds


def kept_at(folder: pathlib.Path, options: Options) -> pathlib.Path:
    """Returns the file of a training's probabilities."""
    return folder / f"{hashlib.sha256(options.key().encode()).hexdigest()[:16]}.npz"


def matrices_of(data: DevelopmentSet) -> list[np.ndarray]:
    """Returns the cost matrices of a set."""
    known = np.concatenate([data.y_train, data.y_val])
    return [csdl.costs.randomized_proportional(known, seed=2000 + i) for i in range(MATRICES)]


def costs(p: np.ndarray, y: np.ndarray, matrices: list[np.ndarray]) -> list[float]:
    """Returns the average cost of Bayes decisions under each matrix."""
    return [float(matrix[y, (p @ matrix).argmin(axis=1)].mean()) for matrix in matrices]


def run(options: Options, data: DevelopmentSet, keep: pathlib.Path | None) -> dict[str, object]:
    """Returns the row of one training."""
    (val, evaluation), seconds = probabilities(options, data)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        arrays = {f"val_{view}": val[view] for view in VIEWS}
        arrays |= {f"eval_{view}": evaluation[view] for view in VIEWS}
        np.savez_compressed(kept_at(keep, options), **arrays)
    matrices = matrices_of(data)
    row: dict[str, object] = {"options": options.key(), "seconds": round(seconds, 1)}
    for view in VIEWS:
        fits = {
            "cost": fit_temperature(val[view], data.y_val)[0],
            "true": fit_temperature(evaluation[view], data.y_eval)[0],
        }
        for kind, temperature in fits.items():
            tempered = np.maximum(evaluation[view], 1e-12) ** (1 / temperature)
            tempered /= tempered.sum(axis=1, keepdims=True)
            row[f"{kind}_{view}"] = round(float(np.mean(costs(tempered, data.y_eval, matrices))), 4)
    return row


def ratios(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Returns the rows of `tried.csv`, for the trials whose two trainings are done."""
    done = {row["options"]: row for row in rows}
    found = []
    for trial in trials():
        with_change, without = done.get(trial.with_change.key()), done.get(trial.without.key())
        if with_change is None or without is None:
            continue
        cost = float(with_change[f"cost_{trial.views}"])
        before = float(without[f"cost_{trial.views_without or trial.views}"])
        slower = float(with_change["seconds"]) / float(without["seconds"])
        values = (trial.change, trial.with_change.data, f"{cost:.4f}", f"{before:.4f}")
        values += (f"{cost / before:.3f}", f"{slower:.2f}", with_change[f"true_{trial.views}"])
        found.append(dict(zip(RATIOS, values, strict=True)))
    return found


def main() -> None:
    """Runs the program."""
    options = parser(__doc__)
    options.add_argument("--sets", default=",".join(SETS))
    options.add_argument("--keep", type=pathlib.Path, help="folder of the probabilities")
    arguments = options.parse_args()
    results = ResultsTable(arguments.out, "image_trials", FIELDS)
    load = functools.cache(lambda name: SETS[name]())
    for case in (one for trial in trials() for one in (trial.without, trial.with_change)):
        if case.data in arguments.sets.split(",") and (case.key(),) not in results.done(1):
            results.append([run(case, load(case.data), arguments.keep)])
            print(*results.rows()[-1].values(), flush=True)
    tried = ratios(results.rows())
    ResultsTable(arguments.out, "tried", RATIOS).write(tried)
    results.report("\n".join(markdown_table(list(RATIOS), [list(row.values()) for row in tried])))


if __name__ == "__main__":
    main()
