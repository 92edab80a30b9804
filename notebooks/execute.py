"""Runs notebooks in full and writes their outputs into them: `python notebooks/execute.py FILE…`.

Without files it runs all of them. What libraries print on standard error is left out.
"""

import os
import pathlib
import sys

import nbformat
from nbclient import NotebookClient

FOLDER = pathlib.Path(__file__).parent


def execute(path: pathlib.Path) -> None:
    """Runs the notebook in this folder, whatever the current one, and replaces its outputs."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(notebook, timeout=900, kernel_name="python3", resources=resources).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of every cell change with every run
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    nbformat.write(notebook, path)


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    names = [pathlib.Path(name) for name in sys.argv[1:]]
    for path in names or sorted(FOLDER.glob("*.ipynb")):
        print(path, flush=True)
        execute(path)
