import pytest

from csdl_keras.experiments.reporting.run_records import read_run_records


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
