import math

import pytest

from csdl_keras.experiments.reporting.rows import ResultRow, read_csv, read_run_records

HEADER = "dataset,imbalanced,algorithm,cost_seed,average_cost,validation_cost,train_size"


def read(tmp_path, text):
    path = tmp_path / "results.csv"
    path.write_text(text)
    return read_csv(path, ResultRow)


class TestReadCsv:
    def test_columns_by_name_others_ignored(self, tmp_path):
        header = "extra,train_size," + HEADER.removesuffix(",train_size")
        (row,) = read(tmp_path, f"{header}\nx,700,emnist/letters,True,csdnn,1000,1.5,1.25\n")
        assert row == ResultRow("emnist/letters", True, "csdnn", 1000, 1.5, 1.25, 700)

    def test_an_empty_number_is_unknown(self, tmp_path):
        (row,) = read(tmp_path, f"{HEADER}\ndigits,False,csdnn,1000,1.5,,700\n")
        assert math.isnan(row.validation_cost)

    @pytest.mark.parametrize(
        "text, message",
        [
            ("", "received no header"),
            ("dataset,cost_seed\n", "the columns imbalanced, alg.*received dataset, cost"),
            (f"{HEADER}\ndigits,yes,csdnn,1,1,1,7\n", "`imbalanced` in line 2 of .* bool.*'yes'"),
            (f"{HEADER}\ndigits,True,csdnn,1.5,1,1,7\n", "`cost_seed` in line 2 .* int; .*'1.5'"),
            (f"{HEADER}\ndigits,True,csdnn,1,nan,1,7\n", "`average_cost` .*nan, in line 2 of"),
            (f"{HEADER}\ndigits,True,csdnn,1,-1,1,7\n", "`average_cost` .*-1.0, in line 2 of"),
            (f"{HEADER}\ndigits,True,csd", "`cost_seed` in line 2 .*a line that is too short"),
        ],
    )
    def test_rows_that_do_not_fit(self, tmp_path, text, message):
        with pytest.raises(ValueError, match=message):
            read(tmp_path, text)

    def test_no_file(self, tmp_path):
        with pytest.raises(ValueError, match="Expected the file .*results.csv"):
            read_csv(tmp_path / "results.csv", ResultRow)


class TestReadRunRecords:
    @pytest.mark.parametrize(
        "text, records",
        [
            (
                '{"runs": [{"command": "a"}, {"command": "b"}]}',
                [{"command": "a"}, {"command": "b"}],
            ),
            ('{"command": "a"}', [{"command": "a"}]),
            ('{"runs": []}', []),
        ],
    )
    def test_records(self, tmp_path, text, records):
        (tmp_path / "run.json").write_text(text)
        assert read_run_records(tmp_path) == records

    def test_no_file(self, tmp_path):
        assert read_run_records(tmp_path) == []

    @pytest.mark.parametrize("text", ["{", "[]", '{"runs": 3}', '{"runs": [3]}'])
    def test_other_files(self, tmp_path, text):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(ValueError, match="Expected .*run.json to be"):
            read_run_records(tmp_path)
