"""Runs notebooks in full and saves their outputs in them: `python notebooks/execute.py FILE…`.

Without files, runs all notebooks. Output on standard error is removed. The metadata `last_run`
records the date, the seconds and the versions of a run.
"""

import datetime
import importlib.metadata
import os
import pathlib
import resource
import sys
import time
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = pathlib.Path(__file__).parent
#: Runs before the first cell, since TensorFlow prints its warnings in a notebook on standard
#: output. It warns of many models in one process, for example.
QUIET = "import logging; logging.getLogger('tensorflow').addFilter(lambda it: it.levelno >= 40)"
PACKAGES = ("csdl_keras", "keras", "tensorflow", "scikit-learn", "matplotlib")


def run(
    notebook: nbformat.NotebookNode, folder: pathlib.Path, **parameters: Any
) -> nbformat.NotebookNode:
    """Runs a notebook in a folder and returns a copy with its outputs.

    Args:
        notebook: the notebook. It is not changed.
        folder: current folder of the run.
        **parameters: values that replace those that the notebook's first code cell sets.

    Returns:
        The notebook with its outputs.
    """
    notebook = nbformat.from_dict(notebook)
    if parameters:
        first = next(i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code")
        lines = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
        notebook.cells.insert(first + 1, nbformat.v4.new_code_cell(lines))
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(
        notebook,
        timeout=1800,
        kernel_name="python3",
        resources=resources,
        extra_arguments=[f"--IPKernelApp.exec_lines={[QUIET]}"],
    ).execute()
    return notebook


def execute(path: pathlib.Path) -> None:
    """Runs a notebook in the folder of this file and replaces its outputs."""
    start, before = time.perf_counter(), _seconds_of_children()
    notebook = run(nbformat.read(path, as_version=4), FOLDER)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # The times of cells change with each run.
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata["last_run"] = {
        "date": datetime.date.today().isoformat(),
        "seconds": round(time.perf_counter() - start),
        "seconds_of_processors": round(_seconds_of_children() - before),
        "versions": {name: importlib.metadata.version(name) for name in PACKAGES},
    }
    nbformat.write(notebook, path)


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    names = [pathlib.Path(name) for name in sys.argv[1:]]
    for path in names or sorted(FOLDER.glob("*.ipynb")):
        print(path, flush=True)
        execute(path)
