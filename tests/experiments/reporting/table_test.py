import math

import numpy as np
import pytest

from csdl_keras.experiments.csv_files import read_rows
from csdl_keras.experiments.reporting.render import read_contents, render_markdown, render_page
from csdl_keras.experiments.reporting.table import Table, read_table
from csdl_keras.experiments.reporting.text import format_cost
from tests.experiments.reporting.made_up_folder import DATA, RESULTS, SEEDS, write_csv, write_folder

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
    return {name for name, cell in column.cells.items() if cell.bold}


class TestReadTable:
    def test_order_of_columns_and_rows(self, made):
        table, _ = made
        titles = ["MNIST", "bg-img-rot, synthetic", "MNIST, 5,000 images", "MNIST, imbalanced"]
        assert [column.title for column in table.columns] == titles
        panels = [(heading, len(columns)) for heading, columns in table.panels]
        assert panels == [("Balanced data", 3), ("Imbalanced data", 1)]
        groups = Table.groups(table.columns)
        assert [len(rows) for _, rows in groups] == [3, 3, 5, 5]
        assert [row.name for row in groups[1][1]] == ["csosr", "min", "cnn_weighted"]
        # A data set that the paper lacks has only the rows that were run.
        assert [len(rows) for _, rows in Table.groups(table.columns[2:3])] == [2, 3, 2, 3]

    def test_means_and_standard_errors(self, made):
        table, rows = made
        key = ("mnist", "True", "csdnn")
        own = [row for row in rows if (row["dataset"], row["imbalanced"], row["algorithm"]) == key]
        costs = [float(row["average_cost"]) for row in own]
        cell = table.columns[3].cell("csdnn")
        mean = sum(costs) / 3
        error = math.sqrt(sum((cost - mean) ** 2 for cost in costs) / 2 / 3)
        assert (cell.cost, cell.standard_error, cell.matrices) == pytest.approx((mean, error, 3))

    def test_missing_and_partial_cells(self, made):
        mnist, synthetic, part, imbalanced = made[0].columns
        assert mnist.cell("csosr").matrices == 1
        assert math.isnan(mnist.cell("csosr").standard_error)
        assert imbalanced.cell("dnn_sosr").matrices == 0
        assert str(imbalanced.cell("dnn_sosr").paper) == "0.22 ± 0.01"
        assert imbalanced.cell("cnn_weighted").paper is None
        assert part.cell("csdnn").paper is None
        assert str(synthetic.cell("csdnn").paper) == "2.34 ± 0.07" and not synthetic.name.same

    def test_best_and_tied(self, made, tmp_path):
        for column in made[0].columns:
            assert column.best == "cnn_bayes" and bold(column) == {"cnn_bayes"}
        write_folder(tmp_path, errors={"csdnn": 0.2, "dnn_sosr": 0.2, "dnn_bayes": 0.6})
        for column in read_table(tmp_path).columns:
            assert bold(column) == {"csdnn", "dnn_sosr"}

    def test_fewer_matrices_are_never_the_best_but_may_be_bold(self, tmp_path):
        errors = {"csosr": 0.05, "csdnn": 0.3}
        write_folder(tmp_path, MNIST, errors, skip=lambda d, i, n, s: n == "csosr" and s > 1000)
        (column,) = read_table(tmp_path).columns
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
        (column,) = read_table(tmp_path).columns
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
            (column,) = read_table(tmp_path).columns
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
        (column,) = read_table(tmp_path).columns
        assert column.choose(["cnn_sosr", "csdnn", "dnn_bayes"]) == "dnn_bayes"
        assert column.choose(["cnn_bayes", "csdnn"]) == "csdnn"  # more matrices come first
        assert column.choose(["cnn_sosr", "seae_sosr"]) is None

    def test_diverged(self, tmp_path):
        write_folder(tmp_path, MNIST, skip=lambda d, i, n, s: (n, s) == ("cnn_bayes", 1001))
        lost = {"algorithm": "cnn_bayes", "average_cost": "inf", "validation_cost": "inf"}
        rewrite(tmp_path, lambda rows: rows.append({**rows[0], **lost, "cost_seed": 1001}))
        (column,) = read_table(tmp_path).columns
        cell = column.cell("cnn_bayes")
        assert (cell.matrices, cell.diverged, cell.cost) == (3, 1, math.inf)
        assert not cell.bold and math.isnan(cell.standard_error)
        assert format_cost(cell, column) == "diverged (1 of 3)"
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
        assert read_table(tmp_path).columns[0].best is None
        assert "diverged (1 of 1)" in render_page(read_contents(tmp_path))

    def test_without_decisions_ties_are_unknown(self, tmp_path):
        write_folder(tmp_path, MNIST)
        (tmp_path / "test_decisions" / "mnist.npz").unlink()
        (column,) = read_table(tmp_path).columns
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
            ("algorithm", "cssdn", "Expected `algorithm` to be one of"),
            ("cost_seed", "1001", "one row for each result"),
        ],
    )
    def test_rows_that_do_not_fit(self, tmp_path, column, value, message):
        rewrite(tmp_path, lambda rows: rows[0].update({column: value}))
        with pytest.raises(ValueError, match=message):
            read_table(tmp_path)
        rewrite(tmp_path, lambda rows: rows.clear())
        with pytest.raises(ValueError, match="none below the header"):
            read_table(tmp_path)

    @pytest.mark.parametrize(
        "name, value, message",
        [
            ("labels", None, "an array 'labels'"),
            ("matrix_1000", None, "an array 'matrix_1000'"),
            ("labels", np.zeros(7, "uint8"), r"the shapes \(7,\), \(300,\)"),
            ("matrix_1000", np.zeros((2, 2)), r"classes of a \(K, K\) matrix"),
            ("matrix_1000", np.zeros((4, 9)), r"classes of a \(K, K\) matrix"),
        ],
    )
    def test_arrays_that_do_not_fit(self, tmp_path, name, value, message):
        path = tmp_path / "test_decisions" / "mnist.npz"
        arrays = {key: each for key, each in np.load(path).items() if key != name}
        np.savez(path, **arrays, **({} if value is None else {name: value}))
        with pytest.raises(ValueError, match=message):
            read_table(tmp_path)
        path.write_bytes(b"PK half a file")
        with pytest.raises(ValueError, match="mnist.npz to be an npz file"):
            read_table(tmp_path)
