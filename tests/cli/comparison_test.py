"""`csdl_keras.compare`: what it takes, the rows, the best model, and what is refused."""

import datetime

import numpy as np
import pandas
import pytest

import csdl_keras as csdl
from csdl_keras.baselines import CSOSR
from csdl_keras.costs import AffineCosts
from csdl_keras_cli.comparison import Comparison
from tests.cli.runs import only_networks

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 150)
X = np.c_[Y + RNG.normal(0, 0.3, 150), RNG.normal(size=150)]
LABELS = np.array(["high", "low", "mid"])[Y]
DAYS = [datetime.datetime(2026, 1, 1 + place // 5, place % 5) for place in range(150)]
FRAME = pandas.DataFrame({"size": X[:, 0], "job": np.where(X[:, 1] > 0, "baker", None)})
FRAME["when"], FRAME["nothing"] = DAYS, np.nan
MATRIX = np.array([[0.0, 1, 4], [3, 0, 1], [9, 2, 0]])
ASKING = pandas.DataFrame(np.c_[MATRIX, [1, 2, 1]], ["high", "low", "mid"])
ASKING.columns = ["high", "low", "mid", "ask"]
ROWS = ["logistic", "logistic_bayes", "boosting", "boosting_bayes"]
VECTORS = MATRIX[Y] + np.arange(150)[:, None] / 100
AMOUNTS = RNG.uniform(1, 5, 150)
KNOWN = AffineCosts(AMOUNTS, per_unit=MATRIX, fixed=MATRIX[:, ::-1] * (1 - np.eye(3)))


def costs_of(costs, chosen, rows):
    """What decisions cost, by a loop."""
    paid = []
    for i, decision in zip(rows, chosen, strict=True):
        if isinstance(costs, AffineCosts):
            paid.append(costs.fixed[Y[i], decision] + AMOUNTS[i] * MATRIX[Y[i], decision])
        else:
            row = np.asarray(costs)[i if len(costs) == 150 else Y[i]]
            paid.append(row[Y[i], decision] if row.ndim == 2 else row[decision])
    return paid


@pytest.mark.parametrize(
    ("x", "y", "costs"),
    [
        (X, Y, MATRIX),
        (FRAME, LABELS, ASKING),
        (X.reshape(150, 2, 1), Y, VECTORS),
        (FRAME, Y, KNOWN),
        (X, LABELS, np.c_[VECTORS, np.full(150, 0.5)]),  # To ask may cost less than to be right.
        (X, LABELS, np.stack([MATRIX * (1 + place / 150) for place in range(150)])),
    ],
)
def test_rows_and_the_model_of_the_best(x, y, costs):
    found = csdl.compare(x, y, costs, (), verbose=0)
    frame, test = found.to_frame(), csdl.datasets.split(y)["test"]
    names = ["logistic", "logistic_bayes", "forest", "forest_bayes"] if np.ndim(x) == 3 else ROWS
    (constant,) = {*frame.index} - {*names}
    assert constant.startswith("always ") and frame["saved"][constant] == 0
    assert list(frame["average_cost"]) == sorted(frame["average_cost"])
    assert list(frame["mark"])[0] == "best" and {*frame["mark"][1:]} <= {"=", ""}
    rows = x.iloc[test] if hasattr(x, "iloc") else x[test]
    known = None
    if isinstance(costs, AffineCosts) or np.ndim(costs) == 3:
        known = costs[test]
    decided = found.model.decide(rows, known)
    assert {*map(str, found.model.predict(rows, known))} <= {*found.data.decisions}
    own = found.results.set_index("algorithm").loc[found.best]
    assert own.validation_cost == min(found.results.validation_cost)
    assert own.average_cost == pytest.approx(np.mean(costs_of(costs, decided, test)))
    assert own.error_rate == np.mean(decided != Y[test])
    constants = [np.mean(costs_of(costs, [it] * len(test), test)) for it in range(3)]
    assert own.constant_cost <= min(constants) + 1e-9
    assert own.saved == pytest.approx(own.constant_cost - own.average_cost)


def test_algorithms_and_the_best_network(monkeypatch):
    only_networks(monkeypatch)
    found = csdl.compare(FRAME, LABELS, ASKING, ["dnn_bayes"], epochs=1)
    assert found.best == "dnn_bayes" and {*ROWS, "dnn_bayes"} < {*found.to_frame().index}
    test = csdl.datasets.split(LABELS)["test"]
    decided = csdl.decide(found.model, FRAME.iloc[test])
    paid = np.mean(costs_of(ASKING, decided, test))
    assert found.to_frame()["average_cost"]["dnn_bayes"] == pytest.approx(paid)
    labels = csdl.decide(found.model, FRAME.iloc[test], labels=True)
    assert list(labels) == [ASKING.columns[it] for it in decided]
    assert found.results["epochs"].iloc[-1] == 1 and found.results["effort"].iloc[-1] == "quick"


def test_today_and_splits():
    groups, taken = np.arange(150) // 3, np.where(np.arange(150) % 4 == 0, "mid", LABELS)
    found = csdl.compare(
        FRAME, LABELS, MATRIX, (), today=taken, split_by=DAYS, groups=groups, verbose=0
    )
    parts = csdl.datasets.split(LABELS, by=DAYS, groups=groups)
    assert found.data.size("test") == len(parts["test"])
    paid = MATRIX[Y, np.searchsorted(["high", "low", "mid"], taken)][parts["test"]].mean()
    assert found.to_frame()["average_cost"]["today"] == pytest.approx(paid)
    # Numbers are decisions as well where labels are numbers.
    y = np.tile(Y, 6)
    same = csdl.compare(np.tile(X, (6, 1)), y, MATRIX, (), today=y, verbose=0)
    assert same.to_frame()["average_cost"]["today"] == 0
    told = "No model here costs significantly less than today's decisions. "
    assert same.sentence.startswith(told)


def test_nothing_that_is_better_than_a_constant_decision_is_told():
    noise = RNG.normal(size=(150, 2))
    matrix = [[0, 1, 1], [90, 0, 90], [1, 1, 0]]
    found = csdl.compare(noise, Y, matrix, (), verbose=0)
    told = "No model here costs significantly less than the best constant decision. "
    assert found.sentence.startswith(told)
    found = csdl.compare(np.tile(X, (6, 1)), np.tile(Y, 6), MATRIX, (), verbose=0)
    assert "No model" not in found.sentence and found.report.rows[0].name in ROWS
    assert found.sentence == found.report.sentence


def test_the_table_as_text_html_and_figure():
    found = csdl.compare(FRAME, LABELS, ASKING, (), verbose=0)
    lines, page = repr(found).splitlines(), found._repr_html_()
    assert lines[0] == "data: average cost of 30 test examples"
    assert max(map(len, lines)) <= 80 and "95 % interval" in lines[1]
    frame = found.to_frame()
    for line, (name, row) in zip(lines[2:], frame.iterrows(), strict=False):
        assert line.startswith(name) and f" {row['average_cost']:.4f}"[:6] in line
        assert f">{name}</td>" in page
    assert "<table" in page and " ".join(lines[8:]).strip() == found.sentence
    axes = found.plot()
    assert [it.get_text() for it in axes.get_yticklabels()] == [*frame.index[::-1]]
    assert [bar.get_width() for bar in axes.patches[:5]] == [*frame["average_cost"][::-1]]


def test_labels_of_few_examples():
    """Some are too rare in the validation examples to calibrate by folds, or not there."""
    for left in (10, 3):
        y = np.where(np.cumsum(Y == 2) > left, np.minimum(Y, 1), Y)
        by = None if left == 10 else np.arange(150)
        found = csdl.compare(X, y, MATRIX, (), split_by=by, verbose=0)
        assert found.failed == {} and {*ROWS} < {*found.to_frame().index}


def test_rows_that_fail_cost_no_others(monkeypatch, capsys):
    monkeypatch.setattr(csdl.Trainer, "train", lambda *_: 1 / 0)
    found = csdl.compare(X, Y, MATRIX, ["dnn_bayes"], verbose=1)
    assert {*found.failed} == {"dnn_bayes"} and {*ROWS} < {*found.to_frame().index}
    for told in (capsys.readouterr().out, repr(found)):
        assert "\ndnn_bayes failed: ZeroDivisionError: division by zero\n" in told


def test_a_kernel_machine(monkeypatch):
    monkeypatch.setattr(Comparison, "add_baseline", lambda *_: None)
    images = X[:60].reshape(60, 2, 1)
    found = csdl.compare(images, Y[:60], MATRIX, ["csosr"], verbose=0)
    assert found.best == "csosr" and isinstance(found.model.classifier, CSOSR)
    test = csdl.datasets.split(Y[:60])["test"]
    paid = MATRIX[Y[test], found.model.decide(images[test])].mean()
    assert found.to_frame()["average_cost"]["csosr"] == pytest.approx(paid)
    assert found.model.predict_cost(images[test]).max() > 1.5  # in the unit of the costs


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"algorithms": ["csdnm"]}, "Did you mean 'csdnn'"),
        ({"algorithms": ["cnn_bayes"]}, "'cnn_bayes' has a convolutional network and needs images"),
        ({"algorithms": ["csosr"]}, "'csosr' supports neither tables nor named labels"),
        ({"algorithms": ["csdnn"], "costs": KNOWN}, "'csdnn' does not support costs known when"),
        ({"algorithms": ["csdnn"], "costs": ASKING.to_numpy()}, "support decisions other than"),
        ({"effort": "fast"}, "`effort` to be one of .*received 'fast'"),
        ({"costs": MATRIX[:, :2]}, r"\(K, D\) with D >= K.*received shape \(3, 2\)"),
        ({"costs": MATRIX[:2, :2]}, "below"),
        ({"x": X[:9]}, "`x` with a row for each of 150"),
        ({"today": [1] * 9}, r"`today` of shape \(150,\)"),
        ({"today": [3] * 150}, "`today` .*below 3"),
        ({"today": ["a"] * 150}, "`today` contains 'a', which is not one of"),
    ],
)
def test_what_is_refused_before_training(arguments, told, monkeypatch):
    monkeypatch.setattr(Comparison, "run", None)
    with pytest.raises(ValueError, match=told):
        csdl.compare(**{"x": X, "y": Y, "costs": MATRIX, **arguments})
