import math

import numpy as np
import pytest

from csdl_keras.paper.report import read_contents, render_markdown, render_page
from tests.paper.made_up_folder import (
    DATA,
    SEEDS,
    change_arrays,
    change_rows,
    columns_of,
    read_rows,
    write_folder,
    write_rows,
)

MNIST = DATA[:1]


def bold(column):
    return set(column.cells.index[column.cells["tied"]])


class TestColumn:
    def test_means_standard_errors_and_ties(self, tmp_path):
        write_folder(tmp_path, DATA[::3], skip=lambda d, i, n, s: n == "csosr" and s > 1000)
        for column, name in zip(columns_of(tmp_path), ("mnist", "mnist_5k"), strict=True):
            rows = read_rows(tmp_path / "results.csv")
            own = [it for it in rows if (it["dataset"], it["algorithm"]) == (name, "csdnn")]
            costs = [float(row["average_cost"]) for row in own]
            mean = sum(costs) / 3
            error = math.sqrt(sum((cost - mean) ** 2 for cost in costs) / 2 / 3)
            cell = column.cell("csdnn")
            assert (cell.cost, cell.standard_error) == pytest.approx((mean, error))
            assert math.isnan(column.cell("csosr").standard_error)
            assert column.best == "cnn_bayes" and bold(column) == {"cnn_bayes"}
            assert column.cell("sdae_sosr") is None
            assert (column.paper("csdnn") is None) == (name == "mnist_5k")
        write_folder(tmp_path, MNIST, {"csdnn": 0.2, "dnn_sosr": 0.2, "dnn_bayes": 0.6})
        assert bold(columns_of(tmp_path)[0]) == {"csdnn", "dnn_sosr"}

    def test_fewer_matrices_are_never_the_best_but_may_be_bold(self, tmp_path):
        errors = {"csosr": 0.05, "csdnn": 0.3}
        write_folder(tmp_path, MNIST, errors, skip=lambda d, i, n, s: n == "csosr" and s > 1000)
        (column,) = columns_of(tmp_path)
        assert column.best == "csdnn"
        assert column.cell("csosr").cost < column.cell("csdnn").cost
        assert column.cell("csosr").tied and not column.cell("csosr").best

    def test_fewer_training_seeds_are_never_the_best(self, tmp_path):
        """Except of an algorithm that is no network, which learns the same from every seed."""
        write_folder(tmp_path, MNIST, {"csosr": 0.05, "csdnn": 0.1, "dnn_bayes": 0.3})
        arrays = change_arrays(tmp_path)
        again = {f"dnn_bayes_{seed}_seed_1": arrays[f"dnn_bayes_{seed}"] for seed in SEEDS}
        change_arrays(tmp_path, **again)
        rows = [{**it, "seed": 0} for it in read_rows(tmp_path / "results.csv")]
        rows += [{**it, "seed": 1} for it in rows if it["algorithm"] == "dnn_bayes"]
        write_rows(tmp_path / "results.csv", rows)
        (column,) = columns_of(tmp_path)
        assert column.best == "csosr" == column.choose(["csdnn", "dnn_bayes", "csosr"])
        assert column.choose(["csdnn", "dnn_bayes"]) == "dnn_bayes"
        difference = column.compare("csosr", "dnn_bayes")
        assert (difference.matrices, difference.seeds) == (3, 2)
        assert column.compare("csdnn", "dnn_bayes").seeds == 1

    def test_pretraining_without_costs_is_that_of_sdae(self, tmp_path):
        write_folder(tmp_path, MNIST, {"csdnn": 0.1, "seae_sosr": 0.1, "sdae_sosr": 0.1})
        for betas, alike in (((0.0, 0.0), "all"), ((0.0, 0.1), "csdnn"), ((0.1, 0.1), "none")):
            own = dict(zip(("csdnn", "seae_sosr"), betas, strict=True))
            change_rows(tmp_path, lambda row, own=own: {"beta": own.get(row["algorithm"], "")})
            (column,) = columns_of(tmp_path)
            assert column.pretrained_alike("csdnn", "sdae_sosr") == (alike != "none")
            assert column.pretrained_alike("csdnn", "seae_sosr") == (alike == "all")
            assert not column.pretrained_alike("csdnn", "scae_bayes")

    def test_choose_is_by_validation_cost(self, tmp_path):
        write_folder(tmp_path, MNIST, skip=lambda d, i, n, s: n == "cnn_bayes" and s > 1000)
        costs = {"dnn_bayes": "0.0001", "cnn_sosr": ""}
        change_rows(
            tmp_path,
            lambda it: {"validation_cost": costs.get(it["algorithm"], it["validation_cost"])},
        )
        (column,) = columns_of(tmp_path)
        assert column.choose(["cnn_sosr", "csdnn", "dnn_bayes"]) == "dnn_bayes"
        assert column.choose(["cnn_bayes", "csdnn"]) == "csdnn"  # more matrices come first
        assert column.choose(["cnn_sosr", "seae_sosr"]) is None

    def test_diverged(self, tmp_path):
        write_folder(tmp_path, MNIST, skip=lambda d, i, n, s: (n, s) == ("cnn_bayes", 1001))
        path = tmp_path / "results.csv"
        rows = read_rows(path)
        lost = {"algorithm": "cnn_bayes", "average_cost": "inf", "validation_cost": "inf"}
        write_rows(path, [*rows, {**rows[0], **lost, "cost_seed": 1001}])
        (column,) = columns_of(tmp_path)
        cell = column.cell("cnn_bayes")
        assert (cell.matrices, cell.diverged, cell.cost) == (3, 1, math.inf)
        assert not cell.tied and math.isnan(cell.standard_error)
        assert column.best == "cnn_sosr"
        assert column.compare("cnn_bayes", "csdnn") is column.compare("csdnn", "cnn_bayes") is None
        assert column.compare("csdnn", "seae_sosr") is None  # which was not run
        assert column.choose(["cnn_bayes", "dnn_blind"]) == "dnn_blind"
        page = render_page(read_contents(tmp_path))
        assert "diverged (1 of 3)" in page and "nan" not in page
        write_rows(path, [{**rows[0], **lost, "cost_seed": 1001}])
        assert columns_of(tmp_path)[0].best is None


def test_figures_of_other_decisions_are_refused(tmp_path):
    write_folder(tmp_path, MNIST)
    first, *others = read_rows(tmp_path / "results.csv")
    write_rows(tmp_path / "results.csv", [{**first, "average_cost": "7.5"}, *others])
    with pytest.raises(ValueError, match="but 7.5 in results.csv: they belong to different runs"):
        columns_of(tmp_path)


def test_no_better_than_one_decision_on_test_examples_is_collapsed(tmp_path):
    """Decisions that differ, but cost as much as the best single one; errors for blind ones."""
    write_folder(tmp_path, MNIST, {"csdnn": 0.35, "dnn_blind": 0.6, "dnn_bayes": 0.4})
    arrays = change_arrays(tmp_path)
    labels, matrix = arrays["labels"], arrays["matrix_1000"]
    single = matrix[labels].mean(axis=0).argmin()
    better, worse = np.full_like(labels, single), np.full_like(labels, single)
    others, own = np.flatnonzero(labels != single), np.flatnonzero(labels == single)
    better[others[0]] = labels[others[0]]
    worse[own[0]] = (single + 1) % len(matrix)

    def priced(row):
        """The cost of a row by the matrix and the decisions that are there now."""
        seed, now = row["cost_seed"], change_arrays(tmp_path)
        costs = now[f"matrix_{seed}"][labels, now[f"{row['algorithm']}_{seed}"]]
        return {"average_cost": costs.mean()}

    for decisions, expected in ((better, 0), (worse, 1)):
        change_arrays(tmp_path, csdnn_1000=decisions)
        change_rows(tmp_path, priced)
        assert columns_of(tmp_path)[0].cell("csdnn").collapsed == expected
    # One decision that is almost free costs less than networks that err less.
    matrix = 1 - np.eye(len(matrix))
    matrix[:, 0] *= 0.01
    change_arrays(tmp_path, matrix_1000=matrix)
    change_rows(tmp_path, priced)
    cells = columns_of(tmp_path)[0].cells
    assert cells["collapsed"]["dnn_blind"] == 0 and cells["collapsed"]["dnn_bayes"] == 1


def test_several_seeds_are_one_cell(tmp_path):
    write_folder(tmp_path, MNIST, {"csdnn": 0.3, "dnn_bayes": 0.4})
    rows = [{**row, "seed": 0} for row in read_rows(tmp_path / "results.csv")]
    labels = change_arrays(tmp_path)["labels"]
    change_arrays(tmp_path, **{f"csdnn_{seed}_seed_1": labels for seed in SEEDS})
    more = [{**row, "seed": 1, "average_cost": 0.0} for row in rows if row["algorithm"] == "csdnn"]
    write_rows(tmp_path / "results.csv", [*rows, *more])
    one_seed = [float(row["average_cost"]) for row in rows if row["algorithm"] == "csdnn"]
    cell = columns_of(tmp_path)[0].cell("csdnn")
    assert (cell.matrices, cell.seeds, cell.results) == (3, 2, 6)
    assert cell.cost == pytest.approx(np.mean(one_seed) / 2)
    assert "MNIST (n = 3 × 2)" in render_markdown(read_contents(tmp_path))
    # Without the last training, a matrix has one seed, and counts as much as the others.
    write_rows(tmp_path / "results.csv", [*rows, *more[:-1]])
    (column,) = columns_of(tmp_path)
    expected = (one_seed[0] / 2 + one_seed[1] / 2 + one_seed[2]) / 3
    assert column.cell("csdnn").cost == pytest.approx(expected)
