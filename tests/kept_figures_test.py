"""`compare` and `table2` give the figures of an earlier version, `tests/data/figures`.

On the machine and the libraries that made them they are the same. Elsewhere other instructions
round otherwise, training carries that on, and a few examples are decided otherwise: then the
same rows must be there, and costs must be near.
"""

import json

import keras
import pytest

from csdl_keras_cli.main import main
from tests.data.figures.make import COLUMNS, COMMANDS, FOLDER, machine, read_table

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="made on TensorFlow"),
]
# By how much the figures of another machine may be off. An error rate of 0.1 is 54 digits.
NEAR = {
    "average_cost": {"rel": 0.3, "abs": 0.1},
    "validation_cost": {"rel": 0.3, "abs": 0.1},
    "error_rate": {"abs": 0.1},
}


@pytest.mark.parametrize("name", COMMANDS)
def test_same_figures(name, tmp_path):
    made = json.loads((FOLDER / "machine.json").read_text())
    made.pop("commit")
    same = made == machine()
    assert main([*COMMANDS[name], "--out", str(tmp_path)]) == 0
    tables = [table for table in COLUMNS if (FOLDER / f"{name}.{table}.csv").exists()]
    assert "results" in tables
    for table in tables:
        expected = read_table(FOLDER / f"{name}.{table}.csv", table)
        found = read_table(tmp_path / f"{table}.csv", table)
        if same:
            assert found.keys() == expected.keys()
            for key, figures in expected.items():
                assert found[key] == pytest.approx(figures, rel=1e-6, abs=1e-6, nan_ok=True), key
        elif table == "results":  # what is chosen may be another value elsewhere
            assert found.keys() == expected.keys()
            for key, figures in expected.items():
                for figure, tolerance in NEAR.items():
                    assert found[key][figure] == pytest.approx(figures[figure], **tolerance), key
