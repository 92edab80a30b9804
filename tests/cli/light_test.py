"""Help, the version and wrong arguments need no Keras, and other libraries stay silent."""

import os
import re
import subprocess
import sys

import pytest

import csdl_keras as csdl
from tests.support.fresh_process import REPOSITORY, run_python

RUN = """
import sys
from csdl_keras_cli.main import main
try:
    status = main(sys.argv[1:])
except SystemExit as exit:
    status = exit.code
heavy = {"csdl_keras", "keras", "numpy", "pandas", "rich", "sklearn", "tensorflow"}
print("modules:", sorted(heavy & set(sys.modules)), "status:", status)
"""


def run(*arguments):
    command = [sys.executable, "-c", RUN, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert "modules: [] " in done.stdout, done.stdout + done.stderr
    return done.stdout, done.stderr, int(re.search(r"status: (\d+)", done.stdout)[1])


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["--help"], "compare"),
        (["--version"], csdl.__version__),
        *(
            ([name, "--help"], f"usage: csdl-keras {name}")
            for name in ("compare", "tune", "export")
        ),
    ],
)
def test_answers(arguments, told):
    output, errors, status = run(*arguments)
    assert told in output and not errors and status == 0


@pytest.mark.parametrize(
    "arguments, told",
    [
        ("compar", "Did you mean 'compare'?"),
        ("compare --algorithms csdnm", "Did you mean 'csdnn'?"),
        ("compare --alogrithms csdnn", "Did you mean '--algorithms'?"),
        ("compare --effort balancd", "Did you mean 'balanced'?"),
        ("tune --algorithm CSDN", "Did you mean 'csdnn'?"),
        ("table2 --profile papper", "Did you mean 'paper'?"),
        ("compare --label x", "Expected --label with a file of --data; received --dataset."),
        ("compare --data nowhere.csv --label x", "there is no nowhere.csv"),
        ("compare --data {csv}", "Expected --label to name the column of labels in"),
        ("compare --data {csv} --label x --imbalanced", "--imbalanced with --dataset"),
        ("compare --data {csv} --label x --image-size 8", "--image-size with a folder"),
        ("compare --data {folder} --label x", "Expected --label with a file"),
        ("compare --data {npz} --label x --missing -", "Expected --missing with a .csv file"),
        ("compare --drop x --drop y", "Expected --drop with a file of --data; received --dataset."),
        ("compare --data {xlsx} --label x", ".csv, .parquet or .npz file or a folder of images"),
        ("tune --cost-matrix {xlsx}", "--cost-matrix to be a .csv or .npy file"),
        ("export nowhere.keras a.onnx", "nowhere.keras to be a model that Keras can load; there"),
        ("report {folder}", "Expected a folder with a results.csv"),
        ("compare --out {csv}", "Expected --out to be a folder; received"),
    ],
)
def test_wrong_arguments(arguments, told, tmp_path):
    files = {name: tmp_path / f"a.{name}" for name in ("csv", "xlsx", "npz")}
    for path in files.values():
        path.write_text("a,b\n1,2\n")
    _, errors, status = run(*arguments.format(**files, folder=tmp_path).split())
    assert told.replace("'", "") in errors.replace("'", "") and status == 2
    assert "Traceback" not in errors


def test_report_fails_at_once_where_it_cannot_write(tmp_path):
    (tmp_path / "results.csv").write_text("not read")
    (tmp_path / "file").write_text("precious")
    for out in ("file", "file/below"):
        _, errors, status = run("report", tmp_path, "--out", tmp_path / out)
        assert "Expected --out to be a folder" in errors and status == 2
    assert {path.name for path in tmp_path.iterdir()} == {"results.csv", "file"}


def test_lines_of_native_code_do_not_reach_the_terminal():
    """They are written to the stream by its number, as TensorFlow does when it is imported."""
    code = (
        "import os, subprocess, sys\n"
        "from csdl_keras_cli.output import only_own_errors\n"
        "with only_own_errors():\n"
        "    os.write(2, b'native\\n')\n"
        "    subprocess.run([sys.executable, '-c', 'import sys; print(1, file=sys.stderr)'])\n"
        "    print('own', file=sys.stderr)\n"
        "os.write(2, b'later\\n')"
    )
    command = [sys.executable, "-c", code]
    for variables, told in (({}, "own\nlater\n"), ({"TF_CPP_MIN_LOG_LEVEL": "0"}, None)):
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(REPOSITORY)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment | variables)
        assert done.stderr == (told or "native\n1\nown\nlater\n")


def test_the_command_runs_in_a_process_of_its_own():
    printed = run_python("from csdl_keras_cli.main import main; main(['table1'])")
    assert "CSDNN" in printed and "cost-aware" in printed
