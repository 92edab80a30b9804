"""Measures whether to look at costs, known when deciding, before decisions are made.

    python benchmarks/known_costs.py --out benchmarks/results/known_costs

The tables and splits of `tables.py`, at most 10,000 training examples, with the costs of each
example known when deciding. Two choices are compared by the test cost of Bayes decisions:
calibrations on the validation examples, each with weights of examples by what is at stake (how
far apart the costs of decisions lie) and without; and the epoch of a network that is kept, that of
the lowest validation loss, error rate or cost of Bayes decisions, or the last. The models are
scikit-learn's: logistic regression, histogram boosting, and a network of 64 units that is
trained for 30 epochs, longer than is good for it. Writes `known_costs.csv` row by row, from
which a later call continues, and `known_costs.md`.
"""

import time
import warnings
from collections.abc import Iterator

import numpy as np
from cost_matrices import bayes_cost
from formats import MeanRatio, markdown_table
from results_table import ResultsTable, parser
from scipy.special import softmax
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from tables import TABLES, make_split

from csdl_keras.prediction.calibrate import fit_temperature

FIELDS = ("table", "split", "model", "epoch", "calibration", "average_cost")
CALIBRATIONS = ("none", "temperature", "bias_corrected")
STAKES = ", by stakes"
CALIBRATIONS += tuple(method + STAKES for method in CALIBRATIONS[1:])
EPOCHS = ("lowest loss", "lowest error", "lowest cost", "last")
NETWORK = "network"
NUM_TRAIN, NUM_EPOCHS = 10_000, 30


def probabilities(split, seed: int) -> Iterator[tuple[str, str, list[np.ndarray]]]:
    """Yields model, kept epoch, and probabilities of validation and test examples."""
    parts = (split.train, split.validation, split.test)
    numbers = [np.sign(part.numbers) * np.log1p(np.abs(part.numbers)) for part in parts]
    scaler = StandardScaler().fit(numbers[0])
    x, *others = (scaler.transform(part) for part in numbers)
    x, labels = x[:NUM_TRAIN], split.train.y[:NUM_TRAIN]
    for name, model in (
        ("logistic regression", LogisticRegression(max_iter=2000)),
        ("histogram boosting", HistGradientBoostingClassifier(random_state=seed)),
    ):
        model.fit(x, labels)
        yield name, "", [model.predict_proba(part) for part in others]
    y, costs = split.validation.y, split.validation.costs
    network = MLPClassifier((64,), batch_size=100, random_state=seed)
    epochs = []
    for _ in range(NUM_EPOCHS):
        network.partial_fit(x, labels, classes=[0, 1])
        epochs.append([network.predict_proba(part) for part in others])
    rows = np.arange(len(y))
    validation = [epoch[0] for epoch in epochs]
    scores = {
        "lowest loss": [-np.log(np.maximum(p[rows, y], 1e-7)).mean() for p in validation],
        "lowest error": [np.mean(p.argmax(axis=1) != y) for p in validation],
        "lowest cost": [bayes_cost(y, p, costs) for p in validation],
        "last": [-epoch for epoch in range(NUM_EPOCHS)],
    }
    for kept in EPOCHS:
        yield NETWORK, kept, epochs[int(np.argmin(scores[kept]))]


def calibrated(method: str, held_out: np.ndarray, test: np.ndarray, part) -> np.ndarray:
    """Returns test probabilities by a calibration on the validation examples."""
    if method == "none":
        return test
    stakes = (part.costs.max(axis=2) - part.costs.min(axis=2)).sum(axis=1)
    temperature, bias = fit_temperature(
        held_out,
        part.y,
        with_bias=method.startswith("bias_corrected"),
        sample_weight=stakes if method.endswith(STAKES) else None,
    )
    return softmax(np.log(np.maximum(test, 1e-30)) / temperature + bias, axis=1)


def table(rows: list[dict]) -> str:
    """Formats geometric means of cost ratios in Markdown."""
    costs = {tuple(row[field] for field in FIELDS[:-1]): float(row["average_cost"]) for row in rows}
    tables = list(dict.fromkeys(row["table"] for row in rows))

    def line(name: str, one: tuple[str, ...], other: tuple[str, ...]) -> list[str]:
        """Formats the costs of a model, epoch and calibration relative to those of another."""
        pairs = [(key[0], costs[key], costs[*key[:2], *other]) for key in costs if key[2:] == one]
        texts = []
        for names in (*([table] for table in tables), tables):
            chosen = [pair[1:] for pair in pairs if pair[0] in names]
            ratio = MeanRatio.of(*zip(*chosen, strict=True))
            texts.append(f"{ratio.value:.3f} ({ratio.low:.3f}–{ratio.high:.3f})")
        return [name, *texts]

    head, lines = ["", *tables, "all tables"], []
    for method in CALIBRATIONS[1:]:
        base = method.removesuffix(STAKES) if method.endswith(STAKES) else "none"
        body = [
            line(f"{model} {epoch}".strip(), (model, epoch, method), (model, epoch, base))
            for model, epoch in dict.fromkeys((row["model"], row["epoch"]) for row in rows)
        ]
        lines += [f"Calibration {method}, against {base}:", "", *markdown_table(head, body), ""]
    for method in CALIBRATIONS[:3]:
        body = [
            line(epoch, (NETWORK, epoch, method), (NETWORK, EPOCHS[0], method))
            for epoch in EPOCHS[1:]
        ]
        lines += [f"Kept epoch, against that of the {EPOCHS[0]}, calibration {method}:", ""]
        lines += [*markdown_table(head, body), ""]
    lines += ["Ratios of test costs: geometric mean over splits and its 95 % interval, in pairs."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Runs the program."""
    options = parser(__doc__)
    options.add_argument("--tables", default=",".join(TABLES))
    options.add_argument("--splits", type=int, default=5)
    arguments = options.parse_args()
    warnings.simplefilter("ignore")
    results = ResultsTable(arguments.out, "known_costs", FIELDS)
    done = results.done(2)
    for seed in range(arguments.splits):
        for name in arguments.tables.split(","):
            if (name, str(seed)) in done:
                continue
            start, split, rows = time.perf_counter(), make_split(name, seed), []
            test = split.test
            for model, epoch, (held_out, found) in probabilities(split, seed):
                for method in CALIBRATIONS:
                    decided = calibrated(method, held_out, found, split.validation)
                    cost = bayes_cost(test.y, decided, test.costs)
                    row = (name, seed, model, epoch, method, cost)
                    rows.append(dict(zip(FIELDS, row, strict=True)))
            results.append(rows)
            print(f"{name}, split {seed}: {time.perf_counter() - start:.0f} s", flush=True)
    results.report(table(results.rows()))


if __name__ == "__main__":
    main()
