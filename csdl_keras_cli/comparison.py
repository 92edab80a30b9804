"""Compares the costs of a constant decision, today's decisions, baselines and algorithms."""

import contextlib
import dataclasses
import functools
import html
import pathlib
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas

from csdl_keras_cli.choices import (
    BASELINES,
    BY_SPEED,
    OF_ARRAYS,
    OF_IMAGES,
    OF_LABELS,
    OTHER_PACKAGES,
    PACKAGED,
)
from csdl_keras_cli.classifier import SavedClassifier, save_best
from csdl_keras_cli.columns import rows_of
from csdl_keras_cli.comparison_text import HEADS, cells, kind_of, line
from csdl_keras_cli.data import Data
from csdl_keras_cli.optional import check_installed
from csdl_keras_cli.progress import Progress, progress
from csdl_keras_cli.writable import replacing


class Comparison:
    """The costs of several ways to decide, as returned by `csdl_keras.compare`.

    It prints as a table with one row per way to decide. `to_frame()` returns the table as a data
    frame, `plot()` draws it, and `report` has the numbers behind it.

    Attributes:
        best: name of the row with the lowest validation cost.
        model: the model of that row: a `keras.Model` for `csdl_keras.decide`, or an object whose
            `predict(x)` returns names of decisions.
        results: a data frame with a row for each way to decide and each cost matrix.
        failed: the errors of failed rows, by name.
    """

    def __init__(
        self,
        data: Data,
        matrices: Mapping[int, np.ndarray],
        seed: int,
        progress: Progress,
        folder: pathlib.Path | None = None,
    ):
        self.data, self.matrices, self.seed = data, dict(matrices), seed
        self.progress, self.folder = progress, folder
        self.failed: dict[str, Exception] = {}
        self.settings: dict[str, Any] = {}
        self.best, self.best_seed, self.last = "", 0, ""
        #: The file of the best model, or `None`.
        self.path: pathlib.Path | None = None
        #: Returns the best model.
        self._make: Any = None
        self._lowest = float("inf")
        self._rows: dict[tuple[str, int], dict[str, Any]] = {}
        self._chosen: dict[tuple[str, int], np.ndarray] = {}
        self._differences: dict[tuple[str, str, int], dict[str, float]] = {}

    @functools.cached_property
    def model(self) -> Any:
        return self._make()

    @property
    def results(self) -> pandas.DataFrame:
        rows = []
        for (name, seed), row in self._rows.items():
            constant = self._constant(row["constant_decision"])
            saved = self._difference(constant, name, seed)
            rivals = [it for it in self._rows if it[1] == seed]
            best, _ = min(rivals, key=lambda it: self._rows[it]["average_cost"])
            place = "best" if name == best else "tied"
            if self._difference(name, best, seed)["saved_low"] > 0:
                place = "costlier"
            rows.append(row | saved | {"against_best": place})
        return pandas.DataFrame(rows)

    @functools.cached_property
    def report(self) -> Any:
        """The `CostReport` of all models, for the first cost matrix."""
        seed = min(self.matrices)
        models = {
            name: chosen
            for (name, one), chosen in self._chosen.items()
            if one == seed and name in self.trained
        }
        return self.data.report(models, self.matrices[seed])

    def to_frame(self) -> pandas.DataFrame:
        """Returns the table as a data frame, the lowest average cost first.

        Its columns are the average cost of a test example; the amount saved relative to the best
        constant decision, with the paired 95 % interval; `mark`, which is `"best"`, or `"="` where
        the cost does not differ significantly from the best; the error rate; and seconds. With
        several cost matrices, values are means over the matrices with the most finished rows.
        """
        results = self.results
        done = results.groupby("cost_seed")["algorithm"].transform("size")
        groups = results[done == done.max()].groupby("algorithm", sort=False)
        means = ["average_cost", "saved", "saved_low", "saved_high", "constant_cost"]
        frame = groups[[*means, "error_rate", "train_seconds"]].mean()
        frame["standard_error"] = groups["average_cost"].sem()
        frame["mark"] = groups["against_best"].agg(
            lambda places: "=" if (places != "costlier").all() else ""
        )
        frame = frame.sort_values("average_cost", kind="stable")
        frame.loc[frame.index[:1], "mark"] = "best"
        return frame

    def __repr__(self) -> str:
        rows = [line(cells(str(name), row)) for name, row in self.to_frame().iterrows()]
        failed = [f"{it} failed: {type(why).__name__}: {why}" for it, why in self.failed.items()]
        sentence = textwrap.fill(self.sentence, 80)
        return "\n".join([self.title, line(HEADS), *rows, *failed, "", sentence])

    def _repr_html_(self) -> str:
        rows = [cells(str(name), row) for name, row in self.to_frame().iterrows()]
        table = pandas.DataFrame(rows, columns=list(HEADS)).to_html(index=False, border=0)
        return f"<p><b>{html.escape(self.title)}</b></p>{table}<p>{html.escape(self.sentence)}</p>"

    @property
    def title(self) -> str:
        several = f", means over {len(self.matrices)} cost matrices" * (len(self.matrices) > 1)
        return (
            f"{self.data.title}: average cost of {self.data.size('test'):,} test examples{several}"
        )

    @property
    def sentence(self) -> str:
        """A sentence on what the cheapest model saves, and whether this may be due to chance."""
        frame = self.to_frame()
        models = [name for name in frame.index if name in self.trained]
        if not models:
            return "No model was trained."
        best = frame.loc[models[0]]
        text = self.report.sentence
        if len(self.matrices) > 1:
            share = best["saved"] / best["constant_cost"]
            text = (
                f"{models[0]}, the cheapest of {len(models)} models here, costs {share:.1%} less "
                "than the best constant decision."
            )
        rivals = [] if best["saved_low"] > 0 else ["the best constant decision"]
        if self.data.today is not None:
            today = self._difference("today", models[0], min(self.matrices))
            rivals += ["today's decisions"] * (not today["saved_low"] > 0)
        if not rivals:
            return text
        return f"No model here costs significantly less than {' or '.join(rivals)}. {text}"

    def plot(self, ax: Any = None) -> Any:
        """Draws the cost of each row, the lowest on top.

        Args:
            ax: Matplotlib axes; `None` (default) makes a figure.

        Returns:
            The axes.
        """
        from matplotlib.figure import Figure

        from csdl_keras.plots._axes import GREY, PALETTE, axes_of_curves

        frame = self.to_frame()[::-1]
        if ax is None:
            ax = Figure((8, 1.2 + 0.36 * len(frame)), layout="constrained").add_subplot()
        axes, _ = axes_of_curves(ax)
        kinds = [kind_of(name) for name in frame.index]
        colours = dict(zip(dict.fromkeys(kinds), PALETTE, strict=False)) | {"always": GREY}
        axes.barh(
            range(len(frame)),
            frame["average_cost"],
            xerr=frame["standard_error"] if len(self.matrices) > 1 else None,
            color=[colours[kind] for kind in kinds],
            capsize=3,
        )
        axes.set_yticks(range(len(frame)), list(frame.index), parse_math=False)
        for kind in dict.fromkeys(kinds):
            axes.barh([0], [0], color=colours[kind], label=kind)
        axes.set_xlabel("average cost of a test example")
        axes.set_title(self.data.title, loc="left", parse_math=False)
        axes.set_xlim(left=0)
        axes.legend(frameon=False)
        return axes

    @property
    def trained(self) -> list[str]:
        names = dict.fromkeys(name for name, _ in self._rows)
        return [name for name in names if kind_of(name) not in ("always", "today")]

    # The following methods add rows.

    def run(
        self,
        baselines: Sequence[str],
        algorithms: Sequence[Any],
        effort: str | None,
        epochs: int | None,
    ) -> None:
        with self.progress:
            self.add_constant()
            if self.data.today is not None:
                self.add("today", min(self.matrices), {"test": self.data.today})
            for name in baselines:
                self.add_baseline(name)
            self.add_algorithms(algorithms, effort, epochs)

    def add_constant(self) -> None:
        from sklearn.dummy import DummyClassifier

        frequencies = DummyClassifier().fit(self._flat("train"), self.data.y["train"])
        for seed, matrix in self.matrices.items():
            chosen = int(self.data.prices("test", matrix).mean(axis=0).argmin())
            decisions = {part: np.full(self.data.size(part), chosen) for part in ("val", "test")}
            make = functools.partial(self._saved, frequencies, seed, chosen)
            self.add(self._constant(self.data.decisions[chosen]), seed, decisions, make)

    def add_baseline(self, name: str) -> None:
        """Trains a classifier from another package; adds rows of argmax and Bayes decisions."""
        parts = ("train", "val", "test")
        with self.step(name):
            from csdl_keras_cli.baselines import baseline

            start = time.perf_counter()
            rows = {part: self._flat(part) for part in parts}
            fitted = baseline(name, self.data.columns, self.seed)
            fitted.fit(rows["train"], self.data.y["train"])
            decisions = {part: np.ravel(fitted.predict(rows[part])) for part in parts[1:]}
            seconds = time.perf_counter() - start
        if name in self.failed:
            return
        for seed in self.matrices:
            make = functools.partial(self._saved, fitted, seed, "argmax")
            if len(self.data.decisions) >= len(self.data.labels):
                self.add(name, seed, decisions, make, train_seconds=seconds)
            with self.step(f"{name}_bayes"):
                start = time.perf_counter()
                make = functools.partial(self._saved, fitted, seed, "Bayes")
                model, known = make(), self.data.known or dict.fromkeys(parts)
                chosen = {part: model.decide(rows[part], known[part]) for part in parts[1:]}
                more = seconds + time.perf_counter() - start
                self.add(f"{name}_bayes", seed, chosen, make, train_seconds=more)
        self.save()

    def add_algorithms(
        self, algorithms: Sequence[Any], effort: str | None, epochs: int | None
    ) -> None:
        """Trains algorithms one after the other; stages that they share are trained once."""
        import keras

        from csdl_keras import Settings
        from csdl_keras.training.algorithms import get_algorithm

        settings = Settings() if epochs is None else Settings().limit_epochs(epochs)
        self.settings = dataclasses.asdict(settings)
        algorithms = [get_algorithm(it, effort) for it in algorithms]
        own = self.data.own_costs is not None
        trainers: dict[Data, Any] = {}
        planned: dict[str, int] = {}
        for algorithm in algorithms:
            with self.step(algorithm.name):
                form = self.data.suiting(algorithm)
                if form not in trainers:
                    shown = [self.progress.callback()]
                    trainers[form] = form.trainer(settings, self.seed, callbacks=shown)
                matrix = None if own else self.matrices[min(self.matrices)]
                planned[algorithm.name] = trainers[form].planned_epochs(algorithm, matrix)
        self.progress.plan(planned)
        for algorithm in (it for it in algorithms if it.name in planned):
            form, is_network = self.data.suiting(algorithm), algorithm.body_kind.is_network
            for seed, matrix in self.matrices.items():
                with self.step(algorithm.name):
                    trained = trainers[form].train(algorithm, None if own else matrix)
                    chosen = {part: form.decided(trained.model, part) for part in ("val", "test")}
                    self.add(
                        algorithm.name,
                        seed,
                        chosen,
                        functools.partial(form.finished, trained),
                        train_seconds=trained.seconds,
                        epochs=trained.epochs,
                        backend=keras.backend.backend() if is_network else "scikit-learn",
                        effort=getattr(settings.body_of(algorithm), "effort", "quick"),
                    )
            self.progress.done(algorithm.name)
            self.save()

    def add(
        self,
        name: str,
        seed: int,
        decisions: Mapping[str, np.ndarray],
        make: Callable[[], Any] | None = None,
        **told: Any,
    ) -> None:
        """Adds a row with the cost of decisions and writes the table; `told` has more columns."""
        data, matrix = self.data, self.matrices[seed]
        costs = {part: float(data.paid(part, matrix, it).mean()) for part, it in decisions.items()}
        constant = data.prices("test", matrix).mean(axis=0)
        self._chosen[name, seed] = decisions["test"]
        self._rows[name, seed] = {
            "dataset": data.name,
            "imbalanced": data.imbalanced,
            "algorithm": name,
            "cost_seed": seed,
            "average_cost": costs["test"],
            "error_rate": float(np.mean(decisions["test"] != data.y["test"])),
            "validation_cost": costs.get("val"),
            "train_seconds": round(told.pop("train_seconds", 0.0), 2),
            "train_size": data.size("train") + data.size("val"),
            "seed": self.seed,
            **{"epochs": 0, "backend": "", "effort": "", **told},
            "constant_decision": data.decisions[constant.argmin()],
            "constant_cost": float(constant.min()),
        }
        self.__dict__.pop("report", None)  # It lacks the new row.
        self.last = name
        if self.folder is not None:
            with replacing(self.folder / "results.csv") as unfinished:
                self.results.to_csv(unfinished, index=False)
        if seed == max(self.matrices):
            self.progress.row(self)
        if make is not None:
            # The cost is relative to a constant decision, since matrices differ in scale.
            rank = costs["val"] / (data.prices("val", matrix).mean(axis=0).min() or 1.0)
            if rank < self._lowest:
                self._lowest, self._make = rank, make
                self.best, self.best_seed = name, seed
                self.__dict__.pop("model", None)

    def save(self) -> None:
        """Saves the best model, replacing the previous one, unless it is already saved."""
        if self.folder is None or "model" in self.__dict__:
            return
        with self.step(f"the model of {self.best}"):
            self.path = save_best(self.model, self.folder)

    # The following methods are helpers.

    def _flat(self, part: str) -> np.ndarray:
        rows = rows_of(self.data.x[part])
        return np.reshape(rows, (len(rows), -1))

    def _constant(self, decision: str) -> str:
        return "always one decision" if len(self.matrices) > 1 else f"always {decision}"

    def _difference(self, name: str, other: str, seed: int) -> dict[str, float]:
        """Returns how much the other row saves compared with the first, with the 95 % interval."""
        if name == other:
            return {"saved": 0.0, "saved_low": 0.0, "saved_high": 0.0}
        if (name, other, seed) not in self._differences:
            from csdl_keras.evaluation.intervals import paired_difference

            chosen, matrix = (self._chosen[it, seed] for it in (name, other)), self.matrices[seed]
            first, second = (self.data.paid("test", matrix, it) for it in chosen)
            pair = paired_difference(first, second, self._bounds[seed])
            found = {"saved": pair.difference, "saved_low": pair.low, "saved_high": pair.high}
            self._differences[name, other, seed] = found
        return self._differences[name, other, seed]

    @functools.cached_property
    def _bounds(self) -> dict[int, Any]:
        from csdl_keras.evaluation.intervals import CostBounds

        return {
            seed: CostBounds(*self.data.judged_by(matrix), None)
            for seed, matrix in self.matrices.items()
        }

    def _saved(self, fitted: Any, seed: int, rule: str | int) -> SavedClassifier:
        """Returns a fitted classifier that decides by a rule; the Bayes decision is calibrated."""
        from sklearn.frozen import FrozenEstimator

        from csdl_keras.costs import AffineCosts
        from csdl_keras.sklearn import BayesClassifier

        # Temperature scaling has one parameter, so it hardly overfits the validation examples,
        # which also select the best row. One fold suffices, since the classifier is already fitted.
        labels, rows = self.data.y["val"], np.arange(self.data.size("val"))
        complete = len(np.unique(labels)) == len(self.data.labels)
        calibration = "temperature" if rule == "Bayes" and complete else None
        matrix: Any = self.matrices[seed]
        costs = None
        if self.data.own_costs is not None:
            # On average, another decision may cost less than the right one.
            costs, matrix = AffineCosts(np.zeros(len(rows)), np.zeros_like(matrix), matrix), None
        folds = [(rows, rows)]
        bayes = BayesClassifier(FrozenEstimator(fitted), matrix, calibration, folds)
        bayes.fit(self._flat("val"), labels, costs=costs)
        return self.data.saved(bayes, rule)

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Shows a step; an error is recorded and does not stop the other steps."""
        self.progress.working(name)
        try:
            yield
        except Exception as error:
            self.failed[name] = error
            self.progress.tell(f"{name} failed: {type(error).__name__}: {error}")


def compare(
    x: Any,
    y: Any,
    costs: Any,
    algorithms: Sequence[Any] | None = None,
    *,
    today: Any = None,
    split_by: Any = None,
    groups: Any = None,
    effort: str | None = None,
    epochs: int | None = None,
    seed: int = 0,
    verbose: str | int = "auto",
) -> Comparison:
    """Compares the costs of decisions of baselines and algorithms on one data set.

    The table shows the best constant decision; scikit-learn's logistic regression and histogram
    boosting (for images, a random forest), each with argmax and with the calibrated Bayes decision;
    and the algorithms. Examples are split by `csdl_keras.datasets.split`. Models are trained on the
    training set; the validation set is used to calibrate them and to select `best`.

    Args:
        x: inputs, as in `csdl_keras.train`.
        y: labels `(N,)`, as in `csdl_keras.train`.
        costs: a cost matrix `(K, D)`, `C[true, decision]`; cost vectors `(N, D)`, the cost of each
            decision on each example; or costs known when deciding, `(N, K, D)` or
            `csdl_keras.costs.AffineCosts`.
        algorithms: a list of names of `ALGORITHMS`, `Algorithm` objects, and `"lightgbm"`,
            `"xgboost"` and `"catboost"` if installed. `None` (default), or a list of only
            these three, trains `"calibrated_bayes"`, with `effort="balanced"` or `"best"` also
            `"ensemble_bayes"`, and with cost vectors also `"cost_model"`. An empty list trains no
            algorithm.
        today: your present decisions `(N,)`, as labels or numbers of decisions. Defaults to `None`.
        split_by: dates or numbers `(N,)`; the latest examples become the test set. `None` (default)
            splits at random.
        groups: group of each example `(N,)`, such as its customer; each group stays in one part of
            the split. Defaults to `None`.
        effort: how long to train: `"quick"`, `"balanced"` or `"best"`, as in `csdl_keras.train`.
            Defaults to `None`.
        epochs: maximum number of epochs. `None` (default) uses that of each algorithm.
        seed: seed of the split and of all training. Defaults to 0.
        verbose: `"auto"` (default) shows rows as they finish in a terminal or notebook, 1 always,
            0 never.

    Returns:
        A `Comparison`. Print it, or see `to_frame()`, `plot()`, `best`, `model` and `report`.

    Raises:
        ValueError: before training, if data, costs and algorithms do not fit together.

    Example:

    >>> import csdl_keras
    >>> data = csdl_keras.datasets.load("digits")
    >>> matrix = csdl_keras.costs.randomized_proportional(data.y_train, seed=0)
    >>> found = csdl_keras.compare(data.x_train, data.y_train, matrix, ["dnn_bayes"], epochs=1)
    >>> sorted(found.to_frame().index)[1:]  # after "always" and the best constant decision
    ['dnn_bayes', 'forest', 'forest_bayes', 'logistic', 'logistic_bayes']
    """
    from csdl_keras._utils.checks import check_integer
    from csdl_keras.training.algorithms import Algorithm, get_algorithm
    from csdl_keras_cli.own_arrays import data_of_arrays

    if isinstance(algorithms, (str, Algorithm)):
        algorithms = [algorithms]
    for name in algorithms or ["calibrated_bayes"]:
        if name not in BASELINES:
            get_algorithm(name, effort)
    if epochs is not None:
        check_integer("epochs", epochs)
    data = data_of_arrays(x, y, costs, today, split_by, groups, seed)
    baselines, names = chosen(data, algorithms, effort)
    comparison = Comparison(data, {0: data.matrix_of(0)}, seed, progress(verbose))
    comparison.run(baselines, names, effort, epochs)
    if comparison.failed and not comparison.trained:
        raise next(iter(comparison.failed.values()))
    return comparison


def chosen(
    data: Data, names: Sequence[Any] | None, effort: str | None, packaged: bool = False
) -> tuple[list[str], list[Any]]:
    """Returns the baselines and algorithms to compare, checked, fastest first."""
    baselines = ["logistic", "forest" if data.columns is None else "boosting"]
    baselines += [it for it in names or () if it in BASELINES and it not in baselines]
    found = [it for it in names or () if it not in BASELINES]
    if names is None or (names and not found):
        found = ["calibrated_bayes"]
        found += ["ensemble_bayes"] * (effort in ("balanced", "best"))
        found += ["cost_model"] * (data.costs is not None)
        found += PACKAGED if packaged else ()
        found = [it for it in found if unsuited(it, data) is None]
    for name in found:
        if reason := unsuited(name, data):
            raise ValueError(reason)
    for name in baselines:
        if name in OTHER_PACKAGES:
            check_installed(name)
    places = {name: place for place, name in enumerate(BY_SPEED)}
    return baselines, sorted(found, key=lambda it: places.get(it, len(places)))


def unsuited(name: Any, data: Data) -> str | None:
    """Returns why an algorithm cannot be used with data and costs, or `None` if it can."""
    if name in OF_IMAGES and data.columns is not None:
        return f"{name!r} has a convolutional network and needs images; {data.name} is a table."
    if name in OF_ARRAYS and (data.columns is not None or data.classes is not None):
        return f"{name!r} supports neither tables nor named labels, which {data.name} has."
    what = ""
    if data.known is not None:
        what = "costs known when deciding"
    elif len(data.decisions) > len(data.labels) and name != "cost_model":
        what = "decisions other than classes"
    if what and isinstance(name, str) and name not in OF_LABELS:
        return f"{name!r} does not support {what}. Use one that does, such as 'calibrated_bayes'."
    return None
