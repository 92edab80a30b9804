"""Every notebook runs from top to bottom, in small, and was committed with its outputs.

`pytest -m notebook` runs them; a plain run only looks at what is committed.
"""

import datetime
import pathlib
import re

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = pathlib.Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NUMBER = 7


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_they_are_numbered():
    assert [path.name[:2] for path in NOTEBOOKS] == [f"{i}_" for i in range(1, NUMBER + 1)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestNotebook:
    def test_the_first_cell_says_what_one_learns_and_how_long_it_takes(self, path):
        first = read(path).cells[0]
        assert first.cell_type == "markdown"
        assert re.match(r"# .+\n\n.*\byou\b", first.source, re.DOTALL | re.IGNORECASE)
        assert re.search(r"\bminutes?\b", first.source)

    def test_committed_outputs_are_those_of_a_whole_run(self, path):
        cells = code_cells(read(path))
        assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
        outputs = [output for cell in cells for output in cell.outputs]
        assert not [output for output in outputs if output.output_type == "error"]
        assert any("image/png" in output.get("data", {}) for output in outputs)
        # What a library prints on standard error has no place in what people read.
        assert not [output for output in outputs if output.get("name") == "stderr"]

    def test_says_when_it_was_last_run_in_full(self, path):
        said = code_cells(read(path))[-1].outputs[0].text
        found = re.match(r"Last run in full on (\d{4}-\d\d-\d\d), in (\d+) s, with Keras 3", said)
        assert found, said
        datetime.date.fromisoformat(found[1])
        assert int(found[2]) < 300

    @pytest.mark.notebook
    def test_runs(self, path, tmp_path, monkeypatch):
        # Not in the checkout, where it would leave files; what it reads lies beside it.
        (tmp_path / "results").symlink_to(FOLDER / "results")
        monkeypatch.setenv("CSDL_KERAS_TINY", "1")
        monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
        resources = {"metadata": {"path": str(tmp_path)}}
        NotebookClient(
            read(path), timeout=300, kernel_name="python3", resources=resources
        ).execute()
