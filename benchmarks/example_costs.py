"""Compares methods for costs that differ between examples and are unknown when deciding.

    python benchmarks/example_costs.py --out benchmarks/results/example_costs

Compares the algorithm `cost_model` with Poisson (also without clipped gradients),
logistic and one-sided (SOSR) regression of the cost vector by the same network, and with
the calibrated Bayes decision on the mean costs of each class. On images, costs come from
two generators for cost matrices `randomized_proportional(y, seed=1000 + i)`: `own`
multiplies class costs by an exponential of the image, as the model assumes; `other` adds
a surcharge for bright images and heavy-tailed noise, contrary to the model. On tables,
costs are part of the problem (`empulse` has the data, if it is installed). Writes
`example_costs.csv` row by row, from which a later call continues, and `example_costs.md`.
"""

import dataclasses
import importlib.util
import warnings
from collections.abc import Sequence

import keras
import numpy as np
from cost_matrices import cost_matrix
from formats import MeanRatio, markdown_table
from results_table import ResultsTable, parser

import csdl_keras as csdl

FIELDS = ("problem", "seed", "method", "average_cost", "relative", "seconds")
METHODS = {
    "cost_model": csdl.ALGORITHMS["cost_model"],
    "calibrated_bayes on class means": csdl.ALGORITHMS["calibrated_bayes"],
}
METHODS |= {
    name: csdl.Algorithm(loss, name, "auto", "none", loss, "argmin")
    for name, loss in (
        ("Poisson regression", "poisson"),
        ("Poisson regression without clipping", "poisson"),
        ("logistic regression", "logistic"),
        ("SOSR", "sosr"),
    )
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
    """Computes mean, deviation and centre of brightness of each image."""
    images = x.mean(axis=-1)
    rows, columns = (np.linspace(-1, 1, size) for size in images.shape[1:])
    total = images.sum(axis=(1, 2)) + 1e-6
    centres = ((images * at).sum(axis=(1, 2)) / total for at in (rows[:, None], columns[None]))
    return np.column_stack([images.mean(axis=(1, 2)), images.std(axis=(1, 2)), *centres])


def image_problem(name: str, generator: str, seed: int, train_size: int | None) -> Problem:
    """Returns images with generated costs."""
    imbalanced = name.endswith("_imb")
    data = csdl.datasets.load(name.removesuffix("_imb"), imbalanced, train_size)
    rng = np.random.default_rng(seed)
    matrix = cost_matrix(data, seed)
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
    """Returns a table with its own costs, in the splits of `tables.py`."""
    from tables import make_split  # needs empulse

    parts = make_split(name, seed)[:3]
    # Amounts of money span orders of magnitude.
    x = tuple(np.sign(part.numbers) * np.log1p(np.abs(part.numbers)) for part in parts)
    costs = tuple(csdl.costs.cost_vectors(part.costs, part.y) for part in parts)
    return Problem(x, tuple(part.y for part in parts), costs)


def make_problem(name: str, seed: int, train_size: int | None) -> Problem:
    """Returns the problem `images/generator`, or the table of that name."""
    if "/" in name:
        data, generator = name.split("/")
        return image_problem(data, generator, seed, train_size)
    return table_problem(name, seed)


def run(problem: Problem, seed: int, methods: Sequence[str]):
    """Yields each method with its average test cost, normalised cost and seconds."""
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
    """Formats geometric means of the cost relative to Poisson regression in Markdown."""
    base = "Poisson regression"
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    costs = {(r["problem"], r["method"], r["seed"]): float(r["average_cost"]) for r in rows}

    def cell(problem: str, method: str) -> str:
        pairs = [
            (cost, costs[problem, base, seed])
            for (of, by, seed), cost in costs.items()
            if (of, by) == (problem, method) and (problem, base, seed) in costs
        ]
        if not pairs:
            return "–"
        return "1.00" if method == base else MeanRatio.of(*zip(*pairs, strict=True)).text()

    body = [[method, *(cell(problem, method) for problem in problems)] for method in METHODS]
    lines = markdown_table(["method", *problems], body)
    lines += ["", "Average test cost in units of Poisson regression's: geometric mean over cost"]
    lines += ["matrices (tables: splits) and its 95 % interval, in pairs."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Runs the program."""
    images = ("mnist", "mnist_imb", "cifar10", "cifar10_imb")
    problems = [f"{name}/{generator}" for name in images for generator in ("own", "other")]
    if importlib.util.find_spec("empulse") is not None:
        from tables import TABLES

        problems += TABLES
    options = parser(__doc__)
    options.add_argument("--problems", default=",".join(problems))
    options.add_argument("--methods", help=f"of {', '.join(METHODS)} (default: all)")
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--train-size", type=int, help="of image sets; by default all")
    arguments = options.parse_args()
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
