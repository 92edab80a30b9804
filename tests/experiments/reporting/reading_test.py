import math

import pytest

from csdl_keras.experiments.csv_files import read_csv
from csdl_keras.experiments.reporting.reading import ResultRow
from csdl_keras.experiments.run_folder import read_run_records

HEADER = "dataset,imbalanced,algorithm,cost_seed,average_cost,validation_cost,train_size"


def read(tmp_path, text):
    path = tmp_path / "results.csv"
    path.write_text(text)
    return read_csv(path, ResultRow)


class TestReadCsv:
    def test_columns_by_name(self, tmp_path):
        """Other columns are ignored, and an empty number is unknown."""
        header = "extra,train_size," + HEADER.removesuffix(",train_size")
        (row,) = read(tmp_path, f"{header}\nx,700,emnist/letters,True,csdnn,1000,1.5,1.25\n")
        assert row == ResultRow("emnist/letters", True, "csdnn", 1000, 1.5, 1.25, 700)
        (row,) = read(tmp_path, f"{HEADER}\ndigits,False,csdnn,1000,1.5,,700\n")
        assert row.imbalanced is False and math.isnan(row.validation_cost)

    @pytest.mark.parametrize(
        "text, message",
        [
            ("", "received no header"),
            ("dataset,cost_seed\n", "the columns imbalanced, alg.*received dataset, cost"),
            (f"{HEADER}\ndigits,yes,csdnn,1,1,1,7\n", "`imbalanced` in row 1 of .* bool.*'yes'"),
            (f"{HEADER}\ndigits,True,csdnn,1.5,1,1,7\n", "`cost_seed` in row 1 .* int; .*'1.5'"),
            (f"{HEADER}\ndigits,True,csdnn,1,nan,1,7\n", "`average_cost` .*nan, in row 1 of"),
            (f"{HEADER}\ndigits,True,csdnn,1,-1,1,7\n", "`average_cost` .*-1.0, in row 1 of"),
            (f"{HEADER}\ndigits,True,csd", "a value for each column in row 1 of .*received 3"),
        ],
    )
    def test_rows_that_do_not_fit(self, tmp_path, text, message):
        with pytest.raises(ValueError, match=message):
            read(tmp_path, text)


class TestReadRunRecords:
    @pytest.mark.parametrize(
        "text, commands",
        [
            ('{"runs": [{"command": "a"}, {"command": "b"}]}', ["a", "b"]),
            ('{"command": "a"}', ["a"]),
            ('{"runs": []}', []),
            (None, []),
        ],
    )
    def test_records(self, tmp_path, text, commands):
        if text is not None:
            (tmp_path / "run.json").write_text(text)
        assert read_run_records(tmp_path) == [{"command": each} for each in commands]

    @pytest.mark.parametrize("text", ["{", "[]", '{"runs": 3}', '{"runs": [3]}'])
    def test_other_files(self, tmp_path, text):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(ValueError, match="Expected .*run.json to be"):
            read_run_records(tmp_path)
