"""Costs that differ from example to example and are unknown when it has to be decided.

    python benchmarks/example_costs.py --out benchmarks/results/example_costs

The row `cost_model` beside what else one can do: Poisson (also without clipped
gradients), logistic and one-sided (SOSR) regression of the cost vector by the
same network, and the calibrated Bayes decision on mean costs of each class. On
images, costs come from two generators
for cost matrices `randomized_proportional(y, seed=1000 + i)`: `own`, class costs
times an exponential of the image, the form that the model has; and `other`, class
costs plus a surcharge for bright images and heavy-tailed noise, which it has not.
On tables, costs are the problem's own (`empulse` has the data, if it is
installed). Writes `example_costs.csv` as it goes (run it again and it goes on
where it stopped) and `example_costs.md`.
"""

import argparse
import dataclasses
import importlib.util
import pathlib
import warnings
from collections.abc import Sequence

import keras
import numpy as np
from results_table import ResultsTable

import csdl_keras as csdl

FIELDS = ("problem", "seed", "method", "average_cost", "relative", "seconds")
FIRST_COST_SEED = 1000
METHODS = {
    "cost_model": csdl.ALGORITHMS["cost_model"],
    "calibrated_bayes on class means": csdl.ALGORITHMS["calibrated_bayes"],
    "Poisson regression": csdl.Algorithm("p", "P", "auto", "none", "poisson", "argmin"),
    "Poisson regression without clipping": csdl.Algorithm(
        "p", "P", "auto", "none", "poisson", "argmin"
    ),
    "logistic regression": csdl.Algorithm("l", "L", "auto", "none", "logistic", "argmin"),
    "SOSR": csdl.Algorithm("s", "S", "auto", "none", "sosr", "argmin"),
}
#: Tables with costs of their own, by the name that `empulse.datasets` has for them.
TABLES = {
    "churn": "churn_tv_subscriptions",
    "credit": "credit_scoring_pakdd",
    "credit_vub": "vub_credit_scoring",
    "upsell": "upsell_bank_telemarketing",
}
#: As Keras trains: gradients of any norm.
UNCLIPPED = csdl.Settings().replace({"auto.clipnorm": None})


@dataclasses.dataclass
class Problem:
    """Inputs, labels and costs of training, validation and test examples, in this order."""

    x: tuple[np.ndarray, ...]
    y: tuple[np.ndarray, ...]
    costs: tuple[np.ndarray, ...]


def summaries(x: np.ndarray) -> np.ndarray:
    """A few numbers about each image, of mean 0 and deviation 1 in training."""
    images = x.mean(axis=-1)
    rows, columns = (np.linspace(-1, 1, size) for size in images.shape[1:])
    total = images.sum(axis=(1, 2)) + 1e-6
    return np.stack(
        [
            images.mean(axis=(1, 2)),
            images.std(axis=(1, 2)),
            (images * rows[:, None]).sum(axis=(1, 2)) / total,
            (images * columns[None]).sum(axis=(1, 2)) / total,
        ],
        axis=1,
    )


def image_problem(name: str, generator: str, seed: int, train_size: int | None) -> Problem:
    """Images with generated costs."""
    imbalanced = name.endswith("_imb")
    data = csdl.datasets.load(name.removesuffix("_imb"), imbalanced, train_size)
    rng = np.random.default_rng(seed)
    matrix = csdl.costs.randomized_proportional(
        data.y_train_val, data.num_classes, seed=FIRST_COST_SEED + seed
    )
    x = (data.x_train, data.x_val, data.x_test)
    y = (data.y_train, data.y_val, data.y_test)
    numbers = [summaries(part) for part in x]
    mean, deviation = numbers[0].mean(axis=0), numbers[0].std(axis=0) + 1e-9
    direction = rng.normal(size=(numbers[0].shape[1], data.num_classes, data.num_classes)) / 2
    bright = np.quantile(numbers[0][:, 0], 0.7)
    surcharge = rng.uniform(1.0, 4.0, size=data.num_classes) * matrix[matrix > 0].mean()
    costs = []
    for own, labels in zip(numbers, y, strict=True):
        base = matrix[labels]
        z = (own - mean) / deviation
        if generator == "own":
            slope = np.einsum("nf,fnk->nk", z, direction[:, labels])
            drawn = base * np.exp(slope) * rng.gamma(2.0, 0.5, size=(len(base), 1))
        else:
            extra = surcharge * (own[:, :1] > bright) * (base > 0)
            drawn = (base + extra) * rng.pareto(2.5, size=(len(base), 1)) * 1.5
        costs.append(drawn)
    return Problem(x, y, tuple(costs))


def table_problem(name: str, seed: int) -> Problem:
    """A table with its own costs, split 50/20/30 with classes in proportion."""
    import empulse.datasets
    import pandas as pd
    from sklearn.model_selection import train_test_split

    found = getattr(empulse.datasets, f"load_{TABLES[name]}")(backend="pandas")
    x = pd.get_dummies(found.data, dtype=float).fillna(0.0).to_numpy("float32")
    # Amounts of money span magnitudes.
    x = np.sign(x) * np.log1p(np.abs(x))
    y = np.asarray(found.target, dtype="int64")
    own = {key: np.asarray(value, float) for key, value in found.instance_costs.items()}
    # The costs that the package documents for each, at its default parameters.
    if name == "churn":
        negative = np.where(y == 1, own["fn_cost"], own["tn_cost"])
        positive = np.where(y == 1, own["tp_cost"], own["fp_cost"])
    elif name == "upsell":
        negative = y * np.maximum(0.02463333 * 0.25 * own["balance"], 1.0)
        positive = np.ones(len(y))
    else:  # credit: what is lent times the loss given default, or the profit that is refused
        negative, positive = 0.75 * own["cl"] * y, own["fp_cost"] * (1 - y)
    costs = np.column_stack([negative, positive])
    rest, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
    train, validation = train_test_split(rest, test_size=2 / 7, stratify=y[rest], random_state=seed)
    parts = (train, validation, test)
    return Problem(
        tuple(x[p] for p in parts), tuple(y[p] for p in parts), tuple(costs[p] for p in parts)
    )


def make_problem(name: str, seed: int, train_size: int | None) -> Problem:
    """The problem `images/generator`, or the table of that name."""
    if "/" in name:
        data, generator = name.split("/")
        return image_problem(data, generator, seed, train_size)
    return table_problem(name, seed)


def run(problem: Problem, seed: int, methods: Sequence[str]):
    """`(method, average test cost, in units of the best constant decision, seconds)`."""
    trainer = csdl.Trainer(
        problem.x[0],
        problem.y[0],
        validation_data=(problem.x[1], problem.y[1], problem.costs[1]),
        costs=problem.costs[0],
        seed=seed,
    )
    for name in methods:
        trained = trainer.train(
            METHODS[name], settings=UNCLIPPED if "without clipping" in name else None
        )
        decided = csdl.decide(trained.model, problem.x[2])
        scores = (
            csdl.evaluation.average_cost(problem.costs[2], decided),
            csdl.evaluation.normalized_cost(problem.costs[2], decided),
        )
        keras.utils.clear_session()
        yield name, *scores, trained.seconds


def table(rows: list[dict]) -> str:
    """Markdown: geometric means of the cost in units of Poisson regression's."""
    from scipy import stats

    problems = list(dict.fromkeys(row["problem"] for row in rows))
    costs = {(r["problem"], r["method"], r["seed"]): float(r["average_cost"]) for r in rows}
    lines = ["| method | " + " | ".join(problems) + " |", "| --- |" + " ---: |" * len(problems)]
    for method in METHODS:
        cells = []
        for problem in problems:
            seeds = [s for p, m, s in costs if (p, m) == (problem, method)]
            base = "Poisson regression"
            logs = np.array(
                [
                    np.log(costs[problem, method, s] / costs[problem, base, s])
                    for s in seeds
                    if (problem, base, s) in costs
                ]
            )
            if not len(logs):
                cells.append("–")
                continue
            words = f"{np.exp(logs.mean()):.2f}"
            if len(logs) > 1 and method != base:
                half = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / len(logs) ** 0.5
                words += f" ({np.exp(logs.mean() - half):.2f}–{np.exp(logs.mean() + half):.2f})"
            cells.append(words)
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    lines += ["", "Average test cost in units of Poisson regression's: geometric mean over cost"]
    lines += ["matrices (tables: splits) and its 95 % interval, in pairs."]
    return "\n".join(lines) + "\n"


def main():
    """Runs the benchmark."""
    images = ("mnist", "mnist_imb", "cifar10", "cifar10_imb")
    problems = [f"{name}/{generator}" for name in images for generator in ("own", "other")]
    if importlib.util.find_spec("empulse") is not None:
        problems += TABLES
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", default=",".join(problems))
    parser.add_argument("--methods", help=f"of {', '.join(METHODS)} (default: all)")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--train-size", type=int, help="of image sets; by default all")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the results")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results = ResultsTable(arguments.out, "example_costs", FIELDS)
    done = results.done(3)
    for seed in range(arguments.seeds):
        for name in arguments.problems.split(","):
            methods = [m for m in METHODS if (name, str(seed), m) not in done]
            if arguments.methods is not None:
                methods = [m for m in methods if m in arguments.methods.split(",")]
            if not methods:
                continue
            problem = make_problem(name, seed, arguments.train_size)
            for scores in run(problem, seed, methods):
                row = (name, seed, *scores)
                results.append([dict(zip(FIELDS, row, strict=True))])
                print(*row, flush=True)
    results.report(table(results.rows()))


if __name__ == "__main__":
    main()
