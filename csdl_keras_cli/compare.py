"""The command `csdl-keras compare`."""

import argparse
import datetime
import importlib
import pathlib
import shlex
import textwrap
import threading
from typing import Any

from csdl_keras_cli import arguments as shared
from csdl_keras_cli.choices import (
    EFFORTS,
    FIRST_COST_SEED,
    OTHER_ALGORITHMS,
    OTHER_PACKAGES,
    PACKAGED,
    PAPER_ALGORITHMS,
)

HELP = "compare the costs of a constant decision, scikit-learn and this package's algorithms"
DESCRIPTION = (
    "Compares the costs of decisions on a packaged data set or on your own data: the best constant "
    "decision, scikit-learn classifiers with argmax and with the calibrated Bayes decision, and "
    "algorithms, fastest first. Writes results.csv, costs.png, run.json and the model with the "
    "lowest validation cost to a new folder. Use that model with `csdl-keras decide` or `serve`."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    shared.add_data(parser)
    names = (*PAPER_ALGORITHMS, *OTHER_ALGORITHMS, *OTHER_PACKAGES)
    parser.add_argument(
        "--algorithms",
        type=shared.algorithms,
        metavar="A,B,...",
        help="algorithms to compare with scikit-learn (default: calibrated_bayes; also "
        "ensemble_bayes with --effort balanced or best, cost_model with --cost-columns, and on "
        f"packaged data {', '.join(PACKAGED)}). Use paper for the paper's fifteen algorithms, or "
        f"any of {', '.join(names)}",
    )
    costs = shared.add_costs(parser)
    text = "like --cost-columns, but known when deciding, and charged only for wrong decisions"
    shared.add_names(costs, "--known-costs", text)
    text = "a cost known when deciding, 'decide=no,label=yes: COST', where COST is a column or a "
    text += "sum such as 5 + 0.1*amount; it overrides --known-costs and --cost-matrix"
    shared.add_names(parser, "--cost", text, "CELL")
    shared.add_number(
        costs,
        "--cost-seeds",
        "number of random cost matrices, if you give no costs (default 1); matrix i "
        f"is drawn with seed {FIRST_COST_SEED} + i from U[0, 10 n_k / n_y]",
    )
    text = "column of your present decisions, which are compared too; it is not an input"
    shared.add_names(parser, "--today", text, "COLUMN")
    text = "train and pre-train for at most N epochs (default: set by Settings for the paper's "
    text += "networks, and by --effort for others)"
    shared.add_number(parser, "--epochs", text)
    parser.add_argument(
        "--effort",
        choices=EFFORTS,
        help="how long to train: number of networks and, for algorithms beyond the paper, their "
        "width and epochs (default: balanced for ensemble_bayes, quick for others)",
    )
    shared.add_seed(parser, "training, splits, _imb and --train-size")
    shared.add_out(parser, ", new or empty (default csdl_runs/DATASET-DATE-TIME)")


def run(arguments: argparse.Namespace) -> int:
    """Runs the command; returns the exit status."""
    shared.check_data(arguments)
    if arguments.data is None:
        print(f"Loading {arguments.dataset} ...", flush=True)
    # These imports are here so that help and argument errors need neither pandas nor scikit-learn.
    from csdl_keras_cli.comparison import Comparison, chosen
    from csdl_keras_cli.comparison_text import NOTE
    from csdl_keras_cli.data import costs_text, data_record, read_data, summary
    from csdl_keras_cli.progress import Screen, progress
    from csdl_keras_cli.writable import check_new, replacing

    data = read_data(arguments)
    baselines, names = chosen(
        data, arguments.algorithms, arguments.effort, packaged=arguments.data is None
    )
    stamp = f"{data.name.replace('/', '_')}-{datetime.datetime.now():%Y%m%d-%H%M%S}"
    folder = arguments.out or pathlib.Path("csdl_runs") / stamp
    check_new("--out", folder)
    first, own = FIRST_COST_SEED, data.amounts is not None
    seeds = [0] if own else range(first, first + (arguments.cost_seeds or 1))
    matrices = {seed: data.matrix_of(seed) for seed in seeds}
    print(summary(data))
    random = "" if own else f"Random cost matrix, seed {first}: costs of decisions (columns)"
    print(costs_text(data, matrices[seeds[0]], random))
    print(f"Comparing {', '.join([*baselines, *names])}; results in {folder}\n", flush=True)
    # Importing Keras takes seconds, during which the first classifier is trained. The thread does
    # not import this package, since two threads that import the same package wait for each other.
    threading.Thread(target=importlib.import_module, args=["keras"], daemon=True).start()
    shown, status = progress(1), 0
    comparison = Comparison(data, matrices, arguments.seed, shown, folder)
    try:
        comparison.run(baselines, names, arguments.effort, arguments.epochs)
    except KeyboardInterrupt:
        status = 130
        print(f"\nInterrupted after {len(comparison.trained)} rows.")
    if not comparison.trained:
        return max(status, 1)
    if status:
        comparison.save()
    from csdl_keras_cli.run_folder import RunRecord

    findings = {"sentence": comparison.sentence, "best": comparison.best}
    RunRecord(folder, arguments, comparison.settings, data_record(data)).add(findings=findings)
    with comparison.step("costs.png"), replacing(folder / "costs.png") as unfinished:
        comparison.plot().figure.savefig(unfinished, dpi=150)
    # A terminal already shows the table.
    told = textwrap.fill(comparison.sentence, 80) if isinstance(shown, Screen) else comparison
    print(f"\n{told}\n\n{NOTE}")
    if comparison.path is not None:
        print(f"\n{saved_text(arguments, comparison)}")
    return status or int(bool(comparison.failed))


def saved_text(arguments: argparse.Namespace, comparison: Any) -> str:
    """Returns text that names the saved model and shows how to load and use it."""
    data, path = comparison.data, comparison.path
    seed = f" for the cost matrix of seed {comparison.best_seed}"
    which = seed * (len(comparison.matrices) > 1)
    lines = [
        f"{comparison.best}{which} has the lowest validation cost. It is saved in {path}, with "
        "its labels, columns and costs.",
    ]
    if data.own is not None:
        missing = [it for text in arguments.missing for it in ("--missing", text)]
        decide = ["csdl-keras", "decide", str(path), str(arguments.data), *missing]
        lines += [
            "\nMake decisions for new rows, or serve the model:",
            shlex.join([*decide, "--out", "decisions.csv"]),
            shlex.join(["csdl-keras", "serve", str(path)]),
        ]
    lines += ["\nIn Python:", *snippet(data, path)]
    return "\n".join(lines)


def snippet(data: Any, path: pathlib.Path) -> list[str]:
    """Returns Python code that loads a model and makes decisions for some examples."""
    own = data.own is not None
    x = "x" if own else "data.x_test[:10]"
    read = data.own.code if own else f"data = csdl.datasets.load({data.name!r})"
    if path.suffix == ".joblib":
        imports = ["import joblib"] + ["import csdl_keras as csdl"] * (not own)
        return [*imports, f"model = joblib.load({str(path)!r})", read, f"print(model.predict({x}))"]
    costs = ", costs=cost_matrices(model.known_costs, x)" * (data.known_costs is not None)
    return [
        "import keras",
        "import csdl_keras as csdl  # before loading: it registers layers",
        *["from csdl_keras_cli.known_costs import cost_matrices"] * bool(costs),
        f"model = keras.saving.load_model({str(path)!r})",
        read,
        f"print(csdl.decide(model, {x}{costs}, labels=True))",
    ]
