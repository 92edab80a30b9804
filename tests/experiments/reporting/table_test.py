import csv
import math

import numpy as np
import pytest

from csdl_keras.experiments.commands.report import report
from csdl_keras.experiments.reporting.table import Table, read_table
from csdl_keras.experiments.reporting.text import format_cost
from tests.experiments.reporting.made_up_folder import DATA, RESULTS, write_csv, write_folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")

    def skip(dataset, imbalanced, name, seed):
        return (name == "csosr" and seed > 1000) or (name == "dnn_sosr" and imbalanced)

    return read_table(folder) if write_folder(folder, skip=skip) else None, folder


def rewrite(folder, change):
    """Changes the rows of results.csv, which `change` gets as a list of dicts."""
    path = folder / "results.csv"
    rows = list(csv.DictReader(path.open()))
    change(rows)
    write_csv(path, RESULTS, [[row[name] for name in RESULTS] for row in rows])


class TestReadTable:
    def test_order_of_columns_and_rows(self, made):
        table, _ = made
        titles = [column.title for column in table.columns]
        assert titles == [
            "MNIST",
            "bg-img-rot, synthetic",
            "MNIST, 5,000 images",
            "MNIST, imbalanced",
        ]
        assert [(heading, len(columns)) for heading, columns in table.panels] == [
            ("Balanced data", 3),
            ("Imbalanced data", 1),
        ]
        groups = Table.groups(table.columns)
        assert [len(rows) for _, rows in groups] == [3, 3, 5, 5]
        assert [row.name for row in groups[1][1]] == ["csosr", "min", "cnn_weighted"]
        # A data set that the paper lacks has only the rows that were run.
        assert [len(rows) for _, rows in Table.groups(table.columns[2:3])] == [2, 3, 2, 3]

    def test_means_and_standard_errors(self, made):
        table, folder = made
        rows = list(csv.DictReader((folder / "results.csv").open()))
        costs = [
            float(row["average_cost"])
            for row in rows
            if (row["dataset"], row["imbalanced"], row["algorithm"]) == ("mnist", "True", "csdnn")
        ]
        cell = table.columns[3].cell("csdnn")
        mean = sum(costs) / 3
        error = math.sqrt(sum((cost - mean) ** 2 for cost in costs) / 2 / 3)
        assert (cell.cost, cell.standard_error, cell.matrices) == pytest.approx((mean, error, 3))

    def test_missing_and_partial_cells(self, made):
        table, _ = made
        mnist, imbalanced = table.columns[0], table.columns[3]
        assert mnist.cell("csosr").matrices == 1
        assert math.isnan(mnist.cell("csosr").standard_error)
        assert imbalanced.cell("dnn_sosr").matrices == 0
        assert str(imbalanced.cell("dnn_sosr").paper) == "0.22 ± 0.01"
        assert imbalanced.cell("cnn_weighted").paper is None
        assert table.columns[2].cell("csdnn").paper is None
        assert str(table.columns[1].cell("csdnn").paper) == "2.34 ± 0.07"
        assert not table.columns[1].name.same

    def test_best_and_tied(self, made):
        for column in made[0].columns:
            assert column.best == "cnn_bayes"
            bold = {name for name, cell in column.cells.items() if cell.bold}
            assert bold == {"cnn_bayes"}

    def test_twins_are_both_bold(self, tmp_path):
        write_folder(tmp_path, errors={"csdnn": 0.2, "dnn_sosr": 0.2, "dnn_bayes": 0.6})
        for column in read_table(tmp_path).columns:
            assert {name for name, cell in column.cells.items() if cell.bold} == {
                "csdnn",
                "dnn_sosr",
            }

    def test_fewer_matrices_are_never_the_best_but_may_be_bold(self, tmp_path):
        errors = {"csosr": 0.05, "csdnn": 0.3}
        write_folder(tmp_path, errors=errors, skip=lambda d, i, n, s: n == "csosr" and s > 1000)
        column = read_table(tmp_path).columns[0]
        assert column.best == "csdnn"
        assert column.cell("csosr").cost < column.cell("csdnn").cost
        assert column.cell("csosr").bold and not column.cell("csosr").best

    def test_choose_is_by_validation_cost(self, tmp_path):
        write_folder(tmp_path, skip=lambda d, i, n, s: n == "cnn_bayes" and s > 1000)

        def change(rows):
            for row in rows:
                if row["algorithm"] == "dnn_bayes":
                    row["validation_cost"] = "0.0001"
                if row["algorithm"] == "cnn_sosr":
                    row["validation_cost"] = ""

        rewrite(tmp_path, change)
        column = read_table(tmp_path).columns[0]
        assert column.choose(["cnn_sosr", "csdnn", "dnn_bayes"]) == "dnn_bayes"
        assert column.choose(["cnn_bayes", "csdnn"]) == "csdnn"  # more matrices come first
        assert column.choose(["cnn_sosr", "seae_sosr"]) is None

    def test_diverged(self, tmp_path):
        write_folder(tmp_path, skip=lambda d, i, n, s: (n, s) == ("cnn_bayes", 1001))

        def change(rows):
            template = dict(rows[0])
            for dataset, imbalanced in DATA:
                lost = {"dataset": dataset, "imbalanced": imbalanced, "algorithm": "cnn_bayes"}
                infinite = {"average_cost": "inf", "validation_cost": "inf"}
                rows.append({**template, **lost, **infinite, "cost_seed": 1001})

        rewrite(tmp_path, change)
        column = read_table(tmp_path).columns[0]
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
        page, markdown, *_ = report(tmp_path, tmp_path / "out")
        assert "diverged (1 of 3)" in page.read_text() and "nan" not in page.read_text()
        assert "CNN SOSR | – | diverged | 3 | 0.89 |" in markdown.read_text()

    def test_everything_diverged(self, tmp_path):
        line = ["mnist", False, "csdnn", 1000, math.inf, 1, math.inf, 1, 1, 1, 1]
        write_csv(tmp_path / "results.csv", RESULTS, [line])
        assert read_table(tmp_path).columns[0].best is None
        page, *_ = report(tmp_path, tmp_path)
        assert "diverged (1 of 1)" in page.read_text()

    def test_without_decisions_ties_are_unknown(self, tmp_path):
        write_folder(tmp_path)
        (tmp_path / "test_decisions" / "mnist.npz").unlink()
        column = read_table(tmp_path).columns[0]
        assert column.test_size is None
        assert column.cell("cnn_bayes").best and column.cell("cnn_bayes").tied
        assert column.cell("csdnn").tied is None and not column.cell("csdnn").bold


class TestErrors:
    @pytest.mark.parametrize(
        "column, value, message",
        [
            ("average_cost", "7.5", "to cost what results.csv says, 7.5; received"),
            ("algorithm", "cssdn", "Expected `algorithm` to be one of"),
            ("cost_seed", "1001", "one row for each result"),
        ],
    )
    def test_rows_that_do_not_fit(self, tmp_path, column, value, message):
        write_folder(tmp_path)
        rewrite(tmp_path, lambda rows: rows[0].update({column: value}))
        with pytest.raises(ValueError, match=message):
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
        write_folder(tmp_path)
        path = tmp_path / "test_decisions" / "mnist.npz"
        arrays = {key: each for key, each in np.load(path).items() if key != name}
        np.savez(path, **arrays, **({} if value is None else {name: value}))
        with pytest.raises(ValueError, match=message):
            read_table(tmp_path)

    def test_an_npz_file_that_is_none(self, tmp_path):
        write_folder(tmp_path)
        (tmp_path / "test_decisions" / "mnist.npz").write_bytes(b"PK half a file")
        with pytest.raises(ValueError, match="mnist.npz to be an npz file"):
            read_table(tmp_path)

    def test_no_rows(self, tmp_path):
        write_csv(tmp_path / "results.csv", RESULTS, [])
        with pytest.raises(ValueError, match="none below the header"):
            read_table(tmp_path)
