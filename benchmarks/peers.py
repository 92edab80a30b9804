"""Compares the cost of decisions by this package's default algorithms and by other packages.

    python benchmarks/run.py peers --out benchmarks/results/peers
    python benchmarks/run.py peers --datasets mnist,cifar10 --packages "" --splits 1 --out ...

Measures the average test cost of each method on each data set and split, for cost matrices
`randomized_proportional(y, seed=1000 + i)`.

The peers are scikit-learn 1.8 or later, the network of a Keras example and, if installed,
`costsensitive` and `vowpalwabbit`. All of them learn from training and validation examples
together.
"""

import argparse
import itertools
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from cost_matrices import FIRST_COST_SEED, cost_matrices
from peer_methods import PACKAGES, Decide, Once, installed
from results import Results, markdown_table
from scipy import stats
from sklearn.model_selection import train_test_split

import csdl_keras as csdl

OURS = {
    "one network, Bayes": csdl.Algorithm("nll_bayes", "NLL, Bayes", "auto", "none", "nll", "bayes"),
    "calibrated_bayes": csdl.ALGORITHMS["calibrated_bayes"],
    "ensemble_bayes": csdl.ALGORITHMS["ensemble_bayes"],
}
SINGLE = "csdl_keras one network, Bayes"
#: Methods on the same linear learner.
LINEAR = (
    "logistic, argmax",
    "costsensitive weighted one-vs-rest",
    "logistic, Bayes",
    "logistic, temperature, Bayes",
)
REDUCTIONS = (
    "costsensitive weighted one-vs-rest",
    "costsensitive weighted all-pairs",
    "costsensitive regression one-vs-rest",
    "costsensitive filter tree",
    "Vowpal Wabbit csoaa",
    "csdl_keras calibrated_bayes",
)
FIELDS = ("dataset", "split", "method", "cost_seed", "average_cost", "error_rate", "seconds")


def ours(
    data: csdl.datasets.DataSet,
    seed: int,
    cache: csdl.StageCache,
    spent: dict[str, float],
) -> Iterator[tuple[str, Callable[[], Decide]]]:
    """Yields the default algorithms, and their network alone, for `run`.

    Networks are trained once; `spent` receives the seconds that each algorithm would
    take alone.
    """
    trainer = csdl.Trainer(
        data.x_train, data.y_train, (data.x_val, data.y_val), seed=seed, cache=cache
    )

    def prepare(name: str) -> Decide:
        def decide(matrix: np.ndarray) -> np.ndarray:
            trained = trainer.train(OURS[name], matrix)
            spent[f"csdl_keras {name}"] = trained.seconds
            return csdl.decide(trained.model, data.x_test)

        return decide

    for name in OURS:
        yield f"csdl_keras {name}", lambda name=name: prepare(name)


def load(name: str, split: int, train_size: int | None = None) -> csdl.datasets.DataSet:
    """Loads the data set of that name, with `_imb` its imbalanced variant.

    Split 0 is that of the data set; others draw new test and validation examples with the same
    proportion of classes.
    """
    data = csdl.datasets.load(name.removesuffix("_imb"), train_size=train_size)
    if split:
        x = np.concatenate([data.x_train, data.x_val, data.x_test])
        y = np.concatenate([data.y_train, data.y_val, data.y_test])
        x, x_test, y, y_test = train_test_split(
            x, y, test_size=len(data.y_test), stratify=y, random_state=split
        )
        x_train, x_val, y_train, y_val = train_test_split(
            x, y, test_size=len(data.y_val), stratify=y, random_state=split
        )
        parts = (x_train, y_train, x_val, y_val, x_test, y_test)
        data = csdl.datasets.DataSet(data.name, data.num_classes, *parts)
    return csdl.datasets.imbalance(data, seed=0) if name.endswith("_imb") else data


def measure(arguments: argparse.Namespace, results: Results) -> None:
    """Measures the rows that are missing."""
    done = results.done(4)
    for name in arguments.datasets.split(","):
        for split in range(arguments.splits):
            data = load(name, split, arguments.train_size)
            packages = [p for p in arguments.packages.split(",") if p in installed()]
            spent = {}
            matrices = cost_matrices(data, arguments.cost_seeds)
            peers = (PACKAGES[package](data, split) for package in packages)
            rows = ours(data, split, csdl.StageCache(arguments.cache), spent)
            for method, prepare in itertools.chain(*peers, rows):
                seeds = range(FIRST_COST_SEED, FIRST_COST_SEED + len(matrices))
                if all((name, str(split), method, str(seed)) in done for seed in seeds):
                    continue
                start, reused = time.perf_counter(), Once.reused
                decide = prepare()
                for seed, matrix in zip(seeds, matrices, strict=True):
                    decided = decide(matrix)
                    own = time.perf_counter() - start + Once.reused - reused
                    row = {
                        "dataset": name,
                        "split": split,
                        "method": method,
                        "cost_seed": seed,
                        "average_cost": float(matrix[data.y_test, decided].mean()),
                        "error_rate": float(np.mean(decided != data.y_test)),
                        # The seconds of this method so far, not those of this matrix.
                        "seconds": round(spent.get(method, own), 2),
                    }
                    if (name, str(split), method, str(seed)) not in done:
                        results.append([row])
                print(f"{name}, split {split}: {method}, {row['seconds']:.0f} s", flush=True)


def difference(own: dict[int, float], other: dict[int, float]) -> str:
    """Formats the difference of two methods' costs on the splits that both have."""
    shared = sorted(own.keys() & other.keys())
    own, other = (np.array([costs[split] for split in shared]) for costs in (own, other))
    gaps = own - other
    words = f"{gaps.mean():+.4f}, {own.mean() / other.mean():.2f}x"
    if len(gaps) == 1:
        return words
    half = stats.t.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps))
    low, high = gaps.mean() - half, gaps.mean() + half
    return f"{words} ({low:+.4f} to {high:+.4f}, {len(gaps)} splits)"


def table(rows: Sequence[dict]) -> str:
    """Formats methods by their mean cost, and our differences from the best peer, in Markdown."""
    costs = {}
    for row in rows:
        key = (row["method"], row["dataset"])
        by_split = costs.setdefault(key, {}).setdefault(int(row["split"]), [])
        by_split.append(float(row["average_cost"]))
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    splits = {key: {k: np.mean(v) for k, v in of.items()} for key, of in costs.items()}
    methods = list(dict.fromkeys(method for method, _ in splits))
    peers = [method for method in methods if not method.startswith("csdl_keras")]

    def mean(method: str, dataset: str) -> float:
        return np.mean([*splits.get((method, dataset), {0: np.inf}).values()])

    best = {
        dataset: min((m for m in peers if (m, dataset) in splits), key=lambda m: mean(m, dataset))
        for dataset in datasets
        if any((m, dataset) in splits for m in peers)
    }
    body = []
    for method in sorted(methods, key=lambda m: np.mean([mean(m, d) for d in datasets])):
        cells = []
        for dataset in datasets:
            value = mean(method, dataset)
            words = "–" if np.isinf(value) else f"{value:.3f}"
            cells.append(f"**{words}**" if method == best.get(dataset) else words)
        body.append([method, *cells])
    lines = [
        *markdown_table(["method", *datasets], body),
        "",
        "Bold: the best peer. Differences and ratios of the package, and, where there are several",
    ]
    lines += ["splits, the mean difference over them and its 95 % interval:", ""]
    for method in (m for m in methods if m not in peers):
        for dataset in (d for d in datasets if (method, d) in splits):
            for other in {best.get(dataset, SINGLE): None, SINGLE: None}:
                if other != method and (other, dataset) in splits:
                    words = difference(splits[method, dataset], splits[other, dataset])
                    lines.append(f"- {dataset}: {method} against {other} {words}")
    return "\n".join(lines) + "\n"


def guide_tables(rows: Sequence[dict]) -> dict[str, list[str]]:
    """Returns the included tables: the best peer on each data set, and chosen peers."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        found.setdefault((row["dataset"], row["method"]), []).append(float(row["average_cost"]))
    costs = {key: float(np.mean(values)) for key, values in found.items()}
    names = [name for name in OURS if name != "one network, Bayes"]
    every = list(dict.fromkeys(dataset for dataset, _ in costs))
    measured = [d for d in every if all((d, f"csdl_keras {name}") in costs for name in names)]
    peers = {method for _, method in costs if not method.startswith("csdl_keras")}
    body = [[f"the best of {len(peers)} peers"]]
    for dataset in measured:
        of = [method for method in peers if (dataset, method) in costs]
        best = min(of, key=lambda method, dataset=dataset: costs[dataset, method])
        body[0].append(f"{costs[dataset, best]:.3f} ({best})")
    body += [
        [f"`{name}`", *(f"{costs[dataset, f'csdl_keras {name}']:.3f}" for dataset in measured)]
        for name in names
    ]

    def chosen(methods: Sequence[str]) -> list[str]:
        rows = [[m, *(f"{costs[dataset, m]:.3f}" for dataset in every)] for m in methods]
        return markdown_table(["average test cost", *(f"`{name}`" for name in every)], rows)

    head = ["average test cost", *(f"`{name}`" for name in measured)]
    tables = {"best": markdown_table(head, body)} if peers else {}
    for name, methods in {"linear": LINEAR, "reductions": REDUCTIONS}.items():
        if all((dataset, method) in costs for dataset in every for method in methods):
            tables[name] = chosen(methods)
    return tables


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this benchmark."""
    parser.add_argument("--splits", type=int, default=5, help="seeds of the split (default 5)")
    parser.add_argument("--train-size", type=int, help="examples to learn from (default all)")
    parser.add_argument("--cost-seeds", type=int, default=5, help="cost matrices (default 5)")
    parser.add_argument(
        "--cache", default="csdl_runs/stages", help="folder of trained networks (%(default)s)"
    )
    parser.add_argument(
        "--datasets",
        default="digits,digits_imb,mnist_5k,mnist_5k_imb",
        help="names separated by commas, _imb for the imbalanced variant; TFDS names too",
    )
    parser.add_argument(
        "--packages",
        default=",".join(PACKAGES),
        help="peers, of those that are installed (default: all)",
    )
