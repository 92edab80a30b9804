"""Compares what decisions on tables cost by this package's defaults and by other packages.

    python benchmarks/run.py tables --out benchmarks/results/tables

It asks three questions. All methods see the same stratified splits, 50 % for training, 20 % for
validation and 30 % for the test:

- `known`: what decisions cost if the costs of an example are known when deciding, on the four
  tables that `empulse` ships, with the costs that it documents. Probabilities decide by the
  Bayes decision.
- `unknown`: the same tables, with costs known for the training examples alone. Methods learn
  costs, or decide by probabilities and the mean costs of each class.
- `classes`: what Bayes decisions cost on six tables of two to 26 classes, mean over five drawn
  cost matrices, which one training serves.

Methods have their default arguments, except for the sizes and the early stopping of boosted trees.
TabM and RealMLP choose their epoch by the log loss instead of errors. These and boosted trees
receive categories as categories. A cost in the tables is the mean over the splits. The relative
cost is the geometric mean over tables of the ratio to a method of this package, on the splits that
both have. Its 95 % interval is made of the paired log ratios: their mean over the splits of each
table, then over the T tables, has the standard error `sqrt(sum_t s_t^2 / n_t) / T` with n_t splits
of each table, and the sum of `n_t - 1` degrees of freedom. It covers these tables alone, and
ignores that splits share examples.

Methods named `csdl_keras 0.3.0` are those of commit 8eaece73, with a different network for tables.
Relative costs are relative to these. Needs empulse, LightGBM, XGBoost, CatBoost, pyreadr and R's
`mlbench` and `kernlab`; TabM and RealMLP need pytabkit. TabPFN and TabICL are not run, since the
weights of these pretrained models were not available.
"""

import argparse
import functools
import time
from collections.abc import Callable, Iterator

import keras
import numpy as np
import pandas as pd
import scipy.stats
from cost_matrices import FIRST_COST_SEED, bayes_cost
from results import Results, markdown_table
from table_data import AMOUNTS, CLASSES, SPLITS, load_amounts, load_classes, split_rows
from table_methods import (
    PYTABKIT,
    Part,
    Split,
    cost_decisions,
    our_probabilities,
    peer_probabilities,
)

import csdl_keras as csdl

FIELDS = ("table", "split", "method", "question", "average_cost", "error", "seconds")
#: The questions, and the method whose costs are 1 in the tables.
QUESTIONS = {
    "known": "csdl_keras 0.3.0 ensemble_bayes",
    "unknown": "csdl_keras 0.3.0 cost_model",
    "classes": "csdl_keras 0.3.0 ensemble_bayes",
}
MATRICES = 5
#: Methods that are also measured with the mean costs of each class.
BY_MEANS = ("XGBoost, depth 3", "csdl_keras ensemble_bayes")


@functools.cache
def load(name: str) -> tuple:
    """Returns a table, its labels, and costs of its examples or `None`."""
    return (*load_classes(name), None) if name in CLASSES else load_amounts(name)


def make_split(name: str, seed: int) -> Split:
    """Returns a table in a stratified 50/20/30 split."""
    frame, y, costs = load(name)
    texts = frame.select_dtypes(exclude=["number", "bool"])
    categories = frame.astype(dict.fromkeys(texts, "category"))
    numbers = pd.get_dummies(frame, dtype=float).to_numpy("float32")
    train, validation, test = split_rows(y, seed)

    def part(rows: np.ndarray) -> Part:
        own = None if costs is None else costs[rows]
        return Part(frame.iloc[rows], categories.iloc[rows], numbers[rows], y[rows], own)

    return Split(part(train), part(validation), part(test), part(np.union1d(train, validation)))


def costs_of(found: np.ndarray, split: Split, question: str) -> float:
    """Returns the average cost of decisions by test probabilities."""
    labelled, test = split.labelled, split.test
    if question == "known":
        return bayes_cost(test.y, found, test.costs)
    if question == "unknown":
        vectors = csdl.costs.cost_vectors(labelled.costs, labelled.y)
        # A constant in the costs of a class does not change decisions.
        means = csdl.costs.regret(csdl.costs.class_means(labelled.y, vectors))
        return csdl.evaluation.average_cost(test.y, csdl.bayes_decisions(found, means), test.costs)
    drawn = functools.partial(csdl.costs.randomized_proportional, labelled.y, found.shape[1])
    matrices = [drawn(seed=FIRST_COST_SEED + number) for number in range(MATRICES)]
    return float(np.mean([bayes_cost(test.y, found, matrix) for matrix in matrices]))


def measured(split: Split, seed: int, asked: Callable[[str, str], bool]) -> Iterator[tuple]:
    """Yields method, question, cost, error and seconds of the requested methods."""
    test = split.test

    def timed(compute) -> tuple[np.ndarray, float]:
        start = time.perf_counter()
        return compute(), round(time.perf_counter() - start, 1)

    for source in (peer_probabilities, our_probabilities):
        for name, compute in source(split, seed):
            questions = ["classes"] if test.costs is None else ["known"]
            questions += ["unknown"] * (test.costs is not None and name in BY_MEANS)
            wanted = [question for question in questions if asked(name, question)]
            if wanted:
                found, seconds = timed(compute)
                error = float(np.mean(found.argmax(axis=1) != test.y))
                for question in wanted:
                    yield name, question, costs_of(found, split, question), error, seconds
    for name, question, compute in () if test.costs is None else cost_decisions(split, seed):
        if asked(name, question):
            decided, seconds = timed(compute)
            cost = csdl.evaluation.average_cost(test.y, np.asarray(decided, int), test.costs)
            yield name, question, cost, "", seconds


def _methods(rows: list[dict], question: str) -> list[str]:
    """Formats the methods with results on all tables of a question, the cheapest first."""
    frame = pd.DataFrame(rows, columns=FIELDS)
    frame = frame[frame["question"] == question]
    values = frame[["average_cost", "error", "seconds"]].replace("", "nan").astype("float")
    values.index = pd.MultiIndex.from_frame(frame[["method", "table", "split"]])
    costs = values["average_cost"].unstack("method")
    if QUESTIONS[question] not in costs:
        costs[QUESTIONS[question]] = np.nan
    logs = np.log(costs).sub(np.log(costs[QUESTIONS[question]]), axis=0).groupby("table")
    pairs = logs.count()
    tables = [name for name in (*AMOUNTS, *CLASSES) if pairs[QUESTIONS[question]].get(name)]
    pairs = pairs.loc[tables, (pairs.loc[tables] > 0).all()]
    mean = logs.mean().loc[tables].mean()[pairs.columns].sort_values(kind="stable")
    squares = (logs.var().loc[tables, pairs.columns] / pairs).sum(skipna=False)
    reach = scipy.stats.t.ppf(0.975, (pairs - 1).sum()) * np.sqrt(squares) / len(tables)
    by_table = values.groupby(["method", "table"]).mean()
    overall = by_table.groupby("method").mean()
    body = []
    for method in mean.index if tables else ():
        low, high = np.exp(mean[method] - reach[method]), np.exp(mean[method] + reach[method])
        cells = [method, *(f"{by_table['average_cost'][method, name]:.4g}" for name in tables)]
        cells.append(f"{np.exp(mean[method]):.3f}")
        cells.append(f"{low:.3f} to {high:.3f}" if low < high else "")
        if question == "classes":
            cells.append(f"{100 * overall['error'][method]:.1f} %")
        sizes = dict.fromkeys([pairs[method].min(), pairs[method].max()])
        body.append([*cells, " to ".join(map(str, sizes)), f"{overall['seconds'][method]:.0f}"])
    head = ["mean test cost", *tables, "relative cost", "95 % interval"]
    return markdown_table([*head, *["error"] * (question == "classes"), "splits", "seconds"], body)


def table(rows: list[dict]) -> str:
    """Formats all methods in Markdown."""
    heads = {
        "known": "Costs known when deciding:",
        "unknown": "Costs unknown when deciding:",
        "classes": f"Mean over {MATRICES} drawn cost matrices, and the error of the most probable:",
    }
    lines = []
    for question, head in heads.items():
        lines += [head, "", *_methods(rows, question), ""]
    return "\n".join(lines)


def guide_tables(rows: list[dict]) -> dict[str, list[str]]:
    """Returns a table for each question, and one of empulse's methods and the package's."""
    tables = {question: _methods(rows, question) for question in QUESTIONS}
    (head, rule, *_), chosen = tables["known"], []
    for question, ours in (("known", "csdl_keras"), ("unknown", "csdl_keras cost_model")):
        for line in tables[question][2:]:
            if ours in line or "empulse" in line:
                chosen.append(f"| {question} {line}")
    tables["empulse"] = [f"| costs when deciding {head}", f"| --- {rule}", *chosen]
    return tables


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this benchmark."""
    parser.add_argument("--tables", default=",".join((*AMOUNTS, *CLASSES)))
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--methods", default="", help="parts of the names of methods to run")
    parser.add_argument("--question", default=",".join(QUESTIONS), help="those to answer")


def measure(arguments: argparse.Namespace, results: Results) -> None:
    """Measures the rows that are missing."""
    if not PYTABKIT:
        print("TabM and RealMLP-TD-S are skipped, since pytabkit is not installed.")
    parts = [part.strip() for part in arguments.methods.split(",")]
    for seed in range(arguments.splits):
        for name in arguments.tables.split(","):
            done = results.done(4)

            def asked(method: str, question: str, place=(name, str(seed)), done=done) -> bool:
                chosen = any(part in method for part in parts)
                chosen = chosen and question in arguments.question.split(",")
                return chosen and (*place, method, question) not in done

            for row in measured(make_split(name, seed), seed, asked):
                results.append([dict(zip(FIELDS, (name, seed, *row), strict=True))])
                print(name, seed, *row, flush=True)
            keras.utils.clear_session()
