"""Compares what decisions on tables cost by this package's defaults and by other packages.

    python benchmarks/run.py tables --out benchmarks/results/tables

The four tables that `empulse` ships, with the costs of each example that it documents, in
stratified splits of 50 % for training, 20 % for validation and 30 % for the test. Costs are
known when deciding (the Bayes decision by each example's own costs, or `csdl.decide(costs=)`), or
not (probabilities decide by the mean costs of each class; `cost_model`, LightGBM in two parts and
empulse's CSBoost and CSLogit learn costs from examples). All methods have their default arguments,
boosted trees also others. Needs empulse, LightGBM, XGBoost and CatBoost.
"""

import argparse
import time
from collections.abc import Callable, Iterator

import keras
import numpy as np
import pandas as pd
from results import Results, markdown_table
from table_data import AMOUNTS, load_amounts, split_rows
from table_methods import Part, Split, cost_decisions, our_model, peer_probabilities

import csdl_keras as csdl

FIELDS = ("table", "split", "method", "knowledge", "average_cost", "seconds")
TABLES = AMOUNTS


def make_split(name: str, seed: int) -> Split:
    """Returns a table in a stratified 50/20/30 split."""
    frame, y, costs = load_amounts(name)
    numbers = pd.get_dummies(frame, dtype=float).fillna(0.0).to_numpy("float32")
    train, validation, test = split_rows(y, seed)

    def part(rows: np.ndarray) -> Part:
        return Part(frame.iloc[rows], numbers[rows], y[rows], costs[rows])

    return Split(part(train), part(validation), part(test), part(np.union1d(train, validation)))


def decisions(
    split: Split, seed: int, skipped: Callable[[str, str], bool]
) -> Iterator[tuple[str, str, np.ndarray, float]]:
    """Yields method, knowledge, decisions and seconds of all that is not skipped."""
    labelled, test = split.labelled, split.test
    means = csdl.costs.class_means(labelled.y, csdl.costs.cost_vectors(labelled.costs, labelled.y))

    def by_probabilities(name: str, compute):
        if skipped(name, "known") and skipped(name, "unknown"):
            return
        start = time.perf_counter()
        probabilities = compute()
        seconds = time.perf_counter() - start
        yield name, "known", csdl.bayes_decisions(probabilities, test.costs), seconds
        # A constant added to a class's costs changes no decision.
        yield (
            name,
            "unknown",
            csdl.bayes_decisions(probabilities, csdl.costs.regret(means)),
            seconds,
        )

    for name, compute in peer_probabilities(split, seed):
        yield from by_probabilities(name, compute)
    for name, known, decide in cost_decisions(split, seed):
        knowledge = "known" if known else "unknown"
        if not skipped(name, knowledge):
            start = time.perf_counter()
            decided = decide()
            yield name, knowledge, np.asarray(decided, int), time.perf_counter() - start
    for algorithm in ("calibrated_bayes", "ensemble_bayes"):

        def compute(algorithm=algorithm) -> np.ndarray:
            model = our_model(split, seed, algorithm)
            return 1.0 - model.predict(test.frame, verbose=0).astype("float64")

        yield from by_probabilities(f"csdl_keras {algorithm}", compute)
    for name, networks in (("cost_model", 1), ("cost_model, five networks", 5)):
        if not skipped(f"csdl_keras {name}", "unknown"):
            start = time.perf_counter()
            model = our_model(split, seed, "cost_model", networks)
            decided = csdl.decide(model, test.frame)
            yield f"csdl_keras {name}", "unknown", decided, time.perf_counter() - start


def _methods(rows: list[dict], knowledge: str) -> list[str]:
    """Formats the methods that know costs or not, the lowest mean cost first.

    Means are geometric, of costs relative to the lowest of each table; seconds are means over
    tables and splits.
    """
    costs: dict[tuple[str, str], list[float]] = {}
    seconds: dict[str, list[float]] = {}
    for row in rows:
        if row["knowledge"] == knowledge:
            costs.setdefault((row["method"], row["table"]), []).append(float(row["average_cost"]))
            seconds.setdefault(row["method"], []).append(float(row["seconds"]))
    means = {key: float(np.mean(values)) for key, values in costs.items()}
    tables = [name for name in TABLES if any(name == of for _, of in means)]
    lowest = {name: min(v for (_, of), v in means.items() if of == name) for name in tables}
    body = []
    for method in dict.fromkeys(method for method, _ in means):
        if all((method, name) in means for name in tables):
            ratios = [means[method, name] / lowest[name] for name in tables]
            mean = float(np.exp(np.mean(np.log(ratios))))
            cells = [method, *(f"{means[method, name]:.4g}" for name in tables)]
            body.append((mean, [*cells, f"{mean:.3f}", f"{np.mean(seconds[method]):.0f}"]))
    body.sort(key=lambda pair: pair[0])
    head = ["mean test cost", *tables, "beside the lowest of each", "seconds"]
    return markdown_table(head, [cells for _, cells in body])


def table(rows: list[dict]) -> str:
    """Formats all methods in Markdown."""
    lines = []
    for knowledge in ("known", "unknown"):
        lines += [f"Costs {knowledge} when deciding:", "", *_methods(rows, knowledge), ""]
    return "\n".join(lines)


def guide_tables(rows: list[dict]) -> dict[str, list[str]]:
    """Returns the tables of the guides: methods that know costs or not, and empulse's."""
    tables = {knowledge: _methods(rows, knowledge) for knowledge in ("known", "unknown")}
    (head, rule, *_), chosen = tables["known"], []
    for knowledge, ours in (("known", "csdl_keras"), ("unknown", "csdl_keras cost_model")):
        for line in tables[knowledge][2:]:
            if ours in line or "empulse" in line:
                chosen.append(f"| {knowledge} {line}")
    tables["empulse"] = [f"| costs when deciding {head}", f"| --- {rule}", *chosen]
    return tables


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of this benchmark."""
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--methods", default="", help="part of the names of methods to run")


def measure(arguments: argparse.Namespace, results: Results) -> None:
    """Measures the rows that are not there yet."""
    for seed in range(arguments.splits):
        for name in arguments.tables.split(","):
            done = {
                (row["method"], row["knowledge"])
                for row in results.rows()
                if (row["table"], row["split"]) == (name, str(seed))
            }

            def skipped(method: str, knowledge: str, done=done) -> bool:
                return (method, knowledge) in done or arguments.methods not in method

            split = make_split(name, seed)
            for method, knowledge, decided, seconds in decisions(split, seed, skipped):
                if skipped(method, knowledge):
                    continue
                cost = csdl.evaluation.average_cost(split.test.y, decided, split.test.costs)
                row = (name, seed, method, knowledge, float(cost), round(seconds, 1))
                results.append([dict(zip(FIELDS, row, strict=True))])
                print(*row, flush=True)
            keras.utils.clear_session()
