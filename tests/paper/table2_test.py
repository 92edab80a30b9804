import math

import numpy as np
import pytest

from csdl_keras.paper.report import read_contents, render_markdown, render_page
from csdl_keras.paper.table2 import groups, panels
from tests.paper.made_up_folder import (
    DATA,
    RESULTS,
    SEEDS,
    change_arrays,
    read_rows,
    read_table,
    write_csv,
    write_folder,
    write_rows,
)

MNIST = DATA[:1]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The table of a folder, and the rows of its results."""

    def skip(dataset, imbalanced, name, seed):
        return (name == "csosr" and seed > 1000) or (name == "dnn_sosr" and imbalanced)

    folder = tmp_path_factory.mktemp("results")
    write_folder(folder, skip=skip)
    return read_table(folder), read_rows(folder / "results.csv")


def rewrite(folder, change):
    """Changes the rows of results.csv, which `change` gets as a list of dicts."""
    path = folder / "results.csv"
    rows = read_rows(path)
    change(rows)
    write_csv(path, RESULTS, [[row[name] for name in RESULTS.split()] for row in rows])


def bold(column):
    return set(column.cells.index[column.cells["bold"]])


class TestReadTable:
    def test_order_of_columns_and_rows(self, made):
        columns, _ = made
        titles = ["MNIST", "bg-img-rot, synthetic", "MNIST, 5,000 images", "MNIST, imbalanced"]
        assert [column.title for column in columns] == titles
        halves = {heading: len(own) for heading, own in panels(columns).items()}
        assert halves == {"Balanced data": 3, "Imbalanced data": 1}
        found = groups(columns)
        assert list(map(len, found.values())) == [3, 3, 5, 5]
        assert [row.name for row in found["Baselines"]] == ["csosr", "min", "cnn_weighted"]
        # A data set that the paper lacks has only the rows that were run.
        assert list(map(len, groups(columns[2:3]).values())) == [2, 3, 2, 3]

    def test_means_and_standard_errors(self, made):
        columns, rows = made
        key = ("mnist", "True", "csdnn")
        own = [row for row in rows if (row["dataset"], row["imbalanced"], row["algorithm"]) == key]
        costs = [float(row["average_cost"]) for row in own]
        cell = columns[3].cell("csdnn")
        mean = sum(costs) / 3
        error = math.sqrt(sum((cost - mean) ** 2 for cost in costs) / 2 / 3)
        assert (cell.cost, cell.standard_error, cell.matrices) == pytest.approx((mean, error, 3))

    def test_missing_and_partial_cells(self, made):
        mnist, synthetic, part, imbalanced = made[0]
        assert mnist.cell("csosr").matrices == 1
        assert math.isnan(mnist.cell("csosr").standard_error)
        assert imbalanced.cell("dnn_sosr") is None
        assert list(imbalanced.paper("dnn_sosr")) == ["0.22", "0.01", False]
        assert imbalanced.paper("cnn_weighted") is None
        assert part.paper("csdnn") is None
        assert synthetic.paper("csdnn")["cost"] == "2.34" and not synthetic.name.same

    def test_best_and_tied(self, made, tmp_path):
        for column in made[0]:
            assert column.best == "cnn_bayes" and bold(column) == {"cnn_bayes"}
        write_folder(tmp_path, errors={"csdnn": 0.2, "dnn_sosr": 0.2, "dnn_bayes": 0.6})
        for column in read_table(tmp_path):
            assert bold(column) == {"csdnn", "dnn_sosr"}

    def test_fewer_matrices_are_never_the_best_but_may_be_bold(self, tmp_path):
        errors = {"csosr": 0.05, "csdnn": 0.3}
        write_folder(tmp_path, MNIST, errors, skip=lambda d, i, n, s: n == "csosr" and s > 1000)
        (column,) = read_table(tmp_path)
        assert column.best == "csdnn"
        assert column.cell("csosr").cost < column.cell("csdnn").cost
        assert column.cell("csosr").bold and not column.cell("csosr").best

    def test_fewer_training_seeds_are_never_the_best(self, tmp_path):
        """Except of an algorithm that is no network, which learns the same from every seed."""
        write_folder(tmp_path, MNIST, {"csosr": 0.05, "csdnn": 0.1, "dnn_bayes": 0.3})
        path = tmp_path / "test_decisions" / "mnist.npz"
        arrays = dict(np.load(path))
        again = {f"dnn_bayes_{seed}_seed_1": arrays[f"dnn_bayes_{seed}"] for seed in SEEDS}
        np.savez(path, **arrays, **again)
        rows = [{**it, "seed": 0} for it in read_rows(tmp_path / "results.csv")]
        rows += [{**it, "seed": 1} for it in rows if it["algorithm"] == "dnn_bayes"]
        write_csv(tmp_path / "results.csv", f"{RESULTS} seed", [list(row.values()) for row in rows])
        (column,) = read_table(tmp_path)
        assert column.best == "csosr" == column.choose(["csdnn", "dnn_bayes", "csosr"])
        assert column.choose(["csdnn", "dnn_bayes"]) == "dnn_bayes"
        difference = column.compare("csosr", "dnn_bayes")
        assert (difference.matrices, difference.seeds) == (3, 2)
        assert column.compare("csdnn", "dnn_bayes").seeds == 1

    def test_pretraining_without_costs_is_that_of_sdae(self, tmp_path):
        write_folder(tmp_path, MNIST, {"csdnn": 0.1, "seae_sosr": 0.1, "sdae_sosr": 0.1})
        for betas, alike in (((0.0, 0.0), "all"), ((0.0, 0.1), "csdnn"), ((0.1, 0.1), "none")):
            own = dict(zip(("csdnn", "seae_sosr"), betas, strict=True))
            rows = read_rows(tmp_path / "results.csv")
            rows = [{**row, "beta": own.get(row["algorithm"], "")} for row in rows]
            header = f"{RESULTS} beta"
            lines = [[row[name] for name in header.split()] for row in rows]
            write_csv(tmp_path / "results.csv", header, lines)
            (column,) = read_table(tmp_path)
            assert column.pretrained_alike("csdnn", "sdae_sosr") == (alike != "none")
            assert column.pretrained_alike("csdnn", "seae_sosr") == (alike == "all")
            assert not column.pretrained_alike("csdnn", "scae_bayes")

    def test_choose_is_by_validation_cost(self, tmp_path):
        write_folder(tmp_path, MNIST, skip=lambda d, i, n, s: n == "cnn_bayes" and s > 1000)
        costs = {"dnn_bayes": "0.0001", "cnn_sosr": ""}

        def change(rows):
            for row in rows:
                row["validation_cost"] = costs.get(row["algorithm"], row["validation_cost"])

        rewrite(tmp_path, change)
        (column,) = read_table(tmp_path)
        assert column.choose(["cnn_sosr", "csdnn", "dnn_bayes"]) == "dnn_bayes"
        assert column.choose(["cnn_bayes", "csdnn"]) == "csdnn"  # more matrices come first
        assert column.choose(["cnn_sosr", "seae_sosr"]) is None

    def test_diverged(self, tmp_path):
        write_folder(tmp_path, MNIST, skip=lambda d, i, n, s: (n, s) == ("cnn_bayes", 1001))
        lost = {"algorithm": "cnn_bayes", "average_cost": "inf", "validation_cost": "inf"}
        rewrite(tmp_path, lambda rows: rows.append({**rows[0], **lost, "cost_seed": 1001}))
        (column,) = read_table(tmp_path)
        cell = column.cell("cnn_bayes")
        assert (cell.matrices, cell.diverged, cell.cost) == (3, 1, math.inf)
        assert not cell.bold and math.isnan(cell.standard_error)
        assert column.text("cnn_bayes") == "diverged (1 of 3)"
        assert column.best == "cnn_sosr"
        assert column.compare("cnn_bayes", "csdnn").costlier
        assert column.compare("csdnn", "cnn_bayes").cheaper
        assert column.compare("cnn_bayes", "cnn_bayes") is None
        assert column.compare("cnn_bayes", "seae_sosr") is None
        assert column.choose(["cnn_bayes", "dnn_blind"]) == "dnn_blind"
        contents = read_contents(tmp_path)
        page = render_page(contents)
        assert "diverged (1 of 3)" in page and "nan" not in page
        assert "CNN SOSR | – | diverged | 3 | 0.89 |" in render_markdown(contents)
        line = ["mnist", False, "csdnn", 7, "inf", "inf", 1]
        write_csv(tmp_path / "results.csv", RESULTS, [line])
        assert read_table(tmp_path)[0].best is None
        assert "diverged (1 of 1)" in render_page(read_contents(tmp_path))

    def test_without_decisions_ties_are_unknown(self, tmp_path):
        write_folder(tmp_path, MNIST)
        (tmp_path / "test_decisions" / "mnist.npz").unlink()
        (column,) = read_table(tmp_path)
        assert column.test_size is None
        assert column.cell("cnn_bayes").best and column.cell("cnn_bayes").tied
        assert column.cell("csdnn").tied is None and not column.cell("csdnn").bold


class TestErrors:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path):
        write_folder(tmp_path, MNIST)

    @pytest.mark.parametrize(
        "column, value, message",
        [
            ("average_cost", "7.5", "to cost what results.csv says, 7.5; received"),
            ("average_cost", "a", "results.csv to be a table of results; could not convert"),
            ("algorithm", "cssdn", "Expected `algorithm` to be one of"),
            ("cost_seed", "1001", "one row for each result"),
        ],
    )
    def test_rows_that_do_not_fit(self, tmp_path, column, value, message):
        rewrite(tmp_path, lambda rows: rows[0].update({column: value}))
        with pytest.raises(ValueError, match=message):
            read_table(tmp_path)

    def test_no_rows_and_no_columns(self, tmp_path):
        rewrite(tmp_path, lambda rows: rows.clear())
        with pytest.raises(ValueError, match="Expected results in the file .*results.csv"):
            read_table(tmp_path)
        (tmp_path / "results.csv").write_text("dataset,cost\n")
        with pytest.raises(ValueError, match="to have the columns imbalanced, algorithm"):
            read_table(tmp_path)

    def test_arrays_that_are_damaged(self, tmp_path):
        (tmp_path / "test_decisions" / "mnist.npz").write_bytes(b"PK half a file")
        with pytest.raises(ValueError, match="mnist.npz to be an npz file"):
            read_table(tmp_path)


def test_no_better_than_one_decision_on_test_examples_is_collapsed(tmp_path):
    """Decisions that differ, but cost as much as the best single one; errors for blind ones."""
    write_folder(tmp_path, MNIST)
    arrays = change_arrays(tmp_path)
    labels, matrix = arrays["labels"], arrays["matrix_1000"]
    single = matrix[labels].mean(axis=0).argmin()
    better, worse = np.full_like(labels, single), np.full_like(labels, single)
    others, own = np.flatnonzero(labels != single), np.flatnonzero(labels == single)
    better[others[0]] = labels[others[0]]
    worse[own[0]] = (single + 1) % len(matrix)
    rows = read_rows(tmp_path / "results.csv")
    for decisions, expected in ((better, 0), (worse, 1)):
        change_arrays(tmp_path, csdnn_1000=decisions)
        for row in rows:
            if (row["algorithm"], row["cost_seed"]) == ("csdnn", "1000"):
                row["average_cost"] = matrix[labels, decisions].mean()
        write_rows(tmp_path / "results.csv", rows)
        assert read_table(tmp_path)[0].cell("csdnn").collapsed == expected
    # One decision that is almost free costs less than networks that err less.
    matrix = 1 - np.eye(len(matrix))
    matrix[:, 0] *= 0.01
    arrays = change_arrays(tmp_path, matrix_1000=matrix)
    for row in rows:
        if row["cost_seed"] == "1000":
            row["average_cost"] = matrix[labels, arrays[f"{row['algorithm']}_1000"]].mean()
    write_rows(tmp_path / "results.csv", rows)
    cells = read_table(tmp_path)[0].cells
    assert cells["collapsed"]["dnn_blind"] == 0 and cells["collapsed"]["dnn_bayes"] == 1


def test_several_seeds_are_one_cell(tmp_path):
    write_folder(tmp_path, MNIST)
    plain = read_rows(tmp_path / "results.csv")
    rows = [{**row, "seed": 0} for row in plain]
    labels = change_arrays(tmp_path)["labels"]
    change_arrays(tmp_path, **{f"csdnn_{seed}_seed_1": labels for seed in SEEDS})
    more = [{**row, "seed": 1, "average_cost": 0.0} for row in rows if row["algorithm"] == "csdnn"]
    write_rows(tmp_path / "results.csv", [*rows, *more])
    one_seed = [float(row["average_cost"]) for row in rows if row["algorithm"] == "csdnn"]
    cell = read_table(tmp_path)[0].cell("csdnn")
    assert (cell.matrices, cell.seeds, cell.results) == (3, 2, 6)
    assert cell.cost == pytest.approx(np.mean(one_seed) / 2)
    assert "MNIST (n = 3 × 2)" in render_markdown(read_contents(tmp_path))
    # Without the last training, a matrix has one seed, and counts as much as the others.
    write_rows(tmp_path / "results.csv", [*rows, *more[:-1]])
    expected = (one_seed[0] / 2 + one_seed[1] / 2 + one_seed[2]) / 3
    assert read_table(tmp_path)[0].cell("csdnn").cost == pytest.approx(expected)
    lines = render_markdown(read_contents(tmp_path)).splitlines()
    (line,) = [line for line in lines if line.startswith("|  | CSDNN |")]
    assert f"{expected:.3f} ± " in line and "(n = 5 runs)" in line
