"""What the screen and the files of `compare` and `tune` say of a constant decision, and of ties."""

import numpy as np
import pytest
from csdl_keras.experiments.comparison import ComparisonRun
from csdl_keras.experiments.summaries import summarise

import csdl_keras as csdl
from csdl_keras.evaluation import compare_costs
from csdl_keras.evaluation._report_text import number
from csdl_keras.experiments.cell import Outcome
from csdl_keras.experiments.cell_runner import CellRunner
from csdl_keras.experiments.data_source import DataSource
from csdl_keras.experiments.reporting.render import read_contents, render_markdown, render_page
from csdl_keras.experiments.saving import Saving, warning
from tests.experiments.grid_runs import Recorder, read
from tests.experiments.own_tables import source, table
from tests.experiments.reporting.made_up_folder import write_folder

DIGITS = DataSource("digits", costs_of_all=False)
RNG = np.random.default_rng(0)
MATRIX = np.where(np.eye(10, dtype=bool), 0, RNG.uniform(1, 20, (10, 10)))
ASKING = np.c_[MATRIX, RNG.uniform(1, 3, 10)]
NAMES = ["dnn_blind", "dnn_bayes", "sdae_bayes", "csdnn"]


def costs_of(rows):
    return {"costs": tuple(map(tuple, np.asarray(rows).tolist()))}


def run_with(folder, data_source, matrices, decide, names=None):
    """A comparison of decisions that no network made, `decide(algorithm, labels, options)`."""

    class Made(CellRunner):
        def run(self, cells):
            for cell in cells:
                data = cell.source.load()
                own = cell.source.example_costs("test")
                options = cell.matrix[data.y_test] if own is None else own
                test = np.asarray(decide(cell.algorithm.name, data.y_test, options))
                yield Outcome(cell, data.y_val, test, 1, 1.0), None

    comparison = ComparisonRun(
        data_source,
        NAMES,
        matrices,
        folder,
        csdl.Settings(),
        Made(csdl.StageCache()),
        decision_names=names,
    )
    comparison._keep_best = lambda *_: None
    assert not comparison.run(Recorder())
    return comparison


def noisy(algorithm, labels, options):
    """Decisions of which another share is wrong for each algorithm; two are alike."""
    share = {"dnn_blind": 0.9, "dnn_bayes": 0.3, "sdae_bayes": 0.3, "csdnn": 0.31}[algorithm]
    wrong = np.random.default_rng(len(algorithm)).random(len(labels)) < share
    drawn = np.random.default_rng(1).integers(0, options.shape[1], len(labels))
    return np.where(wrong, drawn, labels)


@pytest.mark.parametrize("kind", ["matrix", "asking", "two matrices", "examples", "imbalanced"])
def test_columns_are_those_of_a_comparison_pair_by_pair(tmp_path, kind):
    if kind == "examples":
        data_source = source(
            table(tmp_path, ".parquet"), cost_columns=("price_no", "price_yes"), drop=("id",)
        )
    else:
        costs = {"matrix": MATRIX, "asking": ASKING}.get(kind)
        choices = {} if costs is None else costs_of(costs)
        data_source = DataSource("digits", kind == "imbalanced", costs_of_all=False, **choices)
    matrices = {"two matrices": 2, "imbalanced": 3}.get(kind)
    comparison = run_with(tmp_path, data_source, matrices, noisy)
    rows = read(tmp_path, without=())
    assert len(rows) == len(NAMES) * (matrices or 1)
    data, own = data_source.load(), data_source.example_costs("test")
    for seed in {row["cost_seed"] for row in rows}:
        matrix = data_source.matrix(int(seed))
        truth = (data.y_test, matrix) if own is None else (own, None)
        options = matrix[data.y_test] if own is None else own
        decided = {name: noisy(name, data.y_test, options) for name in NAMES}
        paid = {
            name: sum(options[i][d] for i, d in enumerate(them)) / len(them)
            for name, them in decided.items()
        }
        best = min(NAMES, key=paid.get)
        constant = min(range(options.shape[1]), key=lambda d: sum(row[d] for row in options))
        always = np.full(len(options), constant)
        for row in (row for row in rows if row["cost_seed"] == seed):
            own_decisions = decided[row["algorithm"]]
            pair = compare_costs(truth[0], own_decisions, always, truth[1])
            told = [float(row[name]) for name in ("saved", "saved_low", "saved_high")]
            assert told == pytest.approx([-pair.difference, -pair.high, -pair.low], abs=1e-9)
            assert row["constant_decision"] == str(constant)
            assert float(row["constant_cost"]) == pytest.approx(options[:, constant].mean())
            place = "best"
            if row["algorithm"] != best:
                against = compare_costs(truth[0], own_decisions, decided[best], truth[1])
                place = "costlier" if against.low > 0 else "tied"
            assert row["against_best"] == place
    assert {it.algorithm for it in summarise(comparison.results)} == {*NAMES}


def test_the_mean_interval_is_no_narrower_than_that_of_the_mean(tmp_path):
    """An interval of the mean over matrices, computed at once."""
    comparison = run_with(tmp_path, DIGITS, 4, noisy)
    y = DIGITS.load().y_test
    matrices = [DIGITS.matrix(1000 + i) for i in range(4)]
    for summary in summarise(comparison.results):
        options = [matrix[y] for matrix in matrices]
        own = [it[np.arange(len(y)), noisy(summary.algorithm, y, it)] for it in options]
        always = [it[:, it.mean(axis=0).argmin()] for it in options]
        largest = np.mean([matrix.max() for matrix in matrices])
        vectors = np.c_[np.mean(own, axis=0), np.mean(always, axis=0), 0 * y, 0 * y + largest]
        at_once = compare_costs(vectors, 0 * y, 0 * y + 1)
        saving = summary.saving
        assert saving.saved == pytest.approx(-at_once.difference)
        assert saving.saved_low <= -at_once.high + 1e-9
        assert saving.saved_high >= -at_once.low - 1e-9
        assert saving.against_best.endswith("of 4")


def constant_of(options, place):
    return np.full(len(options), np.argsort(options.mean(axis=0))[place])


#: Decisions of all algorithms; whether something costs less than a constant decision by more
#: than chance; costs.
KINDS = {
    "right": (lambda name, y, options: y, True, {}),
    "right for one algorithm alone": (
        lambda name, y, options: y if name == "csdnn" else constant_of(options, 2),
        True,
        {},
    ),
    "the constant itself": (lambda name, y, options: constant_of(options, 0), False, {}),
    "a worse constant": (lambda name, y, options: constant_of(options, 1), False, {}),
    "drawn at random": (
        lambda name, y, options: np.random.default_rng(0).integers(0, options.shape[1], len(y)),
        False,
        {},
    ),
    "cheaper within chance": (
        lambda name, y, options: np.where(np.arange(len(y)) < 2, y, constant_of(options, 0)),
        False,
        {},
    ),
    "an option that costs next to nothing": (
        lambda name, y, options: np.where(np.arange(len(y)) % 50, y, (y + 1) % 10),
        False,
        costs_of(np.c_[MATRIX, np.full(10, 0.01)]),
    ),
    "a constant that is free": (
        lambda name, y, options: y,
        False,
        costs_of(np.c_[MATRIX, np.zeros(10)]),
    ),
    "small amounts": (
        lambda name, y, options: constant_of(options, 1),
        False,
        costs_of(1e-5 * MATRIX),
    ),
    "large amounts": (lambda name, y, options: y, True, costs_of(1e7 * MATRIX)),
}


@pytest.mark.parametrize(
    "kind, matrices",
    [(kind, it) for kind in KINDS for it in ([None] if KINDS[kind][2] else [1, 3])],
)
def test_where_nothing_beats_a_constant_decision_it_is_said(tmp_path, kind, matrices):
    decide, beaten, choices = KINDS[kind]
    data_source = DataSource("digits", costs_of_all=False, **choices)
    comparison = run_with(tmp_path, data_source, matrices, decide)
    summaries = summarise(comparison.results)
    told = warning({it.algorithm: it.saving for it in summaries})
    assert bool(told) != beaten
    contents = read_contents(tmp_path)
    page, markdown = render_page(contents), render_markdown(contents)
    for text in (page, markdown):
        assert ("Nothing here costs less" in text) != beaten
        assert "Relative to a constant decision" in text
    if told:
        cost = summaries[0].saving.constant_cost
        assert "beyond chance" in told and f"costs {number(cost)}:" in told
        # Nothing is crowned that costs more than the constant decision.
        assert summaries[0].average_cost >= cost or summaries[0].saving.saved_low <= 0


def test_the_constant_decision_is_bold_where_all_cost_more(tmp_path):
    from csdl_keras.experiments.display import summary_table

    decide = KINDS["a worse constant"][0]
    comparison = run_with(tmp_path, DIGITS, 1, decide)
    drawn = summary_table(summarise(comparison.results), "digits")
    assert [row.style for row in drawn.rows] == [None] * len(NAMES) + ["bold"]
    (name,) = {row.constant_decision for row in comparison.results}
    assert list(drawn.columns[0].cells)[-1] == f"best constant decision: {name}"


def test_nothing_is_said_of_results_without_the_columns(tmp_path):
    assert warning({"csdnn": Saving()}) == ""
    write_folder(tmp_path)
    (tmp_path / "test_decisions" / "mnist.npz").unlink()
    contents = read_contents(tmp_path)
    (column,) = [it for it in contents.table.columns if it.title == "MNIST"]
    assert not column.cells["csdnn"].saving.is_known
    assert "Nothing here costs less" not in render_page(contents)


def test_the_report_prices_the_constant_decision_of_test_decisions(tmp_path):
    """Folders of `table2` have decisions in place of the columns."""
    write_folder(tmp_path, data=(("mnist", True),))
    arrays = np.load(tmp_path / "test_decisions" / "mnist_imb.npz")
    contents = read_contents(tmp_path)
    (column,) = contents.table.columns
    y, costs = arrays["labels"], []
    for seed in (1000, 1001, 1002):
        matrix = arrays[f"matrix_{seed}"]
        costs.append(min(sum(matrix[label, d] for label in y) / len(y) for d in range(4)))
    for cell in column.cells.values():
        assert cell.saving.constant_cost == pytest.approx(np.mean(costs))
        assert cell.saving.saved == pytest.approx(np.mean(costs) - cell.cost)
    assert f"| {np.mean(costs):.4g} |" in render_markdown(contents)
