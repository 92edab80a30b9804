"""What the screen and the files of `compare` and `tune` say of a constant decision, and of ties."""

import dataclasses
import json

import numpy as np
import pandas
import pytest

from csdl_keras.evaluation import compare_costs
from csdl_keras.evaluation._report_text import warning
from csdl_keras_cli.comparison import summarise, summary_text
from csdl_keras_cli.main import main
from tests.cli.own_files import FRAME, load, save, table

RNG = np.random.default_rng(0)
MATRIX = np.where(np.eye(10, dtype=bool), 0, RNG.uniform(1, 20, (10, 10)))
ASKING = np.c_[MATRIX, RNG.uniform(1, 3, 10)]
NAMES = ["dnn_blind", "dnn_bayes", "sdae_bayes", "csdnn"]


def digits(costs=None):
    names = () if costs is None else tuple(map(str, range(costs.shape[1])))
    return dataclasses.replace(load(), amounts=costs, decisions=names or None)


def rows_of(data, seeds, decide):
    """Rows as in `results.csv` of the decisions `decide(algorithm, labels, options)`."""
    rows, y = [], data.y["test"]
    for seed in seeds:
        options = data.prices("test", data.matrix_of(seed))
        decisions = {name: np.asarray(decide(name, y, options)) for name in NAMES}
        for name, saving in data.savings(decisions, data.matrix_of(seed)).items():
            paid = options[np.arange(len(y)), decisions[name]].mean()
            row = {"algorithm": name, "cost_seed": seed, "average_cost": paid, "effort": "quick"}
            rows.append(row | {"error_rate": 0.5, "train_seconds": 1.0} | saving)
    return pandas.DataFrame(rows)


def noisy(algorithm, labels, options):
    """Decisions of which another share is wrong for each algorithm; two are alike."""
    share = {"dnn_blind": 0.9, "dnn_bayes": 0.3, "sdae_bayes": 0.3, "csdnn": 0.31}[algorithm]
    wrong = np.random.default_rng(len(algorithm)).random(len(labels)) < share
    drawn = np.random.default_rng(1).integers(0, options.shape[1], len(labels))
    return np.where(wrong, drawn, labels)


@pytest.mark.parametrize("kind", ["asking", "random matrix", "examples"])
def test_columns_are_those_of_a_comparison_pair_by_pair(kind, tmp_path):
    data = digits(ASKING if kind == "asking" else None)
    if kind == "examples":
        prices = ["price_no", "price_yes"]
        data = load(table(tmp_path, ".parquet"), cost_columns=prices, drop=["id"])
    y, matrix = data.y["test"], data.matrix_of(1000)
    options = data.prices("test", matrix)
    truth = (y, matrix) if data.costs is None else (options, None)
    decisions = {name: noisy(name, y, options) for name in NAMES}
    paid = {
        name: sum(options[i][d] for i, d in enumerate(them)) / len(them)
        for name, them in decisions.items()
    }
    best = min(NAMES, key=paid.get)
    constant = min(range(options.shape[1]), key=lambda d: sum(row[d] for row in options))
    for _, row in rows_of(data, [1000], noisy).iterrows():
        chosen = decisions[row.algorithm]
        pair = compare_costs(truth[0], chosen, np.full(len(options), constant), truth[1])
        told = [row.saved, row.saved_low, row.saved_high]
        assert told == pytest.approx([-pair.difference, -pair.high, -pair.low], abs=1e-9)
        names = data.decisions or tuple(range(10))
        assert str(row.constant_decision) == str(names[constant])
        assert row.constant_cost == pytest.approx(options[:, constant].mean())
        place = "best"
        if row.algorithm != best:
            against = compare_costs(truth[0], chosen, decisions[best], truth[1])
            place = "costlier" if against.low > 0 else "tied"
        assert row.against_best == place


def constant_of(options, place):
    return np.full(len(options), np.argsort(options.mean(axis=0))[place])


#: Decisions of all algorithms; whether something costs less than a constant decision by more
#: than chance; costs.
KINDS = {
    "right for one algorithm alone": (
        lambda name, y, options: y if name == "csdnn" else constant_of(options, 2),
        True,
        None,
    ),
    "cheaper within chance": (
        lambda name, y, options: np.where(np.arange(len(y)) < 2, y, constant_of(options, 0)),
        False,
        None,
    ),
    "a constant that is free": (lambda name, y, options: y, False, np.c_[MATRIX, np.zeros(10)]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_beats_a_constant_decision_it_is_said(kind):
    decide, beaten, costs = KINDS[kind]
    seeds = (1000, 1001, 1002) if costs is None else (0,)
    told = warning(summarise(rows_of(digits(costs), seeds, decide)).to_dict("index"))
    assert bool(told) != beaten and (beaten or "beyond chance" in told)


def test_the_table():
    rows = rows_of(digits(), (1000, 1001, 1002), noisy)
    costs = rows.average_cost[rows.algorithm == "csdnn"].to_numpy()
    text = summary_text(summarise(rows), "digits")
    assert f" {costs.mean():.3f} ± {costs.std(ddof=1) / 3**0.5:.3f} " in text
    assert "mean ± standard error over 3 cost matrices" in text
    # An algorithm that is not done for a matrix, as after an interruption, costs it.
    rows["constant_decision"] = "7"
    summary = summarise(rows[:-1])
    assert {*summary.matrices} == {2} and {*summary.index} == {*NAMES}
    cost = rows.average_cost[(rows.algorithm == summary.index[0]) & (rows.cost_seed < 1002)]
    lines = summary_text(summary, "digits").splitlines()
    assert f"{cost.mean():.3f} ± {cost.sem():.3f}" in lines[2]
    assert lines[6].startswith("best constant decision: 7 ")


@pytest.mark.parametrize(
    "command",
    [
        "compare --algorithms dnn_bayes --jobs 1",
        "tune --algorithm dnn_bayes --max-trials 1 --depth 1 --units 4",
    ],
)
def test_the_last_line_and_the_record(command, tmp_path, capsys):
    """Of a table whose columns say nothing of its labels."""
    labels = np.random.default_rng(3).choice(["exaggerated", "fair"], len(FRAME), p=[0.7, 0.3])
    frame = FRAME.assign(answer=labels)[["id", "age", "job", "answer"]]
    path, costs = save(frame, tmp_path / "claims.csv"), tmp_path / "costs.csv"
    costs.write_text(",exaggerated,fair\nexaggerated,0,90\nfair,60,0\n")
    arguments = [*command.split(), "--data", str(path), "--cost-matrix", str(costs), "--label"]
    arguments += ["answer", "--drop", "id", "--epochs", "1", "--out", str(tmp_path / "run")]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    last = printed.strip().splitlines()[-1]
    assert "beyond chance" in last and "always deciding exaggerated" in last
    exec(printed[printed.index("import keras") :], {})  # The line is a comment of the code.
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    found = record["runs"][-1]["findings"]
    assert last == f"# {found['warning']}"
    for saving in found["savings"].values():
        assert saving["constant_decision"] == "exaggerated"
        assert saving["saved_low"] <= saving["saved"] <= saving["saved_high"]
        assert saving["saved_low"] <= 0
