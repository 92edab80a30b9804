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


def test_they_are_numbered():
    assert [path.name[:2] for path in NOTEBOOKS] == [f"{i}_" for i in range(1, NUMBER + 1)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestNotebook:
    def test_what_is_committed_is_a_whole_run(self, path):
        first, *others = read(path).cells
        assert first.cell_type == "markdown"
        assert re.match(r"# .+\n\n.*\byou\b.*\bminutes?\b", first.source, re.DOTALL | re.I)
        cells = [cell for cell in others if cell.cell_type == "code"]
        assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
        outputs = [output for cell in cells for output in cell.outputs]
        assert any("image/png" in output.get("data", {}) for output in outputs)
        # What a library prints on standard error has no place in what people read.
        bad = [it for it in outputs if it.output_type == "error" or it.get("name") == "stderr"]
        assert not bad
        last = cells[-1].outputs[0].text
        found = re.match(r"Last run in full on (\d{4}-\d\d-\d\d), in (\d+) s, with Keras 3", last)
        assert found, last
        datetime.date.fromisoformat(found[1])
        assert int(found[2]) < 300

    @pytest.mark.notebook
    def test_runs(self, path, tmp_path, monkeypatch):
        # Not in the checkout, where it would leave files; what it reads lies beside it.
        (tmp_path / "results").symlink_to(FOLDER / "results")
        monkeypatch.setenv("CSDL_KERAS_TINY", "1")
        monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
        where = {"metadata": {"path": str(tmp_path)}}
        NotebookClient(read(path), timeout=300, kernel_name="python3", resources=where).execute()
