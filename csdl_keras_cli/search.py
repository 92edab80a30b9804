"""The search of `csdl-keras tune`: the untuned default, the trials, and whether they paid."""

import argparse
import datetime
import math
import pathlib
from typing import Any

import pandas
from matplotlib.figure import Figure

from csdl_keras import Settings, StageCache, plots, tuning
from csdl_keras.evaluation import CostDifference, compare_costs
from csdl_keras.evaluation._report_text import number
from csdl_keras.paper.failures import Failures
from csdl_keras.training.algorithms import get_algorithm
from csdl_keras.training.parallel import forget_models
from csdl_keras.tuning.resumable import is_worker
from csdl_keras_cli.choices import FIRST_COST_SEED
from csdl_keras_cli.classifier import save_best
from csdl_keras_cli.compare import snippet
from csdl_keras_cli.comparison import unsuited
from csdl_keras_cli.data import costs_text, data_record, read_data, summary
from csdl_keras_cli.run_folder import RunRecord
from csdl_keras_cli.spaces import SettingsHyperModel
from csdl_keras_cli.tune import SPACES
from csdl_keras_cli.writable import check_writable, replacing

_TUNERS = {
    "random": tuning.RandomSearch,
    "bayesian": tuning.BayesianOptimization,
    "grid": tuning.GridSearch,
}
#: The row of the untuned default in `trials.csv`.
_DEFAULT = "default"
#: Columns of `trials.csv` before those of hyperparameters.
_HEAD = ["trial", "status", "validation_cost", "seconds"]


class Candidates:
    """Trains an algorithm with settings, and compares its validation cost with the default's."""

    def __init__(self, arguments: argparse.Namespace, folder: pathlib.Path):
        self.data, self.algorithm = read_data(arguments), get_algorithm(arguments.algorithm)
        if reason := unsuited(arguments.algorithm, self.data):
            raise ValueError(reason)
        self.form = self.data.suiting(self.algorithm)
        self.matrix = self.data.matrix_of(FIRST_COST_SEED)
        #: The cost matrix to train with, or `None` if each example has its own costs.
        self.prices = self.matrix if self.data.own_costs is None else None
        settings = Settings()
        if arguments.epochs is not None:
            settings = settings.limit_epochs(arguments.epochs)
        cache = StageCache(folder / "stages")
        self.trainer = self.form.trainer(settings, arguments.seed, cache=cache, verbose="auto")
        means = self.data.prices("val", self.matrix).mean(axis=0)
        constant = self.data.decisions[means.argmin()]
        #: Text with the costs to which those of trials are compared.
        self.others = f"always {constant} {number(means.min())}"

    def trained(self, settings: Settings) -> Any:
        """Trains with settings, or loads the result from the folder if it is there."""
        return self.trainer.train(self.algorithm, self.prices, settings)

    def score(self, settings: Settings) -> dict[str, float]:
        forget_models()  # Models of earlier trials use memory.
        trained = self.trained(settings)
        paid = self.data.paid("val", self.matrix, self.form.decided(trained.model, "val"))
        return {"val_average_cost": float(paid.mean()), "seconds": round(trained.seconds, 2)}

    def score_default(self) -> dict[str, Any]:
        """Trains with the default settings; returns a row of `trials.csv`."""
        cost, seconds = self.score(self.trainer.settings).values()
        self._tell("untuned", f"validation cost {number(cost)} ({self.others}), {seconds:.0f} s")
        self.others = f"untuned {number(cost)}, {self.others}"
        return dict(zip(_HEAD, (_DEFAULT, "COMPLETED", cost, seconds), strict=True))

    def announce(self, trial: Any) -> None:
        reason = (trial.message or "").strip().splitlines()[-1:]
        told = f"{trial.status.lower()} {' '.join(reason)}"
        if trial.status == "COMPLETED":
            told = f"validation cost {number(trial.score)} ({self.others})"
        self._tell(f"trial {trial.trial_id}", told)

    def _tell(self, name: str, text: str) -> None:
        print(f"{datetime.datetime.now():%H:%M:%S} {name}: {text}", flush=True)


def tune(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    name = arguments.dataset.replace("/", "_") if arguments.data is None else arguments.data.stem
    folder = arguments.out or pathlib.Path("csdl_runs") / f"tune-{name}-{arguments.algorithm}"
    check_writable("--out", folder)
    candidates = Candidates(arguments, folder)
    data, algorithm, trainer = candidates.data, candidates.algorithm, candidates.trainer
    given = {it: str(text) for it in (*SPACES, "epochs") if (text := getattr(arguments, it))}
    tuner: Any = _TUNERS[arguments.tuner](
        SettingsHyperModel(algorithm, trainer, candidates.prices, given, candidates.score),
        max_trials=arguments.max_trials,
        seed=arguments.seed,
        directory=str(folder),
        project_name="search",
        announce=candidates.announce,
    )
    failures, worker = Failures(), is_worker()
    with tuner.lock:
        if not worker:
            tuner.check_search()
            settings, described = {"cost_matrix": candidates.matrix.tolist()}, data_record(data)
            record = RunRecord(folder, arguments, settings, described)
            print(summary(data), costs_text(data, candidates.matrix), sep="\n")
            print(f"First, {algorithm.title} is trained untuned on {data.name}.", flush=True)
        default = candidates.score_default()
        if not worker:
            left = arguments.max_trials - len(tuner.oracle.trials)
            minutes = math.ceil(left * default["seconds"] / 60)
            print(
                f"Up to {left} trials follow in {folder}: {minutes} min if each takes as long, "
                "more with larger networks or more epochs. You can stop at any time; run the same "
                "command again to continue.",
                flush=True,
            )
        with failures.step("the search"):
            tuner.search(verbose=0)
    if worker:  # The chief writes the report.
        return failures.tell()
    trials = trials_of(tuner, default)
    with failures.step("trials.csv"), replacing(folder / "trials.csv") as unfinished:
        trials.to_csv(unfinished, index=False)
    succeeded = trials[trials["validation_cost"].notna() & (trials["trial"] != _DEFAULT)]
    if succeeded.empty:
        if not failures:
            raise ValueError("No trial succeeded.")
        return failures.tell()
    with failures.step("search.png"):
        plot_search(trials, folder / "search.png")
    with failures.step("the table"):
        print(trials_text(trials))
    with failures.step("the best model"):
        name, cost = succeeded[["trial", "validation_cost"]].iloc[0]
        values = tuner.oracle.get_trial(name).hyperparameters
        both = tuner.hypermodel.build(values), trainer.settings
        models = [candidates.trained(one) for one in both]
        tuned, untuned = decisions = [candidates.form.decided(one.model, "test") for one in models]
        truth, prices = data.judged_by(candidates.matrix)
        pair = compare_costs(truth, tuned, untuned, prices)
        # Validation costs decide, and if they are equal, the default wins.
        place = int(trials["trial"][0] == _DEFAULT)
        kept = ("the best trial", "the untuned default")[place]
        path = save_best(candidates.form.finished(models[place]), folder)
        told = verdict(name, pair, pair.cheaper and not place)
        report = data.report({arguments.algorithm: decisions[place]}, candidates.matrix)
        record.add(findings={"sentence": report.sentence, "tuning": told})
        lines = "\n".join(snippet(data, path))
        print(
            f"\n{told}\n{path} contains {kept}, by validation cost: {number(cost)} tuned, "
            f"{number(default['validation_cost'])} untuned. {report.sentence} Load the model "
            f"and make decisions:\n\n{lines}"
        )
    return failures.tell()


def verdict(name: str, pair: CostDifference, paid: bool) -> str:
    """Returns a sentence on whether tuning paid, by the difference of test costs."""
    amount = f"{number(abs(pair.difference), 3)} {'less' if pair.difference < 0 else 'more'}"
    sure = pair.cheaper or pair.costlier or not pair.difference
    return (
        f"Tuning {'paid' if paid else 'did not pay'}: on test examples trial {name} costs "
        f"{f'{amount} per decision than' if pair.difference else 'as much as'} the untuned default "
        f"(95 % interval of the saving {number(-pair.high, 3)} to {number(-pair.low, 3)}"
        f"{'' if sure else ', possibly by chance'})."
    )


def trials_of(tuner: Any, default: dict[str, Any]) -> pandas.DataFrame:
    """Returns the default and all trials, lowest cost first and failed ones last."""
    rows = [default]
    for name, trial in sorted(tuner.oracle.trials.items()):
        found: tuple[float | None, ...] = (None, None)
        if trial.status == "COMPLETED":
            found = (float(trial.score), trial.metrics.get_best_value("seconds"))
        head = dict(zip(_HEAD, (name, trial.status, *found), strict=True))
        rows.append(head | trial.hyperparameters.values)
    frame = pandas.DataFrame(rows)
    return frame.sort_values("validation_cost", kind="stable", ignore_index=True)


def trials_text(trials: pandas.DataFrame) -> str:
    """Returns a text table with columns for the untuned default and the best trials."""
    untuned, done = trials["trial"] == _DEFAULT, trials["validation_cost"].notna()
    shown = pandas.concat([trials[untuned], trials[done & ~untuned].head(6)])
    table = shown.drop(columns="status").set_index("trial").T
    text = table.to_string(float_format="{:.4g}".format, na_rep="")
    return f"The best of {len(trials) - 1} trials (all are in trials.csv)\n{text}"


def plot_search(trials: pandas.DataFrame, path: pathlib.Path) -> None:
    """Draws the cost of trials against each number that varies, and writes a PNG."""
    done = trials[trials["validation_cost"].notna()]
    numeric = done.drop(columns=_HEAD).select_dtypes("number")
    names = numeric.columns[numeric.nunique() > 1]
    figure = Figure(figsize=(4.2 * max(len(names), 1), 3.2), layout="constrained")
    for place, name in enumerate(names, start=1):
        axes, chosen = figure.add_subplot(1, len(names), place), done[done[name].notna()]
        values, costs = chosen[name].tolist(), chosen["validation_cost"].to_numpy(float)
        plots.cost_against(values, costs, name, ax=axes, log=name.endswith("learning_rate"))
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=150)
