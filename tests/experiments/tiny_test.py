"""The smallest profile, whole, from the command line."""

import pytest

import csdl_keras as csdl
from csdl_keras_cli.main import main
from tests.experiments.grid_runs import read


@pytest.mark.slow
def test_tiny_profile(tmp_path, capsys):
    """All fifteen rows learn; the second run finds everything."""
    assert main(["table2", "--profile", "tiny", "--out", str(tmp_path)]) == 0
    rows = read(tmp_path)
    assert [row["algorithm"] for row in rows[::2]] == list(csdl.PAPER_ALGORITHMS)
    data = csdl.datasets.load("digits")
    for row in rows:
        matrix = csdl.costs.randomized_proportional(data.y_train_val, seed=int(row["cost_seed"]))
        constant = matrix[data.y_test].mean(axis=0).min()
        # MIN learns slowly from its small gradients.
        share = 0.5 if row["algorithm"] == "min" else 0.15
        assert float(row["average_cost"]) < share * constant, row
    before = {path: path.read_bytes() for path in tmp_path.glob("*.csv")}
    assert main(["table2", "--profile", "tiny", "--out", str(tmp_path)]) == 0
    assert "Trained 0 stages" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in tmp_path.glob("*.csv")} == before
    assert main(["report", str(tmp_path)]) == 0
    for name in ("report.html", "table2.md", "table2.tex"):
        text = (tmp_path / name).read_text()
        assert all(csdl.ALGORITHMS[each].title in text for each in csdl.PAPER_ALGORITHMS)
