"""Measures how far each calibration of image networks stays above the true frequencies.

    python benchmarks/image_calibration.py --out benchmarks/results/effort --keep FOLDER

Takes the probabilities that `image_trials.py --keep FOLDER` has kept of single networks and of two
of different seeds, calibrates them on 50 to 500 images, and writes to `image_calibration.csv` the
cost of decisions on the evaluation images, by its ratio to the limit: a temperature and biases from
one half of the evaluation images for the other half. Costs are means over 20 matrices, and over
eight draws of the calibration images.
"""

import dataclasses
import pathlib
from collections.abc import Iterator

import numpy as np
from formats import markdown_table
from image_trials import costs, kept_at, matrices_of
from image_trials_cases import Options, kept_options, views_of
from image_trials_sets import SETS
from results_table import ResultsTable, parser
from scipy import special

from csdl_keras.prediction.calibrate import fit_temperature

FIELDS = ("set", "networks", "calibration_images", "way", "ratio_to_limit", "cost_at_limit")
SIZES = (50, 150, 500)
DRAWS = 8
SMALLEST = 1e-7
GRID = np.linspace(-2.0, 2.0, 81)


def scaled(p: np.ndarray, temperature: float = 1.0, bias: np.ndarray | float = 0.0) -> np.ndarray:
    """Returns calibrated probabilities."""
    return special.softmax(np.log(np.maximum(p, SMALLEST)) / temperature + bias, axis=1)


def loss(p: np.ndarray, y: np.ndarray) -> float:
    """Returns the negative log-likelihood."""
    return float(-np.log(np.maximum(p[np.arange(len(y)), y], SMALLEST)).sum())


def posterior(val: np.ndarray, y: np.ndarray, evaluation: np.ndarray) -> np.ndarray:
    """Returns probabilities averaged over the posterior of the temperature."""
    energy = np.array([loss(scaled(val, np.exp(log)), y) + log**2 / 2 for log in GRID])
    weights = special.softmax(-energy)
    return sum(
        weight * scaled(evaluation, np.exp(log))
        for weight, log in zip(weights, GRID, strict=True)
        if weight > 1e-4
    )


def chosen(val: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Returns a temperature, with biases if five folds say so."""
    folds = np.arange(len(y)) % 5
    losses = [
        sum(
            loss(
                scaled(val[folds == fold], *_fit(val[folds != fold], y[folds != fold], bias)), part
            )
            for fold in range(5)
            for part in [y[folds == fold]]
        )
        for bias in (False, True)
    ]
    return _fit(val, y, losses[1] < losses[0])


def _fit(val: np.ndarray, y: np.ndarray, bias: bool) -> tuple[float, np.ndarray]:
    return fit_temperature(val, y, bias, 0.5 if bias else 1.0)


def ways(
    members_val: np.ndarray, y: np.ndarray, members: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Yields calibrations and the probabilities of the evaluation images.

    Args:
        members_val: probabilities of the calibration images by network, `(M, N, K)`.
        y: their labels.
        members: probabilities of the evaluation images, `(M, E, K)`.
    """
    val, evaluation = members_val.mean(axis=0), members.mean(axis=0)
    yield "none", evaluation
    yield "temperature", scaled(evaluation, *_fit(val, y, False))
    yield "temperature and biases", scaled(evaluation, *_fit(val, y, True))
    yield "the one of both that five folds choose", scaled(evaluation, *chosen(val, y))
    yield "temperatures averaged over their posterior", posterior(val, y, evaluation)
    if len(members) == 1:
        return
    fits = [_fit(one, y, False) for one in members_val]
    own_val, own = (
        np.mean([scaled(p, *fit) for p, fit in zip(parts, fits, strict=True)], axis=0)
        for parts in (members_val, members)
    )
    yield "a temperature for each network", own
    yield "the same, and one for their mean", scaled(own, *_fit(own_val, y, False))


def at_stake(
    val: np.ndarray, y: np.ndarray, evaluation: np.ndarray, y_eval: np.ndarray, matrices: list
) -> float:
    """Returns the cost if examples weigh as much as their mistakes cost when fitting."""
    found = []
    for matrix in matrices:
        weights = matrix[y].mean(axis=1)
        fit = fit_temperature(val, y, sample_weight=weights / weights.mean())
        found += costs(scaled(evaluation, *fit), y_eval, [matrix])
    return float(np.mean(found))


def limit(p: np.ndarray, y: np.ndarray, matrices: list[np.ndarray]) -> float:
    """Returns the cost of decisions with what the other half of the images says."""
    half = np.arange(len(y)) % 2
    found = np.empty_like(p)
    for part in range(2):
        found[half == part] = scaled(
            p[half == part], *fit_temperature(p[half != part], y[half != part], True)
        )
    return float(np.mean(costs(found, y, matrices)))


def measure(name: str, runs: list[Options], keep: pathlib.Path) -> list[dict[str, object]]:
    """Returns the rows of one set for one or several networks."""
    data, view = SETS[name](), views_of(runs[0])
    matrices = matrices_of(data)
    files = [np.load(kept_at(keep, options)) for options in runs]
    val, evaluation = (
        np.array([file[f"{part}_{view}"] for file in files], "float64") for part in ("val", "eval")
    )
    least = limit(evaluation.mean(axis=0), data.y_eval, matrices)
    generator, rows = np.random.default_rng(0), []
    for size in (size for size in SIZES if size <= len(data.y_val)):
        found: dict[str, list[float]] = {}
        for _ in range(DRAWS):
            part = generator.permutation(len(data.y_val))[:size]
            for way, p in ways(val[:, part], data.y_val[part], evaluation):
                found.setdefault(way, []).append(float(np.mean(costs(p, data.y_eval, matrices))))
            arguments = val[:, part].mean(axis=0), data.y_val[part], evaluation.mean(axis=0)
            cost = at_stake(*arguments, data.y_eval, matrices)
            found.setdefault("a temperature by what is at stake", []).append(cost)
        for way, values in found.items():
            ratio = f"{np.mean(values) / least:.3f}"
            line = (name, len(runs), size, way, ratio, f"{least:.4f}")
            rows.append(dict(zip(FIELDS, line, strict=True)))
    return rows


def table(rows: list[dict[str, str]]) -> str:
    """Formats the ratios in Markdown."""
    columns = dict.fromkeys(
        (row["set"], row["networks"], row["calibration_images"]) for row in rows
    )
    found = {(*list(row.values())[:4],): row["ratio_to_limit"] for row in rows}
    body = [
        [way, *(found.get((*column, way), "") for column in columns)]
        for way in dict.fromkeys(row["way"] for row in rows)
    ]
    head = [f"{name}, {networks}, {size}" for name, networks, size in columns]
    return "\n".join(markdown_table(["cost beside the limit: set, networks, images", *head], body))


def main() -> None:
    """Runs the program."""
    options = parser(__doc__)
    options.add_argument("--keep", type=pathlib.Path, required=True, help="folder of probabilities")
    arguments = options.parse_args()
    results = ResultsTable(arguments.out, "image_calibration", FIELDS)
    rows = []
    for name in SETS:
        first = kept_options(name)
        both = [first, dataclasses.replace(first, seed=1)]
        for runs in (both[:1], both):
            if all(kept_at(arguments.keep, one).exists() for one in runs):
                rows += measure(name, runs, arguments.keep)
    results.write(rows)
    results.report(table(results.rows()))


if __name__ == "__main__":
    main()
