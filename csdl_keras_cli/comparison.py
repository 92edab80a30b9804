"""Compares algorithms on one data set and several cost matrices: rows, table and figure."""

import argparse
import dataclasses
import datetime
import functools
import os
import pathlib
import time
from collections.abc import Sequence
from typing import Any

import joblib
import keras
import numpy as np
import pandas
from matplotlib.figure import Figure

from csdl_keras import ALGORITHMS, Algorithm, Settings, Trainer
from csdl_keras._utils.files import check_writable, replacing, save_model
from csdl_keras.evaluation._report_text import as_text, interval, number, saving_sentence, warning
from csdl_keras.paper.failures import Failures
from csdl_keras.paper.figures import COLOURS
from csdl_keras.paper.table2 import GROUPS
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras.training.train import Trained
from csdl_keras_cli.choices import DEFAULT_ALGORITHMS, FIRST_COST_SEED
from csdl_keras_cli.data import SAVINGS, Data, data_record, load_snippet, read_data, show_data
from csdl_keras_cli.run_folder import RunRecord, accelerators

#: An algorithm and the seed of its cost matrix, 0 if costs are the user's.
Cell = tuple[Algorithm, int]


class Comparison:
    """Trains algorithms for cost matrices, by their seeds, and keeps results and the best model."""

    def __init__(
        self, data: Data, matrices: dict[int, np.ndarray], settings: Settings, seed: int = 0
    ):
        self.data, self.matrices, self.settings, self.seed = data, matrices, settings, seed
        self.failures = Failures()
        #: Rows of `results.csv` so far, in the order of matrices and algorithms.
        self.results = pandas.DataFrame()
        #: The row of the model that is kept, and its file.
        self.best: tuple[dict[str, Any], pathlib.Path] | None = None
        self._decisions: dict[int, dict[str, np.ndarray]] = {seed: {} for seed in matrices}
        self._rows: dict[Cell, dict[str, Any]] = {}
        self._lowest = float("inf"), 0

    def unsuited(self, algorithms: Sequence[Algorithm]) -> dict[str, str]:
        """Returns the algorithms that do not fit data and costs, and why, before training."""
        trainer, reasons = functools.cache(self._trainer), {}
        for algorithm in algorithms:
            try:
                request = self._request((algorithm, min(self.matrices)))
                trainer(self.data.suiting(algorithm)).key(*request)
            except ValueError as error:
                reasons[algorithm.name] = str(error)
        return reasons

    def run(self, algorithms: Sequence[Algorithm], folder: pathlib.Path) -> None:
        """Trains; each result is on disk before it is printed. `failures` has what failed."""
        self._cells = [(algorithm, seed) for seed in self.matrices for algorithm in algorithms]
        forms: dict[Data, list[Cell]] = {}
        for cell in self._cells:
            forms.setdefault(self.data.suiting(cell[0]), []).append(cell)
        for form, cells in forms.items():
            names, requests = list(map(self._name, cells)), map(self._request, cells)

            def failed(index: int, error: Exception, names: Sequence[str] = names) -> None:
                self.failures.add(names[index], error)

            for index, trained in self._trainer(form).train_all(requests, on_error=failed):
                with self.failures.step(names[index]):
                    self._add(cells[index], form, trained, folder)

    def _trainer(self, form: Data) -> Trainer:
        """Returns the trainer of the data in one form."""
        train, val = ((form.x[part], form.y[part]) for part in ("train", "val"))
        return Trainer(
            *train,
            val if form.costs is None else (*val, form.costs["val"]),
            settings=self.settings,
            seed=self.seed,
            verbose="auto",
            costs=None if form.costs is None else form.costs["train"],
        )

    def _request(self, cell: Cell) -> tuple[Algorithm, np.ndarray | None]:
        """Returns what `Trainer.train_all` takes; costs of examples are data of the trainer."""
        return cell[0], self.matrices[cell[1]] if self.data.costs is None else None

    def _name(self, cell: Cell) -> str:
        """Returns the name of a cell in messages: the data, the algorithm and the matrix."""
        matrix = f" for matrix {cell[1]}" if cell[1] else ""
        return f"{self.data.title} {cell[0].name}{matrix}"

    def _add(self, cell: Cell, form: Data, trained: Trained, folder: pathlib.Path) -> None:
        """Prices decisions, writes all results, and keeps the model if it is the best one."""
        algorithm, seed = cell
        data, matrix = self.data, self.matrices[seed]
        costs, chosen = {}, {}
        for part in ("val", "test"):
            prices, chosen[part] = data.prices(part, matrix), form.decided(trained.model, part)
            costs[part] = float(prices[np.arange(len(prices)), chosen[part]].mean())
        backend = keras.backend.backend() if algorithm.body_kind.is_network else "scikit-learn"
        row = self._rows[cell] = {
            "dataset": data.name,
            "imbalanced": data.imbalanced,
            "algorithm": algorithm.name,
            "cost_seed": seed,
            "average_cost": costs["test"],
            "error_rate": float(np.mean(chosen["test"] != data.y["test"])),
            "validation_cost": costs["val"],
            "train_seconds": round(trained.seconds, 2),
            "epochs": trained.epochs,
            "train_size": len(data.y["train"]) + len(data.y["val"]),
            "seed": self.seed,
            "backend": backend,
            "effort": getattr(self.settings.body_of(algorithm), "effort", "quick"),
        }
        self._decisions[seed][algorithm.name] = chosen["test"]
        # Each new result may be the best one, against which others are compared.
        savings = data.savings(self._decisions[seed], matrix)
        for (other, other_seed), it in self._rows.items():
            if other_seed == seed:
                it |= savings[other.name]
        self.results = pandas.DataFrame([self._rows[it] for it in self._cells if it in self._rows])
        with replacing(folder / "results.csv") as unfinished:
            self.results.to_csv(unfinished, index=False)
        print(
            f"{datetime.datetime.now():%H:%M:%S} {self._name(cell)}: average cost "
            f"{costs['test']:.3f}, error {row['error_rate']:.1%}, {trained.seconds:.0f} s; "
            f"{len(self._rows)} of {len(self._cells)} rows",
            flush=True,
        )
        # A matrix of small costs makes no better network. Cells do not end in their order.
        constant = float(data.prices("val", matrix).mean(axis=0).min()) or 1.0
        rank = costs["val"] / constant, self._cells.index(cell)
        if rank < self._lowest:
            with self.failures.step(f"the model of {self._name(cell)}"):
                model = form.finished(trained.model)
                suffix = ".keras" if isinstance(model, keras.Model) else ".npz"
                before, path = self.best, folder / f"best_model{suffix}"
                save_model(model, path)
                self.best, self._lowest = (row, path), rank
                if before is not None and before[1] != path:
                    before[1].unlink()


def summarise(results: pandas.DataFrame) -> pandas.DataFrame:
    """Returns a row for each algorithm, averaged over matrices, the lowest average cost first.

    A mean over other matrices than those of the others may be low by their choice, so matrices
    count for which most algorithms are done. The means of the ends of intervals are no closer than
    the ends of an interval of the mean.
    """
    done = results.groupby("cost_seed")["algorithm"].transform("size")
    results = results[done == done.max()]
    groups = results.groupby("algorithm", sort=False)
    means = ["average_cost", "error_rate", "train_seconds", *SAVINGS[1:5]]
    summary = groups[means].mean()
    summary["matrices"], summary["effort"] = groups.size(), groups["effort"].first()
    summary["error"] = groups["average_cost"].sem()
    summary["constant_decision"] = groups["constant_decision"].agg(
        lambda names: names.iloc[0] if names.nunique() == 1 else ""
    )
    summary["against_best"] = groups["against_best"].agg(
        lambda places: (
            places.iloc[0]
            if len(places) == 1
            else f"best or tied for {(places != 'costlier').sum()} of {len(places)}"
        )
    )
    return summary.sort_values("average_cost", kind="stable")


def _caption(matrices: int) -> str:
    """Returns what averages and the spread behind them are, for a number of matrices."""
    several = f"mean ± standard error over {matrices} cost matrices"
    return several if matrices > 1 else "mean over test examples"


def summary_text(summary: pandas.DataFrame, title: str) -> str:
    """Returns the table of a comparison, with the best constant decision below it."""
    constant = summary.iloc[0]
    heads = ["algorithm", "effort", "average test cost", "saved", "95 % interval"]
    rows = [(*heads, "against the best", "error rate", "seconds")]
    for name, it in summary.iterrows():
        cost = f"{it['average_cost']:.3f}" + f" ± {it['error']:.3f}" * (it["matrices"] > 1)
        saved = (number(it["saved"]), interval(it), it["against_best"])
        ends = (f"{it['error_rate']:.1%}", f"{it['train_seconds']:.1f}")
        named = f"{name} ({get_algorithm(str(name)).title})"
        rows.append((named, it["effort"], cost, *saved, *ends))
    name = ": ".join(filter(None, ("best constant decision", constant["constant_decision"])))
    rows.append((name, "", f"{constant['constant_cost']:.3f}", *[""] * 5))
    return (
        f"{title}\n{as_text(rows)}\n"
        f"{_caption(constant['matrices'])}; seconds count shared stages in full\n"
        "saved: relative to the best constant decision; tied: the interval of the difference to "
        "the best contains 0; intervals are paired, over test examples alone"
    )


def plot_costs(results: pandas.DataFrame, title: str, path: pathlib.Path) -> None:
    """Draws the average test cost of each algorithm, the lowest on top, and writes a PNG."""
    summary = summarise(results)[::-1]
    algorithms = [get_algorithm(str(name)) for name in summary.index]
    heights, series = np.arange(len(summary)), np.array([it.series for it in algorithms])
    figure = Figure(figsize=(8, 1.8 + 0.42 * len(summary)), layout="constrained")
    axes, (means, errors) = figure.subplots(), summary[["average_cost", "error"]].to_numpy().T
    for name, label in GROUPS.items():
        if (own := series == name).any():
            axes.barh(
                heights[own],
                means[own],
                xerr=errors[own],
                color=COLOURS[name],
                capsize=3,
                alpha=0.85,
                label=label,
            )
    dots = results["algorithm"].map(dict(zip(summary.index, heights, strict=True)))
    axes.plot(results["average_cost"], dots, "o", color="black", markersize=3.5, alpha=0.5)
    titles = [f"{it.title}   {mean:.3f}" for it, mean in zip(algorithms, means, strict=True)]
    axes.set_yticks(heights, titles)
    axes.set_xlabel(f"average cost of a test example ({_caption(summary['matrices'].max())})")
    axes.set_title(title, loc="left", parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(left=0)
    figure.legend(frameon=False, loc="outside lower center", ncols=2)
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=150)


def compare(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    start = time.perf_counter()
    compared = [*dict.fromkeys(map(get_algorithm, arguments.algorithms or DEFAULT_ALGORITHMS))]
    if arguments.effort is not None:  # A kernel machine has none.
        compared = [
            it if it.body == "svm" else dataclasses.replace(it, effort=arguments.effort)
            for it in compared
        ]
    settings = Settings()
    if arguments.epochs is not None:
        settings = settings.limit_epochs(arguments.epochs)
    data = read_data(arguments)
    own, first = data.amounts is not None, FIRST_COST_SEED
    seeds = [0] if own else range(first, first + (arguments.cost_seeds or 2))
    matrices = {seed: data.matrix_of(seed) for seed in seeds}
    comparison = Comparison(data, matrices, settings, arguments.seed)
    reasons = comparison.unsuited(compared)
    if reasons and (arguments.algorithms or len(reasons) == len(compared)):
        raise ValueError(next(iter(reasons.values())))
    compared = [algorithm for algorithm in compared if algorithm.name not in reasons]
    stamp = f"{data.name.replace('/', '_')}-{datetime.datetime.now():%Y%m%d-%H%M%S}"
    folder = arguments.out or pathlib.Path("csdl_runs") / stamp
    check_writable("--out", folder)
    if any(folder.iterdir()):
        raise ValueError(
            "Expected --out to be a new or empty folder, so that nothing is overwritten; received "
            f"{folder}."
        )
    show_data(data)
    costs = "your costs" if own else f"random cost matrices: {len(matrices)}"
    print(f"Algorithms: {len(compared)}; {costs}; results in {folder}")
    if reasons:
        print(f"Left out, since they do not fit the data or costs: {', '.join(reasons)}.")
    record = RunRecord(folder, arguments, dataclasses.asdict(settings), data_record(data))
    total = len(compared) * len(matrices)
    failures, status = comparison.failures, 0
    try:
        jobs = arguments.jobs or (1 if accelerators() else os.cpu_count())
        with failures.step("training"), joblib.parallel_config(n_jobs=jobs):
            comparison.run(compared, folder)
    except KeyboardInterrupt:
        status = 130
        print(f"\nInterrupted after {len(comparison.results)} of {total} rows.")
    results = comparison.results
    if results.empty:
        return max(failures.tell(), status)
    summary = summarise(results)
    savings = summary[SAVINGS].to_dict("index")
    warned = warning(savings)
    with failures.step("run.json"):
        record.add(findings={"warning": warned, "savings": savings})
    with failures.step("costs.png"):
        plot_costs(results, f"What decisions cost on {data.title}", folder / "costs.png")
    with failures.step("the table"):
        seconds = time.perf_counter() - start
        print(f"\n{summary_text(summary, f'{data.title}, {seconds:.0f} s in all')}")
    if comparison.best is not None:
        best, path = comparison.best
        which = "" if own else f" for the cost matrix of seed {best['cost_seed']}"
        share = " relative to the best constant decision for its matrix" * (len(matrices) > 1)
        print(
            f"\n{path} is {best['algorithm']} ({ALGORITHMS[best['algorithm']].title}){which}, "
            f"which has the lowest validation cost{share}. {saving_sentence(best)} "
            f"Load it and decide:\n\n{load_snippet(data, path)}"
        )
    if warned:
        print(f"\n# {warned}")
    return max(failures.tell(), status)
