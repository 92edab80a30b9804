"""Compares the epochs that a cost-blind training may keep, by what the Bayes decision costs then.

    python benchmarks/kept_epoch.py --out benchmarks/results/kept_epoch

Early stopping keeps the epoch that errs least on validation examples, since the network does not
know of costs. This trains the networks of DNN Bayes and SDAE Bayes in `notebooks/results/fair`
anew, with the optimizer and learning rate that were chosen there, and decides by the weights of
that epoch, of the likeliest one, and of the one whose Bayes decisions cost least, all of them on
validation examples. Writes `kept_epoch.csv` row by row, from which a later call continues,
`curves.csv` with the cost of Bayes decisions by epoch, a plot of it, and `kept_epoch.md`.
"""

from collections.abc import Mapping

import keras
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from committed import NOTEBOOKS, rows_of
from cost_matrices import bayes_cost
from formats import MeanRatio, markdown_table
from results_table import ResultsTable, parser

import csdl_keras as csdl
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.profiles import PROFILES

FIELDS = ("dataset", "algorithm", "seed", "cost_seed", "kept", "epoch", "average_cost")
FIELDS += ("error_rate", "likelihood_loss")
#: The cost is that of Bayes decisions with the first matrix.
CURVE_FIELDS = ("dataset", "algorithm", "seed", "epoch", "train_cost", "val_cost")
CURVE_FIELDS += ("val_error_rate", "val_likelihood_loss")
#: The columns that identify a training, which is measured as a whole.
KEYS = 3
ALGORITHMS = ("dnn_bayes", "sdae_bayes")
COST_SEEDS = (1000, 1001, 1002)
ERRORS, LIKELIHOOD, COSTS = RULES = "fewest errors", "likeliest", "lowest cost"


class KeptEpochs(keras.callbacks.Callback):
    """Keeps the weights of the best epoch by errors, likelihood, and the costs of each matrix.

    Args:
        data: the data set; of its training examples, as many are looked at as of validation.
        matrices: the cost matrices by their seeds.
    """

    def __init__(self, data: csdl.datasets.DataSet, matrices: Mapping[int, np.ndarray]):
        super().__init__()
        self.x, self.y, self.matrices = data.x_val, data.y_val, matrices
        self.train = data.x_train[: len(self.y)], data.y_train[: len(self.y)]
        self.best: dict[object, tuple[float, int, list[np.ndarray]]] = {}
        self.curve: list[tuple[float, ...]] = []

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        """Looks at the validation examples, except in pre-training."""
        if "val_average_cost" not in (logs or {}):
            return
        found = probabilities(self.model, self.x)
        scores = {ERRORS: error_rate(self.y, found), LIKELIHOOD: likelihood_loss(self.y, found)}
        scores |= {seed: bayes_cost(self.y, found, it) for seed, it in self.matrices.items()}
        for rule, score in scores.items():
            if rule not in self.best or score < self.best[rule][0]:
                self.best[rule] = score, epoch + 1, self.model.get_weights()
        x, y = self.train
        first = self.matrices[COST_SEEDS[0]]
        costs = bayes_cost(y, probabilities(self.model, x), first), scores[COST_SEEDS[0]]
        self.curve.append((epoch + 1, *costs, scores[ERRORS], scores[LIKELIHOOD]))


def probabilities(model: keras.Model, x: np.ndarray) -> np.ndarray:
    """Returns the outputs of a network."""
    return model.predict(x, batch_size=1000, verbose=0).astype("float64")


def error_rate(y: np.ndarray, found: np.ndarray) -> float:
    """Returns the share of examples whose likeliest class is wrong."""
    return float(np.mean(found.argmax(axis=1) != y))


def likelihood_loss(y: np.ndarray, found: np.ndarray) -> float:
    """Returns the mean negative log-likelihood."""
    return float(-np.log(np.maximum(found[np.arange(len(y)), y], 1e-12)).mean())


def measure(
    dataset: str, algorithm: str, seed: int, choices: dict[str, str]
) -> tuple[list[dict], list[dict]]:
    """Trains a network; returns the rows of the epochs that are kept, and those of its curve."""
    profile = PROFILES["small"]
    source = DataSource.parse(dataset, train_size=profile.train_size)
    data, matrices = source.load(), {it: source.matrix(it) for it in COST_SEEDS}
    settings = profile.settings_on(dataset).replace(
        {
            "mlp.optimizer_name": choices["optimizer_name"],
            "mlp.learning_rate": float(choices["learning_rate"]),
        }
    )
    watch = KeptEpochs(data, matrices)
    csdl.Trainer(
        data.x_train,
        data.y_train,
        (data.x_val, data.y_val),
        settings,
        seed=seed,
        callbacks=[watch],
    ).train(algorithm, matrices[COST_SEEDS[0]])
    place, rows = (dataset, algorithm, seed), []
    for rule, (_, epoch, weights) in watch.best.items():
        watch.model.set_weights(weights)
        found = probabilities(watch.model, data.x_test)
        for cost_seed, matrix in matrices.items():
            if rule not in (*RULES, cost_seed):
                continue  # The epoch that was kept for another matrix.
            kept = rule if rule in RULES else COSTS
            scores = bayes_cost(data.y_test, found, matrix), error_rate(data.y_test, found)
            values = (*place, cost_seed, kept, epoch, *scores)
            values += (likelihood_loss(data.y_test, found),)
            rows.append(dict(zip(FIELDS, values, strict=True)))
    curve = [dict(zip(CURVE_FIELDS, (*place, *values), strict=True)) for values in watch.curve]
    return rows, curve


def table(rows: list[dict[str, str]]) -> str:
    """Formats the ratios of costs for each kind of network and for all trainings."""
    frame = pd.DataFrame(rows).astype({name: float for name in FIELDS[-4:]})
    trainings = frame.groupby(["dataset", "algorithm", "seed", "kept"]).mean(numeric_only=True)
    costs, epochs = (trainings[it].unstack("kept") for it in ("average_cost", "epoch"))
    head = ["networks", "trainings", *(f"epoch, {rule}" for rule in RULES), f"cost, {ERRORS}"]
    head += [f"{rule} / {ERRORS}" for rule in RULES[1:]]
    body = []
    for name, index in [*costs.groupby(level=["dataset", "algorithm"]).groups.items(), ("all", ())]:
        own = costs if name == "all" else costs.loc[index]
        ratios = [MeanRatio.of(own[rule], own[ERRORS]).text() for rule in RULES[1:]]
        means = [f"{epochs.loc[own.index][rule].mean():.0f}" for rule in RULES]
        label = name if name == "all" else f"{name[0]}, {name[1]}"
        cost = "" if name == "all" else f"{own[ERRORS].mean():.3f}"
        body.append([label, str(len(own)), *means, cost, *ratios])
    lines = markdown_table(head, body)
    lines += [
        "",
        "Costs of Bayes decisions on test examples, averaged over three cost matrices; ratios are "
        "geometric means over trainings, with 95 % intervals.",
    ]
    return "\n".join(lines) + "\n"


def plot(rows: list[dict[str, str]], curves: list[dict[str, str]]) -> plt.Figure:
    """Draws the cost of Bayes decisions by epoch, with a mark where an epoch was kept."""
    # A call that ended between the two files has written a curve that was then measured again.
    frame = pd.DataFrame(curves).drop_duplicates(CURVE_FIELDS[:4], keep="last")
    frame = frame.astype({name: float for name in CURVE_FIELDS[-5:]})
    kept = pd.DataFrame(rows).astype({"cost_seed": int, "epoch": int})
    first = kept[kept["cost_seed"] == COST_SEEDS[0]]
    epochs = first.set_index(["dataset", "algorithm", "seed", "kept"])["epoch"]
    datasets = list(dict.fromkeys(frame["dataset"]))
    size = (3 * len(datasets), 4.5)
    figure, axes = plt.subplots(
        len(ALGORITHMS), len(datasets), figsize=size, squeeze=False, layout="constrained"
    )
    for (dataset, algorithm, seed), own in frame.groupby(["dataset", "algorithm", "seed"]):
        ax = axes[ALGORITHMS.index(algorithm), datasets.index(dataset)]
        ax.set_title(f"{dataset}, {algorithm}", fontsize="small")
        new = not ax.lines
        for column, style in (("train_cost", ":"), ("val_cost", "-")):
            label = column.replace("_", " ").replace("val ", "validation ") if new else None
            ax.plot(own["epoch"], own[column], style, color="C0", lw=0.8, label=label)
        costs = own.set_index("epoch")["val_cost"]
        for rule, marker in zip(RULES, "osv", strict=True):
            epoch = epochs[dataset, algorithm, seed, rule]
            ax.plot(epoch, costs[epoch], marker, ms=4, color="C1", label=rule if new else None)
    axes[0, 0].legend(fontsize="x-small")
    figure.supxlabel("epoch")
    figure.supylabel("cost of Bayes decisions")
    return figure


def main() -> None:
    """Runs the program."""
    options = parser(__doc__)
    options.add_argument("--seeds", type=int, default=3)
    arguments = options.parse_args()
    results = ResultsTable(arguments.out, "kept_epoch", FIELDS)
    curves = ResultsTable(arguments.out, "curves", CURVE_FIELDS)
    done = results.done(KEYS)
    chosen = {}
    for row in rows_of(NOTEBOOKS / "fair" / "results.csv"):
        if row["algorithm"] in ALGORITHMS:
            label = DataSource(row["dataset"], row["imbalanced"] == "True").label
            chosen[label, row["algorithm"]] = row
    for seed in range(arguments.seeds):
        for (dataset, algorithm), choices in chosen.items():
            if (dataset, algorithm, str(seed)) not in done:
                rows, curve = measure(dataset, algorithm, seed, choices)
                curves.append(curve)
                results.append(rows)
                print(dataset, algorithm, seed, flush=True)
    results.report(table(results.rows()))
    plot(results.rows(), curves.rows()).savefig(arguments.out / "curves.png", dpi=110)


if __name__ == "__main__":
    main()
